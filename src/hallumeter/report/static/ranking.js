"use strict";
// Tables that can be sorted by any column, and the pairs of one engine.
hallumeter.each("pairs-data", (chapter) => {
  const { make, number, say, sayCount, grouped, written, figure } = hallumeter;
  const { place, data, root } = chapter;

  // ---------------------------------------------------------------- sorting

  const valueOf = (row, column, kind) => {
    const cell = row.cells[column];
    if (kind === "text") return cell.textContent.trim();
    return cell.dataset.value === undefined ? null : Number(cell.dataset.value);
  };

  const sortBy = (table, column, heading) => {
    const isDown = heading.getAttribute("aria-sort") === "ascending";
    for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
    heading.setAttribute("aria-sort", isDown ? "descending" : "ascending");
    const kind = heading.dataset.sort;
    const rows = [...table.tBodies[0].rows].map((row, position) => ({ row, position, value: valueOf(row, column, kind) }));
    rows.sort((a, b) => {
      // What has no value stays below, whichever way the others go.
      if (a.value === null || b.value === null) return (a.value === null) - (b.value === null) || a.position - b.position;
      const order = kind === "text" ? a.value.localeCompare(b.value, undefined, { numeric: true }) : a.value - b.value;
      return (isDown ? -order : order) || a.position - b.position;
    });
    table.tBodies[0].append(...rows.map(({ row }) => row));
  };

  for (const table of root.querySelectorAll("table.sortable")) {
    [...table.tHead.rows[0].cells].forEach((heading, column) => {
      const button = make("button", { type: "button", className: "sort" }, ...heading.childNodes);
      button.addEventListener("click", () => sortBy(table, column, heading));
      heading.replaceChildren(button);
    });
  }

  // ---------------------------------------------------------------- pairs

  const table = place("pairs");
  if (!table) return;
  const { engines, pairs } = data("pairs-data");
  const usual = [...table.tBodies[0].rows];
  const told = (shown) => { place("pairs-shown").textContent = sayCount(pairs.length, "{shown} of {count} pair", "{shown} of {count} pairs", { shown: grouped(shown) }); };

  const rowOf = ([first, second, pages, difference, , adjusted]) => make("tr", {},
    make("td", {}, make("bdi", {}, engines[first])), make("td", {}, make("bdi", {}, engines[second])), figure(pages, chapter.behind({ engine: engines[first] }, grouped(pages))),
    figure(difference, number(difference)), figure(adjusted, adjusted !== null && adjusted < 0.001 ? written("< 0.001") : number(adjusted)),
    make("td", {}, adjusted !== null && adjusted < 0.05 ? say("differ") : say("not shown to differ")));

  const ownFirst = (own) => ([first, second, pages, difference, raw, adjusted]) =>
    (first === own ? [first, second, pages, difference, raw, adjusted] : [second, first, pages, difference === null ? null : -difference, raw, adjusted]);

  engines.forEach((engine, position) => place("pairs-of").append(make("option", { value: position }, say("of {engine}", { engine }))));
  place("pairs-of").addEventListener("change", () => {
    const own = place("pairs-of").value;
    const found = pairs.filter(([first, second]) => own !== "" && (first === Number(own) || second === Number(own))).map(ownFirst(Number(own)));
    const rows = own === "" ? usual : found.map(rowOf);
    table.tBodies[0].replaceChildren(...rows);
    told(rows.length);
  });
  told(usual.length);
  place("pair-filter").hidden = false;
});
