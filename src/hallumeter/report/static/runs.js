"use strict";
// The list of runs: search, order, and what changes while it is looked at.
(() => {
  const { say, sayCount, grouped } = hallumeter;
  const table = document.getElementById("run-list");
  const search = document.getElementById("run-search");

  const plain = (text) => text.normalize("NFKC").toLocaleLowerCase();
  const rows = () => [...table.tBodies[0].rows];
  const filter = () => {
    const wanted = plain(search.value).split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const row of rows()) {
      const words = plain(row.dataset.words);
      row.hidden = !wanted.every((word) => words.includes(word));
      shown += row.hidden ? 0 : 1;
    }
    document.getElementById("run-shown").textContent = sayCount(rows().length, "{shown} of {count} run", "{shown} of {count} runs", { shown: grouped(shown) });
  };

  const compare = (kind, a, b) => {
    if (kind === "text") return a.localeCompare(b, undefined, { numeric: true });
    return Number(a) - Number(b);
  };
  const sort = () => {
    const head = table.querySelector('thead th:is([aria-sort="ascending"], [aria-sort="descending"])');
    const sign = head.getAttribute("aria-sort") === "ascending" ? 1 : -1;
    const valueOf = (row) => row.cells[head.cellIndex].dataset.value;
    // What has no value comes last, whichever way the others stand.
    const ordered = rows().sort((a, b) => (valueOf(a) === "") - (valueOf(b) === "") || sign * compare(head.dataset.sort, valueOf(a), valueOf(b)));
    table.tBodies[0].append(...ordered);
  };
  const sortBy = (head) => {
    const next = head.getAttribute("aria-sort") === "ascending" ? "descending" : "ascending";
    for (const other of head.parentNode.cells) other.setAttribute("aria-sort", "none");
    head.setAttribute("aria-sort", next);
    sort();
  };

  if (table) {
    for (const head of table.tHead.rows[0].cells) {
      const button = hallumeter.make("button", { type: "button", className: "sort" }, ...head.childNodes);
      button.addEventListener("click", () => sortBy(head));
      head.append(button);
    }
    search.addEventListener("input", filter);
    document.getElementById("run-controls").addEventListener("submit", (event) => event.preventDefault());
    document.getElementById("run-controls").hidden = false;
    filter();
  }

  // ---------------------------------------------------------------- what changes meanwhile

  const told = (runs) => JSON.stringify(runs.map(({ id, status }) => [id, status]).sort());
  const current = () => (table ? JSON.stringify(rows().map((row) => [row.dataset.run, row.dataset.status]).sort()) : "[]");
  const reload = async () => {
    const answer = await fetch(location.href, { cache: "no-store" });
    if (!answer.ok) return;
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const next = page.getElementById("run-list");
    if (!table || !next) {
      location.reload();
      return;
    }
    table.tBodies[0].replaceWith(document.adoptNode(next.tBodies[0]));
    sort();
    filter();
  };
  const show = ({ id, status, step, done, total }) => {
    const place = table?.querySelector(`tr[data-run="${CSS.escape(id)}"] .step`);
    if (status !== "running" || !place) return;
    place.querySelector("bdi").textContent = step;
    place.querySelector(".far").textContent = total ? say("{done} / {total}", { done: grouped(done), total: grouped(total) }) : grouped(done);
  };
  const news = new EventSource("progress");
  news.addEventListener("runs", (event) => {
    const runs = JSON.parse(event.data);
    if (told(runs) !== current()) reload();
    else runs.forEach(show);
  });
})();
