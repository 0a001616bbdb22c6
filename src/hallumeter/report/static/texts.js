"use strict";
// Texts that models and files brought: counted in code points as in the files of a run, shown without letting any
// character hide or reorder what stands beside it.
hallumeter.texts = (() => {
  const { make, say, grouped } = hallumeter;
  const LONG = 20_000; // characters that are put into the page at once
  const PAIR = /[\ud800-\udbff]/;

  // Offsets of a run count code points; strings here count UTF-16 units.
  const points = (text) => {
    if (!PAIR.test(text)) return { length: text.length, slice: (start, end) => text.slice(start, end) };
    const units = [0];
    for (const letter of text) units.push(units.at(-1) + letter.length);
    const unit = (place) => units[Math.min(Math.max(place, 0), units.length - 1)];
    return { length: units.length - 1, slice: (start, end) => text.slice(unit(start), end === undefined ? undefined : unit(end)) };
  };

  const plain = (text) => text.normalize("NFKC").toLocaleLowerCase();
  const wordsIn = (text) => plain(text).split(/\s+/).filter(Boolean);

  // ---------------------------------------------------------------- characters that cannot be seen

  const UNSEEN = /\u{1f3f4}[\u{e0020}-\u{e007e}]+\u{e007f}|[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]/gu;
  const SIGNS = {
    0x7f: "^?", 0xad: "SHY", 0x61c: "ALM", 0x200b: "ZWSP", 0x200c: "ZWNJ", 0x200d: "ZWJ", 0x200e: "LRM", 0x200f: "RLM", 0x2028: "LS", 0x2029: "PS",
    0x202a: "LRE", 0x202b: "RLE", 0x202c: "PDF", 0x202d: "LRO", 0x202e: "RLO", 0x2060: "WJ", 0x2066: "LRI", 0x2067: "RLI", 0x2068: "FSI", 0x2069: "PDI", 0xfeff: "BOM",
  };
  const JOINERS = [0x200c, 0x200d];
  const MARKS = [0x61c, 0x200e, 0x200f]; // they reorder nothing but what stands next to them, and some texts need them
  // Where a joiner does its work: between the parts of an emoji, and in scripts whose letters join.
  const JOINED = /[\p{M}\p{Extended_Pictographic}\p{Emoji_Modifier}\ufe0f]|[^\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}\p{Script=Hebrew}\p{Script=Han}\p{Script=Hangul}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Common}\p{Script=Inherited}]/u;

  const isAtWork = (text, place, length) => {
    const before = Array.from(text.slice(Math.max(0, place - 2), place)).at(-1);
    const after = text[place + length];
    return before !== undefined && after !== undefined && JOINED.test(before) && !/\s/.test(after);
  };
  const signOf = (character) => {
    const code = character.codePointAt(0);
    const name = `U+${code.toString(16).toUpperCase().padStart(4, "0")}`;
    const sign = code < 0x20 ? `^${String.fromCodePoint(0x40 + code)}` : SIGNS[code] || name;
    // The character stays, so that places do not shift and a copy is exact; the style puts the sign before it.
    return make("span", { className: MARKS.includes(code) ? "unseen weak" : "unseen", "data-sign": sign, title: name }, character);
  };
  const seen = (text) => {
    if (!text) return [];
    const nodes = [];
    let done = 0;
    for (const { 0: found, index } of text.matchAll(UNSEEN)) {
      if (found.length > 2 || (JOINERS.includes(found.codePointAt(0)) && isAtWork(text, index, found.length))) continue;
      nodes.push(text.slice(done, index), signOf(found));
      done = index + found.length;
    }
    nodes.push(text.slice(done));
    return nodes.filter((node) => node !== "");
  };

  // A text of a megabyte would stop the page: its beginning is shown, and the rest on demand.
  const short = (text, limit = LONG) => {
    if (text.length <= limit) return seen(text);
    const { length, slice } = points(text);
    if (length <= limit) return seen(text);
    const more = make("button", { type: "button", className: "plain-button more" }, say("Show all {count} characters", { count: grouped(length) }));
    const rest = make("span", {}, "… ", more);
    more.addEventListener("click", () => rest.replaceWith(...seen(slice(limit))));
    return [...seen(slice(0, limit)), rest];
  };

  // Direction from the letters of the text itself, language unknown unless it was given.
  const words = (tag, className, language, ...children) => make(tag, { className, dir: "auto", lang: language }, ...children);
  const isolated = (text, className) => make("bdi", { className }, ...seen(text));

  // What is pressed by a click, Enter or the space bar.
  const pressed = (node, act) => {
    node.addEventListener("click", act);
    node.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      act(event);
    });
    return node;
  };
  const button = (text, act, properties = {}) => {
    const node = make("button", { type: "button", className: "plain-button", ...properties }, text);
    node.addEventListener("click", act);
    return node;
  };

  return { LONG, points, plain, wordsIn, seen, short, words, isolated, pressed, button };
})();
