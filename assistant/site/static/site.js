// Every page: light or dark, copy buttons, the key that leads to the search box. Runs before the page is drawn.
"use strict";

// What is remembered; nothing where the browser keeps nothing for files.
var gpuhelpStore = {
  get: function (name) {
    try { return localStorage.getItem("gpuhelp-" + name); } catch (error) { return null; }
  },
  set: function (name, value) {
    try { localStorage.setItem("gpuhelp-" + name, value); } catch (error) { /* the page still changes */ }
  },
};

(function () {
  var root = document.documentElement;
  var chosen = gpuhelpStore.get("theme");
  root.classList.add("js");
  if (chosen === "light" || chosen === "dark") root.dataset.theme = chosen;

  function isDark() {
    return root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  }

  function switchTheme() {
    root.dataset.theme = isDark() ? "light" : "dark";
    gpuhelpStore.set("theme", root.dataset.theme);
  }

  function copyByHand(text) {
    var area = document.createElement("textarea");
    area.value = text;
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }

  function copy(button) {
    var text = button.parentElement.querySelector("code").textContent;
    var label = button.textContent;
    var told = function () {
      button.textContent = button.dataset.done;
      setTimeout(function () { button.textContent = label; }, 1500);
    };
    if (button.textContent === button.dataset.done) return;
    if (!navigator.clipboard) { copyByHand(text); told(); return; }
    navigator.clipboard.writeText(text).catch(function () { copyByHand(text); }).then(told);
  }

  document.addEventListener("click", function (event) {
    var target = event.target.closest("[data-theme-switch], [data-copy], [data-language]");
    if (!target) return;
    if ("themeSwitch" in target.dataset) switchTheme();
    else if ("copy" in target.dataset) copy(target);
    else gpuhelpStore.set("language", target.dataset.language);
  });

  document.addEventListener("keydown", function (event) {
    var isTyping = /^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName || "");
    if (event.key !== "/" || isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
    var box = document.querySelector("[data-focus-key]");
    if (box) { event.preventDefault(); box.focus(); box.select(); }
  });
})();
