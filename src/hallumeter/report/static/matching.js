"use strict";
// Records as the page's data gives them, and which of them a query means.
hallumeter.records = (() => {
  const { say, sayCount, number, grouped } = hallumeter;
  const { points, plain, wordsIn } = hallumeter.texts;
  const FEW = 12; // values of a field by which a reader can still choose
  const FIELDS = 4;
  const SETS = {
    unsupported: ["REFUTED", "NOT_ENOUGH_INFO"], decided: ["REFUTED", "NOT_ENOUGH_INFO", "SUPPORTED"], unmeasured: ["UNDECIDED", "NONE"],
  };
  const NO_VERDICT = "NONE";
  const labelsIn = (wanted) => SETS[wanted] || [wanted ?? NO_VERDICT];

  // ---------------------------------------------------------------- reading

  const languageOf = (fields) => [fields.lang, fields.language].find((value) => /^[a-z]{2,3}(-[a-z0-9]{2,8})*$/i.test(value || "")) || "";
  // What a list needs of a record: how many of its claims have which label.
  const summed = (labels, counts) => {
    const sum = (set) => labels.reduce((total, label, code) => total + (SETS[set].includes(label.name) ? counts[code] : 0), 0);
    return { counts, unsupported: sum("unsupported"), decided: sum("decided"), unmeasured: sum("unmeasured"), claims: counts.reduce((total, count) => total + count, 0) };
  };
  const readEntry = (labels) => (row) => {
    const fields = row.x || {};
    return { position: row.n, id: row.id, model: row.m ?? null, words: row.w || "", fields, language: languageOf(fields), ...summed(labels, row.c) };
  };
  const entryOf = (record) => record;

  const readFinding = (row, place, { id, letters, block }) => {
    const span = row.s || null;
    const verdicts = (row.v || []).map((verdict) => ({
      judge: block.judges[verdict.j], label: block.labels[verdict.l].name, code: verdict.l, probability: verdict.p ?? null, confidence: verdict.c ?? null,
      reason: verdict.r ?? null, note: verdict.n, cost: verdict.u, quotes: verdict.q || [], isWhole: verdict.s === 1, span: verdict.s === 1 ? span : verdict.s || null,
    }));
    return {
      place, id: row.id ?? `${id}#${place}`, code: row.l, label: block.labels[row.l].name, kind: row.k || "claim", span, verdicts,
      words: row.c ?? (span ? letters.slice(...span) : ""), isLoose: Boolean(row.n),
    };
  };
  const readRecord = (row, position, { block, passages }) => {
    const text = row.t ?? "";
    const letters = points(text);
    const fields = row.x || {};
    const findings = (row.f || []).map((finding, place) => readFinding(finding, place, { id: row.id, letters, block }));
    const counts = block.labels.map((_, code) => findings.filter((finding) => finding.code === code).length);
    const evidence = (row.e || []).map(([name, given, characters]) => {
      if (typeof given === "string") passages.push(given);
      return { name, text: typeof given === "string" ? given : passages[given], characters };
    });
    return {
      position, text, letters, findings, fields, evidence, isKnown: row.t !== undefined, language: languageOf(fields), ...summed(block.labels, counts),
      id: row.id, model: row.m ?? null, question: row.q, reference: row.g, broken: row.b || [], trace: row.a, isRandom: Boolean(row.w),
      words: (row.q || text || findings[0]?.words || "").slice(0, 200), haystack: null,
    };
  };
  // Passages are written where they first occur, so the rows are read in the order of the block.
  const readBlock = (block) => {
    const shared = { block, passages: [] };
    const records = block.records.map((row, place) => readRecord(row, row.o ?? place, shared));
    return records.sort((a, b) => a.position - b.position);
  };

  // ---------------------------------------------------------------- what a query means

  const isWithin = (value, [from, to]) => value >= from && (to === null || value < to);
  const votesAs = (finding, judge, wanted) => {
    const own = finding.verdicts.filter((verdict) => verdict.judge === judge);
    const labels = labelsIn(wanted);
    return own.length ? own.some((verdict) => labels.includes(verdict.label)) : labels.includes(NO_VERDICT);
  };
  // Where the middle of a finding lies in its response, from 0 to 9.
  const tenthOf = (record, { span }) => (span ? Math.min(9, Math.floor((10 * (span[0] + span[1])) / (2 * record.letters.length))) : null);

  // One same finding must meet all of these.
  const ON_FINDING = {
    claim: (wanted) => (finding) => finding.id === wanted,
    label: (wanted) => (finding) => labelsIn(wanted).includes(finding.label),
    votes: (wanted) => (finding) => Object.entries(wanted).every(([judge, label]) => votesAs(finding, judge, label)),
    reason: (wanted) => (finding) => finding.verdicts.some((verdict) => verdict.reason === wanted),
    kind: (wanted) => (finding) => finding.kind === wanted,
    tenth: (wanted) => (finding, record) => tenthOf(record, finding) === wanted,
    probability: (wanted, { judge }) => (finding) => finding.verdicts.some((verdict) =>
      (judge === undefined || verdict.judge === judge) && verdict.probability !== null && isWithin(verdict.probability, wanted)),
  };
  const ON_RECORD = {
    record: (wanted) => (record) => record.id === wanted,
    model: (wanted) => (record) => record.model === wanted,
    fields: (wanted) => (record) => Object.entries(wanted).every(([name, value]) => (record.fields[name] ?? null) === value),
    failure: (wanted) => (record) => record.broken.some(([, , , code]) => wanted === true || code === wanted),
    length: (wanted) => (record) => record.isKnown && isWithin(record.letters.length, wanted),
    without_claims: (wanted) => (record) => (record.findings.length === 0) === wanted,
    search: (wanted) => {
      const sought = wordsIn(wanted);
      return (record) => sought.every((word) => haystackOf(record).includes(word));
    },
  };
  const haystackOf = (record) => {
    record.haystack ??= plain([
      record.id, record.model, record.question, record.text, record.reference, ...Object.values(record.fields),
      ...record.findings.flatMap((finding) => [finding.words, ...finding.verdicts.flatMap((verdict) => [verdict.reason, verdict.note])]),
      ...record.evidence.map((passage) => passage.text),
    ].filter(Boolean).join("\n"));
    return record.haystack;
  };
  const testsOf = (rules, query) => Object.keys(query).filter((key) => Object.hasOwn(rules, key)).map((key) => rules[key](query[key], query));

  // Places of the findings that a query means; all of them when it says nothing of findings.
  const findingsBehind = (record, behind) => {
    const tests = testsOf(ON_FINDING, behind);
    return record.findings.filter((finding) => tests.every((test) => test(finding, record))).map((finding) => finding.place);
  };
  const isOnFinding = (behind) => Object.keys(behind).some((key) => Object.hasOwn(ON_FINDING, key));
  const prepare = ({ search = "", behind = {} }) => {
    const tests = [...testsOf(ON_RECORD, behind), ...(search ? [ON_RECORD.search(search)] : [])];
    const needsFinding = isOnFinding(behind);
    return (record) => tests.every((test) => test(record)) && (!needsFinding || findingsBehind(record, behind).length > 0);
  };

  // How sure the judges are together that a claim is unsupported: the mean of their probabilities. One that gives none
  // counts by its label and its confidence, one that is undecided does not count; findings.py says the same.
  const certaintyOf = ({ verdicts }, consensus) => {
    const given = verdicts.filter((verdict) => verdict.judge !== consensus && verdict.label !== "UNDECIDED").map(({ probability, confidence, label }) =>
      probability ?? (label === "SUPPORTED" ? 1 - (confidence ?? 1) : confidence ?? 1));
    return given.length ? given.reduce((sum, value) => sum + value, 0) / given.length : 0;
  };
  const isUnsupported = (finding) => SETS.unsupported.includes(finding.label);

  // ---------------------------------------------------------------- a query in words

  const SET_WORDS = () => ({ unsupported: say("Unsupported"), decided: say("Decided"), unmeasured: say("Unmeasured") });
  const labelWords = (wanted, labels) => SET_WORDS()[wanted] || labels.find((label) => label.name === (wanted ?? NO_VERDICT))?.words || String(wanted);
  const range = ([from, to], told, open) => (to === null ? open({ from }) : told({ from, to }));
  const digits = (value) => number(value, 3).replace(/[.,]?0+$/, "") || "0";
  const lengthWords = (wanted) => range(wanted, ({ from, to }) => say("{from} to {to} characters", { from: grouped(from), to: grouped(to - 1) }),
    ({ from }) => sayCount(from, "{count} character or more", "{count} characters or more"));
  const probabilityWords = (wanted, judge) => {
    const told = range(wanted, ({ from, to }) => say("P(unsupported) from {from} to {to}", { from: digits(from), to: digits(to) }), ({ from }) => say("P(unsupported) from {from}", { from: digits(from) }));
    return judge === undefined ? told : `${judge}: ${told}`;
  };
  const wordsOf = (behind, { labels, kinds = {}, traceWords = (wanted) => Object.values(wanted).join(" ") }) => Object.entries(behind).flatMap(([key, value]) => {
    switch (key) {
      case "label": return [labelWords(value, labels)];
      case "votes": return Object.entries(value).map(([judge, label]) => `${judge}: ${labelWords(label, labels)}`);
      case "reason": return [value === null ? say("no reason given") : say("reason {reason}", { reason: value })];
      case "kind": return [kinds[value] || value];
      case "tenth": return [say("tenth {number} of the answer", { number: value + 1 })];
      case "probability": return [probabilityWords(value, behind.judge)];
      case "model": return [value === null ? say("model not given") : say("model {model}", { model: value })];
      case "fields": return Object.entries(value).map(([name, one]) => (one === null ? say("{name} not given", { name }) : `${name}: ${one}`));
      case "failure": return [value === true ? say("any failure") : say("failure {code}", { code: value })];
      case "length": return [lengthWords(value)];
      case "trace": return [traceWords(value)];
      case "without_claims": return [say("no claims")];
      case "search": return [say("“{words}”", { words: value })];
      default: return [];
    }
  });

  // ---------------------------------------------------------------- orders and choices

  const share = (record) => (record.decided ? record.unsupported / record.decided : 0);
  // Claims on which the judges of a panel do not agree; the consensus is no judge of its own.
  const disputed = (record, consensus) => {
    record.disputed ??= record.findings.filter((finding) => new Set(finding.verdicts.filter((verdict) => verdict.judge !== consensus).map((verdict) => verdict.label)).size > 1).length;
    return record.disputed;
  };
  const ordersOf = ({ consensus }) => ({
    given: () => 0,
    worst: (a, b) => b.unsupported - a.unsupported || share(b) - share(a) || b.unmeasured - a.unmeasured,
    share: (a, b) => share(b) - share(a) || b.unsupported - a.unsupported,
    unmeasured: (a, b) => b.unmeasured - a.unmeasured,
    disagreement: (a, b) => disputed(b, consensus) - disputed(a, consensus) || disputed(b, consensus) / (b.claims || 1) - disputed(a, consensus) / (a.claims || 1),
    name: (a, b) => a.id.localeCompare(b.id, undefined, { numeric: true }),
  });

  // How many records hold each value, by value.
  const tally = (records, valuesOf) => {
    const held = new Map();
    for (const record of records) for (const value of new Set(valuesOf(record))) held.set(value, (held.get(value) || 0) + 1);
    return [...held].sort(([a], [b]) => (a === null) - (b === null) || String(a).localeCompare(String(b), undefined, { numeric: true }));
  };
  const facetsOf = (labels) => (records) => {
    const names = [...new Set(records.flatMap((record) => Object.keys(record.fields)))];
    const fields = names.map((name) => [name, tally(records, (record) => (name in record.fields ? [record.fields[name]] : []))]);
    return {
      labels: labels.map((_, code) => records.filter((record) => record.counts[code]).length),
      models: tally(records, (record) => [record.model]),
      reasons: tally(records, (record) => record.findings.flatMap((finding) => finding.verdicts.map((verdict) => verdict.reason).filter((reason) => reason !== null))),
      kinds: tally(records, (record) => record.findings.map((finding) => finding.kind)),
      fields: Object.fromEntries(fields.filter(([, values]) => values.length > 1 && values.length <= FEW).slice(0, FIELDS)),
    };
  };

  return { readBlock, readEntry, entryOf, prepare, findingsBehind, isOnFinding, certaintyOf, isUnsupported, wordsOf, ordersOf, facetsOf };
})();
