"use strict";
// The browser of pages: a list to choose from, and an engine's text beside the text that it was compared with.
hallumeter.each("readings-data", (chapter) => {
  const { make, say, sayCount, number, percent, grouped } = hallumeter;
  const { plain, wordsIn, points, seen, words, isolated, button } = hallumeter.texts;
  const { place, root } = chapter;
  const data = chapter.data("readings-data");
  // A witness proves nothing invented, and nothing not to be.
  const isWitnessed = place("browser")?.dataset.witnessed !== undefined;
  const kinds = data.kinds.map(([name, told]) => [name, isWitnessed && name === "block" ? say("unconfirmed") : told]);
  const NOTHING = isWitnessed ? say("nothing unconfirmed or left out") : say("nothing invented or left out");
  const [BLOCK, LOOP, OMISSION, INSERTION, REMARK, RUN] = kinds.map((_, code) => code);
  const MANY = 500; // names among which a reader would search instead of choosing

  // ---------------------------------------------------------------- reading

  const summed = (sizes, { isAligned, isMisread, hasText }) => ({ sizes, isAligned, isMisread, hasText, invented: sizes[BLOCK] + sizes[LOOP], omitted: sizes[OMISSION] });
  const readEntry = (row) => ({ position: row.n, id: row.id, page: row.p, engine: row.e, witness: row.w, row: row.m || {}, hasRow: Boolean(row.m),
    ...summed(row.z, { isAligned: Boolean(row.a), isMisread: Boolean(row.k), hasText: Boolean(row.h) }) });
  const readReading = ({ references, images = [] }) => (row, position) => {
    const stretches = (row.s || []).map(([kind, size, start, end, referenceStart, referenceEnd, flags, note]) =>
      ({ kind, size, start, end, referenceStart, referenceEnd, flags, note: note || "" }));
    const sizes = kinds.map((_, code) => stretches.reduce((sum, stretch) => sum + (stretch.kind === code ? stretch.size : 0), 0));
    return {
      position, id: row.id, image: images[row.i] ?? null, places: { response: row.q || [], reference: row.k || [] }, page: row.p, engine: row.e, text: row.t, cut: row.c, reference: references[row.r], referenceCut: row.rc, witness: row.w,
      stretches, row: row.m || {}, hasRow: Boolean(row.m), fields: row.x || {}, isRandom: Boolean(row.d), broken: row.b || [], haystack: null,
      ...summed(sizes, { isAligned: stretches.length > 0 || !(row.t || references[row.r]), isMisread: stretches.some((stretch) => stretch.kind === RUN && stretch.note), hasText: Boolean(row.t) }),
    };
  };

  // ---------------------------------------------------------------- what a query means

  const haystackOf = (reading) => {
    reading.haystack ??= plain([reading.page, reading.engine, reading.text, reading.reference, ...Object.values(reading.fields)].join("\n"));
    return reading.haystack;
  };
  const holds = (reading, kind) => {
    if (kind === "nothing") return reading.isAligned && !reading.sizes.some((size, code) => size && code !== REMARK && code !== RUN);
    if (kind === "misread") return reading.isMisread;
    return reading.sizes[kinds.findIndex(([name]) => name === kind)] > 0;
  };
  // A failure is told in one line: the step, the code, the message.
  const codeOf = (line) => line.split(": ")[1];
  const RULES = {
    kind: (wanted) => (reading) => holds(reading, wanted),
    engine: (wanted) => (reading) => reading.engine === wanted,
    page: (wanted) => (reading) => reading.page === wanted,
    status: (wanted) => (reading) => reading.row.status === wanted,
    badge: (wanted) => (reading) => reading.hasRow && (reading.row.badge ?? null) === wanted,
    fields: (wanted) => (reading) => Object.entries(wanted).every(([name, value]) => (reading.fields[name] ?? null) === value),
    failure: (wanted) => (reading) => reading.broken.some((line) => wanted === true || codeOf(line) === wanted),
    search: (wanted) => {
      const sought = wordsIn(wanted);
      return (reading) => sought.every((word) => haystackOf(reading).includes(word));
    },
  };
  const prepare = ({ search = "", behind = {} }) => {
    const asked = { ...behind, ...(search ? { search: [behind.search, search].filter(Boolean).join(" ") } : {}) };
    const tests = Object.entries(asked).filter(([key]) => Object.hasOwn(RULES, key)).map(([key, value]) => RULES[key](value));
    return (reading) => tests.every((test) => test(reading));
  };
  const kindWords = (kind) => kinds.find(([name]) => name === kind)?.[1] || { nothing: NOTHING, misread: say("misread words") }[kind] || kind;
  const BADGES = isWitnessed ? [say("cleared by the witness"), say("flagged by the witness")] : [say("not hallucinating"), say("hallucinating")];
  const badgeWords = (badge) => (badge === null ? say("no badge") : BADGES[Number(badge)]);
  const wordsOf = (behind) => Object.entries(behind).flatMap(([key, value]) => {
    switch (key) {
      case "kind": return [kindWords(value)];
      case "engine": return [say("engine {engine}", { engine: value })];
      case "page": return [say("page {page}", { page: value })];
      case "status": return [data.statuses[value] || value];
      case "badge": return [badgeWords(value)];
      case "fields": return Object.entries(value).map(([name, one]) => (one === null ? say("{name} not given", { name }) : `${name}: ${one}`));
      case "failure": return [value === true ? say("any failure") : say("failure {code}", { code: value })];
      case "search": return [say("“{words}”", { words: value })];
      default: return [];
    }
  });

  const ORDERS = {
    worst: (a, b) => b.invented + b.omitted - a.invented - a.omitted || b.sizes[INSERTION] - a.sizes[INSERTION],
    invented: (a, b) => b.invented - a.invented,
    omitted: (a, b) => b.omitted - a.omitted,
    cer: (a, b) => (b.row.cer ?? -1) - (a.row.cer ?? -1),
    anchor: (a, b) => (a.row.anchor_score ?? 2) - (b.row.anchor_score ?? 2),
    name: (a, b) => a.page.localeCompare(b.page, undefined, { numeric: true }) || a.engine.localeCompare(b.engine, undefined, { numeric: true }),
  };
  const tally = (values) => {
    const held = new Map();
    for (const value of values) held.set(value, (held.get(value) || 0) + 1);
    return [...held].sort(([a], [b]) => a.localeCompare(b, undefined, { numeric: true }));
  };
  const facetsOf = (readings) => ({
    kinds: kinds.map((_, code) => readings.filter((reading) => reading.sizes[code]).length),
    badge: readings.filter((reading) => reading.row.badge === true).length,
    misread: readings.filter((reading) => reading.isMisread).length,
    nothing: readings.filter((reading) => holds(reading, "nothing")).length,
    aligned: readings.filter((reading) => reading.stretches.length).length,
    engines: tally(readings.map((reading) => reading.engine)), pages: tally(readings.map((reading) => reading.page)),
  });
  const source = data.source
    ? hallumeter.sources.server({ total: data.total, readEntry, readOne: (block, position) => ({ ...readReading(block)(block.readings[0]), position }) })
    : hallumeter.sources.inline({ items: data.readings.map(readReading(data)), total: data.total, entryOf: (reading) => reading, prepare, orders: ORDERS, facets: facetsOf });

  // ---------------------------------------------------------------- the list

  let hasManyEngines = false;
  const toldOf = (reading) => {
    if (!reading.hasText) return say("empty output");
    if (!reading.isAligned) return reading.hasRow ? say("not aligned, anchor {anchor}", { anchor: number(reading.row.anchor_score, 2) }) : say("not aligned");
    const parts = [
      reading.sizes[BLOCK] && (isWitnessed ? say("{count} unconfirmed", { count: grouped(reading.sizes[BLOCK]) }) : say("{count} invented", { count: grouped(reading.sizes[BLOCK]) })),
      reading.sizes[LOOP] && say("{count} in loops", { count: grouped(reading.sizes[LOOP]) }),
      reading.omitted && say("{count} left out", { count: grouped(reading.omitted) }), reading.sizes[INSERTION] && say("{count} inserted", { count: grouped(reading.sizes[INSERTION]) }),
    ].filter(Boolean);
    return parts.length ? parts.join(", ") : reading.isMisread ? say("some words misread") : NOTHING;
  };
  const lineOf = (reading) => {
    const strip = make("span", { className: "strip", "aria-hidden": "true" });
    reading.sizes.forEach((size, code) => {
      if (!size) return;
      const bar = make("i", { className: kinds[code][0] });
      bar.style.flexGrow = size;
      strip.append(bar);
    });
    return [make("span", { className: "page-name" }, isolated(reading.page)), hasManyEngines ? make("span", { className: "who" }, isolated(reading.engine)) : null,
      make("span", { className: "what" }, toldOf(reading)), strip];
  };

  // ---------------------------------------------------------------- one page: its head

  const badgeOf = (reading) => {
    if (!reading.text) return make("span", { className: "flag empty-flag" }, say("empty output"));
    if (typeof reading.row.badge === "boolean") return make("span", { className: `flag ${reading.row.badge ? "bad" : "good"}` }, badgeWords(reading.row.badge));
    return make("span", { className: "flag" }, reading.isAligned ? data.statuses[reading.row.status] || say("no badge") : say("not aligned"));
  };
  const numbersOf = (reading) => {
    if (!reading.hasRow) return null;
    const { row } = reading;
    const facts = [[say("CER"), percent(row.cer)], [say("anchor"), number(row.anchor_score, 2)], [say("length ratio"), number(row.length_ratio ?? Infinity, 2)],
      [say("inserted"), percent(row.true_insertion_rate)], [isWitnessed ? say("unconfirmed") : say("invented"), percent(row.invented_rate)], [say("left out"), percent(row.omission_rate)]];
    return make("dl", { className: "numbers" }, ...facts.filter(([, value]) => value !== hallumeter.NO_VALUE).map(([name, value]) => make("div", {}, make("dt", {}, name), make("dd", {}, value))));
  };
  const remarksOf = (reading) => {
    const { row } = reading;
    const remarks = [
      row.exact === false && say("A long page, aligned by anchors: its error rates are upper bounds."),
      reading.hasRow && row.status !== "ok" && reading.text && say("Status: {status}.", { status: data.statuses[row.status] || row.status }),
      row.picarones && say("Picarones’ badge warns of this page."), reading.isRandom && say("Drawn at random."),
      ...Object.entries(reading.fields).map(([name, value]) => `${name}: ${value}`), ...reading.broken,
    ].filter(Boolean);
    return remarks.length ? make("ul", { className: "remarks" }, ...remarks.map((text) => words("li", "", "", ...seen(text)))) : null;
  };

  // Every engine that has read the page, as the table of pages knows them; some can be opened.
  const others = new Map();
  if (place("pages-data")) {
    const table = chapter.data("pages-data");
    table.page.forEach((page, row) => {
      const name = table.pages[page];
      if (!others.has(name)) others.set(name, []);
      others.get(name).push({ engine: table.engines[table.engine[row]], order: table.engine[row], cer: table.numbers.cer[row], badge: table.badge[row], position: table.reading[row] });
    });
    for (const list of others.values()) list.sort((a, b) => a.order - b.order);
  }
  const besides = async (reading) => {
    const known = others.get(reading.page);
    if (known?.some((other) => other.position !== null)) return known;
    const { entries } = await source.list({ search: "", behind: { page: reading.page } }, { order: "name", start: 0, count: 50 });
    return entries.map((other) => ({ engine: other.engine, cer: other.row.cer ?? null, badge: other.row.badge, position: other.position }));
  };
  const othersOf = (reading, known) => {
    if (known.length < 2) return null;
    const shown = known.filter((other) => other.position !== null);
    const hidden = known.length - shown.length;
    return make("div", { className: "others" }, make("span", { className: "others-title" }, say("This page by")),
      ...shown.map((other) => {
        const chip = make("button", { type: "button", className: "chip", "aria-pressed": String(other.position === reading.position), title: say("CER {cer}", { cer: percent(other.cer) }) },
          isolated(other.engine), other.badge ? make("span", { className: "warning", "aria-label": badgeWords(true), role: "img" }, "⚠") : null);
        chip.addEventListener("click", () => listing.open(other.position));
        return chip;
      }),
      hidden ? make("span", { className: "small" }, sayCount(hidden, "and {count} more, not in this file", "and {count} more, not in this file")) : null);
  };

  // ---------------------------------------------------------------- one page

  let current = null;
  let chosen = -1;
  const choose = (index, from) => {
    chosen = index;
    for (const node of place("reading").querySelectorAll("[data-stretch]")) {
      const isOwn = node.dataset.stretch.split(" ").map(Number).includes(index);
      node.classList.toggle("chosen", isOwn);
      if (isOwn && node !== from) bring(node);
    }
    const stretch = current.stretches[index];
    markPlaces(placesAt("reference", stretch?.referenceStart, stretch?.referenceEnd) || placesAt("response", stretch?.start, stretch?.end));
    tellChosen();
  };

  // Where lines stand on the image: ground truth knows best; what is invented stands where the engine says it read it.
  const WHOLE = 10_000;
  const placesAt = (side, start, end) => {
    if (start === null || start === undefined) return null;
    const found = current.places[side].filter(([first, last]) => first < end && start < Math.max(last, first + 1));
    return found.length ? found : null;
  };
  const markPlaces = (places) => {
    const frame = place("reading").querySelector(".zoom");
    if (!frame) return;
    for (const old of frame.querySelectorAll(".region")) old.remove();
    const marks = (places || []).map(([, , left, top, right, bottom]) => {
      const mark = make("span", { className: "region", "aria-hidden": "true" });
      Object.assign(mark.style, { left: `${(100 * left) / WHOLE}%`, top: `${(100 * top) / WHOLE}%`, width: `${(100 * (right - left)) / WHOLE}%`, height: `${(100 * (bottom - top)) / WHOLE}%` });
      return mark;
    });
    frame.append(...marks);
    if (!marks.length) return;
    const pane = frame.parentElement;
    const seenAt = () => {
      pane.scrollTop = marks[0].offsetTop - pane.clientHeight / 3;
      pane.scrollLeft = marks[0].offsetLeft - pane.clientWidth / 4;
    };
    // The picture may not have its size yet.
    const picture = frame.querySelector("img");
    if (picture.complete) seenAt();
    else picture.addEventListener("load", seenAt, { once: true });
  };
  // A row of the table of lines asks for a place in a text: the stretch there is chosen, and the line marked on the image.
  let asked = null;
  root.addEventListener("click", (event) => {
    const row = event.target.closest?.("[data-line], [data-response]");
    const link = event.target.closest?.("a.behind[data-behind]");
    if (!row || !link) return;
    const side = row.dataset.line ? "reference" : "response";
    const [start, end] = (row.dataset.line || row.dataset.response).split(" ").map(Number);
    asked = { ...JSON.parse(link.dataset.behind), side, start, end };
  }, { capture: true });
  const answer = () => {
    const { side, start, end } = asked;
    asked = null;
    const [first, last] = side === "reference" ? ["referenceStart", "referenceEnd"] : ["start", "end"];
    // What is wrong there comes before what was read, however long that is.
    const shared = (stretch) => (stretch[first] === null ? 0 : Math.min(end, stretch[last]) - Math.max(start, stretch[first])) * (stretch.kind === RUN ? 1 : 1e6);
    const best = current.stretches.reduce((most, stretch, index) => (shared(stretch) > (most < 0 ? 0 : shared(current.stretches[most])) ? index : most), -1);
    if (best >= 0) choose(best, null);
    markPlaces(placesAt(side, start, end));
  };
  const { tell, textOf, findSlips } = hallumeter.stretches({ kinds, choose });

  const titleOf = (reading, isResponse) => {
    if (isResponse) return isolated(reading.engine || say("engine"));
    if (reading.witness === "witness") return say("The witness’s reading");
    return reading.witness ? make("span", {}, say("Witness:"), " ", isolated(reading.witness)) : say("Ground truth");
  };
  const sideOf = (reading, side) => {
    const isResponse = side === "response";
    const text = isResponse ? reading.text : reading.reference;
    const cut = isResponse ? reading.cut : reading.referenceCut;
    const empty = isResponse ? say("The engine wrote nothing.") : say("There is no text to compare with.");
    const body = text || reading.stretches.length ? words("div", `words ${side}`, "", ...textOf(reading, side)) : make("p", { className: "empty" }, empty);
    return make("section", { className: `side ${side}-side`, "aria-label": isResponse ? say("What the engine wrote") : say("What it was compared with") },
      make("h4", {}, titleOf(reading, isResponse), cut ? make("span", { className: "small" }, " ", say("the first {shown} of {count} characters", { shown: grouped(points(text).length), count: grouped(cut) })) : null),
      make("div", { className: "pane", tabindex: "0" }, text ? null : make("p", { className: "empty" }, empty), text || isResponse ? body : null));
  };

  // The page itself. A click, or Enter, shows it as large as it is; the pane then scrolls both ways.
  const imageOf = (reading) => {
    if (!reading.image) return null;
    const picture = make("img", { src: reading.image, alt: say("Image of page {page}", { page: reading.page }), loading: "lazy", decoding: "async" });
    const zoom = make("button", { type: "button", className: "zoom", "aria-pressed": "false", "aria-label": say("Enlarge the image") }, picture);
    zoom.addEventListener("click", (event) => {
      const [box, isLarge] = [picture.getBoundingClientRect(), zoom.getAttribute("aria-pressed") !== "true"];
      const across = event.detail ? (event.clientX - box.left) / box.width : 0;
      const down = event.detail ? (event.clientY - box.top) / box.height : 0;
      zoom.setAttribute("aria-pressed", String(isLarge));
      const pane = zoom.parentElement;
      pane.scrollLeft = across * picture.offsetWidth - pane.clientWidth / 2;
      pane.scrollTop = down * picture.offsetHeight - pane.clientHeight / 2;
    });
    picture.addEventListener("error", () => zoom.replaceWith(make("p", { className: "empty" }, say("The image of this page cannot be shown."))));
    return make("section", { className: "page-image", "aria-label": say("Image of the page") },
      make("h4", {}, say("Image of the page")), make("div", { className: "pane", tabindex: "0" }, zoom));
  };

  const problems = () => current.stretches.flatMap((stretch, index) => (stretch.kind === RUN ? [] : [index]));
  const show = async (reading, { behind = {}, isStale = () => false } = {}) => {
    const known = await besides(reading);
    if (isStale()) return;
    current = reading;
    chosen = -1;
    findSlips(reading);
    place("reading").replaceChildren(...[
      make("h3", { className: "page-title" }, isolated(reading.page), badgeOf(reading)),
      numbersOf(reading), remarksOf(reading), othersOf(reading, known),
      make("div", { className: "walker" }, button(say("‹ Previous"), () => walk(-1)), button(say("Next ›"), () => walk(1)), make("output", { id: `${chapter.prefix}told`, role: "status" })),
      make("div", { className: reading.image ? "sides with-image" : "sides" }, imageOf(reading), sideOf(reading, "response"), sideOf(reading, "reference")),
    ].filter(Boolean));
    tellChosen();
    const pressed = place("reading").querySelector(".chip[aria-pressed=true]");
    if (pressed) pressed.parentElement.scrollTop = pressed.offsetTop - pressed.parentElement.offsetTop - pressed.offsetHeight;
    // What a link asked for is in sight at once.
    const wanted = reading.stretches.findIndex((stretch) => kinds[stretch.kind][0] === behind.kind);
    if (wanted >= 0) choose(wanted, null);
    if (asked && asked.page === reading.page && asked.engine === reading.engine) answer();
  };

  const tellChosen = () => {
    const marks = problems();
    const nothing = current.isAligned ? say("Nothing was invented or left out.") : say("Not aligned: no place is known.");
    const at = marks.indexOf(chosen);
    const told = chosen < 0 ? (marks.length ? sayCount(marks.length, "{count} mark", "{count} marks") : nothing) : tell(current.stretches[chosen]);
    place("told").textContent = at < 0 ? told : say("{number} of {total}: {what}", { number: at + 1, total: marks.length, what: told });
  };
  const bring = (node) => {
    const pane = node.closest(".pane");
    const [inner, outer] = [node.getBoundingClientRect(), pane.getBoundingClientRect()];
    // Only the pane scrolls, not the window: the mark that was chosen stays where it is.
    if (inner.top < outer.top || inner.bottom > outer.bottom) pane.scrollTop += inner.top - outer.top - outer.height / 4;
  };
  const walk = (direction) => {
    const marks = problems();
    if (!marks.length) return;
    const at = marks.indexOf(chosen);
    choose(marks[at < 0 ? (direction > 0 ? 0 : marks.length - 1) : (at + direction + marks.length) % marks.length], null);
  };

  // ---------------------------------------------------------------- start

  // Besides kinds of stretches, a reader can ask for pages with a badge.
  const byKind = (() => {
    const own = hallumeter.listing.choice(place("by-kind"), "kind");
    return { ...own, read: () => (own.read() === "badge" ? undefined : own.read()) };
  })();
  const byBadge = { node: place("by-kind"), key: "badge", read: () => (place("by-kind").value === '"badge"' ? true : undefined), clear: () => {} };
  const [byEngine, byPage] = ["engine", "page"].map((key) => hallumeter.listing.choice(place(`by-${key}`), key));
  const offer = (facets) => {
    const held = [["badge", badgeWords(true), facets.badge], ...kinds.map(([name, told], code) => [name, told, code === RUN ? 0 : facets.kinds[code]]),
      ["misread", say("misread words"), facets.misread], ["nothing", NOTHING, facets.nothing]];
    byKind.offer(held.filter(([, , holding]) => holding).map(([value, told, holding]) => [value, `${told} (${grouped(holding)})`]));
    for (const [filter, values] of [[byEngine, facets.engines], [byPage, facets.pages]]) {
      filter.node.closest("label").hidden = values.length > MANY;
      if (values.length <= MANY) filter.offer(values.map(([value]) => [value, value || say("not given")]));
    }
    hasManyEngines = facets.engines.length > 1;
  };
  const told = {
    none: () => say("No page matches."),
    shown: ({ matching, held }) => (data.source ? say("{count} of {total}", { count: grouped(matching), total: grouped(held) }) : say("{count} of {total} shown here", { count: grouped(matching), total: grouped(held) })),
    behind: ({ matching, held, total }) => (held < total
      ? sayCount(matching, "{count} of these is in this file, which holds {held} of {total} readings", "{count} of these are in this file, which holds {held} of {total} readings", { held: grouped(held), total: grouped(total) })
      : sayCount(matching, "{count} reading", "{count} readings")),
  };
  let listing = null;
  const start = async () => {
    const facets = await source.facets();
    offer(facets);
    listing = hallumeter.listing(chapter, { source, entryOf: lineOf, show, filters: [byKind, byBadge, byEngine, byPage], wordsOf, told, reader: place("reading"), narrow: 60 });
    root.addEventListener("open-reading", (event) => listing.open(event.detail).then(() => place("reading").scrollIntoView({ block: "start" })));
    if (facets.aligned === 0) {
      // Only the vocabulary was measured: there is nothing to mark, and the anchor score is all there is to go by.
      place("browser").parentElement.querySelector(".legend").hidden = true;
      place("order").value = "anchor";
    }
    place("browser").hidden = false;
    await listing.refresh();
  };
  start().catch((error) => {
    if (!data.source) throw error;
    place("browser").before(make("p", { className: "problem", role: "alert" }, say("The records could not be read: {problem}.", { problem: error.message })));
  });
});
