"use strict";
// The list beside the records: filters, pages of fifty, the keyboard, and the links of numbers to the records behind them.
hallumeter.listing = (chapter, { source, entryOf, show, clear, filters, wordsOf, told, reader, narrow, arrive }) => {
  const { make, say, sayCount } = hallumeter;
  const { button } = hallumeter.texts;
  const { place, root } = chapter;
  const PAGE = 50;
  const [list, search, order] = ["list", "search", "order"].map(place);
  let behind = {}; // what a link asked for
  let loaded = 0;
  let matching = 0;
  let asking = new AbortController(); // an answer to a question that is no longer asked is dropped
  let opening = new AbortController();
  let timer = 0;

  // Filters of the page and the keys of a link never speak of the same thing; groups are put together.
  const query = () => {
    const all = { ...behind };
    for (const filter of filters) {
      const value = filter.read();
      if (value !== undefined) all[filter.key] = filter.name === undefined ? value : { ...all[filter.key], ...value };
    }
    return { search: search.value.trim(), behind: all };
  };

  const problem = (text, again) => make("p", { className: "problem", role: "alert" }, text, " ", button(say("Try again"), again));
  const isNarrow = () => matchMedia(`(max-width: ${narrow}rem)`).matches;

  // ---------------------------------------------------------------- opening a record

  const mark = (position) => {
    for (const node of list.querySelectorAll(".entry")) node.setAttribute("aria-current", String(Number(node.dataset.position) === position));
  };
  const open = async (position, wanted = query().behind) => {
    opening.abort();
    const mine = opening = new AbortController();
    mark(position);
    reader.setAttribute("aria-busy", "true");
    try {
      const record = await source.open(position, mine.signal);
      if (mine.signal.aborted) return;
      await show(record, { behind: wanted, isStale: () => mine.signal.aborted });
    } catch (error) {
      if (mine.signal.aborted) return;
      reader.replaceChildren(problem(say("This record could not be read: {problem}.", { problem: error.message }), () => open(position, wanted)));
    }
    if (mine === opening) reader.removeAttribute("aria-busy");
  };
  const close = () => {
    opening.abort();
    reader.replaceChildren();
    clear?.();
  };
  const toReader = () => { if (isNarrow()) reader.scrollIntoView({ block: "start" }); };

  // ---------------------------------------------------------------- the list

  const lineOf = (entry) => {
    const node = make("button", { type: "button", className: "entry", "data-position": entry.position }, ...entryOf(entry).filter(Boolean));
    node.addEventListener("click", () => open(entry.position).then(toReader));
    return make("li", {}, node);
  };
  const moreLine = () => {
    const left = Math.min(PAGE, matching - loaded);
    if (left <= 0) return [];
    const line = make("li", { className: "more-line" }, button(sayCount(left, "Show {count} more", "Show {count} more"), more));
    watcher.observe(line);
    return [line];
  };
  const append = (answer) => {
    list.querySelector(".more-line")?.remove();
    list.append(...answer.entries.map(lineOf));
    loaded = answer.start + answer.entries.length;
    if (!answer.entries.length) matching = loaded;
    list.append(...moreLine());
  };

  const refresh = async () => {
    asking.abort();
    const mine = asking = new AbortController();
    list.setAttribute("aria-busy", "true");
    try {
      const answer = await source.list(query(), { order: order.value, start: 0, count: PAGE, signal: mine.signal });
      if (mine.signal.aborted) return;
      ({ matching } = answer);
      list.replaceChildren(...(matching ? [] : [make("li", { className: "empty" }, told.none())]));
      list.scrollTop = 0;
      if (matching) append(answer);
      place("shown").textContent = told.shown({ matching, held: source.held });
      tellChip();
      if (!matching) close();
      else await open(answer.entries[0].position);
    } catch (error) {
      if (mine.signal.aborted) return;
      list.replaceChildren(make("li", {}, problem(say("The list could not be read: {problem}.", { problem: error.message }), () => refresh())));
    }
    if (mine === asking) list.removeAttribute("aria-busy");
  };

  let growing = null;
  const more = () => {
    growing ??= grow().finally(() => { growing = null; });
    return growing;
  };
  const grow = async () => {
    const mine = asking;
    const start = loaded;
    try {
      const answer = await source.list(query(), { order: order.value, start, count: PAGE, signal: mine.signal });
      if (!mine.signal.aborted && start === loaded) append(answer);
    } catch (error) {
      if (!mine.signal.aborted) list.querySelector(".more-line")?.replaceChildren(problem(say("The list could not be read: {problem}.", { problem: error.message }), more));
    }
  };
  const watcher = new IntersectionObserver((seen) => { if (seen.some((one) => one.isIntersecting)) more(); }, { root: list, rootMargin: "0px 0px 200px" });

  // ---------------------------------------------------------------- what a link asked for

  const chip = place("chip");
  const tellChip = () => {
    const words = wordsOf(behind);
    chip.hidden = !words.length;
    if (!words.length) return;
    const remove = button("×", () => { ask({}); search.focus(); }, { className: "chip-remove", "aria-label": say("Show all again") });
    chip.replaceChildren(
      make("span", { className: "chip-whole" }, make("span", { className: "chip-words" }, ...words.flatMap((text, at) => [...(at ? [" · "] : []), make("bdi", {}, text)])), remove),
      make("span", { className: "chip-told" }, told.behind({ matching, held: source.held, total: source.total })));
  };
  const ask = (wanted) => {
    opening.abort(); // a record still on its way would take what was asked for as meant for it
    behind = wanted;
    search.value = "";
    for (const filter of filters) filter.clear();
    return refresh();
  };
  // The latest choice counts: a filter takes the place of what the link said of the same thing.
  const yieldTo = (filter) => {
    const { [filter.key]: dropped, ...rest } = behind;
    if (filter.name === undefined) { behind = rest; return; }
    const { [filter.name]: field, ...others } = dropped || {};
    behind = Object.keys(others).length ? { ...rest, fields: others } : rest;
  };

  for (const link of root.querySelectorAll("a.behind[data-behind]")) {
    const what = wordsOf(JSON.parse(link.dataset.behind)).join(", ");
    const number = link.textContent.trim();
    link.setAttribute("aria-label", what ? say("{number}: show what is behind it ({what})", { number, what }) : say("{number}: show what is behind it", { number }));
    link.title = what;
  }
  root.addEventListener("click", (event) => {
    const link = event.target.closest?.("a.behind[data-behind]");
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
    ask(JSON.parse(link.dataset.behind)).then(() => list.querySelector(".entry")?.focus({ preventScroll: true }));
  });

  // From a finding that stands on the page to the same in its record; the list stays as it is.
  const jump = async (wanted) => {
    const { entries } = await source.list({ search: "", behind: wanted }, { order: order.value, start: 0, count: 1 });
    if (!entries.length) return;
    await open(entries[0].position, wanted);
    const line = list.querySelector("[aria-current=true]")?.closest("li");
    if (line) list.scrollTop = line.offsetTop - list.offsetTop;
    reader.querySelector(".chosen")?.focus({ preventScroll: true });
    arrive?.();
  };
  root.addEventListener("click", (event) => {
    const link = event.target.closest?.("a.to-finding[data-finding]");
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    jump(JSON.parse(link.dataset.finding));
  });

  // ---------------------------------------------------------------- the keyboard

  list.addEventListener("keydown", async (event) => {
    const line = event.target.closest("li");
    if (!line || !["ArrowDown", "ArrowUp"].includes(event.key)) return;
    event.preventDefault();
    if (event.key === "ArrowDown" && !line.nextElementSibling?.querySelector(".entry") && loaded < matching) await more();
    const target = (event.key === "ArrowDown" ? line.nextElementSibling : line.previousElementSibling)?.querySelector(".entry");
    if (!target) return;
    target.focus();
    open(Number(target.dataset.position));
  });
  document.addEventListener("keydown", (event) => {
    if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey || root.hidden || event.target.closest?.("input, select, textarea, [contenteditable]")) return;
    event.preventDefault();
    search.focus();
    search.scrollIntoView({ block: "nearest" });
  });

  for (const filter of filters) {
    filter.node.addEventListener("change", () => {
      yieldTo(filter);
      refresh();
    });
  }
  order.addEventListener("change", () => refresh());
  search.addEventListener("input", () => {
    clearTimeout(timer);
    if (source.pause) timer = setTimeout(refresh, source.pause);
    else refresh();
  });
  search.form.addEventListener("submit", (event) => event.preventDefault());

  return { refresh, open, mark, query };
};

// A filter by a value out of a list; a value is written as JSON, so that "not given" is not taken for "any".
hallumeter.listing.choice = (node, key, options = {}) => {
  const { make } = hallumeter;
  const { name } = options;
  return {
    node, key, name,
    offer: (values) => {
      node.append(...values.map(([value, words]) => make("option", { value: JSON.stringify(value) }, words)));
    },
    read: () => {
      if (node.value === "") return undefined;
      const value = JSON.parse(node.value);
      return name === undefined ? value : { [name]: value };
    },
    clear: () => { node.value = ""; },
  };
};
