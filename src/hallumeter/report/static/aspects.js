"use strict";
// How a sentence went through the agents: what each said, what became of it, and where errors came and went.
(() => {
  const { make, say, number } = hallumeter;
  const SIGNS = { positive: "+", negative: "−", neutral: "○", mixed: "±" };
  const STATUSES = ["absent", "right", "wrong"];
  const REMOVABLE = ["out_of_text", "misplaced", "spurious"]; // repaired when their aspect is dropped
  const GROUPS = { ungrounded: ["out_of_text", "misplaced"] };
  const kinds = { aspect: say("aspect of stage 1"), final_aspect: say("aspect of the result") };

  // ---------------------------------------------------------------- reading the short form

  const deedOf = (error, was, became) => {
    if (became === "wrong") return was === "right" ? "broken" : "introduced";
    if (was !== "wrong") return null;
    return became === "right" || REMOVABLE.includes(error) ? "repaired" : "lost";
  };

  // The words for codes are the same for all runs of a page.
  let words = null;
  hallumeter.each("traces-data", (chapter) => { words ??= chapter.data("traces-data"); });

  const readTrace = (way, text) => {
    const letters = Array.from(text);
    const slice = (start, end) => letters.slice(start, end).join("");
    const named = (entry) => {
      if (typeof entry === "string") return { term: entry };
      const [start, end] = entry.slice(-2);
      return { term: entry.length === 3 ? entry[0] : slice(start, end), start, end, isAstray: entry.length === 3 };
    };
    const names = way.n.map((entry, name) => ({ name, ...named(entry) }));
    const quoted = (value) => (Array.isArray(value) ? slice(...value) : value ? way.w[value - 1] : "");
    const coded = (value) => (typeof value === "string" ? { code: value, words: value } : value ? { code: words.polarities[value - 1][0], words: words.polarities[value - 1][1] } : null);
    const step = (value) => (typeof value === "string" ? { code: value, words: value } : { code: words.by[value][0], words: words.by[value][1] });
    const aspect = (entry) => (typeof entry === "number" ? { ...names[entry], isJudged: false, polarity: null }
      : { ...names[entry[0]], isJudged: true, polarity: coded(entry[1]), confidence: entry[2] || null, evidence: quoted(entry[3]) });
    const remark = ([asks, about = [], value = 0, why = 0, evidence = 0, outcome = 0, reason = 0]) => ({
      asks: way.w[asks], about: about.map((name) => names[name]), value: coded(value), why: quoted(why), evidence: quoted(evidence),
      outcome: ["", "applied", "ignored"][outcome], reason: quoted(reason),
    });
    const error = ([kind, name, polarity = 0, gold = 0, moves = [], flagged = [], ignored = []]) => {
      const [code, told] = words.errors[kind];
      let was = "absent";
      const changes = moves.map(([by, status]) => {
        const became = STATUSES[status];
        const change = { by: step(by), was, became, deed: deedOf(code, was, became) };
        was = became;
        return change;
      });
      return { code, words: told, aspect: names[name], polarity: coded(polarity), gold: coded(gold), changes, doesStand: was === "wrong",
        flagged: flagged.map(step), ignored: ignored.map(([by, why]) => ({ by: step(by), reason: way.w[why] })) };
    };
    const [label, confidence, rules = [], stage, why] = way.m || [];
    return {
      steps: way.s.map(([by, state = 0, ...remarks]) => ({ ...step(by), aspects: state ? state.map(aspect) : null, remarks: remarks.map(remark) })),
      errors: way.u ? way.u.map(error) : null,
      gold: way.g ? way.g.map(aspect) : null,
      moderator: way.m ? { label: coded(label), confidence, rules, stage: quoted(stage), why: quoted(why) } : null,
      notes: way.o || [], untold: way.x || [], failed: way.f,
    };
  };
  const traceOf = (record) => {
    record.told ??= record.trace ? readTrace(record.trace, record.text) : null;
    return record.told;
  };

  // ---------------------------------------------------------------- small pieces

  const isolated = (text) => make("bdi", {}, text);
  const termOf = (aspect, language) => (aspect.term ? make("bdi", { className: "term", lang: language }, aspect.term) : make("i", { className: "term" }, say("not named")));
  const placeOf = ({ start, end }) => (start === undefined ? say("no place given") : `${start}–${end}`);
  const polarityOf = (polarity) => make("span", { className: "polarity" },
    polarity && SIGNS[polarity.code] ? make("span", { className: "sign", "aria-hidden": "true" }, SIGNS[polarity.code]) : null, isolated(polarity ? polarity.words : say("no polarity")));
  const chipOf = (aspect, language) => make("span", { className: "aspect", title: placeOf(aspect) }, termOf(aspect, language), aspect.isJudged ? polarityOf(aspect.polarity) : null);
  const quoteOf = (text, language) => make("q", { dir: "auto", lang: language }, text);
  const reasonOf = (reason) => {
    const [code, ...rest] = reason.split(": ");
    const isKnown = Object.hasOwn(words.reasons, code);
    const short = isKnown ? words.reasons[code] : rest.length ? reason : code.replaceAll("_", " ");
    return make("span", { title: rest.length ? reason : undefined }, isolated(short));
  };
  const outcomeOf = ({ outcome, reason }) => (outcome ? make("span", { className: `outcome ${outcome}` }, outcome === "applied" ? say("applied") : say("ignored"),
    ...(reason ? [": ", reasonOf(reason)] : [])) : null);

  // ---------------------------------------------------------------- what a step said and did

  const isNamed = (remark, text) => remark.about.some((aspect) => aspect.term === text);
  const remarkOf = (remark, language) => {
    const asks = Object.hasOwn(words.asks, remark.asks) ? words.asks[remark.asks] : remark.asks.replaceAll("_", " ");
    return make("li", {}, make("span", { className: "asks" }, isolated(asks)), ...remark.about.map((aspect) => make("span", { className: "aspect" }, termOf(aspect, language))),
      remark.value && !isNamed(remark, remark.value.words) ? polarityOf(remark.value) : null, remark.evidence && !isNamed(remark, remark.evidence) ? quoteOf(remark.evidence, language) : null,
      remark.why ? make("span", { className: "why", dir: "auto" }, isolated(remark.why)) : null, outcomeOf(remark));
  };

  // What a step changed; an aspect is the same where its place or its term is.
  const changesOf = (before, after) => {
    const left = [...before];
    const take = (test) => { const at = left.findIndex(test); return at < 0 ? null : left.splice(at, 1)[0]; };
    const pairs = after.map((aspect) => [aspect, take((other) => other.name === aspect.name)]);
    for (const pair of pairs) pair[1] ??= take((other) => other.term === pair[0].term);
    return { pairs, dropped: left };
  };
  const stateOf = (step, before, language) => {
    const { pairs, dropped } = changesOf(before, step.aspects);
    // What a remark asked for and got need not be told again.
    const isTold = (aspect) => step.remarks.some((remark) => remark.outcome === "applied" && isNamed(remark, aspect.term));
    const line = (what, ...nodes) => make("li", {}, make("span", { className: "asks" }, what), ...nodes);
    const fresh = pairs.filter(([now, was]) => !was && !isTold(now)).map(([now]) => now);
    const lines = pairs.filter(([now, was]) => was && !isTold(now)).flatMap(([now, was]) => {
      const isMoved = was.start !== now.start || was.end !== now.end || was.term !== now.term;
      const isTurned = was.isJudged && (was.polarity?.code !== now.polarity?.code || !now.isJudged);
      return [
        isMoved ? line(say("moves the aspect"), termOf(was, language), make("span", { className: "place" }, placeOf(was)), "→", termOf(now, language), make("span", { className: "place" }, placeOf(now))) : null,
        !was.isJudged && now.isJudged ? line(say("gives the polarity"), chipOf(now, language), now.confidence ? make("span", { className: "place" }, hallumeter.written(number(now.confidence, 2))) : null, now.evidence ? quoteOf(now.evidence, language) : null) : null,
        isTurned ? line(say("turns the polarity"), termOf(now, language), polarityOf(was.polarity), "→", polarityOf(now.polarity)) : null,
      ].filter(Boolean);
    });
    const gone = dropped.filter((aspect) => !isTold(aspect));
    return [...(fresh.length ? [line(say("states the aspects"), ...fresh.map((aspect) => chipOf(aspect, language)))] : []), ...lines,
      ...(gone.length ? [line(say("drops the aspects"), ...gone.map((aspect) => chipOf(aspect, language)))] : [])];
  };

  const DEED_WORDS = { introduced: say("introduced"), broken: say("broken"), repaired: say("repaired"), lost: say("dropped, and so missing") };
  // Things that are alike, together.
  const grouped = (items, keyOf) => {
    const groups = new Map();
    for (const item of items) groups.set(keyOf(item), [...(groups.get(keyOf(item)) || []), item]);
    return [...groups.values()];
  };
  const deedsOf = (trace, step, language) => {
    const deeds = (trace.errors || []).flatMap((error) => error.changes.filter((change) => change.by.code === step.code && change.deed && (error.code !== "off_target" || change.became === "wrong")).map((change) => ({ error, deed: change.deed })));
    return grouped(deeds, ({ error, deed }) => [deed, error.code, error.code === "polarity" ? error.gold?.code : ""].join()).map((alike) => {
      const [{ error, deed }] = alike;
      return make("li", { className: `deed ${error.code === "off_target" ? "lost" : deed}` }, error.code === "off_target" ? null : make("b", {}, DEED_WORDS[deed]), isolated(error.words), ...alike.map((one) => make("span", { className: "aspect" }, termOf(one.error.aspect, language))),
        error.code === "polarity" && error.gold ? make("span", { className: "why" }, say("gold:"), " ", polarityOf(error.gold)) : null);
    });
  };

  const SILENCE = { ate: say("states no aspect"), atsa: say("says nothing"), validator: say("no risk"), validator_review: say("no risk is left") };
  const rowOf = ({ code, words: name }, lines, deeds = []) => make("div", { className: "turn" }, make("div", { className: "speaker" }, isolated(name)),
    make("ul", { className: "said" }, ...(lines.length || deeds.length ? lines : [make("li", { className: "silent" }, SILENCE[code] || say("nothing to change"))]), ...deeds));

  const decisionOf = (trace) => {
    const { moderator } = trace;
    if (!moderator) return [];
    const rules = moderator.rules.map((rule) => make("li", {}, make("b", { className: "rule" }, rule), isolated(words.rules[rule] || "")));
    return [rowOf({ code: "moderator", words: words.by.find(([code]) => code === "moderator")[1] }, [...rules,
      make("li", {}, make("span", { className: "asks" }, say("the sentence is")), polarityOf(moderator.label), make("span", { className: "place" }, hallumeter.written(number(moderator.confidence, 2))),
        moderator.why ? make("span", { className: "why", dir: "auto" }, isolated(moderator.why)) : null)])];
  };

  // ---------------------------------------------------------------- the stages

  const stagesOf = (trace, language) => {
    let before = [];
    const rows = trace.steps.map((step) => {
      const lines = [...step.remarks.map((remark) => remarkOf(remark, language)), ...(step.aspects ? stateOf(step, before, language) : [])];
      before = step.aspects ?? before;
      return [step.code, rowOf(step, lines, deedsOf(trace, step, language))];
    });
    const known = new Set(words.stages.flatMap(([, steps]) => steps));
    return words.stages.map(([name, steps], place) => {
      const own = rows.filter(([code]) => steps.includes(code) || (place === 1 && !known.has(code))).map(([, row]) => row);
      const all = place === words.stages.length - 1 ? [...own, ...decisionOf(trace)] : own;
      if (!all.length) return null;
      const details = make("details", { className: "stage" }, make("summary", {}, name), ...all);
      details.open = true;
      return make("li", {}, details);
    }).filter(Boolean);
  };

  const factsOf = (error) => {
    const made = error.changes.filter((change) => change.became === "wrong").at(-1);
    const mended = error.changes.filter((change) => change.deed === "repaired" || change.deed === "lost");
    return [
      made ? say("made by {step}", { step: made.by.words }) : null,
      error.flagged.length ? say("flagged by {names}", { names: error.flagged.map((one) => one.words).join(", ") }) : null,
      ...error.ignored.map(({ by }) => say("let stand by {step}", { step: by.words })),
      ...mended.map((change) => (change.deed === "repaired" ? say("repaired by {step}", { step: change.by.words }) : say("dropped by {step}", { step: change.by.words }))),
      error.doesStand ? say("stands at the end") : null,
    ].filter(Boolean);
  };
  const errorsOf = (errors, language) => grouped(errors, (error) => [error.code, error.code === "polarity" ? [error.polarity?.code, error.gold?.code] : "", ...factsOf(error)].join()).map((alike) => {
    const [error] = alike;
    return make("li", {}, make("span", { className: `tag ${error.doesStand ? (error.code === "off_target" ? "not_enough_info" : "refuted") : "supported"}` }, error.words),
      ...alike.map((one) => make("span", { className: "aspect" }, termOf(one.aspect, language))),
      error.code === "polarity" ? make("span", { className: "why" }, polarityOf(error.polarity), " ", say("gold:"), " ", polarityOf(error.gold)) : null,
      make("span", { className: "facts" }, ...factsOf(error).map((fact) => make("span", {}, isolated(fact)))));
  });

  // Every aspect at a glance: as stage 1 left it, in the result, in gold.
  const glanceOf = (trace, language) => {
    const firstSteps = words.stages[0][1];
    const states = trace.steps.filter((step) => step.aspects);
    const first = states.filter((step) => firstSteps.includes(step.code)).at(-1)?.aspects || [];
    const last = (states.at(-1)?.aspects || []).filter((aspect) => aspect.isJudged);
    const columns = [first, last, ...(trace.gold ? [trace.gold] : [])];
    const rows = [];
    const key = (aspect) => aspect.term.trim().toLocaleLowerCase();
    columns.forEach((aspects, column) => aspects.forEach((aspect) => {
      const row = rows.find((one) => !one[column] && one.some((other) => other && other.name === aspect.name)) || rows.find((one) => !one[column] && one.some((other) => other && key(other) === key(aspect)));
      if (row) row[column] = aspect;
      else { const fresh = columns.map(() => null); fresh[column] = aspect; rows.push(fresh); }
    }));
    if (!rows.length) return null;
    const isRight = (aspect, gold) => Boolean(aspect && gold) && aspect.polarity?.code === gold.polarity?.code;
    const cell = (aspect, gold, column) => {
      const polarity = aspect ? (aspect.isJudged ? polarityOf(aspect.polarity) : say("no polarity")) : "–";
      if ((!trace.gold && !aspect?.isAstray) || column === 2 || (!aspect && !gold)) return make("td", {}, polarity);
      const isFine = isRight(aspect, gold) && !aspect.isAstray;
      return make("td", { className: isFine ? "fine" : "amiss" }, make("span", { className: "verdict-sign", role: "img", "aria-label": isFine ? say("right") : say("wrong") }, isFine ? "✓" : "×"), " ", polarity);
    };
    const heads = [say("Stage 1"), say("Result"), ...(trace.gold ? [say("Gold")] : [])];
    const table = make("table", { className: "glance" },
      make("caption", { className: "hidden" }, say("Aspects at a glance")),
      make("thead", {}, make("tr", {}, make("th", { scope: "col" }, say("Aspect")), ...heads.map((head) => make("th", { scope: "col" }, head)))),
      make("tbody", {}, ...rows.map((row) => make("tr", {}, make("th", { scope: "row" }, termOf(row.find(Boolean), language)), ...row.map((aspect, column) => cell(aspect, row[2], column))))));
    const shown = make("div", {}, make("div", { className: "scroll", tabindex: "0", role: "region", "aria-label": say("Aspects at a glance") }, table));
    hallumeter.downloads?.offerTable(table);
    return shown;
  };

  const listed = (className, name, texts) => (texts.length ? make("details", { className: "earlier" }, make("summary", {}, name), make("ul", { className }, ...texts.map((text) => make("li", { dir: "auto" }, text)))) : null);

  const footOf = (record) => {
    const trace = traceOf(record);
    if (!trace) return [make("h3", {}, say("Through the agents")), make("p", { className: "empty" }, say("How this sentence went through the agents is not told: the run holds no outputs.jsonl."))];
    const { language } = record;
    const errors = trace.errors?.length ? make("ul", { className: "errors" }, ...errorsOf(trace.errors, language))
      : make("p", { className: "small" }, trace.errors === null ? say("Which step erred is not told: the run holds no blame.jsonl.")
        : trace.gold ? say("Nothing was ever wrong with this sentence.") : say("Nothing is known to be wrong; without gold, only aspects that are not in the text can be told."));
    return [
      make("h3", {}, say("Through the agents")),
      trace.failed ? make("p", { className: "notices", dir: "auto" }, say("The pipeline broke off:"), " ", isolated(trace.failed)) : null,
      glanceOf(trace, language), errors,
      make("ol", { className: "stages", "aria-label": say("Stage by stage") }, ...stagesOf(trace, language)),
      trace.untold.length ? make("p", { className: "small" }, say("Switched off, or not told:"), " ", isolated(trace.untold.join(", "))) : null,
      listed("notes", say("What the code noted"), trace.notes),
    ].filter(Boolean);
  };

  // ---------------------------------------------------------------- what the records browser asks for

  const headOf = (record, records, show) => {
    const { text_id: text, ...others } = record.fields;
    const facts = [[say("sentence"), record.id], ...Object.entries(others)];
    const same = records.filter((other) => other !== record && text !== undefined && other.fields.text_id === text);
    return [make("p", { className: "facts" }, ...facts.map(([name, value]) => make("span", {}, `${name} `, isolated(String(value)))), record.isRandom ? make("span", {}, say("drawn at random")) : null),
      same.length ? make("div", { className: "turns", role: "group", "aria-label": say("The same sentence in other runs") }, make("span", { className: "turns-name" }, say("Seed")),
        ...[record, ...same].sort((a, b) => Number(a.fields.seed) - Number(b.fields.seed)).map((other) => {
          const button = make("button", { type: "button", className: "plain-button", "aria-pressed": String(other.id === record.id) }, isolated(String(other.fields.seed ?? other.id)));
          button.addEventListener("click", () => show(other));
          return button;
        })) : null];
  };
  const besideAnswer = (record, records, show) => ({ head: headOf(record, records, show), foot: footOf(record) });

  // Whether a sentence is among those behind a number: an error that a step did something to, a rule, an override.
  const meets = (record, { did, step, error, rule, override }) => {
    const trace = traceOf(record);
    if (!trace) return false;
    if (rule !== undefined) return Boolean(trace.moderator?.rules.includes(rule));
    if (override !== undefined) {
      return trace.steps.some((one) => one.code === "debate_override" && one.remarks.some((remark) => (override === "applied" ? remark.outcome === "applied" : remark.reason === override)));
    }
    const isKind = (one) => error === undefined || one.code === error || GROUPS[error]?.includes(one.code);
    const tests = {
      flagged: (one) => one.flagged.some((by) => by.code === step),
      ignored: (one) => one.doesStand && one.ignored.some(({ by }) => by.code === step),
      stands: (one) => one.doesStand && one.changes.at(-1).by.code === step,
      made: (one) => one.changes.some((change) => change.by.code === step && change.became === "wrong"),
    };
    const test = tests[did] || ((one) => one.changes.some((change) => change.by.code === step && change.deed === did));
    return (trace.errors || []).some((one) => one.code !== "off_target" && isKind(one) && test(one));
  };

  // The same in words, for the filter that a number sets.
  const traceWords = ({ did, step, error, rule, override }) => {
    if (rule !== undefined) return say("rule {rule}", { rule });
    if (override !== undefined) return say("override: {outcome}", { outcome: words.reasons[override] || (override === "applied" ? say("applied") : override) });
    const deeds = { ...DEED_WORDS, made: say("introduced"), flagged: say("flagged"), ignored: say("flagged, and let stand"), stands: say("stands at the end") };
    const name = words.by.find(([code]) => code === step)?.[1] ?? step;
    const kind = words.errors.find(([code]) => code === error)?.[1];
    return [name, deeds[did], kind].filter(Boolean).join(": ");
  };

  hallumeter.instruments.aspects = { kinds, besideAnswer, besideField: "text_id", meets, traceWords };
})();
