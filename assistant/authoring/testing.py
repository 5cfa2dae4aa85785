"""For packages that ship entries: one line in a test file checks all of them with pytest.

    from gpuhelp.authoring.testing import entry_tests

    test_entries = entry_tests("my_library.gpuhelp_entries")

The argument is the folder, or the name of the package, that holds the YAML files. Each entry has two
tests: `lint` (schema, names, patterns, Korean file) and `examples` (beside ours, and on healthy logs too).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path

from gpuhelp.authoring.checks import failures, healthy_logs
from gpuhelp.kb.lint import lint
from gpuhelp.kb.load import load
from gpuhelp.probes.names import is_fact_name

LINT, EXAMPLES = "lint", "examples"


def entry_tests(place: str | Path) -> Callable[[str, str], None]:
    """A test function with two cases for each entry of that folder or package.

    Raises ValueError where there is none: tests that check nothing should not pass.
    """
    import pytest

    folder = _folder(place)
    ids = sorted({_id(path) for path in folder.rglob("*.yaml")})
    if not ids:
        raise ValueError(f"there is no entry in {folder}")
    cases = [pytest.param(one, what, id=f"{one}-{what}") for one in ids for what in (LINT, EXAMPLES)]

    @pytest.mark.parametrize(("entry", "what"), cases)
    def test_entry(entry: str, what: str) -> None:
        faults = faults_of(folder, entry, what)
        if faults:
            pytest.fail("\n".join(faults), pytrace=False)

    return test_entry


def faults_of(folder: Path, entry: str, what: str) -> tuple[str, ...]:
    """What `kb lint` (`what` is "lint") or `kb test` ("examples") says about one entry of the folder."""
    found = _all_faults(folder)
    return found.get((entry, what), ())


def _folder(place: str | Path) -> Path:
    """The folder that is meant; a package is not imported, only those around it are. Raises ValueError."""
    if Path(place).is_dir():
        return Path(place).resolve()
    try:
        spec = find_spec(str(place))
    except (ImportError, ValueError):
        spec = None
    places = list(spec.submodule_search_locations or ()) if spec else []
    if not places:
        raise ValueError(f"{place} is neither a folder nor a package that is installed")
    return Path(places[0])


def _id(path: Path) -> str:
    return path.stem.removesuffix(".ko")


@lru_cache(maxsize=4)
def _all_faults(folder: Path) -> dict[tuple[str, str], tuple[str, ...]]:
    """All faults at once: what these entries are held against is read only one time."""
    knowledge = load([folder])
    ids = tuple(one for one in knowledge.ids if knowledge.entry(one).source == str(folder))
    origins = {knowledge.entry(one).origin: one for one in ids}
    found: dict[tuple[str, str], list[str]] = {}
    for problem in knowledge.skipped:
        found.setdefault((_id(Path(problem.path)), LINT), []).append(str(problem))
    for problem in lint(knowledge, ids, is_fact_name, healthy_logs()):
        entry = origins.get(problem.path) or _id(Path(problem.path))
        found.setdefault((entry, LINT), []).append(str(problem))
    for fault in failures(knowledge, ids):
        found.setdefault((fault.partition(":")[0], EXAMPLES), []).append(fault)
    left_out = {entry for entry, _ in found} - set(ids)
    for entry in left_out:
        found.setdefault((entry, EXAMPLES), ["its examples were not tried: the file has a fault"])
    return {case: tuple(faults) for case, faults in found.items()}
