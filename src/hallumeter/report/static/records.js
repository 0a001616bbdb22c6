"use strict";
// The browser of responses: a list to choose from, the response with its findings marked, and one finding in full.
// Texts of models are put into the page as text only, never as HTML.
hallumeter.each("records-data", (chapter) => {
  const { make, browse } = hallumeter;
  const { place, instrument } = chapter;
  const data = chapter.data("records-data");
  const CLASSES = data.labels.map((label) => label.name.toLowerCase());
  const SUPPORTED = data.labels.findIndex((label) => label.name === "SUPPORTED");
  const UNSUPPORTED = data.labels.flatMap((label, code) => (["REFUTED", "NOT_ENOUGH_INFO"].includes(label.name) ? [code] : []));
  const CONTEXT = 90; // characters of a passage that are shown on each side of a quotation

  // Offsets count code points, as in the files of the run; strings here count UTF-16 units.
  const slice = (text, start, end) => Array.from(text).slice(start, end).join("");
  const plain = (text) => text.normalize("NFKC").toLocaleLowerCase();

  // Words that came from a model or a file: direction from their own letters, language unknown unless it was given.
  const words = (tag, className, language, ...children) => make(tag, { className, dir: "auto", lang: language }, ...children);

  const records = data.records.map((row, position) => {
    const pieces = row.t || null;
    const text = pieces ? pieces.map((piece) => (typeof piece === "string" ? piece : piece[0])).join("") : "";
    const findings = (row.f || []).map((finding) => ({ ...finding, v: finding.v || [], words: finding.s ? slice(text, ...finding.s) : finding.c || "" }));
    const counts = data.labels.map((_, code) => findings.filter((finding) => finding.l === code).length);
    const unsupported = UNSUPPORTED.reduce((sum, code) => sum + counts[code], 0);
    const decided = unsupported + counts[SUPPORTED];
    const fields = row.x || {};
    const given = [fields.lang, fields.language].find((value) => /^[a-z]{2,3}(-[a-z0-9]{2,8})*$/i.test(value || ""));
    return {
      position, pieces, text, findings, counts, unsupported, decided, fields,
      id: row.id, model: row.m, question: row.q, reference: row.g, evidence: row.e || [], broken: row.b || [],
      trace: row.a, isRandom: Boolean(row.w), language: given || "", unmeasured: findings.length - decided, haystack: null,
    };
  });

  const haystackOf = (record) => {
    record.haystack ??= plain([
      record.id, record.model, record.question, record.text, record.reference, ...Object.values(record.fields).map(String),
      ...record.findings.flatMap((finding) => [finding.words, ...finding.v.flatMap((verdict) => [verdict.r, verdict.n])]),
      ...record.evidence.map(([, number]) => data.passages[number]),
    ].filter(Boolean).join("\n"));
    return record.haystack;
  };

  const ORDERS = {
    given: () => 0,
    worst: (a, b) => b.unsupported - a.unsupported || share(b) - share(a) || b.unmeasured - a.unmeasured,
    share: (a, b) => share(b) - share(a) || b.unsupported - a.unsupported,
    unmeasured: (a, b) => b.unmeasured - a.unmeasured,
    name: (a, b) => a.id.localeCompare(b.id, undefined, { numeric: true }),
  };
  const share = (record) => (record.decided ? record.unsupported / record.decided : 0);

  // ---------------------------------------------------------------- the list

  const entryOf = (record) => {
    const strip = make("span", { className: "strip", "aria-hidden": "true" });
    record.counts.forEach((count, code) => {
      if (!count) return;
      const bar = make("i", { className: CLASSES[code] });
      bar.style.flexGrow = count;
      strip.append(bar);
    });
    const told = record.findings.length ? `${record.unsupported} of ${record.decided} unsupported` : "no claims";
    const button = make("button", { type: "button", className: "entry", "data-position": record.position },
      make("span", { className: "who" }, make("bdi", {}, instrument.answerName?.(record) ?? (record.model && !record.id.includes(record.model) ? `${record.id} · ${record.model}` : record.id)),
        make("span", { className: "share", "aria-label": told, title: told }, record.findings.length ? `${record.unsupported}/${record.decided}` : "–")),
      words("span", "what", record.language, record.question || record.text.slice(0, 200) || record.findings[0]?.words || ""), strip);
    button.addEventListener("click", () => {
      show(record);
      // On a narrow page the response stands below the list.
      if (matchMedia("(max-width: 48rem)").matches) place("record").scrollIntoView({ block: "start" });
    });
    return make("li", {}, button);
  };

  const refresh = () => {
    const wanted = plain(place("search").value).split(/\s+/).filter(Boolean);
    const label = place("by-label").value;
    const model = place("by-model").value;
    const shown = records.filter((record) =>
      (label === "" || record.counts[Number(label)] > 0) &&
      (model === "" || String(record.model ?? "") === model.slice(1)) &&
      wanted.every((word) => haystackOf(record).includes(word)));
    shown.sort((a, b) => ORDERS[place("order").value](a, b) || a.position - b.position);
    place("list").replaceChildren(...(shown.length ? shown.map(entryOf) : [make("li", { className: "empty" }, "No response matches.")]));
    place("list").scrollTop = 0;
    place("shown").textContent = `${shown.length} of ${records.length} shown here`;
    if (shown.length) show(shown[0]);
  };

  // ---------------------------------------------------------------- one response

  let chosen = null;

  // What every judge said, in a few words: what the pointer shows before a click shows all of it.
  const toldOf = (record, positions) => positions.map((position) => {
    const { v: verdicts, l: label } = record.findings[position];
    return verdicts.map((verdict) => [`${data.judges[verdict.j]}: ${data.labels[verdict.l].words}`, verdict.r, verdict.n].filter(Boolean).join(", ")).join("\n") || data.labels[label].words;
  }).join("\n");

  // Go to a place on the page, unless it is in sight, and let it light up.
  const reach = (node) => {
    if (!node) return;
    const { top, bottom } = node.getBoundingClientRect();
    // The finding may lie over the foot of the window; the menu lies over its head.
    const foot = getComputedStyle(place("inspector")).bottom === "0px" ? place("inspector").getBoundingClientRect().top : innerHeight;
    if (top < 56 || bottom > Math.min(foot, innerHeight)) node.scrollIntoView({ block: "center" });
    node.classList.remove("reached");
    void node.offsetWidth; // lets the light begin anew
    node.classList.add("reached");
  };
  const pressed = (node, act) => {
    node.addEventListener("click", act);
    node.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      act();
    });
    return node;
  };
  const toEvidence = () => reach(place("record").querySelector(".passage mark"));
  const toResponse = () => reach(place("record").querySelector(".chosen.pinpointed") || place("record").querySelector(".chosen"));

  const markOf = (record, [text, code, isPinpointed, positions], seen) => {
    // Every finding is reached once by the keyboard, and signed once, where a piece first shows its own label.
    const arriving = positions.filter((position) => !seen.reached.has(position));
    const signing = positions.filter((position) => !seen.signed.has(position) && record.findings[position].l === code);
    arriving.forEach((position) => seen.reached.add(position));
    signing.forEach((position) => seen.signed.add(position));
    const names = ["mark", CLASSES[code], isPinpointed ? "pinpointed" : "", signing.length ? "first" : ""].filter(Boolean).join(" ");
    const mark = make("span", { className: names, role: "button", tabindex: arriving.length ? "0" : "-1", "data-findings": positions.join(" "),
      title: toldOf(record, positions), "aria-controls": `${chapter.prefix}inspector`, "aria-description": `${data.labels[code].words}; press Enter for the verdicts` }, text);
    return pressed(mark, () => {
      inspect(positions);
      toEvidence();
    });
  };

  const responseOf = (record) => {
    if (!record.pieces) return make("p", { className: "empty" }, "The words of this response are not known; only the verdicts on it are.");
    if (!record.text) return make("p", { className: "empty" }, "The response is empty.");
    const seen = { reached: new Set(), signed: new Set() };
    return words("div", "words response", record.language, ...record.pieces.map((piece) => (typeof piece === "string" ? piece : markOf(record, piece, seen))));
  };

  const looseOf = (record) => {
    const loose = record.findings.flatMap((finding, position) => (finding.n ? [[finding, position]] : []));
    if (!loose.length) return [];
    return [make("h3", {}, place("record").dataset.loose || "Not aligned with the text"), make("ul", { className: "loose" }, ...loose.map(([finding, position]) => {
      const button = make("button", { type: "button", "data-findings": String(position) }, instrument.kinds ? make("span", { className: "kind" }, kindOf(finding)) : null,
        make("span", { className: `mark ${CLASSES[finding.l]} pinpointed first`, dir: "auto", lang: record.language }, finding.words || finding.id));
      button.addEventListener("click", () => {
        inspect([position]);
        toEvidence();
      });
      return make("li", {}, button);
    }))];
  };

  // An instrument may have words of its own for the kinds of its findings.
  const kindOf = (finding) => instrument.kinds?.[finding.k] || finding.k || "claim";

  const passageOf = (record, [name, number, characters], position) => {
    const text = data.passages[number];
    const cut = characters > Array.from(text).length ? `, the first ${Array.from(text).length.toLocaleString("en")} of ${characters.toLocaleString("en")} characters` : "";
    const details = make("details", { className: "passage", "data-passage": position },
      make("summary", {}, make("bdi", {}, name), cut), words("div", "words", record.language, text));
    details.open = text.length < 1500 || record.evidence.length === 1;
    return details;
  };

  const factsOf = (record) => {
    const facts = [["response", record.id], ["model", record.model], ...Object.entries(record.fields)];
    return make("p", { className: "facts" },
      ...facts.filter(([, value]) => value !== undefined).map(([name, value]) => make("span", {}, make("span", {}, `${name} `), make("bdi", {}, String(value)))),
      record.isRandom ? make("span", {}, "drawn at random") : null);
  };

  const show = (record) => {
    chosen = record;
    for (const button of place("list").querySelectorAll(".entry")) button.setAttribute("aria-current", String(Number(button.dataset.position) === record.position));
    // What an instrument puts before the question and after the response.
    const { head = [factsOf(record)], foot = [] } = instrument.besideAnswer?.(record, records, show) || {};
    const { response = "Response", evidence = "Evidence" } = place("record").dataset;
    place("record").replaceChildren(
      ...head.filter(Boolean),
      ...(record.broken.length ? [make("ul", { className: "broken" }, ...record.broken.map(([, judge, text]) => words("li", "", record.language, ...(judge ? [make("bdi", {}, judge), ", "] : []), text)))] : []),
      ...(record.question ? [make("h3", {}, "Question"), words("p", "words asked", record.language, record.question)] : []),
      make("h3", {}, response), responseOf(record), ...looseOf(record), ...foot,
      ...(record.reference ? [make("h3", {}, "Reference"), words("p", "words", record.language, record.reference)] : []),
      ...(record.evidence.length ? [make("h3", {}, evidence), ...record.evidence.map((passage, position) => passageOf(record, passage, position))] : []));
    const worst = record.findings.reduce((best, finding, position) => (best < 0 || finding.l < record.findings[best].l ? position : best), -1);
    if (worst < 0) place("inspector").replaceChildren(make("p", { className: "empty" }, "No claim was found in this response."));
    else inspect([worst]);
  };

  // ---------------------------------------------------------------- one finding

  const quoteOf = (record, [position, start, end, given, name]) => {
    const passage = record.evidence[position];
    const text = passage ? data.passages[passage[1]] : "";
    const isPlaced = passage && start !== null;
    const letters = isPlaced ? Array.from(text) : [];
    const part = (from, to) => letters.slice(Math.max(0, from), to).join("");
    const body = isPlaced
      ? [start > CONTEXT ? "…" : "", part(start - CONTEXT, start),
        pressed(make("mark", { role: "button", tabindex: "0", "aria-description": "go to it in the evidence" }, part(start, end)), () => reach(evidenceMark(position, start))),
        part(end, end + CONTEXT), letters.length > end + CONTEXT ? "…" : ""]
      : [given || "no words were quoted"];
    return make("blockquote", {}, words("div", "words", record.language, ...body),
      given && isPlaced ? words("div", "words", record.language, given) : null,
      make("cite", {}, "evidence ", make("bdi", {}, passage ? passage[0] : name || ""), passage ? "" : " (not in this record)"));
  };

  const reasonOf = (code) => (code === undefined ? undefined : [make("code", {}, code), Object.hasOwn(data.reasons, code) ? ` ${data.reasons[code]}` : ""]);

  const verdictOf = (record, verdict) => {
    const pointed = verdict.s && pressed(make("span", { className: "pointed", role: "button", tabindex: "0", dir: "auto", "aria-description": "go to it in the response" }, slice(record.text, ...verdict.s)), toResponse);
    const facts = [["reason", reasonOf(verdict.r)], ["points to", pointed], ["P(unsupported)", verdict.p], ["confidence", verdict.c],
      ["cost, USD", verdict.u === undefined ? undefined : String(verdict.u)]].filter(([, value]) => value !== undefined);
    return make("div", { className: "verdict" },
      make("p", {}, make("span", { className: `tag ${CLASSES[verdict.l]}` }, data.labels[verdict.l].words), " ",
        make("bdi", { className: "judge" }, data.judges[verdict.j])),
      facts.length ? make("dl", {}, ...facts.flatMap(([name, value]) => [make("dt", {}, name), make("dd", {}, ...(typeof value === "string" ? [make("bdi", {}, value)] : [value].flat()))])) : null,
      verdict.n ? words("p", "note", record.language, verdict.n) : null,
      ...(verdict.q || []).map((quote) => quoteOf(record, quote)));
  };

  const findingOf = (record, finding) => [
    make("h3", {}, kindOf(finding), " ", make("bdi", {}, finding.id)),
    words("p", "claim words", record.language, finding.words || "The words of this claim are not known."),
    finding.v.length ? null : make("p", { className: "verdict" }, make("span", { className: `tag ${CLASSES[finding.l]}` }, data.labels[finding.l].words), " the measurement failed"),
    finding.v.length > 1 && !finding.v.some((verdict) => data.judges[verdict.j] === data.consensus) ? make("p", {}, "counts as ", make("span", { className: `tag ${CLASSES[finding.l]}` }, data.labels[finding.l].words)) : null,
    ...finding.v.map((verdict) => verdictOf(record, verdict)),
    ...record.broken.filter(([claim]) => claim === finding.id).map(([, judge, text]) => make("div", { className: "verdict" },
      make("p", {}, make("span", { className: "tag no_verdict" }, "Failed"), " ", make("bdi", { className: "judge" }, judge || "")), words("p", "note", "", text))),
  ].filter((node) => node !== null);

  const evidenceMark = (position, start) => {
    const passage = place("record").querySelector(`.passage[data-passage="${position}"]`);
    // Quotations that overlap are one mark, or two that touch: the last that begins before.
    return [...passage.querySelectorAll("mark")].findLast((mark) => Number(mark.dataset.start) <= start);
  };

  const markQuotes = (record, findings) => {
    for (const details of place("record").querySelectorAll(".passage")) {
      const position = Number(details.dataset.passage);
      const spans = findings.flatMap((finding) => finding.v.flatMap((verdict) => verdict.q || []))
        .filter((quote) => quote[0] === position && quote[1] !== null).map(([, start, end]) => [start, end]).sort((a, b) => a[0] - b[0]);
      const letters = spans.length ? Array.from(data.passages[record.evidence[position][1]]) : null;
      const body = details.querySelector(".words");
      if (!letters) { body.textContent = data.passages[record.evidence[position][1]]; continue; }
      const parts = [];
      let done = 0;
      for (const [start, end] of spans) {
        if (end <= done) continue;
        const from = Math.max(start, done);
        const mark = make("mark", { role: "button", tabindex: "0", "data-start": start, "aria-description": "go to the response" }, letters.slice(from, end).join(""));
        parts.push(letters.slice(done, from).join(""), pressed(mark, toResponse));
        done = end;
      }
      body.replaceChildren(...parts, letters.slice(done).join(""));
      details.open = true;
    }
  };

  const inspect = (positions) => {
    const findings = positions.map((position) => chosen.findings[position]);
    for (const node of place("record").querySelectorAll("[data-findings]")) {
      const own = node.dataset.findings.split(" ").map(Number);
      node.classList.toggle("chosen", own.some((position) => positions.includes(position)));
    }
    place("inspector").replaceChildren(...findings.flatMap((finding) => findingOf(chosen, finding)));
    markQuotes(chosen, findings);
    place("inspector").scrollTop = 0;
  };

  // ---------------------------------------------------------------- start

  data.labels.forEach((label, code) => {
    const holding = records.filter((record) => record.counts[code]).length;
    if (holding) place("by-label").append(make("option", { value: code }, `${label.words} (${holding})`));
  });
  const models = [...new Set(records.map((record) => record.model ?? ""))].sort((a, b) => a.localeCompare(b));
  // The value begins with a letter of its own, so that an unnamed model is not taken for "any".
  models.forEach((model) => place("by-model").append(make("option", { value: `=${model}` }, model || "not given")));
  for (const name of ["by-label", "by-model", "order"]) place(name).addEventListener("change", refresh);
  place("search").addEventListener("input", refresh);
  browse(place("list"), place("browser").querySelector(".controls"));
  place("browser").hidden = false;
  refresh();
});
