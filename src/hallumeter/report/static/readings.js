"use strict";
// The browser of pages: a list to choose from, and an engine's text beside the text that it was compared with.
hallumeter.each("readings-data", (chapter) => {
  const { make, number, percent, count, browse } = hallumeter;
  const { place, data, root } = chapter;
  const { kinds, references, readings: given } = data("readings-data");
  const [BLOCK, LOOP, OMISSION, INSERTION, RUN] = kinds.map((_, code) => code);
  const MOVED = 1, NOT_ENOUGH_INFO = 2, UNDECIDED = 4;
  const CELLS_COMPARED = 1_000_000; // a run with more pairs of words than this is marked as a whole

  const plain = (text) => text.normalize("NFKC").toLocaleLowerCase();
  // Words that came from an engine or a file: direction from their own letters, language unknown.
  const words = (tag, className, ...children) => make(tag, { className, dir: "auto", lang: "" }, ...children);

  const readings = given.map((row, position) => {
    const stretches = (row.s || []).map(([kind, size, start, end, referenceStart, referenceEnd, flags, note]) =>
      ({ kind, size, start, end, referenceStart, referenceEnd, flags, note: note || "" }));
    const sizes = kinds.map((_, code) => stretches.reduce((sum, stretch) => sum + (stretch.kind === code ? stretch.size : 0), 0));
    return {
      position, id: row.id, page: row.p, engine: row.e, text: row.t, cut: row.c, reference: references[row.r], referenceCut: row.rc, witness: row.w,
      stretches, sizes, row: row.m || {}, hasRow: Boolean(row.m), fields: row.x || {}, isRandom: Boolean(row.d), broken: row.b || [],
      isAligned: stretches.length > 0 || !(row.t || references[row.r]),
      invented: sizes[BLOCK] + sizes[LOOP], omitted: sizes[OMISSION], isMisread: stretches.some((stretch) => stretch.kind === RUN && stretch.note), haystack: null,
    };
  });
  const haystackOf = (reading) => {
    reading.haystack ??= plain([reading.page, reading.engine, reading.text, reading.reference, ...Object.values(reading.fields).map(String)].join("\n"));
    return reading.haystack;
  };

  const ORDERS = {
    worst: (a, b) => b.invented + b.omitted - a.invented - a.omitted || b.sizes[INSERTION] - a.sizes[INSERTION],
    invented: (a, b) => b.invented - a.invented,
    omitted: (a, b) => b.omitted - a.omitted,
    cer: (a, b) => (b.row.cer ?? -1) - (a.row.cer ?? -1),
    anchor: (a, b) => (a.row.anchor_score ?? 2) - (b.row.anchor_score ?? 2),
    name: (a, b) => a.page.localeCompare(b.page, undefined, { numeric: true }) || a.engine.localeCompare(b.engine, undefined, { numeric: true }),
  };
  const hasManyEngines = new Set(readings.map((reading) => reading.engine)).size > 1;

  // ---------------------------------------------------------------- the list

  const summaryOf = (reading) => {
    if (!reading.text) return "empty output";
    if (!reading.isAligned) return reading.hasRow ? `not aligned, anchor ${number(reading.row.anchor_score, 2)}` : "not aligned";
    const parts = [[reading.sizes[BLOCK], "invented"], [reading.sizes[LOOP], "in loops"], [reading.omitted, "left out"], [reading.sizes[INSERTION], "inserted"]];
    const told = parts.filter(([size]) => size).map(([size, what]) => `${size.toLocaleString("en")} ${what}`);
    return told.length ? told.join(", ") : reading.isMisread ? "some words misread" : "nothing invented or left out";
  };

  const entryOf = (reading) => {
    const strip = make("span", { className: "strip", "aria-hidden": "true" });
    reading.sizes.forEach((size, code) => {
      if (!size) return;
      const bar = make("i", { className: kinds[code][0] });
      bar.style.flexGrow = size;
      strip.append(bar);
    });
    const button = make("button", { type: "button", className: "entry", "data-position": reading.position },
      make("span", { className: "page-name" }, make("bdi", {}, reading.page)),
      hasManyEngines ? make("span", { className: "who" }, make("bdi", {}, reading.engine)) : null,
      make("span", { className: "what" }, summaryOf(reading)), strip);
    button.addEventListener("click", () => {
      show(reading);
      // On a narrow page the text stands below the list.
      if (matchMedia("(max-width: 60rem)").matches) place("reading").scrollIntoView({ block: "start" });
    });
    return make("li", {}, button);
  };

  const holds = (reading, kind) => {
    if (kind === "") return true;
    if (kind === "nothing") return reading.isAligned && !reading.sizes.some((size, code) => size && code !== RUN);
    if (kind === "misread") return reading.isMisread;
    if (kind === "badge") return reading.row.badge === true;
    return reading.sizes[Number(kind)] > 0;
  };

  const refresh = () => {
    const wanted = plain(place("search").value).split(/\s+/).filter(Boolean);
    const kind = place("by-kind").value;
    const engine = place("by-engine").value;
    const page = place("by-page").value;
    const shown = readings.filter((reading) => holds(reading, kind) && (engine === "" || `=${reading.engine}` === engine) &&
      (page === "" || `=${reading.page}` === page) && wanted.every((word) => haystackOf(reading).includes(word)));
    shown.sort((a, b) => ORDERS[place("order").value](a, b) || a.position - b.position);
    place("list").replaceChildren(...(shown.length ? shown.map(entryOf) : [make("li", { className: "empty" }, "No page matches.")]));
    place("list").scrollTop = 0;
    place("shown").textContent = `${shown.length.toLocaleString("en")} of ${readings.length.toLocaleString("en")} shown here`;
    if (shown.length) show(shown[0]);
  };

  // ---------------------------------------------------------------- one page: its stretches

  const wordsOf = (stretch) => {
    if (stretch.kind === RUN) return stretch.flags & MOVED ? "read, at another place of the page" : stretch.note ? "read, with slips" : "read";
    if (stretch.flags & UNDECIDED) return "cannot be told";
    if (stretch.flags & NOT_ENOUGH_INFO) return "not in the witness’s text";
    return kinds[stretch.kind][1];
  };
  const tell = (stretch) => [wordsOf(stretch), count(stretch.size, "word"), stretch.note].filter(Boolean).join(", ");

  // Which words of two runs differ: the longest common sequence stays, the rest is marked.
  const slips = (left, right) => {
    const split = (text) => [...text.matchAll(/\S+/gu)].map((match) => [match[0], match.index]);
    const [a, b] = [split(left), split(right)];
    if (a.length * b.length > CELLS_COMPARED) return null;
    const width = b.length + 1;
    const longest = new Uint32Array((a.length + 1) * width);
    for (let i = a.length - 1; i >= 0; i -= 1) {
      for (let j = b.length - 1; j >= 0; j -= 1) {
        longest[i * width + j] = a[i][0] === b[j][0] ? longest[(i + 1) * width + j + 1] + 1 : Math.max(longest[(i + 1) * width + j], longest[i * width + j + 1]);
      }
    }
    const wrong = [[], []];
    let [i, j] = [0, 0];
    while (i < a.length || j < b.length) {
      if (i < a.length && j < b.length && a[i][0] === b[j][0]) { i += 1; j += 1; }
      else if (j === b.length || (i < a.length && longest[(i + 1) * width + j] >= longest[i * width + j + 1])) { wrong[0].push(a[i]); i += 1; }
      else { wrong[1].push(b[j]); j += 1; }
    }
    return wrong;
  };
  const withSlips = (text, wrong) => {
    const parts = [];
    let done = 0;
    for (const [word, start] of wrong) {
      parts.push(text.slice(done, start), make("span", { className: "slip" }, word));
      done = start + word.length;
    }
    return [...parts, text.slice(done)];
  };

  // The places of one side in the order of its text. A stretch that the other side alone has is a gap here: it stands
  // where the stretch before it ends.
  const placesOf = (stretches, startName, endName, hasGap) => {
    const places = [];
    let before = 0;
    stretches.forEach((stretch, index) => {
      const start = stretch[startName];
      if (start !== null) {
        places.push({ index, start, end: stretch[endName], order: start });
        if (!(stretch.flags & MOVED)) before = stretch[endName];
      } else if (hasGap(stretch)) places.push({ index, start: null, end: null, order: before });
    });
    return places.sort((a, b) => a.order - b.order || (a.start === null) - (b.start === null) || a.index - b.index);
  };

  const markNode = (stretch, attributes, index, children) => {
    const names = ["stretch", kinds[stretch.kind][0], stretch.flags & MOVED ? "moved" : "", stretch.flags & (NOT_ENOUGH_INFO | UNDECIDED) ? "unsure" : "", attributes.className];
    const mark = make("span", { role: "button", ...attributes, className: names.filter(Boolean).join(" ") }, ...children);
    mark.addEventListener("click", () => choose(index, mark));
    mark.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      choose(index, mark);
    });
    return mark;
  };
  const markOf = (stretch, index, children) => {
    const told = tell(stretch);
    return markNode(stretch, { className: "first", tabindex: stretch.kind === RUN ? "-1" : "0", "data-stretch": index, "aria-description": told, title: told }, index, children);
  };
  // Several stretches that are missing at one place share one caret, in the colour of the worst.
  const gapOf = (stretches, indexes) => {
    const told = indexes.map((index) => tell(stretches[index])).join("; ");
    const worst = indexes.reduce((best, index) => (stretches[index].kind < stretches[best].kind ? index : best));
    const label = `${indexes.length > 9 ? `${indexes.length} stretches` : told}, here`;
    return markNode(stretches[worst], { className: "gap", tabindex: "-1", "data-stretch": indexes.join(" "), "data-count": indexes.length > 1 ? indexes.length : undefined,
      "aria-label": label, title: label }, indexes[0], []);
  };

  const textOf = (reading, side) => {
    const isResponse = side === "response";
    const letters = Array.from(isResponse ? reading.text : reading.reference); // offsets count code points, as in the files of the run
    const isGapHere = isResponse ? (stretch) => stretch.kind === OMISSION : (stretch) => stretch.kind === BLOCK || stretch.kind === LOOP;
    const places = isResponse ? placesOf(reading.stretches, "start", "end", isGapHere) : placesOf(reading.stretches, "referenceStart", "referenceEnd", isGapHere);
    const nodes = [];
    let done = 0;
    let gap = [];
    const closeGap = () => {
      if (gap.length) nodes.push(gapOf(reading.stretches, gap));
      gap = [];
    };
    for (const { index, start, end } of places) {
      const stretch = reading.stretches[index];
      if (start === null) { gap.push(index); continue; }
      closeGap();
      const from = Math.max(start, done);
      if (from >= Math.min(end, letters.length)) continue;
      nodes.push(letters.slice(done, from).join(""));
      done = Math.min(end, letters.length);
      const text = letters.slice(from, done).join("");
      const wrong = reading.slips.get(index);
      nodes.push(markOf(stretch, index, wrong ? withSlips(text, wrong[isResponse ? 0 : 1]) : [text]));
    }
    closeGap();
    nodes.push(letters.slice(done).join(""));
    return nodes;
  };

  const findSlips = (reading) => {
    const [letters, referenceLetters] = [Array.from(reading.text), Array.from(reading.reference)];
    reading.slips = new Map(reading.stretches.flatMap((stretch, index) => {
      if (stretch.kind !== RUN || !stretch.note || stretch.start === null || stretch.referenceStart === null) return [];
      const found = slips(letters.slice(stretch.start, stretch.end).join(""), referenceLetters.slice(stretch.referenceStart, stretch.referenceEnd).join(""));
      return found ? [[index, found]] : [];
    }));
  };

  // ---------------------------------------------------------------- one page: its head

  const badgeOf = (reading) => {
    if (!reading.text) return make("span", { className: "flag empty-flag" }, "empty output");
    if (reading.row.badge === true) return make("span", { className: "flag bad" }, "hallucinating");
    if (reading.row.badge === false) return make("span", { className: "flag good" }, "not hallucinating");
    return make("span", { className: "flag" }, reading.isAligned ? reading.row.status || "no badge" : "not aligned");
  };
  const numbersOf = (reading) => {
    if (!reading.hasRow) return null;
    const row = reading.row;
    const facts = [["CER", percent(row.cer)], ["anchor", number(row.anchor_score, 2)], ["length ratio", number(row.length_ratio ?? Infinity, 2)],
      ["inserted", percent(row.true_insertion_rate)], ["invented", percent(row.invented_rate)], ["left out", percent(row.omission_rate)]];
    return make("dl", { className: "numbers" }, ...facts.filter(([, value]) => value !== hallumeter.NO_VALUE).map(([name, value]) => make("div", {}, make("dt", {}, name), make("dd", {}, value))));
  };
  const remarksOf = (reading) => {
    const remarks = [];
    if (reading.row.exact === false) remarks.push("A long page, aligned by anchors: its error rates are upper bounds.");
    if (reading.hasRow && !reading.row.ok && reading.text) remarks.push(`Status: ${reading.row.status}.`);
    if (reading.row.picarones) remarks.push("Picarones’ badge warns of this page.");
    if (reading.isRandom) remarks.push("Drawn at random.");
    remarks.push(...Object.entries(reading.fields).map(([name, value]) => `${name}: ${value}`), ...reading.broken);
    return remarks.length ? make("ul", { className: "remarks" }, ...remarks.map((text) => words("li", "", text))) : null;
  };

  // Every engine that has read the page, as the table of pages knows them; some can be opened.
  const others = new Map();
  if (place("pages-data")) {
    const table = data("pages-data");
    table.page.forEach((page, row) => {
      const name = table.pages[page];
      if (!others.has(name)) others.set(name, []);
      others.get(name).push({ engine: table.engines[table.engine[row]], order: table.engine[row], cer: table.numbers.cer[row], badge: table.badge[row], reading: table.reading[row] });
    });
    for (const list of others.values()) list.sort((a, b) => a.order - b.order);
  }
  const othersOf = (reading) => {
    const known = others.get(reading.page) || readings.filter((other) => other.page === reading.page).map((other) =>
      ({ engine: other.engine, cer: other.row.cer ?? null, badge: other.row.badge, reading: other.position }));
    if (known.length < 2) return null;
    const shown = known.filter((other) => other.reading !== null);
    const hidden = known.length - shown.length;
    return make("div", { className: "others" }, make("span", { className: "others-title" }, "This page by"),
      ...shown.map((other) => {
        const button = make("button", { type: "button", className: "chip", "aria-pressed": String(other.reading === reading.position), title: `CER ${percent(other.cer)}` },
          make("bdi", {}, other.engine), other.badge ? make("span", { className: "warning", "aria-label": "hallucinating", role: "img" }, "⚠") : null);
        button.addEventListener("click", () => show(readings[other.reading]));
        return button;
      }),
      hidden ? make("span", { className: "small" }, `and ${hidden.toLocaleString("en")} more, not in this file`) : null);
  };

  // ---------------------------------------------------------------- one page

  let current = null;
  let chosen = -1;

  const sideOf = (reading, side) => {
    const isResponse = side === "response";
    const text = isResponse ? reading.text : reading.reference;
    const cut = isResponse ? reading.cut : reading.referenceCut;
    const title = isResponse ? make("bdi", {}, reading.engine || "engine") : reading.witness === "witness" ? "The witness’s reading" : reading.witness ? make("span", {}, "Witness: ", make("bdi", {}, reading.witness)) : "Ground truth";
    const empty = isResponse ? "The engine wrote nothing." : "There is no text to compare with.";
    const body = text || reading.stretches.length ? words("div", `words ${side}`, ...textOf(reading, side)) : make("p", { className: "empty" }, empty);
    return make("section", { className: `side ${side}-side`, "aria-label": isResponse ? "What the engine wrote" : "What it was compared with" },
      make("h4", {}, title, cut ? make("span", { className: "small" }, ` the first ${Array.from(text).length.toLocaleString("en")} of ${cut.toLocaleString("en")} characters`) : null),
      make("div", { className: "pane", tabindex: "0" }, text ? null : make("p", { className: "empty" }, empty), text || isResponse ? body : null));
  };

  const problems = () => current.stretches.flatMap((stretch, index) => (stretch.kind === RUN ? [] : [index]));

  const show = (reading) => {
    current = reading;
    chosen = -1;
    findSlips(reading);
    for (const button of place("list").querySelectorAll(".entry")) button.setAttribute("aria-current", String(Number(button.dataset.position) === reading.position));
    const step = (direction, text) => {
      const button = make("button", { type: "button", className: "plain-button" }, text);
      button.addEventListener("click", () => walk(direction));
      return button;
    };
    place("reading").replaceChildren(...[
      make("h3", { className: "page-title" }, make("bdi", {}, reading.page), badgeOf(reading)),
      numbersOf(reading), remarksOf(reading), othersOf(reading),
      make("div", { className: "walker" }, step(-1, "‹ Previous"), step(1, "Next ›"), make("output", { id: `${chapter.prefix}told`, role: "status" })),
      make("div", { className: "sides" }, sideOf(reading, "response"), sideOf(reading, "reference")),
    ].filter(Boolean));
    tellChosen();
    const pressed = place("reading").querySelector(".chip[aria-pressed=true]");
    if (pressed) pressed.parentElement.scrollTop = pressed.offsetTop - pressed.parentElement.offsetTop - pressed.offsetHeight;
  };

  const tellChosen = () => {
    const marks = problems();
    const told = chosen < 0 ? (marks.length ? count(marks.length, "mark") : current.isAligned ? "Nothing was invented or left out." : "Not aligned: no place is known.") :
      `${marks.includes(chosen) ? `${marks.indexOf(chosen) + 1} of ${marks.length}: ` : ""}${tell(current.stretches[chosen])}`;
    place("told").textContent = told;
  };

  const bring = (node) => {
    const pane = node.closest(".pane");
    const [inner, outer] = [node.getBoundingClientRect(), pane.getBoundingClientRect()];
    // Only the pane scrolls, not the window: the mark that was chosen stays where it is.
    if (inner.top < outer.top || inner.bottom > outer.bottom) pane.scrollTop += inner.top - outer.top - outer.height / 4;
  };

  const choose = (index, source) => {
    chosen = index;
    for (const node of place("reading").querySelectorAll("[data-stretch]")) {
      const isOwn = node.dataset.stretch.split(" ").map(Number).includes(index);
      node.classList.toggle("chosen", isOwn);
      if (isOwn && node !== source) bring(node);
    }
    tellChosen();
  };

  const walk = (direction) => {
    const marks = problems();
    if (!marks.length) return;
    const at = marks.indexOf(chosen);
    choose(marks[at < 0 ? (direction > 0 ? 0 : marks.length - 1) : (at + direction + marks.length) % marks.length], null);
  };

  // ---------------------------------------------------------------- start

  const offer = (value, text, holding) => { if (holding) place("by-kind").append(make("option", { value }, `${text} (${holding.toLocaleString("en")})`)); };
  offer("badge", "hallucinating", readings.filter((reading) => holds(reading, "badge")).length);
  kinds.forEach(([, text], code) => { if (code !== RUN) offer(code, text, readings.filter((reading) => reading.sizes[code]).length); });
  offer("misread", "misread words", readings.filter((reading) => reading.isMisread).length);
  offer("nothing", "nothing invented or left out", readings.filter((reading) => holds(reading, "nothing")).length);
  // The value begins with a letter of its own, so that an unnamed engine is not taken for "any".
  for (const [name, values] of [["by-engine", readings.map((reading) => reading.engine)], ["by-page", readings.map((reading) => reading.page)]]) {
    const distinct = [...new Set(values)].sort((a, b) => a.localeCompare(b, undefined, { numeric: true }));
    place(name).append(...distinct.map((value) => make("option", { value: `=${value}` }, value || "not given")));
  }
  for (const name of ["by-kind", "by-engine", "by-page", "order"]) place(name).addEventListener("change", refresh);
  place("search").addEventListener("input", refresh);
  browse(place("list"), place("browser").querySelector(".controls"));
  root.addEventListener("open-reading", (event) => {
    show(readings[event.detail]);
    place("reading").scrollIntoView({ block: "start" });
  });
  if (readings.every((reading) => !reading.stretches.length)) {
    // Only the vocabulary was measured: there is nothing to mark, and the anchor score is all there is to go by.
    place("browser").parentElement.querySelector(".legend").hidden = true;
    place("order").value = "anchor";
  }
  place("browser").hidden = false;
  refresh();
});
