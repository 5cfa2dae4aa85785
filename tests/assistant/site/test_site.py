"""The site: its links hold, hostile texts stay texts, a foreign folder is left alone, the search finds."""

from __future__ import annotations

import shutil
import subprocess
from html.parser import HTMLParser
from pathlib import Path, PurePosixPath

import pytest

from gpuhelp.errors import InputError
from gpuhelp.kb.load import KnowledgeBase, load
from gpuhelp.site.model import entries_of
from gpuhelp.site.pages import LANGUAGES, site_pages
from gpuhelp.site.writing import MARKER, write_site

VOID = {"meta", "link", "br", "input", "rect", "circle", "path"}
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
LIMIT_S = 60


class _Page(HTMLParser):
    """Collects anchors and links; `faults` are tags that do not balance and anchors given twice."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.links: list[tuple[str, str]] = []
        self.faults: list[str] = []
        self._open: list[str] = []
        self.feed(text)
        self.faults += self._open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if "id" in given:
            self.faults += [given["id"]] * (given["id"] in self.anchors)
            self.anchors.add(given["id"])
        self.links += [(tag, given[name]) for name in ("href", "src") if name in given]
        if tag not in VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        return

    def handle_endtag(self, tag: str) -> None:
        if not self._open or self._open.pop() != tag:
            self.faults.append(f"/{tag}")


@pytest.fixture(scope="module")
def knowledge() -> KnowledgeBase:
    return load()


@pytest.fixture(scope="module")
def pages(knowledge: KnowledgeBase) -> dict[str, str]:
    return site_pages(knowledge)


@pytest.fixture(scope="module")
def parsed(pages: dict[str, str]) -> dict[str, _Page]:
    return {path: _Page(text) for path, text in pages.items() if path.endswith(".html")}


def test_every_entry_has_a_page_in_both_languages(knowledge: KnowledgeBase, pages: dict[str, str]) -> None:
    wanted = {f"{language}/{entry}.html" for language in LANGUAGES for entry in knowledge.ids}
    assert wanted - set(pages) == set()


def test_tags_balance_and_anchors_are_given_once(parsed: dict[str, _Page]) -> None:
    assert {path: page.faults for path, page in parsed.items() if page.faults} == {}


def test_every_link_has_a_target_and_nothing_is_loaded_from_elsewhere(
    pages: dict[str, str], parsed: dict[str, _Page]
) -> None:
    wrong = [
        (path, link)
        for path, page in parsed.items()
        for tag, link in page.links
        if (tag != "a" if "://" in link else not _leads(path, link, pages, parsed))
    ]
    assert wrong == []


def _leads(path: str, link: str, pages: dict[str, str], parsed: dict[str, _Page]) -> bool:
    target, _, anchor = link.partition("#")
    parts: list[str] = []
    for part in (PurePosixPath(path).parent / target).parts:
        parts = parts[:-1] if part == ".." else [*parts, part]
    found = "/".join(parts) if target else path
    return found in pages and (not anchor or anchor in parsed[found].anchors)


@pytest.mark.parametrize(
    ("table", "anchor"), [("cuda", "cuda-700"), ("xid", "xid-79"), ("cublas", "CUBLAS_STATUS_NOT_SUPPORTED")]
)
def test_codes_have_stable_anchors(parsed: dict[str, _Page], table: str, anchor: str) -> None:
    assert anchor in parsed[f"en/codes/{table}.html"].anchors


def test_two_runs_are_equal(knowledge: KnowledgeBase, pages: dict[str, str]) -> None:
    assert site_pages(knowledge) == pages


def test_texts_of_an_entry_stay_texts(tmp_path: Path, knowledge: KnowledgeBase) -> None:
    origin = knowledge.entry("pin-cuda-tensor").origin
    source = Path(__file__).resolve().parents[3] / "kb" / origin
    evil = "'</title><script>alert(1)</script> \" onload= ]]> ab\u202ec'"
    lines = source.read_text("utf-8").replace("id: pin-cuda-tensor", "id: evil-entry", 1).splitlines()
    text = "\n".join(f"title: {evil}" if line.startswith("title: ") else line for line in lines)
    (tmp_path / "evil-entry.yaml").write_text(text, "utf-8")
    made = site_pages(load([tmp_path], use_cache=False))
    told = "".join(made[path] for path in ("en/evil-entry.html", "en/browse/layer.html", "search-index.js"))
    assert "&lt;script&gt;alert(1)" in made["en/evil-entry.html"]
    assert "<script>alert" not in told
    assert "\u202e" not in told
    assert _Page(made["en/evil-entry.html"]).faults == []


def test_an_entry_with_the_name_of_another_page_is_refused(tmp_path: Path, knowledge: KnowledgeBase) -> None:
    source = Path(__file__).resolve().parents[3] / "kb" / knowledge.entry("pin-cuda-tensor").origin
    text = source.read_text("utf-8").replace("id: pin-cuda-tensor", "id: index", 1)
    (tmp_path / "index.yaml").write_text(text, "utf-8")
    with pytest.raises(InputError, match=r"en/index\.html: two pages would have this path"):
        site_pages(load([tmp_path], use_cache=False))


def test_programs_own_lines_are_shown_before_what_people_say(knowledge: KnowledgeBase) -> None:
    shown = {one.id: one.symptoms.examples for one in entries_of(knowledge, "en")}
    assert "cuda oom" not in shown["cuda-oom"]
    assert "Error" in shown["dist-port-in-use"][0]


def test_a_folder_with_other_things_is_refused(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("mine", "utf-8")
    with pytest.raises(InputError, match="name another one"):
        write_site({"index.html": "x"}, tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]


def test_stale_pages_go_and_other_files_stay(tmp_path: Path) -> None:
    site = tmp_path / "site"
    write_site({"index.html": "x", "en/old.html": "x"}, site)
    (site / "CNAME").write_text("mine", "utf-8")
    assert write_site({"index.html": "x"}, site) == 1
    assert sorted(path.name for path in site.rglob("*")) == [MARKER, "CNAME", "index.html"]


@pytest.mark.skipif(CHROMIUM is None, reason="no chromium here: apt-get install chromium")
@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("en/index.html?q=out+of+memory", "cuda-oom.html"),
        ("ko/index.html?q=5090", "cuda-no-kernel-image.html"),
        ("en/index.html?q=CUBLAS_STATUS_NOT_SUPPORTED", "codes/cublas.html#cublas-15"),
        ("en/index.html?q=xid+79", "codes/xid.html#xid-79"),
    ],
)
def test_the_search_finds(tmp_path: Path, pages: dict[str, str], query: str, first: str) -> None:
    write_site(pages, tmp_path / "site")
    command = [str(CHROMIUM), "--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=3000"]
    command += [f"--user-data-dir={tmp_path / 'profile'}", "--dump-dom", f"file://{tmp_path}/site/{query}"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_S, check=False)
    shown = done.stdout.partition('id="results"')[2].partition("</ol>")[0]
    assert f'href="{first}"' in "".join(shown.split("<li>")[:4])


@pytest.mark.parametrize(
    "marker",
    ['{"files": 7}', '{"files": null}', "[" * 100_000, '{"files": ["\\u0000x"]}', '{"files": ["\\ud800"]}'],
)
def test_a_damaged_marker_names_no_file(tmp_path: Path, marker: str) -> None:
    (tmp_path / MARKER).write_text(marker, "utf-8")
    assert write_site({"index.html": "x"}, tmp_path) == 1
    assert (tmp_path / "index.html").read_text("utf-8") == "x"
