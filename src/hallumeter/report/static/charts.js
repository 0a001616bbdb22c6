"use strict";
// Draw every chart of a chapter from its specification, in the colours of the current scheme.
hallumeter.each("charts-data", (chapter) => {
  const source = JSON.stringify(chapter.data("charts-data")); // drawing changes what it is given
  const { dark } = JSON.parse(source);
  const scheme = matchMedia("(prefers-color-scheme: dark)");

  const draw = async () => {
    // Only whole strings are swapped, so that a name that happens to look like a colour keeps its letters.
    const swap = (key, value) => (scheme.matches && typeof value === "string" && key !== "name" && dark[value]) || value;
    const { specs } = JSON.parse(source, swap);
    for (const place of chapter.root.querySelectorAll("[data-chart]")) {
      // The interpreter (ast) walks expressions instead of compiling them: no eval, so the page can forbid it.
      await vegaEmbed(place, specs[place.dataset.chart], {
        mode: specs[place.dataset.chart].$schema.includes("/vega-lite/") ? "vega-lite" : "vega",
        renderer: "svg",
        ast: true,
        actions: false,
        defaultStyle: false,
        formatLocale: hallumeter.formatLocale,
        tooltip: { disableDefaultStyle: true, anchor: "mark" },
      });
    }
    document.documentElement.dataset.charts = "drawn";
  };

  for (const place of chapter.root.querySelectorAll("[data-chart]")) {
    hallumeter.downloads.offerChart(place, () => JSON.parse(source).specs[place.dataset.chart]);
  }
  chapter.whenShown(() => {
    scheme.addEventListener("change", draw);
    draw();
  });
});
