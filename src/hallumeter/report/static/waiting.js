"use strict";
// Asks again until the server has what this page waits for.
if (document.querySelector(".live")) setTimeout(() => location.reload(), 2000);
