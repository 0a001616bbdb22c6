"use strict";
// What the scripts of a report share. Texts of models, engines and files are put into the page as text only.
const hallumeter = (() => {
  // What an instrument has of its own for the scripts that all share, under the name of the instrument.
  const instruments = {};

  // A large block of data is packed: gzip, written in base64.
  const unpacked = new Map();
  const unpack = async (node) => {
    const bytes = Uint8Array.from(atob(JSON.parse(node.textContent).gzip), (letter) => letter.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    unpacked.set(node.id, await new Response(stream).json());
  };
  const waiting = [...document.querySelectorAll("script[type='application/json']")].filter((node) => node.textContent.startsWith('{"gzip":')).map(unpack);
  const ready = Promise.all(waiting);

  // A page holds a chapter for each run. The names of its places and of its data begin with a prefix of its own.
  const chapterOf = (root) => {
    const { prefix } = root.dataset;
    const place = (name) => document.getElementById(prefix + name);
    return {
      root, prefix, place,
      data: (name) => unpacked.get(prefix + name) ?? JSON.parse(place(name).textContent),
      get instrument() { return instruments[root.dataset.instrument] || {}; },
      // What can only be drawn at its real size waits until the chapter is in sight.
      whenShown: (act) => (root.hidden ? root.addEventListener("shown", act, { once: true }) : act()),
      // A number that leads to the records behind it, as in the templates.
      behind: (query, ...children) => (root.dataset.records
        ? make("a", { className: "behind", href: `#${root.dataset.records}`, "data-behind": JSON.stringify(query) }, ...children) : make("span", {}, ...children)),
    };
  };
  const chapters = [...document.querySelectorAll("[data-chapter]")].map(chapterOf);
  // Runs a script for every chapter that has the data it reads.
  const each = (block, run) => {
    const start = () => chapters.filter((chapter) => chapter.place(block)).forEach(run);
    if (waiting.length) ready.then(start);
    else start();
  };
  const NO_VALUE = "–";

  // Messages are their English text; the page brings those of its language.
  const spoken = JSON.parse(document.getElementById("words-data").textContent);
  const fill = (text, values) => text.replace(/\{(\w+)\}/g, (whole, name) => (name in values ? values[name] : whole));
  const say = (text, values = {}) => fill(spoken.messages[text] ?? text, values);
  // A number as the page writes it elsewhere: "12,345.6" with the marks of the language.
  const written = (text) => (spoken.numbers.decimal ? text.replace(/[.,]/g, (mark) => (mark === "." ? spoken.numbers.decimal : spoken.numbers.thousands)) : text);
  // The same for the axes of charts; undefined in English, which Vega writes by itself.
  const formatLocale = spoken.numbers.decimal && { decimal: spoken.numbers.decimal, thousands: spoken.numbers.thousands, grouping: [3], currency: ["", ""] };
  const grouped = (value) => written(value.toLocaleString("en"));
  const sayCount = (value, one, many, values = {}) => {
    const forms = spoken.counts[many];
    const form = forms ? (value < 2 ? forms[0] : forms.at(-1)) : value === 1 ? one : many;
    return fill(form, { count: grouped(value), ...values });
  };

  const make = (tag, properties = {}, ...children) => {
    const { className, ...attributes } = properties;
    const node = document.createElement(tag);
    if (className) node.className = className;
    for (const [name, value] of Object.entries(attributes)) if (value !== undefined) node.setAttribute(name, value);
    node.append(...children.filter((child) => child !== null && child !== undefined));
    return node;
  };

  // A number that never shows 0 or 1 for what is not quite 0 or 1, as in the rest of the report.
  const number = (value, digits = 3) => {
    if (value === null || value === undefined) return NO_VALUE;
    if (value === Infinity) return "∞";
    const shown = value.toFixed(digits);
    const step = 10 ** -digits;
    for (const whole of [-1, 0, 1]) {
      if (Number(shown) === whole && value !== whole) return written(value < whole ? `>${(whole - step).toFixed(digits)}` : `<${(whole + step).toFixed(digits)}`);
    }
    return written(shown);
  };
  const percent = (value) => (value === null || value === undefined ? NO_VALUE : `${number(value * 100, 1).replace(/[.,]0$/, "")} %`);

  // A cell with a number; the whole number stays in it, for sorting.
  const figure = (value, shown, ...under) => make("td", { className: "figure", "data-value": value === null || value === undefined ? undefined : value },
    make("span", { className: "value" }, shown), ...under.filter(Boolean).map((text) => make("span", { className: "under" }, text)));

  return { say, sayCount, written, grouped, formatLocale, instruments, chapters, each, make, number, percent, figure, NO_VALUE };
})();
