"use strict";
// Pages in numbers: where they lie, and what becomes of the ranking when some of them are left out.
hallumeter.each("pages-data", (chapter) => {
  const { make, number, percent, say, sayCount, grouped, written, figure } = hallumeter;
  const { place, data, root } = chapter;
  const table = data("pages-data");
  const numbers = table.numbers;
  const rows = table.page.map((page, row) => ({
    row, page, engine: table.engine[row], badge: table.badge[row], reading: table.reading[row],
    cer: numbers.cer[row], wer: numbers.wer[row], anchor: numbers.anchor_score[row],
    // A page without ground truth, on which the engine wrote something: there is no end to the ratio.
    ratio: numbers.length_ratio[row] ?? Infinity,
  }));
  const byEngine = table.engines.map((_, engine) => rows.filter((row) => row.engine === engine));
  const openReading = (reading) => root.dispatchEvent(new CustomEvent("open-reading", { detail: reading }));

  // ---------------------------------------------------------------- numbers of a set of pages

  const known = (values) => values.filter((value) => value !== null);
  const mean = (values) => (values.length ? values.reduce((sum, value) => sum + value, 0) / values.length : null);
  const quantile = (sorted, share) => {
    if (!sorted.length) return null;
    const position = (sorted.length - 1) * share;
    const below = Math.floor(position);
    const above = Math.min(below + 1, sorted.length - 1);
    return sorted[below] + (position - below) * (sorted[above] - sorted[below]);
  };
  const gini = (sorted) => {
    const total = sorted.reduce((sum, value) => sum + value, 0);
    if (!total) return null;
    const weighted = sorted.reduce((sum, value, position) => sum + (position + 1) * value, 0);
    return (2 * weighted) / (sorted.length * total) - (sorted.length + 1) / sorted.length;
  };
  const measure = (own) => {
    const sorted = known(own.map((row) => row.cer)).sort((a, b) => a - b);
    return {
      pages: own.length, mean: mean(sorted), median: quantile(sorted, 0.5), p90: quantile(sorted, 0.9), p95: quantile(sorted, 0.95),
      wer: mean(known(own.map((row) => row.wer))), gini: gini(sorted), anchor: mean(known(own.map((row) => row.anchor))),
    };
  };
  // Engines are ranked by their mean CER; where none was measured, by their mean anchor score.
  const hasCer = rows.some((row) => row.cer !== null);
  const errorOf = (own) => (hasCer ? own.mean : own.anchor === null ? null : -own.anchor);
  const ranksOf = (measured) => {
    const order = measured.map((_, engine) => engine).filter((engine) => errorOf(measured[engine]) !== null);
    order.sort((a, b) => errorOf(measured[a]) - errorOf(measured[b]) || a - b);
    return measured.map((_, engine) => (order.includes(engine) ? order.indexOf(engine) + 1 : null));
  };
  const whole = byEngine.map(measure);
  const wholeRanks = ranksOf(whole);

  // ---------------------------------------------------------------- rules

  const RULES = [
    { name: "cer", told: (limit) => `${limit} %`, holds: (row, limit) => row.cer !== null && row.cer > limit / 100, why: (row) => say("CER {value}", { value: percent(row.cer) }) },
    { name: "anchor", told: (limit) => written(limit.toFixed(2)), holds: (row, limit) => row.anchor < limit, why: (row) => say("anchor {value}", { value: number(row.anchor) }) },
    { name: "ratio", told: (limit) => written(limit.toFixed(1)), holds: (row, limit) => row.ratio > limit, why: (row) => say("length ratio {value}", { value: number(row.ratio, 2) }) },
    { name: "badge", holds: (row) => row.badge === true, why: () => say("badge of hallumeter") },
  ];
  const reasonsOf = (row, rules) => rules.filter(({ rule, limit }) => rule.holds(row, limit)).map(({ rule }) => rule.why(row));

  const divide = () => {
    const rules = RULES.filter((rule) => place(`rule-${rule.name}`).checked).map((rule) => ({ rule, limit: Number(place(`limit-${rule.name}`)?.value) }));
    const reasons = rows.map((row) => reasonsOf(row, rules));
    const fallen = new Set(rows.filter((row) => reasons[row.row].length).map((row) => row.page));
    if (place("rule-everyone").checked) {
      for (const row of rows) if (!reasons[row.row].length && fallen.has(row.page)) reasons[row.row].push(say("left out for another engine"));
    }
    return reasons;
  };

  // ---------------------------------------------------------------- the table of engines

  const changeOf = (value, before, digits = 3) => {
    if (value === null || before === null) return "";
    const change = value - before;
    return change === 0 ? say("no change") : `${change > 0 ? "+" : "−"}${number(Math.abs(change), digits).replace(/^([<>])/, "$1 ")}`;
  };
  const moveOf = (rank, before) => {
    if (rank === null || before === null || rank === before) return "";
    return rank < before ? `▲ ${before - rank}` : `▼ ${rank - before}`;
  };

  const engineRow = (engine, measured, rank) => {
    const before = whole[engine];
    const own = (...children) => chapter.behind({ engine: table.engines[engine] }, ...children);
    const cell = (name) => {
      const made = figure(measured[name], own(number(measured[name])), changeOf(measured[name], before[name]));
      if (measured[name] !== null && before[name] !== null) made.dataset.change = measured[name] - before[name];
      return made;
    };
    const kept = figure(measured.pages, own(say("{shown} of {total}", { shown: grouped(measured.pages), total: grouped(before.pages) })));
    kept.dataset.total = before.pages;
    return make("tr", {},
      figure(rank, rank === null ? hallumeter.NO_VALUE : String(rank), moveOf(rank, wholeRanks[engine])),
      make("th", { scope: "row" }, make("bdi", {}, table.engines[engine])),
      kept,
      ...["mean", "median", "p90", "p95", "wer", "gini", "anchor"].map(cell));
  };

  const LISTED = 100;
  let fallen = [];
  let listed = LISTED;
  let reasons = [];

  const listFallen = () => {
    const wanted = place("left-out-engine").value;
    const own = wanted === "" ? fallen : fallen.filter((row) => row.engine === Number(wanted));
    const shown = own.slice(0, listed).map((row) => {
      const button = row.reading === null ? null : make("button", { type: "button", className: "plain-button" }, say("Open"));
      button?.addEventListener("click", () => openReading(row.reading));
      return make("tr", {}, make("td", {}, make("bdi", {}, table.pages[row.page])), make("td", {}, make("bdi", {}, table.engines[row.engine])),
        make("td", {}, reasons[row.row].join(", ")), make("td", {}, button ?? say("not in this file")));
    });
    place("left-out-table").tBodies[0].replaceChildren(...shown);
    place("left-out-more").hidden = own.length <= listed;
    place("left-out-more").textContent = say("Show {more} more of {total}", { more: grouped(Math.min(LISTED, own.length - listed)), total: grouped(own.length) });
  };

  const refresh = () => {
    for (const rule of RULES) if (rule.told) place(`told-${rule.name}`).textContent = rule.told(Number(place(`limit-${rule.name}`).value));
    for (const rule of RULES) if (rule.told) place(`limit-${rule.name}`).disabled = !place(`rule-${rule.name}`).checked;
    reasons = divide();
    const measured = byEngine.map((own) => measure(own.filter((row) => !reasons[row.row].length)));
    const ranks = ranksOf(measured);
    const order = measured.map((_, engine) => engine).sort((a, b) => (ranks[a] ?? Infinity) - (ranks[b] ?? Infinity) || a - b);
    place("robust-table").tBodies[0].replaceChildren(...order.map((engine) => engineRow(engine, measured[engine], ranks[engine])));
    [...place("robust-table").tHead.rows[0].cells].forEach((cell, column) => (column ? cell.removeAttribute("aria-sort") : cell.setAttribute("aria-sort", "ascending")));
    fallen = rows.filter((row) => reasons[row.row].length);
    listed = LISTED;
    place("robust-told").textContent = sayCount(rows.length, "{kept} of {count} reading kept, {out} left out.", "{kept} of {count} readings kept, {out} left out.",
      { kept: grouped(rows.length - fallen.length), out: grouped(fallen.length) });
    place("left-out-title").textContent = say("Pages left out ({count})", { count: grouped(fallen.length) });
    listFallen();
  };

  // ---------------------------------------------------------------- the kept rows as a file

  const save = () => {
    const names = Object.keys(numbers);
    const head = ["page", "engine", "status", "is_hallucinating", "picarones_badge", ...names];
    const lines = rows.filter((row) => !reasons[row.row].length).map((row) => [
      table.pages[row.page], table.engines[row.engine], table.statuses[table.status[row.row]][0], table.badge[row.row], table.picarones[row.row],
      ...names.map((name) => numbers[name][row.row])]);
    hallumeter.downloads.saveCsv([head, ...lines], "kept-pages.csv");
  };

  // ---------------------------------------------------------------- where the pages lie

  const POINTS_AS_NODES = 2000;
  const isToldApart = table.engines.length <= table.colours.length;
  const scheme = matchMedia("(prefers-color-scheme: dark)");
  const pointOf = (row, chosen) => {
    const isChosen = isToldApart || row.engine === chosen;
    return {
      x: row.anchor, y: Math.min(Math.max(row.ratio, 0.001), 9.99), page: table.pages[row.page], engine: table.engines[row.engine], reading: row.reading,
      anchor: number(row.anchor), ratio: number(row.ratio, 2), cer: number(row.cer),
      group: isToldApart ? table.engines[row.engine] : isChosen ? "chosen" : "others", opacity: isToldApart ? 0.7 : isChosen ? 0.95 : 0.22,
    };
  };
  const specOf = (isDark) => {
    const charts = data("charts-data");
    const dark = Object.assign({}, charts.dark, Object.fromEntries(table.colours));
    const swap = (_, value) => (isDark && typeof value === "string" && Object.hasOwn(dark, value) ? dark[value] : value);
    const spec = JSON.parse(JSON.stringify(charts.specs[place("scatter").dataset.spec]), swap);
    const points = spec.layer.find((layer) => layer.name === "points");
    const chosen = Number(place("scatter-engine").value);
    if (isToldApart) for (const channel of ["color", "shape"]) points.encoding[channel].scale.domain = table.engines;
    // The chosen engine is drawn last, above the others.
    points.data = { values: rows.map((row) => pointOf(row, chosen)).sort((a, b) => a.opacity - b.opacity) };
    return spec;
  };
  const draw = async () => {
    const { view } = await vegaEmbed(place("scatter"), specOf(scheme.matches), {
      mode: "vega-lite", renderer: rows.length > POINTS_AS_NODES ? "canvas" : "svg", ast: true, actions: false, defaultStyle: false,
      tooltip: { disableDefaultStyle: true, anchor: "mark" }, formatLocale: hallumeter.formatLocale,
    });
    view.addEventListener("click", (_, item) => { if (Number.isInteger(item?.datum?.reading)) openReading(item.datum.reading); });
    document.documentElement.dataset.scatter = "drawn";
  };

  if (place("scatter")) {
    // With too many engines for a colour each, one is coloured: at first the one with most of its pages in the danger zone.
    const shareInDanger = byEngine.map((own) => mean(own.map((row) => Number(row.anchor < 0.5 || row.ratio > 1.2))) ?? 0);
    table.engines.forEach((engine, position) => place("scatter-engine").append(make("option", { value: position }, engine)));
    place("scatter-engine").value = String(shareInDanger.indexOf(Math.max(...shareInDanger)));
    place("scatter-engine").addEventListener("change", draw);
    place("scatter-filter").hidden = isToldApart;
    place("scatter-figure").hidden = false;
    hallumeter.downloads.offerChart(place("scatter"), () => specOf(false));
    chapter.whenShown(() => {
      scheme.addEventListener("change", draw);
      draw();
    });
  }

  // ---------------------------------------------------------------- start

  // What differs from a witness ranks no engine.
  if (!place("robust")) return;
  table.engines.forEach((engine, position) => place("left-out-engine").append(make("option", { value: position }, engine)));
  place("left-out-engine").addEventListener("change", () => { listed = LISTED; listFallen(); });
  place("left-out-more").addEventListener("click", () => { listed += LISTED; listFallen(); });
  place("left-out-table").addEventListener("whole", () => { listed = Infinity; listFallen(); });
  place("robust-save").addEventListener("click", save);
  const form = place("robust").querySelector(".rules");
  form.addEventListener("input", refresh);
  form.addEventListener("submit", (event) => event.preventDefault());
  place("robust").hidden = false;
  refresh();
});
