"use strict";
// An engine's text and the text that it was compared with, each with its stretches marked.
hallumeter.stretches = ({ kinds, choose }) => {
  const { make, say, sayCount } = hallumeter;
  const { points, seen, pressed } = hallumeter.texts;
  const [BLOCK, LOOP, OMISSION, , , RUN] = kinds.map((_, code) => code);
  const MOVED = 1, NOT_ENOUGH_INFO = 2, UNDECIDED = 4;
  const CELLS_COMPARED = 1_000_000; // a run with more pairs of words than this is marked as a whole

  const wordsOf = (stretch) => {
    if (stretch.kind === RUN) return stretch.flags & MOVED ? say("read, at another place of the page") : stretch.note ? say("read, with slips") : say("read");
    if (stretch.flags & UNDECIDED) return say("cannot be told");
    if (stretch.flags & NOT_ENOUGH_INFO) return say("not in the witness’s text");
    return kinds[stretch.kind][1];
  };
  const tell = (stretch) => [wordsOf(stretch), sayCount(stretch.size, "{count} word", "{count} words"), stretch.note].filter(Boolean).join(", ");

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
      parts.push(...seen(text.slice(done, start)), make("span", { className: "slip" }, ...seen(word)));
      done = start + word.length;
    }
    return [...parts, ...seen(text.slice(done))];
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
    return pressed(mark, () => choose(index, mark));
  };
  const markOf = (stretch, index, children) => {
    const told = tell(stretch);
    return markNode(stretch, { className: "first", tabindex: stretch.kind === RUN ? "-1" : "0", "data-stretch": index, "aria-description": told, title: told }, index, children);
  };
  // Several stretches that are missing at one place share one caret, in the colour of the worst.
  const gapOf = (stretches, indexes) => {
    const told = indexes.map((index) => tell(stretches[index])).join("; ");
    const worst = indexes.reduce((best, index) => (stretches[index].kind < stretches[best].kind ? index : best));
    const label = say("{what}, here", { what: indexes.length > 9 ? sayCount(indexes.length, "{count} stretch", "{count} stretches") : told });
    return markNode(stretches[worst], { className: "gap", tabindex: "-1", "data-stretch": indexes.join(" "), "data-count": indexes.length > 1 ? indexes.length : undefined,
      "aria-label": label, title: label }, indexes[0], []);
  };

  const textOf = (reading, side) => {
    const isResponse = side === "response";
    const letters = points(isResponse ? reading.text : reading.reference);
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
      nodes.push(...seen(letters.slice(done, from)));
      done = Math.min(end, letters.length);
      const text = letters.slice(from, done);
      const wrong = reading.slips.get(index);
      nodes.push(markOf(stretch, index, wrong ? withSlips(text, wrong[isResponse ? 0 : 1]) : seen(text)));
    }
    closeGap();
    nodes.push(...seen(letters.slice(done)));
    return nodes;
  };

  const findSlips = (reading) => {
    const [letters, referenceLetters] = [points(reading.text), points(reading.reference)];
    reading.slips = new Map(reading.stretches.flatMap((stretch, index) => {
      if (stretch.kind !== RUN || !stretch.note || stretch.start === null || stretch.referenceStart === null) return [];
      const found = slips(letters.slice(stretch.start, stretch.end), referenceLetters.slice(stretch.referenceStart, stretch.referenceEnd));
      return found ? [[index, found]] : [];
    }));
  };

  return { tell, textOf, findSlips };
};
