"use strict";
// The browser of responses: a list to choose from, the response with its findings marked, and one finding in full.
hallumeter.each("records-data", (chapter) => {
  const { make, say, sayCount, grouped } = hallumeter;
  const { LONG, seen, short, words, isolated, pressed, button } = hallumeter.texts;
  const { readBlock, readEntry, entryOf, prepare, findingsBehind, isOnFinding, certaintyOf, isUnsupported, wordsOf, ordersOf, facetsOf } = hallumeter.records;
  const { place, instrument } = chapter;
  const data = chapter.data("records-data");
  for (const label of data.labels) label.className = label.name === "NONE" ? "no_verdict" : label.name.toLowerCase();
  const AROUND = 1_000; // characters beside a finding that lies beyond the beginning of a long response

  // What only an instrument knows of its records, such as the way of a sentence through its agents, it tells itself.
  const meant = (query) => {
    const test = prepare(query);
    const { trace } = query.behind || {};
    return trace && instrument.meets ? (record) => test(record) && instrument.meets(record, trace) : test;
  };
  const source = data.source
    ? hallumeter.sources.server({ total: data.total, readEntry: readEntry(data.labels), readOne: (block, position) => ({ ...readBlock(block)[0], position }) })
    : hallumeter.sources.inline({ items: readBlock(data), total: data.total, entryOf, prepare: meant, orders: ordersOf(data), facets: facetsOf(data.labels) });

  // ---------------------------------------------------------------- the list

  const nameOf = (entry) => instrument.answerName?.(entry) ?? (entry.model && !entry.id.includes(entry.model) ? `${entry.id} · ${entry.model}` : entry.id);
  const lineOf = (entry) => {
    const strip = make("span", { className: "strip", "aria-hidden": "true" });
    entry.counts.forEach((count, code) => {
      if (!count) return;
      const bar = make("i", { className: data.labels[code].className });
      bar.style.flexGrow = count;
      strip.append(bar);
    });
    const told = entry.claims ? say("{count} of {total} unsupported", { count: grouped(entry.unsupported), total: grouped(entry.decided) }) : say("no claims");
    return [make("span", { className: "who" }, isolated(nameOf(entry)),
      make("span", { className: "share", "aria-label": told, title: told }, entry.claims ? `${grouped(entry.unsupported)}/${grouped(entry.decided)}` : "–")),
    words("span", "what", entry.language, ...seen(entry.words)), strip];
  };

  // ---------------------------------------------------------------- one response

  let chosen = null; // the record that is shown
  let places = []; // of its findings that are shown
  let sought = []; // of its findings that a link meant
  let ranges = []; // of a long response that are in the page
  let latest = null; // the mark that was pressed

  const kindOf = (finding) => instrument.kinds?.[finding.kind] || (finding.kind === "claim" ? say("claim") : finding.kind);

  // What every judge said, in a few words: what the pointer shows before a click shows all of it.
  const toldOf = (record, positions) => positions.map((position) => {
    const { verdicts, code } = record.findings[position];
    return verdicts.map((verdict) => [`${verdict.judge}: ${data.labels[verdict.code].words}`, verdict.reason, verdict.note].filter(Boolean).join(", ")).join("\n") || data.labels[code].words;
  }).join("\n");

  // Go to a place on the page, unless it is in sight, and let it light up.
  const GAP = 10; // pixels that stay free below the menu
  let going = new AbortController(); // to the latest place
  const reach = (node) => {
    if (!node) return;
    // How far to scroll: the place goes into the middle of what the menu and a finding at the foot of the window leave free.
    const way = () => {
      const { top, bottom } = node.getBoundingClientRect();
      const finding = place("inspector");
      const menu = (chapter.root.querySelector("nav")?.offsetHeight ?? 46) + GAP;
      const foot = getComputedStyle(finding).bottom === "0px" ? Math.min(finding.getBoundingClientRect().top, innerHeight) : innerHeight;
      return top >= menu && bottom <= foot ? 0 : Math.min((top + bottom - menu - foot) / 2, top - menu);
    };
    going.abort();
    going = new AbortController();
    const { signal } = going;
    // Another scroll may end this one, and what is laid out on the way may move the place: look again at the end,
    // unless the reader has gone elsewhere.
    addEventListener("scrollend", () => (way() ? scrollBy({ top: way(), behavior: "instant" }) : going.abort()), { signal });
    for (const act of ["wheel", "touchmove", "pointerdown", "keydown"]) addEventListener(act, () => going.abort(), { signal, capture: true, passive: true });
    scrollBy({ top: way() });
    node.classList.remove("reached");
    void node.offsetWidth; // lets the light begin anew
    node.classList.add("reached");
  };
  const toEvidence = () => reach(place("record").querySelector(".passage mark"));
  const toResponse = () => reach(place("record").querySelector(".chosen.pinpointed") || place("record").querySelector(".chosen"));
  const evidenceMark = (position, start) => {
    const passage = place("record").querySelector(`.passage[data-passage="${position}"]`);
    // Quotations that overlap are one mark, or two that touch: the last that begins before.
    return [...passage.querySelectorAll("mark")].findLast((mark) => Number(mark.dataset.start) <= start);
  };

  // The response in pieces that the same findings cover from end to end, worst label first where they overlap.
  const segmentsOf = (record) => {
    const extents = record.findings.flatMap((finding) => {
      const pointed = finding.verdicts.filter((verdict) => verdict.span && verdict.code === finding.code).map((verdict) => ({ span: verdict.span, finding, isPinpointed: true }));
      return finding.span ? [...pointed, { span: finding.span, finding, isPinpointed: !pointed.length }] : pointed;
    }).sort((a, b) => a.span[0] - b.span[0]);
    const cuts = [...new Set([0, record.letters.length, ...extents.flatMap(({ span }) => span)])].sort((a, b) => a - b);
    let active = [];
    let next = 0;
    return cuts.slice(0, -1).map((start, index) => {
      active = active.filter(({ span }) => span[1] > start);
      while (next < extents.length && extents[next].span[0] <= start) { active.push(extents[next]); next += 1; }
      const covering = [...new Set(active.map(({ finding }) => finding.place))].sort((a, b) => a - b);
      const code = covering.reduce((worst, position) => Math.min(worst, SEVERITY.indexOf(record.findings[position].label)), SEVERITY.length);
      const isPinpointed = active.some((extent) => extent.isPinpointed && extent.finding.label === SEVERITY[code]);
      return { start, end: cuts[index + 1], covering, label: SEVERITY[code], isPinpointed };
    });
  };
  const SEVERITY = ["REFUTED", "NOT_ENOUGH_INFO", "UNDECIDED", "SUPPORTED", "NONE"];

  const markOf = (record, piece, text, known) => {
    // Every finding is reached once by the keyboard, and signed once, where a piece first shows its own label.
    const arriving = piece.covering.filter((position) => !known.reached.has(position));
    const signing = piece.covering.filter((position) => !known.signed.has(position) && record.findings[position].label === piece.label);
    arriving.forEach((position) => known.reached.add(position));
    signing.forEach((position) => known.signed.add(position));
    const label = data.labels.find(({ name }) => name === piece.label);
    const names = ["mark", label.className, piece.isPinpointed ? "pinpointed" : "", signing.length ? "first" : ""].filter(Boolean).join(" ");
    const mark = make("span", { className: names, role: "button", tabindex: arriving.length ? "0" : "-1", "data-findings": piece.covering.join(" "),
      title: toldOf(record, piece.covering), "aria-controls": `${chapter.prefix}inspector`, "aria-description": say("{label}; press Enter for the verdicts", { label: label.words }) }, ...seen(text));
    return pressed(mark, () => {
      latest = mark;
      inspect(piece.covering);
      toEvidence();
    });
  };

  // What is left out of a long response, between or behind the parts that are shown.
  const gapOf = (record, from, to) => button(sayCount(to - from, "Show {count} more character", "Show {count} more characters"), () => {
    ranges = [[0, record.letters.length]];
    fillResponse(record);
    inspect(places);
  }, { className: "plain-button more" });
  const fillResponse = (record) => {
    const known = { reached: new Set(), signed: new Set() };
    const nodes = [];
    let done = 0;
    for (const [from, to] of ranges) {
      if (from > done) nodes.push(" ", gapOf(record, done, from), " ");
      for (const piece of record.segments) {
        const [start, end] = [Math.max(piece.start, from), Math.min(piece.end, to)];
        if (start >= end) continue;
        const text = record.letters.slice(start, end);
        nodes.push(...(piece.covering.length ? [markOf(record, piece, text, known)] : seen(text)));
      }
      done = to;
    }
    if (done < record.letters.length) nodes.push(" ", gapOf(record, done, record.letters.length));
    place("record").querySelector(".response").replaceChildren(...nodes);
  };
  const spanOf = (finding) => finding.verdicts.find((verdict) => verdict.span && verdict.code === finding.code)?.span || finding.span;
  // Takes the place of a finding into a long response that shows only its beginning.
  const uncover = (record, position) => {
    const span = spanOf(record.findings[position]);
    if (!span || place("record").querySelector(`.response [data-findings~="${position}"]`)) return;
    const wanted = [[0, LONG], [Math.max(0, span[0] - AROUND), Math.min(record.letters.length, Math.min(span[1], span[0] + LONG) + AROUND)]];
    ranges = wanted[1][0] <= LONG ? [[0, wanted[1][1]]] : wanted;
    fillResponse(record);
  };

  const responseOf = (record) => {
    if (!record.isKnown) return make("p", { className: "empty" }, say("The words of this answer are not known; only the verdicts on it are."));
    if (!record.text) return make("p", { className: "empty" }, say("The answer is empty."));
    return words("div", "words response", record.language);
  };

  const looseOf = (record) => {
    const loose = record.findings.filter((finding) => finding.isLoose);
    if (!loose.length) return [];
    return [make("h3", {}, place("record").dataset.loose), make("ul", { className: "loose" }, ...loose.map((finding) => {
      const node = make("button", { type: "button", "data-findings": String(finding.place) }, instrument.kinds ? make("span", { className: "kind" }, kindOf(finding)) : null,
        make("span", { className: `mark ${data.labels[finding.code].className} pinpointed first`, dir: "auto", lang: record.language }, ...seen(finding.words.slice(0, 1_000) || finding.id)));
      node.addEventListener("click", () => {
        latest = node;
        inspect([finding.place]);
        toEvidence();
      });
      return make("li", {}, node);
    }))];
  };

  const passageOf = (record, { name, text, characters }, position) => {
    const cut = characters ? say("the first {shown} of {count} characters", { shown: grouped(hallumeter.texts.points(text).length), count: grouped(characters) }) : "";
    const details = make("details", { className: "passage", "data-passage": position },
      make("summary", {}, isolated(name), cut ? `, ${cut}` : ""), words("div", "words", record.language, ...seen(text)));
    details.open = text.length < 1500 || record.evidence.length === 1;
    return details;
  };
  const factsOf = (record) => {
    const facts = [[say("answer"), record.id], [say("model"), record.model], ...Object.entries(record.fields)];
    return make("p", { className: "facts" },
      ...facts.filter(([, value]) => value !== null && value !== undefined).map(([name, value]) => make("span", {}, isolated(name, "fact-name"), " ", isolated(value))),
      record.isRandom ? make("span", {}, say("drawn at random")) : null);
  };
  const brokenOf = (record) => (record.broken.length
    ? [make("ul", { className: "broken" }, ...record.broken.map(([, judge, text]) => words("li", "", record.language, ...(judge ? [isolated(judge), ", "] : []), ...short(text, 2_000))))] : []);

  // The finding that is looked at first: the most certain of the unsupported, else the one with the worst label.
  const mostCertain = (record) => {
    const wrong = record.findings.filter(isUnsupported);
    const sure = (finding) => certaintyOf(finding, data.consensus);
    const order = wrong.length ? (a, b) => sure(b) - sure(a) || a.code - b.code : (a, b) => a.code - b.code;
    return (wrong.length ? wrong : record.findings).toSorted((a, b) => order(a, b) || a.place - b.place).slice(0, 1).map((finding) => finding.place);
  };

  const show = async (record, { behind = listing.query().behind, isStale = () => false } = {}) => {
    const all = instrument.besideAnswer ? await source.beside(record, instrument.besideField) : [];
    if (isStale()) return;
    chosen = record;
    listing.mark(record.position);
    record.segments ??= segmentsOf(record);
    ranges = [[0, record.letters.length > 1.5 * LONG ? LONG : record.letters.length]];
    const isOne = behind.claim !== undefined; // a link to one finding leaves the others where they are
    sought = isOnFinding(behind) && !isOne ? findingsBehind(record, behind) : [];
    latest = null;
    // What an instrument puts before the question and after the response.
    const { head = [factsOf(record)], foot = [] } = instrument.besideAnswer?.(record, all, (other) => show(other)) || {};
    const { response, evidence } = place("record").dataset;
    place("record").replaceChildren(
      ...head.filter(Boolean), ...brokenOf(record),
      ...(record.question ? [make("h3", {}, say("Question")), words("p", "words asked", record.language, ...short(record.question, 5_000))] : []),
      make("h3", {}, response), responseOf(record), ...looseOf(record), ...foot,
      ...(record.reference ? [make("h3", {}, say("Reference")), words("p", "words", record.language, ...short(record.reference, 5_000))] : []),
      ...(record.evidence.length ? [make("h3", {}, evidence), ...record.evidence.map((passage, position) => passageOf(record, passage, position))] : []));
    if (record.text) fillResponse(record);
    const first = isOne ? findingsBehind(record, behind) : sought;
    inspect(first.length ? first.slice(0, 1) : mostCertain(record));
  };

  // ---------------------------------------------------------------- one finding

  const markQuotes = (record, findings) => {
    for (const details of place("record").querySelectorAll(".passage")) {
      const position = Number(details.dataset.passage);
      const { text } = record.evidence[position];
      const spans = findings.flatMap((finding) => finding.verdicts.flatMap((verdict) => verdict.quotes))
        .filter((quote) => quote[0] === position && quote[1] !== null).map(([, start, end]) => [start, end]).sort((a, b) => a[0] - b[0]);
      const body = details.querySelector(".words");
      if (!spans.length) { body.replaceChildren(...seen(text)); continue; }
      const letters = hallumeter.texts.points(text);
      const parts = [];
      let done = 0;
      for (const [start, end] of spans) {
        if (end <= done) continue;
        const from = Math.max(start, done);
        const mark = make("mark", { role: "button", tabindex: "0", "data-start": start, "aria-description": say("go to the answer") }, ...seen(letters.slice(from, end)));
        parts.push(...seen(letters.slice(done, from)), pressed(mark, toResponse));
        done = end;
      }
      body.replaceChildren(...parts, ...seen(letters.slice(done)));
      details.open = true;
    }
  };

  const inspector = hallumeter.inspector(chapter, {
    data, source, kindOf,
    actions: { toResponse, toQuote: (position, start) => reach(evidenceMark(position, start)), toMark: () => (latest || place("record").querySelector(".chosen"))?.focus({ preventScroll: true }) },
  });
  // From one finding to the next, in the order of the response: through those that a link meant, else through the
  // unsupported ones, else through all.
  const walkOf = () => {
    const wrong = chosen.findings.filter(isUnsupported);
    const order = sought.length ? sought.slice() : (wrong.length ? wrong : chosen.findings).map((finding) => finding.place);
    const startOf = (position) => spanOf(chosen.findings[position])?.[0] ?? Infinity;
    order.sort((a, b) => startOf(a) - startOf(b) || a - b);
    const at = order.indexOf(places[0]);
    return { at, total: order.length, isSought: sought.length > 0, isWrong: wrong.length > 0, step: (direction) => {
      inspect([order[at < 0 ? (direction < 0 ? order.length - 1 : 0) : (at + direction + order.length) % order.length]]);
      toResponse();
    } };
  };
  const inspect = (positions) => {
    places = positions;
    for (const position of positions) uncover(chosen, position);
    for (const node of place("record").querySelectorAll("[data-findings]")) {
      const own = node.dataset.findings.split(" ").map(Number);
      node.classList.toggle("chosen", own.some((position) => positions.includes(position)));
      node.classList.toggle("sought", own.some((position) => sought.includes(position)));
    }
    inspector.show(chosen, positions, walkOf());
    markQuotes(chosen, positions.map((position) => chosen.findings[position]));
  };

  // ---------------------------------------------------------------- filters

  const { choice } = hallumeter.listing;
  const filters = [["by-label", "label"], ["by-model", "model"], ["by-reason", "reason"], ["by-kind", "kind"]].map(([name, key]) => choice(place(name), key));
  const [byLabel, byModel, byReason, byKind] = filters;
  const offerMore = (filter, values) => {
    filter.node.closest("label").hidden = values.length < 2;
    if (values.length > 1) filter.offer(values);
  };
  const fieldFilter = (name, values) => {
    const node = make("select", {}, make("option", { value: "" }, say("any")));
    place("more-filters").querySelector(".more-controls").append(make("label", {}, isolated(name), node));
    const filter = choice(node, "fields", { name });
    filter.offer(values.map(([value, holding]) => [value, `${value} (${grouped(holding)})`]));
    return filter;
  };
  const offer = (facets) => {
    byLabel.offer(data.labels.flatMap((label, code) => (facets.labels[code] ? [[label.name, `${label.words} (${grouped(facets.labels[code])})`]] : [])));
    byModel.offer((facets.models || []).map(([model]) => [model, model ?? say("not given")]));
    const held = (values, told) => (values || []).map(([value, holding]) => [value, `${told(value)} (${grouped(holding)})`]);
    offerMore(byReason, held(facets.reasons, (code) => code));
    offerMore(byKind, held(facets.kinds, (kind) => kindOf({ kind })));
    filters.push(...Object.entries(facets.fields || {}).map(([name, values]) => fieldFilter(name, values)));
    place("more-filters").hidden = !place("more-filters").querySelector("label:not([hidden])");
    const panel = data.judges.filter((judge) => judge !== data.consensus);
    if (panel.length < 2) place("order").querySelector("[value=disagreement]")?.remove();
  };

  const told = {
    none: () => say("No answer matches."),
    shown: ({ matching, held }) => (data.source ? say("{count} of {total}", { count: grouped(matching), total: grouped(held) }) : say("{count} of {total} shown here", { count: grouped(matching), total: grouped(held) })),
    behind: ({ matching, held, total }) => (held < total
      ? sayCount(matching, "{count} of these is in this file, which holds {held} of {total} answers", "{count} of these are in this file, which holds {held} of {total} answers", { held: grouped(held), total: grouped(total) })
      : sayCount(matching, "{count} answer", "{count} answers")),
  };
  let listing = null;
  const start = async () => {
    const facets = await source.facets();
    offer(facets);
    listing = hallumeter.listing(chapter, {
      source, entryOf: lineOf, show, clear: () => place("inspector").replaceChildren(), filters, told, reader: place("record"), narrow: 48, arrive: toResponse,
      wordsOf: (behind) => wordsOf(behind, { labels: data.labels, kinds: instrument.kinds, traceWords: instrument.traceWords }),
    });
    place("browser").hidden = false;
    await listing.refresh();
  };
  const fail = (error) => place("browser").before(make("p", { className: "problem", role: "alert" }, say("The records could not be read: {problem}.", { problem: error.message })));
  start().catch((error) => {
    if (!data.source) throw error;
    fail(error);
  });
});
