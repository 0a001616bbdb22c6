"use strict";
// A number of the table of transitions opens the claims behind it.
for (const link of document.querySelectorAll("[data-opens]")) {
  link.addEventListener("click", () => {
    const claims = document.getElementById(link.dataset.opens);
    claims.open = true;
    // After the browser has followed the link, which takes the focus away.
    setTimeout(() => claims.querySelector("summary").focus({ preventScroll: true }));
  });
}
// So does an address that names them.
if (location.hash) {
  const named = document.getElementById(location.hash.slice(1));
  if (named?.matches("details.changes")) {
    named.open = true;
    named.scrollIntoView();
  }
}
