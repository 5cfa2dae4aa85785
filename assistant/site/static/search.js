// The search of the front page, over SEARCH_INDEX (search-index.js). No server, no library.
//
// A few words: all of them must occur, at the beginning of a word (Korean: anywhere); a title counts more than
// a question, a question more than a text. A sentence, a pasted log, or words that no entry holds all: the
// entries that share its rarest words (Korean: pairs of syllables, for endings differ), those whose printed text
// stands in it, and before all those of which one line holds every word.
"use strict";

var gpuhelpSearch = (function () {
  var FEW_WORDS = 3, MOST_WORDS = 12, MOST_ENTRIES = 20, MOST_NEAR = 8, MOST_CODES = 8, LONGEST = 40000, OF_EXAMPLES = 0.6, RARELY = 0.3, TOGETHER = 1000, MOST_NAMED = 3;
  var WORD = /[a-z0-9_]+|[\p{L}\p{M}]+/gu;
  var HANGUL = /[\u1100-\u11ff\uac00-\ud7af]/;
  var entries = null, codes = null, rarity = null;

  function wordsOf(text) { return text.toLowerCase().match(WORD) || []; }
  // Words, and for Korean every pair of syllables.
  function termsOf(words) {
    return words.flatMap(function (word) {
      if (!HANGUL.test(word) || word.length < 2) return [word];
      return Array.from({ length: word.length - 1 }, function (_, at) { return word.slice(at, at + 2); });
    });
  }
  function squashed(text) { return text.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, ""); }
  function field(text, weight) {
    var words = wordsOf(text);
    return { text: text, weight: weight, words: words, joined: " " + words.join(" ") };
  }

  // Made once, when somebody first asks.
  function prepare() {
    entries = SEARCH_INDEX.entries.map(function (one) {
      var fields = [field(one.i, 8)].concat(
        one.t.map(function (text) { return field(text, 8); }),
        one.q.flat().map(function (text) { return field(text, 4); }),
        one.x.map(function (text) { return field(text, 2); }), [field(one.w, 1)]);
      var terms = new Map();
      fields.forEach(function (part) {
        termsOf(part.words).forEach(function (term) { terms.set(term, part.weight > 1 || Boolean(terms.get(term))); });
      });
      return { id: one.i, layer: one.l, titles: one.t, fields: fields, terms: terms, size: Array.from(terms.values()).filter(Boolean).length,
        printed: one.x.map(squashed).filter(function (text) { return text.length > 9; }) };
    });
    codes = SEARCH_INDEX.codes.flatMap(function (table) {
      return table.r.map(function (row) {
        var titles = table.t.map(function (text) { return text.replace("{number}", row[0]); });
        var fields = titles.map(function (text) { return field(text, 9); }).concat(
          row[1].map(function (name) { return field(name, 9); }), [field(row[2], 1)]);
        return { space: table.s, number: row[0], names: row[1], text: row[2], entry: row[3],
          titles: titles, fields: fields };
      });
    });
    rarity = new Map();
    entries.forEach(function (one) {
      one.terms.forEach(function (isTold, word) { rarity.set(word, (rarity.get(word) || 0) + (isTold ? 1 : RARELY)); });
    });
    rarity.forEach(function (count, word) { rarity.set(word, Math.log(1 + entries.length / count)); });
  }

  // 0 where a field lacks the word; a whole word counts more than the beginning of one.
  function holds(part, word) {
    if (part.words.includes(word)) return part.weight * 1.5;
    if (/^\d+$/.test(word)) return 0;
    return part.joined.includes(HANGUL.test(word) ? word : " " + word) ? part.weight : 0;
  }

  // The score of one thing for a few words, 0 unless all occur; more where one field holds them all.
  function score(one, asked) {
    var best = asked.map(function () { return 0; }), together = 0;
    one.shown = "";
    one.fields.forEach(function (part) {
      var found = asked.map(function (word) { return holds(part, word); });
      best = best.map(function (value, at) { return Math.max(value, found[at]); });
      if (found.every(Boolean) && part.weight > together) { together = part.weight; one.shown = part.text; }
    });
    return best.every(Boolean) ? best.reduce(function (sum, value) { return sum + value; }, together * 4) : 0;
  }

  function ranked(things, scoreOf, most) {
    return things.map(function (one) { return { one: one, score: scoreOf(one) }; })
      .filter(function (found) { return found.score > 0; })
      .sort(function (a, b) { return b.score - a.score; }).slice(0, most);
  }

  // For a whole log: rare shared words, and printed texts that stand in it as they are.
  // A term that only examples hold (isTold: false) counts less.
  function likeness(one, asked, text, ofExamples) {
    var shared = 0, literal = 0;
    asked.forEach(function (term) { shared += Math.pow(rarity.get(term), 2) * (one.terms.get(term) ? 1 : one.terms.has(term) ? ofExamples : 0); });
    one.printed.forEach(function (printed) {
      if (text.includes(printed)) literal = Math.max(literal, 30 + printed.length);
    });
    return (shared / Math.sqrt(40 + one.size)) * 8 + literal;
  }

  function named(asked) {
    return codes.filter(function (one) {
      return one.names.some(function (name) { return name.length > 9 && asked.has(name.toLowerCase()); });
    }).slice(0, MOST_NAMED).map(function (one) { return { one: one, score: 1 }; });
  }

  // { found: [{one, score}], near: whether nothing holds all the words }.
  function find(query) {
    if (!entries) prepare();
    var text = query.length > LONGEST ? query.slice(0, LONGEST / 2) + "\n" + query.slice(-LONGEST / 2) : query;
    var asked = Array.from(new Set(wordsOf(text)));
    if (!asked.length) return { found: [], near: false };
    var isShort = asked.length <= MOST_WORDS && !/\n/.test(text.trim());
    var all = function (one) { return score(one, asked); };
    if (isShort && asked.length <= FEW_WORDS) {
      var exact = ranked(codes, all, MOST_CODES).concat(ranked(entries, all, MOST_ENTRIES));
      exact.sort(function (a, b) { return b.score - a.score; });
      if (exact.length) return { found: exact, near: false };
    }
    var rare = Array.from(new Set(termsOf(asked))).filter(function (term) { return rarity.has(term); });
    var whole = squashed(text);
    var near = ranked(entries, function (one) {
      one.shown = "";
      var together = isShort && all(one) && one.shown ? TOGETHER : 0;
      return likeness(one, rare, whole, isShort ? OF_EXAMPLES : 1) + together;
    }, MOST_NEAR);
    var best = near.length ? near[0].score : 0;
    near = near.filter(function (found) { return found.score > 12 && found.score > (best % TOGETHER) / 4; });
    var meant = isShort ? ranked(codes, all, MOST_NAMED) : named(new Set(asked));
    return { found: near.concat(meant), near: best < TOGETHER };
  }

  return { find: find };
})();

// The box, the list and the keys.
(function () {
  var form = document.getElementById("search");
  if (!form) return;
  var box = document.getElementById("q"), list = document.getElementById("results");
  var count = document.getElementById("count"), timer = 0;
  var at = form.dataset.lang === "ko" ? 1 : 0;

  function element(name, className, text) {
    var made = document.createElement(name);
    if (className) made.className = className;
    made.textContent = text;
    return made;
  }

  function item(one) {
    var link = element("a", "", ""), made = document.createElement("li");
    var isCode = "space" in one;
    link.href = isCode ? "codes/" + one.space + ".html#" + one.space + "-" + one.number : one.id + ".html";
    link.append(element("span", "title", [one.titles[at]].concat(isCode ? one.names.slice(0, 1) : []).join(" · ")));
    var below = isCode ? one.text : one.shown;
    if (below && one.titles.indexOf(below) < 0 && below !== one.id && below.length < 200) link.append(element("span", "below", below));
    made.append(link);
    return made;
  }

  function show() {
    var query = box.value.trim();
    var answer = query ? gpuhelpSearch.find(query) : { found: [], near: false };
    list.replaceChildren.apply(list, answer.found.map(function (found) { return item(found.one); }));
    document.body.classList.toggle("searching", query !== "");
    var many = answer.found.length;
    var told = many === 0 ? form.dataset.none : answer.near ? form.dataset.near : many === 1 ? form.dataset.one : form.dataset.many;
    count.textContent = query ? told.replace("{count}", many) : "";
  }

  function move(event) {
    var links = Array.from(list.querySelectorAll("a")), here = links.indexOf(document.activeElement);
    if (event.isComposing) return;
    if (event.key === "Enter" && event.target === box && !event.shiftKey) {
      event.preventDefault();
      clearTimeout(timer); show();
      if (list.querySelector("a")) list.querySelector("a").click();
    } else if (event.key === "Escape" && event.target !== box) box.focus();
    else if (event.key === "ArrowDown" && links.length && !(event.target === box && box.value.includes("\n"))) {
      event.preventDefault(); links[Math.min(here + 1, links.length - 1)].focus();
    } else if (event.key === "ArrowUp" && here >= 0) {
      event.preventDefault(); (here ? links[here - 1] : box).focus();
    }
  }

  form.addEventListener("submit", function (event) { event.preventDefault(); });
  form.addEventListener("keydown", move);
  box.addEventListener("input", function () { clearTimeout(timer); timer = setTimeout(show, 60); });
  var asked = new URLSearchParams(location.search).get("q");
  if (asked) box.value = asked;
  if (box.value) show();
  else if (matchMedia("(hover: hover)").matches) box.focus({ preventScroll: true });
})();
