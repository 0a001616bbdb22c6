"use strict";
// What an answer of a dialogue has beside it: its conversation, the other modes, and words for the kinds of findings.
(() => {
  const { make, say, sayCount } = hallumeter;
  // Told in place of the names that the files of a run use.
  const kinds = {
    slot: say("said of the patient"), rule: say("safety rule"), requirement: say("safety requirement"), slot_use: say("required fact"),
    consistency: say("compared with earlier"), element: say("must include"),
  };
  // Fields that neither the choice above the answer nor the list tells.
  const KEPT = { language: say("language"), run_id: say("run") };

  const turnOf = (record) => Number(record.fields.turn_id);
  const said = (record, className, text) => make("p", { className: `words ${className}`, dir: "auto", lang: record.language }, text);

  // A choice among answers; one that the page does not hold cannot be chosen.
  const choices = (name, entries, chosen, show) => make("div", { className: "turns", role: "group", "aria-label": name },
    make("span", { className: "turns-name" }, name),
    ...entries.map(([label, record]) => {
      const button = make("button", { type: "button", className: "plain-button", "aria-pressed": String(record === chosen), dir: "auto",
        title: record ? undefined : say("this answer is not shown here; events.jsonl has it") }, label);
      button.disabled = !record;
      if (record) button.addEventListener("click", () => show(record));
      return button;
    }));

  // The questions and answers before this one, as the system saw them.
  const earlier = (record, own) => {
    const before = own.filter((other) => other.model === record.model && turnOf(other) < turnOf(record)).sort((a, b) => turnOf(a) - turnOf(b));
    if (!before.length) return [];
    return [make("details", { className: "earlier" }, make("summary", {},
      sayCount(before.length, "Earlier in this conversation ({count} turn)", "Earlier in this conversation ({count} turns)")),
      ...before.flatMap((other) => [said(other, "asked", other.question || ""), said(other, "answered", other.text || say("no answer"))]))];
  };

  // The same question, answered in another mode.
  const beside = (record, own, show) => own.filter((other) => other.model !== record.model && turnOf(other) === turnOf(record)).map((other) => {
    const go = make("button", { type: "button", className: "plain-button" }, say("Read it with its findings"));
    go.addEventListener("click", () => show(other));
    return make("details", { className: "earlier" }, make("summary", {}, say("The same question answered by"), " ", make("bdi", {}, other.model || say("another mode"))),
      said(other, "answered", other.text || say("no answer")), go);
  });

  // What tells an answer from others comes first: the names of patients are often too long for the list.
  const answerName = (record) => say("{mode} · turn {turn} · {patient}",
    { mode: record.model || say("mode not given"), turn: record.fields.turn_id, patient: record.fields.patient_id });

  const besideAnswer = (record, records, show) => {
    const patient = record.fields.patient_id;
    const own = records.filter((other) => other.fields.patient_id === patient);
    const turns = [...new Set(records.map(turnOf))].sort((a, b) => a - b);
    const modes = [...new Set(records.map((other) => other.model))];
    const at = (turn, mode) => own.find((other) => turnOf(other) === turn && other.model === mode);
    const facts = Object.keys(KEPT).filter((name) => record.fields[name] !== undefined);
    return {
      head: [
        make("p", { className: "facts" }, make("span", {}, say("patient"), " ", make("bdi", {}, String(patient))),
          ...facts.map((name) => make("span", {}, KEPT[name], " ", make("bdi", {}, String(record.fields[name])))),
          record.isRandom ? make("span", {}, say("drawn at random")) : null),
        choices(say("Turn"), turns.map((turn) => [String(turn), at(turn, record.model)]), record, show),
        modes.length > 1 ? choices(say("Mode"), modes.map((mode) => [mode || say("not given"), at(turnOf(record), mode)]), record, show) : null,
        ...earlier(record, own),
      ],
      foot: beside(record, own, show),
    };
  };

  hallumeter.instruments.dialogue = { kinds, answerName, besideAnswer, besideField: "patient_id" };
})();
