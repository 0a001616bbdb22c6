"use strict";
// What a reader can take away of a chart: the drawing as SVG, on white paper, and its data as CSV.
(() => {
  const { make, say } = hallumeter;
  const { save, csvOf, saveCsv, fileName, titleOf, rootOf, takeButton } = hallumeter.downloads;

  const WIDTH = 720; // of a drawing that is saved, whatever the width of the window
  // How a point is drawn, where a click on it leads, and numbers that stand there again in words.
  const NOT_DATA = ["colour", "color", "opacity", "order", "reading", "shown", "interval", "bounds"];

  const isLite = (spec) => spec.$schema.includes("/vega-lite/");
  // A drawing follows the width of the page; a file has one of its own.
  const onPaper = (spec) => {
    const paper = { ...spec, background: "white", padding: 10, ...(spec.width === "container" ? { width: WIDTH } : {}) };
    if (!isLite(spec)) paper.signals = (spec.signals ?? []).map((signal) => (signal.name === "width" ? { name: "width", value: WIDTH } : signal));
    return paper;
  };
  const svgOf = async (spec, { title, caption }) => {
    const { view, finalize } = await vegaEmbed(make("div"), onPaper(spec), {
      mode: isLite(spec) ? "vega-lite" : "vega", renderer: "svg", ast: true, actions: false, defaultStyle: false, formatLocale: hallumeter.formatLocale, tooltip: false,
    });
    const file = new DOMParser().parseFromString(await view.toSVG(), "image/svg+xml");
    finalize();
    const [name, words] = ["title", "desc"].map((tag) => file.createElementNS("http://www.w3.org/2000/svg", tag));
    name.textContent = title;
    words.textContent = caption;
    file.documentElement.prepend(name, words);
    return `<?xml version="1.0" encoding="UTF-8"?>\n${new XMLSerializer().serializeToString(file)}\n`;
  };

  // The values that a chart draws: those of the layer that has most, when layers have their own.
  const valuesOf = (spec) => {
    const parts = ["layer", "concat", "hconcat", "vconcat"].flatMap((name) => spec[name] ?? []).concat(spec.spec ?? []);
    const own = [spec.data ?? []].flat().map((data) => data.values ?? []);
    return [...own, ...parts.map(valuesOf)].reduce((most, values) => (values.length > most.length ? values : most), []);
  };
  const rowsOfChart = (spec) => {
    const values = valuesOf(spec);
    const names = [...new Set(values.flatMap((value) => Object.keys(value)))].filter((name) => !NOT_DATA.includes(name));
    return [names, ...values.map((value) => names.map((name) => value[name]))];
  };

  const dataPanel = (specOf, named, titles) => {
    const area = make("textarea", { readonly: "", rows: "6", spellcheck: "false", "aria-label": say("Data of “{name}” as CSV", { name: named.title }) });
    const told = make("output", { role: "status", className: "small" });
    const copy = async () => {
      area.select();
      const isCopied = await navigator.clipboard?.writeText(area.value).then(() => true, () => false) || document.execCommand("copy");
      told.textContent = isCopied ? say("Copied.") : say("Selected: copy it with the keyboard.");
    };
    const panel = make("details", { className: "chart-data" }, make("summary", { className: "take" }, say("Data")), area,
      make("div", { className: "takes" }, told, takeButton(say("Copy"), say("Copy the data of “{name}”", { name: named.title }), copy, "take copy"),
        takeButton(say("CSV"), say("Save the data of “{name}” as CSV", { name: named.title }), () => saveCsv(rowsOfChart(specOf()), fileName(titles(), "csv")))));
    panel.addEventListener("toggle", () => { area.value = panel.open ? csvOf(rowsOfChart(specOf())) : ""; told.textContent = ""; });
    return panel;
  };

  // Offers a chart, given where it is drawn and its specification in the colours of light paper.
  const offerChart = (place, specOf) => {
    const figure = place.closest("figure");
    if (!figure || "taken" in figure.dataset) return;
    figure.dataset.taken = "";
    const wordsIn = (selector) => figure.querySelector(selector)?.textContent.trim() ?? "";
    const named = { title: wordsIn(".chart-title"), caption: wordsIn(".chart-caption") };
    const titles = () => [titleOf(rootOf(figure)), named.title];
    const saveSvg = async () => save(await svgOf(specOf(), named), fileName(titles(), "svg"), "image/svg+xml");
    figure.append(make("div", { className: "takes" }, takeButton(say("SVG"), say("Save “{name}” as SVG", { name: named.title }), saveSvg), dataPanel(specOf, named, titles)));
  };

  hallumeter.downloads.offerChart = offerChart;
})();
