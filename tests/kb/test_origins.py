"""Entries of the person's folder and of packages are found; what is broken there is told, never fatal."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gpuhelp.kb import files, origins
from gpuhelp.kb.files import Folder
from gpuhelp.kb.load import KnowledgeBase, load
from gpuhelp.kb.origins import fault_of, further_folders, user_folder

Dump = Callable[[Any], str]
LIMIT_S = 120
MODULE = "my_library"
FOLDER = "gpuhelp_entries"
POINT = f"[{origins.GROUP}]\nmy-library = {MODULE}.{FOLDER}\n"


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty site-packages, the first place where Python looks for packages; the person has no entries."""
    folder = tmp_path / "env" / "site-packages"
    folder.mkdir(parents=True)
    monkeypatch.setattr(sys, "path", [str(folder), *sys.path])
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    return folder


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / "cache"


def install(
    place: Path, entries: dict[str, str], name: str = "my-pkg", version: str = "1.0", points: str = POINT
) -> Path:
    """A package as an installer leaves it behind; the folder of its entries, missing where it has none."""
    info = place / f"{name.replace('-', '_')}-{version}.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n", "utf-8")
    (info / "entry_points.txt").write_text(points, "utf-8")
    folder = place / MODULE / FOLDER
    for file, text in entries.items():
        folder.mkdir(parents=True, exist_ok=True)
        (folder / file).write_text(text, "utf-8")
    # What a package runs when it is imported must not run.
    (place / MODULE).mkdir(exist_ok=True)
    (place / MODULE / "__init__.py").write_text("raise SystemExit('imported')\n", "utf-8")
    return folder


@pytest.fixture
def foreign(entry: dict[str, Any], dump: Dump) -> dict[str, str]:
    """The files of one entry that is not ours."""
    return {"dry-flux.yaml": dump({**entry, "id": "dry-flux", "questions": ["why is it dry"]})}


def sources(knowledge: KnowledgeBase) -> dict[str, str]:
    return {entry_id: knowledge.entry(entry_id).source for entry_id in knowledge.ids}


# the person's folder


def test_the_folder_of_the_person_lies_where_the_system_keeps_data(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    assert user_folder() == tmp_path / "gpuhelp" / "kb"
    monkeypatch.delenv("XDG_DATA_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert user_folder() == tmp_path / ".local" / "share" / "gpuhelp" / "kb"


def test_elsewhere_platformdirs_says_where_data_lies(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    assert user_folder().parts[-2:] == ("gpuhelp", "kb")


def test_entries_of_the_person_are_found_with_their_folder_as_origin(
    root: Path, place: Path, cache: Path, foreign: dict[str, str]
) -> None:
    user_folder().mkdir(parents=True)
    (user_folder() / "dry-flux.yaml").write_text(foreign["dry-flux.yaml"], "utf-8")
    assert sources(load(cache_dir=cache, further=True)) == {
        "dry-flux": str(user_folder()),
        "sample-failure": "",
    }
    assert "dry-flux" not in load(cache_dir=cache).ids


def test_an_entry_of_the_person_stands_for_one_of_a_package(
    root: Path, place: Path, cache: Path, foreign: dict[str, str]
) -> None:
    install(place, foreign)
    for mine in (user_folder(), cache.parent / "checkout"):
        mine.mkdir(parents=True)
        (mine / "dry-flux.yaml").write_text(foreign["dry-flux.yaml"], "utf-8")
        knowledge = load([mine], cache_dir=cache, further=True)
        assert (sources(knowledge)["dry-flux"], knowledge.skipped) == (str(mine), ())
        shutil.rmtree(mine)


# installed packages


def test_entries_of_a_package_are_found_with_its_name_and_version(
    root: Path, place: Path, cache: Path, foreign: dict[str, str]
) -> None:
    install(place, foreign)
    assert sources(load(cache_dir=cache, further=True)) == {"dry-flux": "my-pkg 1.0", "sample-failure": ""}
    assert MODULE not in sys.modules


def test_a_package_that_comes_or_goes_is_noticed(
    root: Path, place: Path, cache: Path, foreign: dict[str, str]
) -> None:
    def known() -> tuple[str, ...]:
        return load(cache_dir=cache, further=True).ids

    before = known()
    install(place, foreign)
    after = known()
    (info,) = place.glob("*.dist-info")
    info.rename(place / "gone")
    assert (before, after, known()) == (
        ("sample-failure",),
        ("dry-flux", "sample-failure"),
        ("sample-failure",),
    )


def test_an_entry_that_changes_in_a_package_is_noticed(
    root: Path, place: Path, cache: Path, foreign: dict[str, str], entry: dict[str, Any], dump: Dump
) -> None:
    folder = install(place, foreign)
    load(cache_dir=cache, further=True)
    (folder / "dry-flux.yaml").write_text(
        dump({**entry, "id": "dry-flux", "title": "Now it is wet"}), "utf-8"
    )
    assert load(cache_dir=cache, further=True).entry("dry-flux").title.of("en") == "Now it is wet"


def test_packages_that_are_described_anywhere_on_the_path_count(
    place: Path, tmp_path: Path, cache: Path, foreign: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    other = tmp_path / "elsewhere"
    other.mkdir()
    monkeypatch.setattr(sys, "path", [str(other), *sys.path])
    assert further_folders(cache) == ()
    folder = install(other, foreign)
    assert further_folders(cache) == (Folder(str(folder), "my-pkg 1.0"),)
    (other / "my_pkg-1.0.dist-info" / "entry_points.txt").write_text("", "utf-8")
    os.utime(other / "my_pkg-1.0.dist-info" / "entry_points.txt", (1, 1))
    assert further_folders(cache) == ()


def test_a_file_that_comes_and_goes_in_the_working_folder_costs_nothing(
    place: Path, tmp_path: Path, cache: Path, foreign: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    install(place, foreign)
    work = tmp_path / "work"
    work.mkdir()
    monkeypatch.setattr(sys, "path", [str(work), *sys.path])
    found = further_folders(cache)
    (work / "train.log").write_text("a line", "utf-8")
    monkeypatch.setattr(origins, "_asked", lambda: pytest.fail("the packages were asked again"))
    assert further_folders(cache) == found


def test_of_two_packages_with_one_name_the_first_on_the_path_counts(
    place: Path, tmp_path: Path, foreign: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    older = tmp_path / "older" / "site-packages"
    install(older, foreign, version="0.9")
    folder = install(place, foreign)
    monkeypatch.setattr(sys, "path", [str(place), str(older), *sys.path])
    assert further_folders(None) == (Folder(str(folder), "my-pkg 1.0"),)


def test_an_altered_ledger_costs_no_answer(place: Path, cache: Path, foreign: dict[str, str]) -> None:
    folder = install(place, foreign)
    wanted = (Folder(str(folder), "my-pkg 1.0"),)
    assert further_folders(cache) == wanted
    state = json.loads((cache / "packages.json").read_text("utf-8"))["state"]
    for folders in (None, 7, [["one"]], [[1, 2]], "text"):
        (cache / "packages.json").write_text(json.dumps({"state": state, "folders": folders}), "utf-8")
        assert further_folders(cache) == wanted
    (cache / "packages.json").write_bytes(b"\xff{")
    assert further_folders(cache) == wanted


# what is broken


def test_a_package_without_its_folder_is_told_and_left_out(
    root: Path, place: Path, cache: Path, foreign: dict[str, str]
) -> None:
    folder = install(place, {})
    for use_cache in (True, False):
        knowledge = load(cache_dir=cache, further=True, use_cache=use_cache)
        (problem,) = knowledge.skipped
        assert (problem.path, problem.message) == (str(folder), "my-pkg 1.0 brings no such folder of entries")
        assert knowledge.ids == ("sample-failure",)


@pytest.mark.parametrize("value", ["", "..", "../../etc", "/etc", "my_library.", "a b"])
def test_an_entry_point_that_names_no_package_leads_nowhere(
    root: Path, place: Path, cache: Path, foreign: dict[str, str], value: str
) -> None:
    install(place, foreign, points=f"[{origins.GROUP}]\nmy-library = {value}\n")
    knowledge = load(cache_dir=cache, further=True)
    assert knowledge.ids == ("sample-failure",)
    assert all("brings no such folder" in problem.message for problem in knowledge.skipped)


def test_a_broken_entry_of_a_package_is_told_and_the_others_count(
    root: Path, place: Path, cache: Path, foreign: dict[str, str]
) -> None:
    folder = install(place, {**foreign, "wrong.yaml": "id: wrong\nlayer: nowhere\n"})
    knowledge = load(cache_dir=cache, further=True)
    assert {problem.path for problem in knowledge.skipped} == {str(folder / "wrong.yaml")}
    assert knowledge.ids == ("dry-flux", "sample-failure")


@pytest.mark.parametrize(
    "points",
    ["[gpuhelp.kb\n", "[gpuhelp.kb]\nno value\n", "[gpuhelp.kb]\na = \n", "[gpuhelp.kb]\na = .x:y [z]\n"],
)
def test_a_package_with_damaged_metadata_does_no_harm(
    root: Path, place: Path, cache: Path, foreign: dict[str, str], points: str
) -> None:
    install(place, {}, name="damaged", points=points)
    install(place, foreign)
    assert "dry-flux" in load(cache_dir=cache, further=True).ids


def test_a_package_without_metadata_does_no_harm(
    root: Path, place: Path, cache: Path, foreign: dict[str, str]
) -> None:
    install(place, {}, name="damaged")
    (place / "damaged-1.0.dist-info" / "METADATA").unlink()
    install(place, foreign)
    assert "dry-flux" in load(cache_dir=cache, further=True).ids


def test_a_package_in_an_archive_is_told_and_left_out(
    root: Path,
    place: Path,
    tmp_path: Path,
    cache: Path,
    foreign: dict[str, str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    install(tmp_path / "packed", foreign)
    archive = tmp_path / "packed.zip"
    with zipfile.ZipFile(archive, "w") as packed:
        for path in sorted((tmp_path / "packed").rglob("*")):
            packed.write(path, path.relative_to(tmp_path / "packed"))
    monkeypatch.setattr(sys, "path", [str(archive), *sys.path])
    knowledge = load(cache_dir=cache, further=True)
    (problem,) = knowledge.skipped
    assert (problem.path, problem.hint) == (str(archive), "install the package unpacked")
    assert knowledge.ids == ("sample-failure",)


@pytest.mark.skipif(sys.platform == "win32" or os.geteuid() == 0, reason="everything can be read")
def test_a_folder_that_may_not_be_read_is_told(tmp_path: Path) -> None:
    folder = tmp_path / "closed"
    folder.mkdir(mode=0)
    problem = fault_of(Folder(str(folder), "my-pkg 1.0"))
    assert problem is not None
    assert problem.message == "cannot be read"


# with real installers and a real start


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The source of a package that brings entries, with nothing installed yet."""
    project = tmp_path_factory.mktemp("project")
    (project / "src" / MODULE / FOLDER).mkdir(parents=True)
    (project / "src" / MODULE / "__init__.py").write_text("raise SystemExit('imported')\n", "utf-8")
    (project / "pyproject.toml").write_text(
        '[build-system]\nrequires = ["setuptools"]\nbuild-backend = "setuptools.build_meta"\n'
        '[project]\nname = "my-pkg"\nversion = "1.0"\n'
        f'[project.entry-points."{origins.GROUP}"]\nmy-library = "{MODULE}.{FOLDER}"\n'
        f'[tool.setuptools.package-data]\n"{MODULE}.{FOLDER}" = ["*.yaml"]\n',
        "utf-8",
    )
    return project


ASK = "from gpuhelp.kb.origins import further_folders as f; import json; print(json.dumps(f(None)))"


@pytest.mark.parametrize(
    "mode", [[], ["--editable"], ["--config-settings=editable_mode=strict", "--editable"]]
)
def test_a_package_that_pip_installed_is_found(
    real: Path, tmp_path: Path, foreign: dict[str, str], mode: list[str]
) -> None:
    setuptools = pytest.importorskip("setuptools")
    (real / "src" / MODULE / FOLDER / "dry-flux.yaml").write_text(foreign["dry-flux.yaml"], "utf-8")
    env = tmp_path / "env"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", env], check=True, timeout=LIMIT_S)
    python = env / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
    quiet = ["-q", "--disable-pip-version-check", "--no-build-isolation", "--no-deps", "--no-index"]
    pip = [sys.executable, "-m", "pip", "--python", python, "install", *quiet]
    builders = {**os.environ, "PYTHONPATH": str(Path(setuptools.__file__).parents[1])}
    subprocess.run([*pip, *mode, real], check=True, timeout=LIMIT_S, env=builders)
    ours = str(Path(pytest.__file__).parents[1])  # with what an editable gpuhelp needs to be found
    code = f"import site; site.addsitedir({ours!r}); {ASK}"
    asked = subprocess.run(
        [python, "-Ic", code], capture_output=True, text=True, timeout=LIMIT_S, check=False
    )
    assert asked.returncode == 0, asked.stderr
    ((folder, source),) = json.loads(asked.stdout)
    assert source == "my-pkg 1.0"
    assert (Path(folder) / "dry-flux.yaml").is_file()


def test_a_warm_start_asks_no_package_and_reads_no_foreign_entry(
    tmp_path: Path, foreign: dict[str, str]
) -> None:
    folder = install(tmp_path / "site-packages", foreign)
    ours = [path for path in sys.path if path]
    code = (
        f"import sys; sys.path[:] = [{str(tmp_path / 'site-packages')!r}, *{ours!r}]\n"
        "import builtins, os\n"
        "opened = []\n"
        "sys.addaudithook(lambda event, what: opened.append(str(what[0])) if event == 'open' else None)\n"
        "from gpuhelp.kb.load import load\n"
        "assert 'dry-flux' in load(further=True).ids\n"
        "print('importlib.metadata' in sys.modules, any('dry-flux' in one for one in opened))\n"
    )
    environ = {
        **os.environ,
        "XDG_CACHE_HOME": str(tmp_path / "cache"),
        "XDG_DATA_HOME": str(tmp_path / "data"),
    }
    assert list(folder.iterdir())
    time.sleep(files._SETTLED_S)  # else it may change again within the clock's tick, and is read once more

    def started() -> str:
        command = [sys.executable, "-Ic", code]
        return subprocess.run(
            command, env=environ, capture_output=True, text=True, timeout=LIMIT_S, check=True
        ).stdout.strip()

    assert (started(), started()) == ("True True", "False False")
