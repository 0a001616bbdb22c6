"use strict";
// One finding in full: its claim, what every judge said of it, its evidence, and what a reader says of the verdict.
hallumeter.inspector = (chapter, { data, source, kindOf, actions }) => {
  const { make, say, sayCount, number, written } = hallumeter;
  const { short, seen, words, isolated, pressed, button, points } = hallumeter.texts;
  const { place } = chapter;
  const CONTEXT = 90; // characters of a passage that are shown on each side of a quotation
  const CLAIM = 2_000;
  const wordsOf = (code) => data.labels[code].words;
  const tagOf = (code) => make("span", { className: `tag ${data.labels[code].className}` }, wordsOf(code));

  // ---------------------------------------------------------------- verdicts

  const quoteOf = (record, [position, start, end, given, name]) => {
    const passage = record.evidence[position];
    const isPlaced = passage && start !== null;
    const letters = isPlaced ? points(passage.text) : null;
    const body = isPlaced
      ? [start > CONTEXT ? "…" : "", ...seen(letters.slice(Math.max(0, start - CONTEXT), start)),
        pressed(make("mark", { role: "button", tabindex: "0", "aria-description": say("go to it in the evidence") }, ...seen(letters.slice(start, end))), () => actions.toQuote(position, start)),
        ...seen(letters.slice(end, end + CONTEXT)), letters.length > end + CONTEXT ? "…" : ""]
      : given ? short(given, CLAIM) : [say("no words were quoted")];
    const source = passage ? say("evidence {name}", { name: "\u0000" }) : say("evidence {name} (not in this record)", { name: "\u0000" });
    const [before, after] = source.split("\u0000");
    return make("blockquote", {}, words("div", "words", record.language, ...body),
      given && isPlaced ? words("div", "words", record.language, ...short(given, CLAIM)) : null,
      make("cite", {}, before, isolated(passage ? passage.name : name || ""), after));
  };

  const reasonOf = (code) => [make("code", {}, ...seen(code)), Object.hasOwn(data.reasons, code) ? ` ${data.reasons[code]}` : ""];
  const verdictOf = (record, verdict) => {
    const pointed = verdict.span && !verdict.isWhole && pressed(
      words("span", "pointed", record.language, ...short(record.letters.slice(...verdict.span), CLAIM)), actions.toResponse);
    if (pointed) for (const [name, value] of [["role", "button"], ["tabindex", "0"], ["aria-description", say("go to it in the answer")]]) pointed.setAttribute(name, value);
    const facts = [[say("reason"), verdict.reason === null ? null : reasonOf(verdict.reason)], [say("points to"), pointed ? [pointed] : null],
      [say("P(unsupported)"), verdict.probability === null ? null : [number(verdict.probability)]],
      [say("confidence"), verdict.confidence === null ? null : [number(verdict.confidence)]],
      [say("cost, USD"), verdict.cost === undefined ? null : [written(String(verdict.cost))]]].filter(([, value]) => value !== null);
    return make("div", { className: "verdict" },
      make("p", {}, tagOf(verdict.code), " ", isolated(verdict.judge, "judge")),
      facts.length ? make("dl", {}, ...facts.flatMap(([name, value]) => [make("dt", {}, name), make("dd", {}, ...value)])) : null,
      verdict.note ? words("p", "note", record.language, ...short(verdict.note, CLAIM)) : null,
      ...verdict.quotes.map((quote) => quoteOf(record, quote)));
  };
  const failureOf = ([, judge, text]) => make("div", { className: "verdict" },
    make("p", {}, make("span", { className: "tag no_verdict" }, say("Failed")), " ", isolated(judge || "", "judge")), words("p", "note", "", ...short(text, CLAIM)));

  // Several judges without a verdict that settles theirs: told what the claim counts as.
  const settledOf = (finding) => {
    if (!finding.verdicts.length) return make("p", { className: "verdict" }, tagOf(finding.code), " ", say("the judge failed"));
    if (finding.verdicts.length === 1 || finding.verdicts.some((verdict) => verdict.judge === data.consensus)) return null;
    return make("p", {}, say("counts as"), " ", tagOf(finding.code));
  };

  // ---------------------------------------------------------------- what a reader says of a verdict

  const tellLabelled = () => {
    const { size } = source.labels;
    place("labelled").hidden = !size;
    place("labelled").textContent = sayCount(size, "{count} labelled", "{count} labelled");
  };
  const labellingOf = (record, finding) => {
    const status = make("output", { className: "label-problem", role: "status" });
    const choices = [[true, say("Right")], [false, say("Wrong")]].map(([isRight, text]) => [isRight, button(text, () => give(isRight), { "aria-pressed": "false" })]);
    const undo = button(say("Undo"), () => give(null));
    undo.disabled = true;
    const tell = (given) => {
      for (const [isRight, node] of choices) node.setAttribute("aria-pressed", String(given === isRight));
      undo.disabled = given === null;
      status.textContent = "";
      tellLabelled();
    };
    const give = async (isRight) => {
      try {
        await source.labels.give(record.id, finding.id, isRight);
        tell(isRight);
      } catch (error) {
        status.textContent = say("The label was not stored: {problem}.", { problem: error.message });
      }
    };
    source.labels.of(record.id, finding.id).then(tell, (error) => { status.textContent = say("The labels could not be read: {problem}.", { problem: error.message }); });
    return make("div", { className: "labelling", role: "group", "aria-label": say("Is this verdict right?") },
      make("span", { className: "labelling-question" }, say("Is this verdict right?")), ...choices.map(([, node]) => node), undo, status);
  };

  const findingOf = (record, finding) => [
    make("h3", {}, kindOf(finding), " ", isolated(finding.id)),
    words("p", "claim words", record.language, ...(finding.words ? short(finding.words, CLAIM) : [say("The words of this claim are not known.")])),
    settledOf(finding),
    ...(source.labels && finding.verdicts.length ? [labellingOf(record, finding)] : []),
    ...finding.verdicts.map((verdict) => verdictOf(record, verdict)),
    ...record.broken.filter(([claim]) => claim === finding.id).map(failureOf),
  ];

  // ---------------------------------------------------------------- walking from finding to finding

  const walkerOf = (record, places, walk) => {
    const { at, total, isSought, isWrong } = walk;
    const told = isSought ? say("{number} of {total} that match", { number: at + 1, total })
      : isWrong ? say("{number} of {total} unsupported", { number: at + 1, total }) : say("{number} of {total} findings", { number: at + 1, total });
    const steps = total > 1 || at < 0 ? [button("‹", () => walk.step(-1), { "aria-label": say("Previous finding") }), button("›", () => walk.step(1), { "aria-label": say("Next finding") })] : [];
    return make("div", { className: "walk" }, ...(at >= 0 && (total > 1 || isWrong) ? [make("span", {}, told)] : []), ...steps,
      button("×", close, { className: "plain-button closer", "aria-label": say("Close") }));
  };
  const close = () => {
    place("inspector").classList.add("closed");
    actions.toMark();
  };
  // Where the finding lies over the foot of the window, Escape gives the window back to the text.
  place("browser").addEventListener("keydown", (event) => {
    if (event.key === "Escape" && getComputedStyle(place("inspector")).bottom === "0px") close();
  });

  const show = (record, places, walk) => {
    const inspector = place("inspector");
    inspector.classList.remove("closed");
    inspector.replaceChildren(...(places.length
      ? [walkerOf(record, places, walk), ...places.flatMap((position) => findingOf(record, record.findings[position]))].filter(Boolean)
      : [make("p", { className: "empty" }, say("No claim was found in this answer."))]));
    inspector.scrollTop = 0;
  };
  if (source.labels) source.labels.of("", "").then(tellLabelled, () => {});
  return { show };
};
