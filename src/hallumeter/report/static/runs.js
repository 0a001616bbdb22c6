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

  // ---------------------------------------------------------------- two runs to compare

  const told = document.getElementById("chosen-runs");
  let chosen = []; // ids; what the others are compared with comes first
  const rowOf = (id) => table.querySelector(`tr[data-run="${CSS.escape(id)}"]`);
  const nameOf = (id) => rowOf(id).cells[0].textContent.trim();
  const tellChosen = () => {
    chosen = chosen.filter((id) => rowOf(id)?.querySelector("[data-choose]")).slice(-2);
    for (const box of table.querySelectorAll("[data-choose]")) box.checked = chosen.includes(box.value);
    told.hidden = chosen.length === 0;
    if (chosen.length === 1) told.replaceChildren(say("Choose a second run to compare with {first}.", { first: nameOf(chosen[0]) }));
    if (chosen.length < 2) return;
    const [first, second] = chosen;
    const way = hallumeter.make("a", { href: `compare/${first}/${second}` }, say("Compare {first} with {second}", { first: nameOf(first), second: nameOf(second) }));
    const swap = hallumeter.make("button", { type: "button", className: "swap" }, say("Swap"));
    swap.addEventListener("click", () => { chosen.reverse(); tellChosen(); });
    told.replaceChildren(way, swap);
  };

  if (table) {
    table.classList.add("choosing");
    table.addEventListener("change", ({ target }) => {
      if (!target.matches("[data-choose]")) return;
      chosen = target.checked ? [...chosen, target.value] : chosen.filter((id) => id !== target.value);
      tellChosen();
    });
    tellChosen();
    for (const head of table.tHead.querySelectorAll("[data-sort]")) {
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

  const states = (runs) => JSON.stringify(runs.map(({ id, status }) => [id, status]).sort());
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
    tellChosen();
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
    if (states(runs) !== current()) reload();
    else runs.forEach(show);
  });
})();
