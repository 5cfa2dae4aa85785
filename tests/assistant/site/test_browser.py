"""The site in a real browser: how well the search ranks, keys, copying, the theme, and links to codes."""

from __future__ import annotations

import html
import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from gpuhelp.kb.load import KnowledgeBase, load
from gpuhelp.site.pages import site_pages
from gpuhelp.site.writing import write_site

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no chromium here: apt-get install chromium")
LIMIT_S = 60
SAMPLE = 60
REPORT = """<pre id="report"></pre><script>
function report(value) { document.getElementById("report").textContent = JSON.stringify(value); }
addEventListener("load", function () { %s });
</script>"""


@pytest.fixture(scope="module")
def knowledge() -> KnowledgeBase:
    return load()


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory, knowledge: KnowledgeBase) -> Path:
    folder = tmp_path_factory.mktemp("browser") / "site"
    write_site(site_pages(knowledge), folder)
    return folder


def reported(site: Path, page: str, script: str) -> Any:
    """What `script` gives to report(), run in a copy of the page once it has loaded."""
    path, query, rest = page.partition("?")
    copy = (site / path).with_name("copy-of-" + Path(path).name)
    text = (site / path).read_text("utf-8")
    copy.write_text(text.replace("</body>", REPORT % script + "</body>"), "utf-8")
    shown = dom(site, copy.relative_to(site).as_posix() + query + rest)
    found = re.search(r'<pre id="report">(.+?)</pre>', shown, re.DOTALL)
    assert found, shown[:2000]
    return json.loads(html.unescape(found[1]))


def dom(site: Path, page: str) -> str:
    command = [str(CHROMIUM), "--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=20000"]
    command += [f"--user-data-dir={site.parent / 'profile'}", "--dump-dom", f"file://{site}/{page}"]
    return subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_S, check=False).stdout


def places(site: Path, cases: list[tuple[str, str]]) -> list[int]:
    """For each (entry, text): the place of that entry among those that are found, from 1, else 0."""
    texts = json.dumps([text for _, text in cases]).replace("<", "\\u003c")
    script = f"""report({texts}.map(function (text) {{
        return gpuhelpSearch.find(text).found.map(function (its) {{ return its.one.id || its.one.entry; }});
    }}));"""
    answers = [list(dict.fromkeys(filter(None, ids))) for ids in reported(site, "en/index.html", script)]
    return [
        ids.index(wanted) + 1 if wanted in ids else 0 for (wanted, _), ids in zip(cases, answers, strict=True)
    ]


def sampled(cases: list[tuple[str, str]]) -> list[tuple[str, str]]:
    return cases[:: max(1, len(cases) // SAMPLE)]


def test_pasted_logs_find_their_entry(site: Path, knowledge: KnowledgeBase) -> None:
    entries = [knowledge.entry(entry_id) for entry_id in knowledge.ids]
    logs = [(one.id, example.text) for one in entries for example in one.examples]
    found = places(site, sampled([case for case in logs if "\n" in case[1].strip()]))
    assert len(found) >= SAMPLE
    assert sum(place == 1 for place in found) >= 0.88 * len(found)
    assert sum(0 < place <= 3 for place in found) >= 0.96 * len(found)


@pytest.mark.parametrize("language", ["en", "ko"])
def test_questions_find_their_entry(site: Path, knowledge: KnowledgeBase, language: str) -> None:
    entries = [knowledge.entry(entry_id) for entry_id in knowledge.ids]
    asked = [(one.id, text) for one in entries for text in one.questions.of(language) or ()]
    found = places(site, sampled(asked))
    assert sum(place == 1 for place in found) >= 0.95 * len(found)
    assert sum(0 < place <= 3 for place in found) >= 0.98 * len(found)


def test_korean_is_found_within_a_word(site: Path) -> None:
    script = 'report(gpuhelpSearch.find("모리").found.length);'
    assert reported(site, "ko/index.html", script) > 0


def test_arrows_move_through_the_results_and_enter_opens_the_first(site: Path) -> None:
    script = """
        var box = document.getElementById("q"), seen = [], links = document.querySelectorAll("#results a");
        function press(key) {
            document.activeElement.dispatchEvent(new KeyboardEvent("keydown", { key: key, bubbles: true }));
            seen.push(Array.from(links).indexOf(document.activeElement));
        }
        box.focus();
        ["ArrowDown", "ArrowDown", "ArrowUp", "ArrowUp"].forEach(press);
        document.addEventListener("click", function (event) {
            event.preventDefault();
            report({ seen: seen, opened: event.target.closest("a").getAttribute("href") });
        });
        press("Enter");"""
    told = reported(site, "en/index.html?q=out+of+memory", script)
    assert told["seen"][:4] == [0, 1, 0, -1]
    assert told["opened"] in ("cuda-oom.html", "codes/cuda.html#cuda-2")


def test_the_copy_button_copies_the_command_and_says_so(site: Path) -> None:
    script = """
        var copied = "", button = document.querySelector("[data-copy]");
        Object.defineProperty(navigator, "clipboard", { value: {
            writeText: function (text) { copied = text; return Promise.resolve(); } } });
        button.click();
        setTimeout(function () {
            var text = button.parentElement.querySelector("code").textContent;
            report([copied !== "" && copied === text, button.textContent === button.dataset.done]);
        }, 100);"""
    assert reported(site, "en/cuda-oom.html", script) == [True, True]


def test_the_theme_that_was_chosen_is_remembered(site: Path) -> None:
    script = """
        document.querySelector("[data-theme-switch]").click();
        report([document.documentElement.dataset.theme, gpuhelpStore.get("theme")]);"""
    chosen, kept = reported(site, "en/index.html", script)
    assert chosen in ("light", "dark")
    assert kept == chosen


def test_a_link_to_a_code_leads_on_to_its_table(site: Path) -> None:
    assert 'id="cuda-700"' in dom(site, "en/codes/index.html#cuda-700")
    assert 'data-space="cuda"' in dom(site, "en/codes/index.html#cuda")
