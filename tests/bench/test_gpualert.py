"""The figures on the peer's corpus are worked out right, and its labels are told from our answers."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path
from types import ModuleType

import pytest

from gpuhelp.kb.load import load


def _load_module() -> ModuleType:
    path = Path(__file__).resolve().parent / "gpualert.py"
    spec = importlib.util.spec_from_file_location("gpuhelp_bench_gpualert", path)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


gpualert = _load_module()
MAPPED = gpualert.read_labels()


@pytest.mark.parametrize(
    ("entry", "line", "label"),
    [
        ("cuda-oom", "", "cuda_oom"),
        ("cuda-oom-other-process", "", "cuda_oom"),
        ("nccl-shm", "", "nccl"),
        ("python-missing-file", "PermissionError: [Errno 13] Permission denied", "permission"),
        ("python-missing-file", "FileNotFoundError: [Errno 2] No such file", "file_not_found"),
        ("python-exception", "ZeroDivisionError: division by zero", "div_zero"),
        ("python-exception", "AssertionError", "assertion"),
        ("python-exception", "FileNotFoundError: no dedicated class", "traceback"),
        ("cuda-no-kernel-image", "RuntimeError: CUDA error: no kernel image", "cuda_runtime"),
        ("tensor-shape-mismatch", "RuntimeError: mat1 and mat2 shapes", "runtime_error"),
        ("container-cli-error", "nvidia-container-cli: ldcache", "generic"),
    ],
)
def test_an_answer_has_a_label(entry: str, line: str, label: str) -> None:
    assert MAPPED.label_of(entry, line) == label


def test_every_label_has_a_class_of_ours_and_every_mapped_label_exists() -> None:
    rows = [MAPPED.words, *(found for found in MAPPED.answers.values() if not isinstance(found, str))]
    mapped = {found for found in MAPPED.answers.values() if isinstance(found, str)}
    mapped |= {row["label"] for part in rows for row in part}
    assert len(MAPPED.labels) == len(set(MAPPED.labels)) == 15
    assert mapped == set(MAPPED.labels) == set(MAPPED.classes)
    assert all("says" not in rows[-1] for rows in MAPPED.classes.values())


def result(label: str, got: str, wanted: str = "cuda-oom") -> object:
    return gpualert.Judged("case", label, wanted, "answer", got, f"{label} {got}", "shown")


def test_precision_recall_and_f1_are_those_of_the_text_book() -> None:
    results = [result("nccl", "nccl"), result("nccl", "nccl"), result("nccl", "segfault")]
    results += [result("segfault", "nccl"), result("segfault", "segfault")]
    by_label = gpualert.scores(results, ("nccl", "segfault", "div_zero"))
    assert list(by_label) == ["nccl", "segfault"]
    assert (by_label["nccl"].precision, by_label["nccl"].recall) == pytest.approx((2 / 3, 2 / 3))
    assert (by_label["segfault"].precision, by_label["segfault"].recall) == pytest.approx((1 / 2, 1 / 2))
    assert gpualert.macro_f1(by_label) == pytest.approx((2 / 3 + 1 / 2) / 2)


def test_a_label_that_is_never_given_scores_nothing() -> None:
    by_label = gpualert.scores([result("nccl", "healthy")], ("nccl",))
    assert gpualert.macro_f1(by_label) == 0
    assert gpualert.macro_f1({}) == 0


def test_logs_without_an_entry_are_counted_apart() -> None:
    results = [result("nccl", "nccl"), result("segfault", "generic", "no-such-entry")]
    figures = gpualert.report(results, ("nccl", "segfault"), ["cuda-oom"])
    assert figures["macro_f1_with_entry"] == 1
    assert figures["macro_f1_all"] == 0.5
    assert figures["no_entry_yet"] == 1
    assert figures["distinct_texts"] == 2


def test_the_command_reads_a_corpus_and_ends_with_the_figures(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    rows = [
        ("div_zero", "ZeroDivisionError: division by zero in step 7\n"),
        ("cuda_runtime", "RuntimeError: CUDA error: an illegal memory access was encountered\n"),
        ("oom_killer", "step 3 loss 0.5\n"),
    ]
    corpus = tmp_path / "cases.jsonl"
    lines = [
        json.dumps({"id": f"a{n}", "label": label, "text": text}) for n, (label, text) in enumerate(rows)
    ]
    corpus.write_text("\n".join(lines) + "\n", encoding="utf-8")
    assert gpualert.main([str(corpus)]) == 0
    printed = capsys.readouterr().out
    figures = json.loads(printed.splitlines()[-1])
    assert figures["labels_with_entry"] == 3
    assert figures["macro_f1_with_entry"] == pytest.approx(2 / 3, abs=1e-3)
    assert "oom_killer (host-oom-killed) -> healthy" in printed


def test_a_class_is_known_for_every_wording_of_a_label() -> None:
    shared = "ImportError: libcudnn.so.8: cannot open shared object file"
    assert MAPPED.class_of("missing_module", shared) == "cuda-shared-lib-missing"
    assert (
        MAPPED.class_of("missing_module", "ImportError: libGL.so.1: cannot open") == "python-missing-module"
    )
    assert MAPPED.class_of("traceback", "KeyError: 'x'") in load(use_cache=False).ids
