"""The tables of facts hold together: what one names the other knows, and no name means two things."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gpuhelp.kb import regexes
from gpuhelp.kb.architectures import parse_architecture
from gpuhelp.kb.drivers import version_numbers
from gpuhelp.kb.lookups import Tables

KB = Path(__file__).parents[2] / "kb"
STEMS = ("gpus", "cuda_drivers", "torch_wheels", "torch_companions", "cuda_errors", "signals")
PLATFORMS = {"linux_x86_64", "linux_aarch64", "windows_x86_64"}
ALL_ENTRIES = 150  # fewer files than this: the knowledge base is still being written


class _Strict(yaml.SafeLoader):
    """Refuses a key given twice, which YAML readers keep silently."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        keys = [self.construct_object(key, deep=True) for key, _ in node.value]
        assert len(keys) == len(set(keys)), f"key given twice, line {node.start_mark.line + 1}"
        return super().construct_mapping(node, deep)


def _read(stem: str) -> dict[str, Any]:
    text = (KB / "tables" / f"{stem}.yaml").read_text(encoding="utf-8")
    table: dict[str, Any] = yaml.load(text, Loader=_Strict)
    return table


DATA = {stem: _read(stem) for stem in STEMS}
TABLES = Tables.from_data(DATA)
GPUS, DRIVERS, WHEELS, COMPANIONS, ERRORS, SIGNALS = (DATA[stem] for stem in STEMS)
ROWS = [(capability, row) for capability, rows in GPUS["nvidia"].items() for row in rows]
CELLS = [
    (series, variant, platform, cell)
    for series, row in WHEELS["series"].items()
    for variant, cells in row["variants"].items()
    for platform, cell in cells.items()
    if platform != "listed"
]


def _mappings(value: object) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        yield value
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _mappings(inner)


@pytest.mark.parametrize("stem", STEMS)
def test_a_table_says_its_sources_and_its_date(stem: str) -> None:
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", DATA[stem]["as_of"])
    assert DATA[stem]["source"]


@pytest.mark.parametrize("stem", STEMS)
def test_doubt_has_two_degrees(stem: str) -> None:
    words = [row["sure"] for row in _mappings(DATA[stem]) if "sure" in row]
    flat = [word for one in words for word in (one.values() if isinstance(one, dict) else [one])]
    assert set(flat) <= {"medium", "low"}


# GPUs


def test_a_model_is_found_by_its_printed_name() -> None:
    for capability, row in ROWS:
        expected = None if row.get("sure") == "low" else capability
        assert TABLES.compute_capability_of(f"NVIDIA {row['name']}") == expected, row["name"]
        assert TABLES.compute_capability_of(row["name"].upper()) == expected, row["name"]


def test_no_name_belongs_to_two_capabilities() -> None:
    for capability, row in ROWS:
        matching = {
            other
            for other, candidate in ROWS
            if candidate["name"].casefold() == row["name"].casefold()
            or re.fullmatch(candidate.get("pattern", "(?!)"), row["name"], re.IGNORECASE)
        }
        assert matching == {capability}, row["name"]


def test_families_agree_with_the_models() -> None:
    for capability, row in ROWS:
        for family in GPUS["families"]:
            if re.fullmatch(family["pattern"], row["name"], re.IGNORECASE):
                assert family["compute_capability"] == capability, row["name"]


@pytest.mark.parametrize("row", [row for _, row in ROWS if "pattern" in row], ids=lambda row: row["name"])
def test_what_a_pattern_matches_has_its_capability(row: dict[str, Any]) -> None:
    capability = next(one for one, other in ROWS if other is row)

    @settings(max_examples=20, deadline=None, database=None, suppress_health_check=[HealthCheck.too_slow])
    @given(st.from_regex(re.compile(row["pattern"], re.ASCII), fullmatch=True))
    def check(name: str) -> None:
        assert TABLES.compute_capability_of(name) == capability

    check()


@pytest.mark.parametrize("family", GPUS["families"], ids=lambda family: family["pattern"])
def test_families_of_different_capabilities_share_no_name(family: dict[str, Any]) -> None:
    short_names = re.compile(family["pattern"].removesuffix(r"\b.*"), re.ASCII)

    @settings(max_examples=20, deadline=None, database=None, suppress_health_check=[HealthCheck.too_slow])
    @given(st.from_regex(short_names, fullmatch=True))
    def check(name: str) -> None:
        matching = [one for one in GPUS["families"] if re.fullmatch(one["pattern"], name, re.IGNORECASE)]
        assert {one["compute_capability"] for one in matching} <= {family["compute_capability"]}

    check()


def test_every_capability_of_a_name_is_described() -> None:
    named = set(GPUS["nvidia"]) | {family["compute_capability"] for family in GPUS["families"]}
    assert named <= set(GPUS["capabilities"])


def test_precisions_follow_the_capability() -> None:
    for capability, features in GPUS["capabilities"].items():
        number = version_numbers(capability)
        assert number is not None
        assert features["bf16"] is (number >= (8, 0))
        assert features["fp8"] is (number >= (8, 9))


def test_memory_sizes_are_plausible() -> None:
    sizes = [size for _, row in ROWS for size in row.get("memory_gib", ())]
    assert all(1 <= size <= 300 for size in sizes)


def test_amd_names_are_listed_once() -> None:
    names = [name for row in GPUS["amd"].values() for name in row["names"]]
    assert len(names) == len(set(names))
    assert all(re.fullmatch(r"gfx[0-9a-f]{3,4}", gfx) for gfx in GPUS["amd"])


# drivers


def test_branches_rise_with_the_version_they_report() -> None:
    known = [row for row in DRIVERS["branches"] if row["cuda_driver_api"]]
    versions = [version_numbers(row["cuda_driver_api"]) for row in known]
    assert [row["branch"] for row in known] == sorted(row["branch"] for row in known)
    assert versions == sorted(versions, key=lambda version: version or ())


def test_the_driver_listed_with_a_runtime_reports_that_runtime() -> None:
    for row in DRIVERS["runtimes"]:
        for platform in ("linux", "windows"):
            if platform in row and row["cuda"] != "8.0":  # 8.0 came with two branches
                assert TABLES.cuda_api_of_driver(row[platform]) == row["cuda"], row


def test_no_minimum_is_newer_than_the_driver_listed_with_the_runtime() -> None:
    for row in DRIVERS["runtimes"]:
        if "linux" in row and row["cuda"] != "11.0":  # 11.0 shipped before its compatibility minimum
            minimum = TABLES.minimum_driver(row["cuda"], "linux")
            assert (version_numbers(minimum or "") or ()) <= (version_numbers(row["linux"]) or ())


# wheels


def test_every_variant_has_a_runtime_and_that_a_minimum_driver() -> None:
    assert {variant for _, variant, _, _ in CELLS} == set(WHEELS["runtimes"])
    for runtime in WHEELS["runtimes"].values():
        assert TABLES.minimum_driver(runtime, "linux")
        assert TABLES.minimum_driver(runtime, "windows")


def test_a_variant_is_named_after_its_runtime() -> None:
    assert all(f"cu{runtime.replace('.', '')}" == name for name, runtime in WHEELS["runtimes"].items())


def test_every_architecture_in_a_wheel_is_a_known_one() -> None:
    lists = [*WHEELS["arch_sets"].values(), *(cell.get("ptx", []) for *_, cell in CELLS)]
    found = [parse_architecture(name) for names in lists for name in names]
    assert all(one is not None and one.capability in GPUS["capabilities"] for one in found)


def test_wheel_cells_name_known_platforms_lists_and_sources() -> None:
    for series, variant, platform, cell in CELLS:
        place = f"{series} {variant} {platform}"
        assert platform in PLATFORMS, place
        assert cell["sm"] in WHEELS["arch_sets"], place
        assert set(re.split(r", ", cell["source"])) <= set(WHEELS["source"]), place


def test_every_named_list_is_used_and_sorted() -> None:
    assert {cell["sm"] for *_, cell in CELLS} == set(WHEELS["arch_sets"])
    for names in WHEELS["arch_sets"].values():
        assert names == sorted(names, key=lambda name: int(name.removeprefix("sm_")))


def test_what_pypi_serves_is_a_listed_variant() -> None:
    for series, row in WHEELS["series"].items():
        for platform, variant in row["pypi"].items():
            assert platform in PLATFORMS
            assert variant == "cpu" or platform in row["variants"][variant], f"{series} {platform}"


def test_releases_belong_to_their_series() -> None:
    for series, row in WHEELS["series"].items():
        assert all(release.rpartition(".")[0] == series for release in row["releases"])
    assert WHEELS["newest"] in next(iter(WHEELS["series"].values()))["releases"]


def test_cuda_13_wheels_hold_no_volta_pascal_or_maxwell() -> None:
    for series, variant, platform, cell in CELLS:
        if variant.startswith("cu13"):
            oldest = min(int(name[3:]) for name in WHEELS["arch_sets"][cell["sm"]])
            assert oldest >= 75, f"{series} {variant} {platform}"


def test_only_cuda_12_8_and_later_wheels_hold_blackwell() -> None:
    for series, variant, platform, cell in CELLS:
        blackwell = "sm_120" in WHEELS["arch_sets"][cell["sm"]]
        assert not blackwell or int(variant[2:]) >= 128, f"{series} {variant} {platform}"


# patterns of lines: what launchers say of a failed process, who speaks, and what a run survived

POINTERS, SPEAKERS, SURVIVALS = (_read(stem) for stem in ("root_pointers", "speakers", "survivals"))
PATTERN_ROWS = [*POINTERS["pointers"], *SPEAKERS["speakers"], *SURVIVALS["signs"]]
TOLD = {"rank", "local_rank", "host", "pid", "exit_code", "signal", "log", "time"}


def test_tables_of_patterns_say_their_date() -> None:
    assert all(re.fullmatch(r"\d{4}-\d\d-\d\d", table["as_of"]) for table in (POINTERS, SPEAKERS, SURVIVALS))


@pytest.mark.parametrize("row", PATTERN_ROWS, ids=lambda row: row["regex"][:60])
def test_a_pattern_is_one_that_the_scan_can_run(row: dict[str, Any]) -> None:
    assert regexes.ready(row["regex"])
    assert regexes.anchors(row["regex"]), "without a literal it would run on every text"
    assert row["why"]


@pytest.mark.parametrize("row", POINTERS["pointers"], ids=lambda row: row["regex"][:60])
def test_a_pointer_says_where_to_look_in_both_languages(row: dict[str, Any]) -> None:
    assert set(row) <= {"regex", "program", "look", "why", "source", "waits", "weak", "kind", "case"}
    assert row.get("kind", "kills") == "kills"
    assert set(regexes.group_names(row["regex"])) <= TOLD
    assert re.fullmatch(r"[a-z]+", row["program"])
    assert row["look"]["en"].endswith((".", ")."))
    assert re.search("[가-힣]", row["look"]["ko"])
    assert row["look"]["en"].count("`") % 2 == row["look"]["ko"].count("`") % 2 == 0
    assert row["source"].startswith("https://")
    assert not (row.get("waits") and "rank" in regexes.group_names(row["regex"])), "that rank only waited"


def test_a_program_has_one_place_to_look_at() -> None:
    looks: dict[str, set[str]] = {}
    for row in POINTERS["pointers"]:
        looks.setdefault(row["program"], set()).add(row["look"]["en"])
    assert all(len(texts) == 1 for program, texts in looks.items())


@pytest.mark.parametrize("row", SPEAKERS["speakers"], ids=lambda row: row["regex"][:60])
def test_a_speaker_tells_a_rank_or_their_number(row: dict[str, Any]) -> None:
    groups = set(regexes.group_names(row["regex"]))
    assert groups & {"rank", "world_size"}
    assert groups <= {"rank", "world_size", "host", "pid"}


def test_a_sign_of_survival_is_of_a_known_kind() -> None:
    assert {row["kind"] for row in SURVIVALS["signs"]} == {"swallowed", "progress"}


# CUDA errors and endings


def test_a_cuda_error_has_one_number_and_a_name() -> None:
    codes = [row["code"] for row in ERRORS["errors"]]
    names = [row[key] for row in ERRORS["errors"] for key in ("runtime", "driver") if key in row]
    assert codes == sorted(set(codes))
    assert len(names) == len(set(names))
    assert all("runtime" in row or "driver" in row for row in ERRORS["errors"])


def test_old_error_numbers_lead_to_errors_of_today() -> None:
    today = {row["code"] for row in ERRORS["errors"]}
    assert set(ERRORS["before_10_1"].values()) <= today
    assert {row["code"] for row in ERRORS["old_texts"]} <= today


def test_every_ending_is_explained_in_both_languages() -> None:
    rows = [row for key in ("signals", "exit_statuses", "windows", "windows_loader") for row in SIGNALS[key]]
    assert all(row["en"].endswith(".") and re.search("[가-힣]", row["ko"]) for row in rows)


def test_signals_and_statuses_are_listed_once() -> None:
    for key, field in (("signals", "number"), ("exit_statuses", "code"), ("windows", "code")):
        values = [row[field] for row in SIGNALS[key]]
        assert len(values) == len(set(values))


def test_every_entry_named_by_a_table_exists() -> None:
    written = {path.stem for path in (KB / "entries").glob("*/*.yaml") if not path.stem.endswith(".ko")}
    if len(written) < ALL_ENTRIES:
        pytest.skip(f"only {len(written)} entries are written")
    named = {row["entry"] for table in (ERRORS, SIGNALS) for row in _mappings(table) if "entry" in row}
    assert named <= written
