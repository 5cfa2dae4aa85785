// The first page: goes on to the person's language, and takes the question (?q=) along.
"use strict";
(function () {
  var language = gpuhelpStore.get("language") || (/^ko\b/i.test(navigator.language || "") ? "ko" : "en");
  location.replace((language === "ko" ? "ko" : "en") + "/index.html" + location.search + location.hash);
})();
