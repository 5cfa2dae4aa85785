// The list of code tables: #cuda-700 leads on to that row of its table. Without it the list is the way there.
"use strict";
(function () {
  function forward() {
    var space = location.hash.slice(1).split("-")[0];
    var link = Array.from(document.querySelectorAll("[data-space]")).find(function (one) {
      return one.dataset.space === space && location.hash.length > space.length + 2;
    });
    if (link) location.replace(link.getAttribute("href") + location.hash);
  }

  addEventListener("hashchange", forward);
  forward();
})();
