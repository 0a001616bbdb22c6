"use strict";
// Shows how far a run has come, and loads its page when it is finished.
(() => {
  const { say, grouped } = hallumeter;

  for (const live of document.querySelectorAll("[data-progress]")) {
    const step = live.querySelector(".live-step");
    const bar = live.querySelector(".live-bar");
    const news = new EventSource(live.dataset.progress);
    const said = (event) => JSON.parse(event.data);
    const show = (text) => { if (step.textContent !== text) step.textContent = text; };
    const end = () => {
      news.close();
      bar.hidden = true;
    };

    news.addEventListener("progress", (event) => {
      const { step: name, done, total } = said(event);
      const values = { step: name === "indexing" ? say("reading the records") : name, done: grouped(done), total: grouped(total) };
      show(total ? say("{step}: {done} of {total}", values) : done ? say("{step}: {done}", values) : values.step);
      if (total) bar.value = done / total;
      else bar.removeAttribute("value");
    });
    // The page that the server gives now holds what this one waited for.
    news.addEventListener("finished", () => {
      end();
      location.reload();
    });
    news.addEventListener("stopped", () => {
      end();
      location.reload();
    });
    news.addEventListener("failed", (event) => {
      end();
      show(say("It cannot be shown: {reason}", { reason: said(event).reason }));
      live.classList.add("damaged");
    });
  }
})();
