"use strict";
// What a reader can take away: every table as CSV. Charts have a script of their own.
(() => {
  const { make, say, chapters } = hallumeter;

  // ---------------------------------------------------------------- files

  const save = (text, name, type) => {
    const address = URL.createObjectURL(new Blob([text], { type }));
    make("a", { href: address, download: name }).click();
    setTimeout(() => URL.revokeObjectURL(address), 1000);
  };
  // Letters and digits of any script; everything else, such as marks that turn the direction, becomes a hyphen.
  const slug = (text) => Array.from(text.normalize("NFC").toLocaleLowerCase().replace(/[^\p{L}\p{M}\p{N}]+/gu, "-")).slice(0, 60).join("").replace(/^-+|-+$/g, "");
  const fileName = (texts, suffix) => `${texts.map(slug).filter(Boolean).join("-") || "hallumeter"}.${suffix}`;

  const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;
  const cellOf = (value) => {
    let text = value === null || value === undefined ? "" : typeof value === "object" ? JSON.stringify(value) : String(value);
    // A spreadsheet would compute what begins like a formula; behind an apostrophe it stays text. One that has
    // an apostrophe gets another, so that readers can take one off.
    if (/^'*[=+\-@\t\r\n＝＋－＠]/.test(text) && !NUMBER.test(text)) text = `'${text}`;
    return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  const csvOf = (rows) => rows.map((row) => `${row.map(cellOf).join(",")}\n`).join("");
  const saveCsv = (rows, name) => save(csvOf(rows), name, "text/csv;charset=utf-8");

  // ---------------------------------------------------------------- the parts of a cell

  // A cell tells more than one number: each part is a column of its own.
  const FIGURES = {
    low: (column) => say("{column}: lower end", { column }),
    high: (column) => say("{column}: upper end", { column }),
    count: (column) => say("{column}: count", { column }),
    total: (column) => say("{column}: out of", { column }),
    undecided: (column) => say("{column}: undecided", { column }),
    failed: (column) => say("{column}: failed", { column }),
    best: (column) => say("{column}: lowest possible", { column }),
    worst: (column) => say("{column}: highest possible", { column }),
    undefined: (column) => say("{column}: why undefined", { column }),
  };
  const FACTS = {
    id: (column) => say("{column}: id", { column }),
    mean: (column) => say("{column}: mean", { column }),
    change: (column) => say("{column}: change", { column }),
    name: (column) => say("{column}: name", { column }),
    agreement: (column) => say("{column}: share alike", { column }),
    settings: (column) => say("{column}: settings", { column }),
    judge: (column) => say("{column}: judge", { column }),
    meaning: (column) => say("{column}: meaning", { column }),
    question: (column) => say("{column}: question", { column }),
    note: (column) => say("{column}: note", { column }),
    signature: (column) => say("{column}: signature", { column }),
  };
  const PARTS = { ...FIGURES, ...FACTS };
  const ORDER = Object.keys(PARTS);
  const SILENT = "[data-part], [data-item], .direction, .warning, button:not(.sort), summary, .hidden, [hidden]";
  const APART = ".under, .question, .note, div, p, li";

  // The words of the data are kept as they are; where our own markup breaks a line there is a space.
  const said = (node) => {
    const isData = node.closest("bdi, code, [dir=auto]");
    let text = "";
    for (const child of node.childNodes) {
      if (child.nodeType === Node.TEXT_NODE) text += isData ? child.data : child.data.replace(/[\s\u00a0]+/g, " ");
      else if (child.nodeType === Node.ELEMENT_NODE && !child.matches(SILENT)) text += (child.matches(APART) ? " " : "") + said(child);
    }
    return isData ? text : text.replace(/ {2,}/g, " ");
  };
  const wordsOf = (cell) => said(cell).replace(/^ +| +$/g, "");

  // A number as a file writes it, whatever marks the language of the page puts into it.
  const plainNumber = (text) => {
    const [decimal, thousands] = [hallumeter.written("."), hallumeter.written(",")];
    const plain = text.split(thousands).join("").split(decimal).join(".");
    return NUMBER.test(plain) ? plain : text;
  };
  const exact = (text) => (NUMBER.test(text) ? String(Number(text)) : text);
  const shownIn = (cell) => {
    const text = wordsOf(cell);
    if (text === hallumeter.NO_VALUE) return "";
    return cell.classList.contains("figure") ? plainNumber(text) : text;
  };

  const partsOf = (cell) => {
    const parts = new Map();
    const { dataset } = cell;
    const items = [...cell.querySelectorAll("[data-item]")];
    const isFigure = Object.keys(FIGURES).some((name) => name in dataset);
    if ("value" in dataset) parts.set("", exact(dataset.value));
    else if (!isFigure && !(items.length && wordsOf(cell) === "")) parts.set("", shownIn(cell));
    for (const name of ORDER) if (name in dataset) parts.set(name, exact(dataset[name]));
    for (const part of cell.querySelectorAll("[data-part]")) parts.set(part.dataset.part, wordsOf(part));
    for (const item of items) parts.set(`=${item.dataset.item}`, exact(item.dataset.value ?? wordsOf(item)));
    return parts;
  };
  const headingOf = (column, part) => {
    if (part === "") return column;
    if (part.startsWith("=")) return `${column}: ${part.slice(1)}`;
    return PARTS[part] ? PARTS[part](column) : `${column}: ${part}`;
  };

  // ---------------------------------------------------------------- a table in rows

  // Where the cells of some rows stand, with those that reach over several columns or rows.
  const placed = (rows) => {
    const reaching = [];
    return rows.map((row) => {
      const cells = [];
      let column = 0;
      const skip = () => { while (reaching[column] > 0) { reaching[column] -= 1; column += 1; } };
      for (const cell of row.cells) {
        skip();
        cells.push({ cell, column });
        for (let wide = 0; wide < cell.colSpan; wide += 1) reaching[column + wide] = cell.rowSpan - 1;
        column += cell.colSpan;
      }
      skip();
      return { cells, width: column };
    });
  };

  const headingsOf = (table, width) => {
    const headings = Array.from({ length: width }, () => []);
    for (const { cells } of placed([...(table.tHead?.rows ?? [])])) {
      for (const { cell, column } of cells) {
        for (let wide = 0; wide < cell.colSpan && column + wide < width; wide += 1) headings[column + wide].push(wordsOf(cell));
      }
    }
    return headings.map((words) => words.filter(Boolean).join(" / "));
  };

  // Rows with the name of the group that they stand under; a line that only names a group is none.
  const linesOf = (table) => {
    const bodies = [...table.tBodies, ...(table.tFoot ? [table.tFoot] : [])];
    return bodies.flatMap((body) => {
      let group = null;
      return placed([...body.rows].filter((row) => !row.hidden)).flatMap(({ cells, width }) => {
        if (cells.length === 1 && width > 1 && cells[0].cell.scope === "rowgroup") { group = wordsOf(cells[0].cell); return []; }
        return [{ group, width, cells: cells.map(({ cell, column }) => ({ column, parts: partsOf(cell) })) }];
      });
    });
  };

  const rowsOf = (table) => {
    const lines = linesOf(table);
    const width = Math.max(...placed([...(table.tHead?.rows ?? [])]).map((row) => row.width), ...lines.map((line) => line.width), 0);
    const found = Array.from({ length: width }, () => new Set());
    // An empty cell beside others that hold parts is no part of its own.
    for (const { cells } of lines) for (const { column, parts } of cells) for (const [name, value] of parts) if (name !== "" || value !== "") found[column].add(name);
    const rank = (part) => (part === "" ? -1 : ORDER.includes(part) ? ORDER.indexOf(part) : ORDER.length);
    const columns = found.map((parts) => (parts.size ? [...parts].sort((a, b) => rank(a) - rank(b)) : [""]));
    const hasGroups = lines.some((line) => line.group !== null);
    const head = headingsOf(table, width).flatMap((heading, column) => columns[column].map((part) => headingOf(heading, part)));
    const body = lines.map(({ group, cells }) => {
      const byColumn = new Map(cells.map(({ column, parts }) => [column, parts]));
      const values = columns.flatMap((parts, column) => parts.map((part) => byColumn.get(column)?.get(part) ?? ""));
      return hasGroups ? [group ?? "", ...values] : values;
    });
    return [hasGroups ? [table.dataset.group || say("Group"), ...head] : head, ...body];
  };

  // ---------------------------------------------------------------- what is wider than its place

  // Marks a box while something stands beyond its right edge; `tell` is told whether the box scrolls at all.
  const watchEdge = (box, tell = () => {}) => {
    const look = () => {
      const beyond = box.scrollWidth - box.clientWidth;
      box.classList.toggle("more-right", beyond - Math.abs(box.scrollLeft) > 4);
      tell(beyond > 4);
    };
    box.addEventListener("scroll", look, { passive: true });
    const watcher = new ResizeObserver(look);
    watcher.observe(box);
    if (box.firstElementChild) watcher.observe(box.firstElementChild);
  };

  // ---------------------------------------------------------------- buttons

  const titleOf = (root) => (root.querySelector("h1") ?? document.querySelector("h1"))?.textContent.trim() ?? "";
  const rootOf = (node) => node.closest("[data-chapter]") ?? document.body;
  const takeButton = (text, told, act, className = "take") => {
    const button = make("button", { type: "button", className, title: told, "aria-label": told }, text);
    button.addEventListener("click", act);
    return button;
  };

  const nameOf = (table) => {
    const region = table.closest("[role=region]");
    const heading = table.closest("section")?.querySelector("h2, h3");
    return table.caption?.textContent.trim() || region?.getAttribute("aria-label") || heading?.textContent.trim() || "";
  };
  const offerTable = (table) => {
    if ("taken" in table.dataset) return;
    table.dataset.taken = "";
    const button = takeButton(say("CSV"), say("Save “{name}” as CSV", { name: nameOf(table) }), () => {
      // A script that shows only the first rows of many puts in the others.
      table.dispatchEvent(new CustomEvent("whole"));
      saveCsv(rowsOf(table), fileName([titleOf(rootOf(table)), nameOf(table)], "csv"));
    });
    const box = table.closest(".scroll");
    const takes = make("div", { className: "takes" }, button);
    (box ?? table).after(takes);
    if (box) {
      const hint = make("span", { className: "sideways", "aria-hidden": "true", hidden: "" }, say("Scroll sideways for more"));
      takes.prepend(hint);
      watchEdge(box, (isWide) => { hint.hidden = !isWide; });
    }
  };

  hallumeter.downloads = { save, csvOf, saveCsv, fileName, titleOf, rootOf, takeButton, offerTable };
  // The other scripts have made their tables by then.
  addEventListener("DOMContentLoaded", () => document.querySelectorAll("nav:not(.runs)").forEach((menu) => watchEdge(menu)));
  addEventListener("DOMContentLoaded", () => chapters.forEach(({ root }) => root.querySelectorAll("table").forEach(offerTable)));
})();
