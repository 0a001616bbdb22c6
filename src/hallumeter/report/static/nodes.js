"use strict";
// What the scripts of a report share. Texts of models, engines and files are put into the page as text only.
const hallumeter = (() => {
  const place = (name) => document.getElementById(name);
  const data = (name) => JSON.parse(place(name).textContent);
  const NO_VALUE = "–";

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
      if (Number(shown) === whole && value !== whole) return value < whole ? `>${(whole - step).toFixed(digits)}` : `<${(whole + step).toFixed(digits)}`;
    }
    return shown;
  };
  const percent = (value) => (value === null || value === undefined ? NO_VALUE : `${number(value * 100, 1).replace(/\.0$/, "")} %`);
  const count = (value, noun) => `${value.toLocaleString("en")} ${noun}${value === 1 ? "" : "s"}`;

  // A cell with a number; the whole number stays in it, for sorting.
  const figure = (value, shown, ...under) => make("td", { className: "figure", "data-value": value === null || value === undefined ? undefined : value },
    make("span", { className: "value" }, shown), ...under.filter(Boolean).map((text) => make("span", { className: "under" }, text)));

  // The entries of a list by the arrow keys; the search is a form that is never sent.
  const browse = (list, controls) => {
    controls.addEventListener("submit", (event) => event.preventDefault());
    list.addEventListener("keydown", (event) => {
      const step = { ArrowDown: "nextElementSibling", ArrowUp: "previousElementSibling" }[event.key];
      const target = step && event.target.closest("li")?.[step]?.querySelector(".entry");
      if (!target) return;
      event.preventDefault();
      target.focus();
      target.click();
    });
  };

  return { place, data, make, number, percent, count, figure, browse, NO_VALUE };
})();
