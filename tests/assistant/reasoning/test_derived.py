"""What follows from several facts together; what cannot be told stays unknown."""

from __future__ import annotations

import pytest

from gpuhelp.probes.facts import Facts, FactValue
from gpuhelp.probes.registry import probes_for
from gpuhelp.reasoning.derived import NEEDED, derived

WHEEL = {"packages.nvidia_cudnn_cu12": "9.1.0.70", "python.prefix": "/opt/venv"}


def told(**more: FactValue) -> dict[str, object]:
    return derived(Facts.of({name.replace("__", "."): value for name, value in more.items()}, "snapshot"))


@pytest.mark.parametrize(
    ("path", "soname", "shadows"),
    [
        ("/usr/local/cuda/lib64/libcudnn.so.9", "libcudnn.so.9", True),
        ("/usr/lib/libcudnn_ops.so.9", "libcudnn_ops.so.9", True),
        ("/opt/venv/lib/python3.11/site-packages/nvidia/cudnn/lib/libcudnn.so.9", "libcudnn.so.9", False),
        ("/opt/venv/lib/libcudnn.so.9", "libcudnn.so.9", False),
        ("/usr/local/cuda/lib64/libcublas.so.12", "libcublas.so.12", False),
        ("/usr/lib/x86_64-linux-gnu/libcuda.so.1", "libcuda.so.1", False),
    ],
)
def test_a_library_before_that_of_a_wheel_shadows_it(path: str, soname: str, shadows: bool) -> None:
    facts = Facts.of({**WHEEL, "libraries.loaded": [{"path": path, "soname": soname}]}, "snapshot")
    assert derived(facts)["shadowing_libraries"] == ([path] if shadows else [])


@pytest.mark.parametrize(
    ("visible", "beyond", "first"),
    [
        ("0", [], False),
        ("2", [2], True),
        ("10,0", [10], True),
        ("0,2", [2], False),
        ("GPU-abc,1", [], False),
        ("", [], False),
        (None, [], False),
    ],
)
def test_numbers_that_no_gpu_has(visible: str | None, beyond: list[int], first: bool) -> None:
    values = told(env__CUDA_VISIBLE_DEVICES=visible, gpus=[{"index": 0}, {"index": 1}])
    assert (values["devices_beyond"], values["first_device_beyond"]) == (beyond, first)


def test_infiniband_is_known_by_its_names() -> None:
    values = told(host__network_interfaces=["bond0", "eth0", "ib0", "ibp12s0"])
    assert values["infiniband_interfaces"] == ["ib0", "ibp12s0"]


def test_what_cannot_be_told_is_left_out() -> None:
    assert told() == {}
    assert told(gpus=[], env__CUDA_VISIBLE_DEVICES="0") == {}
    assert told(libraries__loaded=None, host__network_interfaces=None) == {}


@pytest.mark.parametrize("name", [each for names in NEEDED.values() for each in names])
def test_what_they_are_made_of_can_be_asked(name: str) -> None:
    assert probes_for([name])
