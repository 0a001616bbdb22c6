"use strict";
// A page with several runs shows one of them at a time; the address says which.
(() => {
  const { chapters } = hallumeter;
  const links = [...document.querySelectorAll(".runs a")];

  const show = (chosen) => {
    for (const chapter of chapters) {
      const wasHidden = chapter.root.hidden;
      chapter.root.hidden = chapter !== chosen;
      if (wasHidden && chapter === chosen) chapter.root.dispatchEvent(new CustomEvent("shown"));
    }
    for (const link of links) {
      if (link.hash === `#${chosen.prefix}chapter`) link.setAttribute("aria-current", "page");
      else link.removeAttribute("aria-current");
    }
  };
  // An address inside a chapter opens that chapter.
  const follow = () => {
    const target = location.hash.slice(1);
    const chosen = chapters.find((chapter) => target.startsWith(chapter.prefix));
    show(chosen || chapters[0]);
    if (chosen && target !== `${chosen.prefix}chapter`) document.getElementById(target)?.scrollIntoView();
    else if (chosen) scrollTo(0, 0);
  };
  addEventListener("hashchange", follow);
  follow();
})();
