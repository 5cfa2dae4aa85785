"""Which CUDA libraries would load: the loader's order, copies that hide each other, missing ones."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from gpuhelp.probes.libraries import libraries
from gpuhelp.probes.machine import Machine
from gpuhelp.probes.registry import ProbeUnavailable
from tests.probes.conftest import SITE
from tests.probes.made_elf import a_library, a_loader_cache

MakeMachine = Callable[..., Machine]

WHEEL_RPATH = "$ORIGIN/../../nvidia/cudnn/lib:$ORIGIN/../../nvidia/cusparse/lib:$ORIGIN"
TORCH_CUDA = a_library(
    "libtorch_cuda.so",
    needed=["libcudnn.so.9", "libcusparse.so.12", "libc10.so", "libm.so.6"],
    rpath=WHEEL_RPATH,
)
CUDNN = a_library("libcudnn.so.9")
CUSPARSE = a_library(
    "libcusparse.so.12", needed=["libnvJitLink.so.12"], runpath="$ORIGIN/../../nvjitlink/lib"
)
NVJITLINK = a_library("libnvJitLink.so.12")
DRIVER = a_library("libcuda.so.1")
NVIDIA = f"{SITE}/nvidia"
WHEEL = {
    f"{SITE}/torch/lib/libtorch_cuda.so": TORCH_CUDA,
    f"{NVIDIA}/cudnn/lib/libcudnn.so.9": CUDNN,
    f"{NVIDIA}/cusparse/lib/libcusparse.so.12": CUSPARSE,
    f"{NVIDIA}/nvjitlink/lib/libnvJitLink.so.12": NVJITLINK,
}


def loaded(machine: Machine) -> dict[str, str]:
    records = libraries(machine).facts["libraries.loaded"]
    assert isinstance(records, list)
    return {record["soname"]: record["path"] for record in records}


def test_a_wheel_loads_the_libraries_of_its_neighbours(with_files: MakeMachine) -> None:
    machine = with_files(WHEEL)
    assert loaded(machine) == {
        "libcudnn.so.9": f"{NVIDIA}/cudnn/lib/libcudnn.so.9",
        "libcusparse.so.12": f"{NVIDIA}/cusparse/lib/libcusparse.so.12",
        "libnvJitLink.so.12": f"{NVIDIA}/nvjitlink/lib/libnvJitLink.so.12",
    }
    assert libraries(machine).detail == ""


def test_the_library_path_comes_after_rpath_and_before_runpath(with_files: MakeMachine) -> None:
    toolkit = {f"/usr/local/cuda/lib64/{name}": raw for name, raw in
               (("libcudnn.so.9", CUDNN), ("libnvJitLink.so.12", NVJITLINK))}  # fmt: skip
    machine = with_files({**WHEEL, **toolkit}, {"LD_LIBRARY_PATH": "/gone::/usr/local/cuda/lib64"})
    found = loaded(machine)
    assert found["libcudnn.so.9"] == f"{NVIDIA}/cudnn/lib/libcudnn.so.9"
    assert found["libnvJitLink.so.12"] == "/usr/local/cuda/lib64/libnvJitLink.so.12"
    assert libraries(machine).detail == (
        f"several copies: libcudnn.so.9: {NVIDIA}/cudnn/lib/libcudnn.so.9 "
        "before /usr/local/cuda/lib64/libcudnn.so.9; "
        "libnvJitLink.so.12: /usr/local/cuda/lib64/libnvJitLink.so.12 before "
        f"{NVIDIA}/nvjitlink/lib/libnvJitLink.so.12"
    )


def test_the_driver_is_found_through_the_cache(with_files: MakeMachine) -> None:
    cache = a_loader_cache(
        [("libcuda.so.1", "/usr/lib/wsl/lib/libcuda.so.1"), ("libcuda.so.1", "/lib32/libcuda.so.1")]
    )
    machine = with_files({"/etc/ld.so.cache": cache, "/usr/lib/wsl/lib/libcuda.so.1": DRIVER})
    assert loaded(machine) == {"libcuda.so.1": "/usr/lib/wsl/lib/libcuda.so.1"}


def test_a_library_for_another_machine_is_passed_over(with_files: MakeMachine) -> None:
    cache = a_loader_cache([("libcuda.so.1", "/lib32/libcuda.so.1"), ("libcuda.so.1", "/lib64/libcuda.so.1")])
    files = {
        "/etc/ld.so.cache": cache,
        "/lib32/libcuda.so.1": b"\x7fELF\x01\x01",
        "/lib64/libcuda.so.1": DRIVER,
    }
    assert loaded(with_files(files)) == {"libcuda.so.1": "/lib64/libcuda.so.1"}


def test_a_folder_that_is_a_link_is_told_by_its_own_name(with_files: MakeMachine) -> None:
    machine = with_files(
        {
            "/usr/lib/x86_64-linux-gnu/libcuda.so.550.90.07": DRIVER,
            "/etc/ld.so.cache": a_loader_cache([("libcuda.so.1", "/lib/x86_64-linux-gnu/libcuda.so.1")]),
        }
    )
    machine.path("/lib").symlink_to("usr/lib")
    machine.path("/usr/lib/x86_64-linux-gnu/libcuda.so.1").symlink_to("libcuda.so.550.90.07")
    assert loaded(machine) == {"libcuda.so.1": "/usr/lib/x86_64-linux-gnu/libcuda.so.1"}


def test_the_interpreter_of_conda_names_its_own_folder(with_files: MakeMachine) -> None:
    machine = with_files(
        {
            "/env/bin/python": a_library(rpath="$ORIGIN/../lib"),
            f"{SITE}/torch/lib/libtorch_cuda.so": a_library(needed=["libcudart.so.12"], rpath="$ORIGIN"),
            "/env/lib/libcudart.so.12": a_library("libcudart.so.12"),
            "/opt/cuda/libcudart.so.12": a_library("libcudart.so.12"),
        },
        {"LD_LIBRARY_PATH": "/opt/cuda"},
    )
    assert loaded(machine) == {"libcudart.so.12": "/env/lib/libcudart.so.12"}


def test_a_library_that_is_nowhere_is_named(with_files: MakeMachine) -> None:
    machine = with_files({f"{SITE}/torch/lib/libtorch_cuda.so": TORCH_CUDA})
    told = libraries(machine)
    assert told.facts == {"libraries.loaded": []}
    assert told.detail == "needed and not found: libcudnn.so.9, libcusparse.so.12"


def test_libraries_that_need_each_other_end(with_files: MakeMachine) -> None:
    machine = with_files(
        {
            f"{SITE}/torch/lib/libtorch_cuda.so": TORCH_CUDA,
            f"{NVIDIA}/cudnn/lib/libcudnn.so.9": a_library(
                "libcudnn.so.9", needed=["libcudnn.so.9", "libcublas.so.12"]
            ),
            f"{NVIDIA}/cudnn/lib/libcublas.so.12": a_library("libcublas.so.12", needed=["libcudnn.so.9"]),
        }
    )
    assert sorted(loaded(machine)) == ["libcublas.so.12", "libcudnn.so.9"]


def test_damaged_files_are_no_libraries(with_files: MakeMachine) -> None:
    machine = with_files(
        {f"{SITE}/torch/lib/libtorch_cuda.so": TORCH_CUDA[:200], "/etc/ld.so.cache": b"\xff" * 99}
    )
    assert libraries(machine).facts == {"libraries.loaded": []}


def test_other_systems_are_not_asked(make_machine: MakeMachine) -> None:
    with pytest.raises(ProbeUnavailable):
        libraries(make_machine(platform="windows"))


def compiled(
    path: Path, *, soname: str, needs: Sequence[Path] = (), rpath: str = "", new: bool = False
) -> None:
    """A real shared library, made by the C compiler; `new` writes RUNPATH instead of RPATH."""
    path.parent.mkdir(parents=True, exist_ok=True)
    tags = "--enable-new-dtags" if new else "--disable-new-dtags"
    options = [f"-Wl,{tags},-rpath,{rpath}"] if rpath else []
    command = [
        "gcc",
        "-shared",
        "-fPIC",
        "-xc",
        "/dev/null",
        "-xnone",
        f"-Wl,--no-as-needed,-soname,{soname}",
    ]
    subprocess.run(
        [*command, *map(str, needs), *options, "-Wl,--allow-shlib-undefined", "-o", str(path)], check=True
    )


@pytest.mark.skipif(
    shutil.which("gcc") is None or not Path("/etc/ld.so.cache").is_file(),
    reason="needs gcc and glibc's loader",
)
@pytest.mark.parametrize("new", [False, True], ids=["RPATH", "RUNPATH"])
@pytest.mark.parametrize("with_path", [False, True], ids=["no LD_LIBRARY_PATH", "LD_LIBRARY_PATH"])
def test_the_loader_of_this_machine_agrees(tmp_path: Path, new: bool, with_path: bool) -> None:
    site, toolkit = tmp_path / "env/lib/python3.11/site-packages", tmp_path / "cuda"
    (tmp_path / "env/pyvenv.cfg").parent.mkdir()
    (tmp_path / "env/pyvenv.cfg").write_text("home = /usr/bin\nversion = 3.11.7\n", encoding="utf-8")
    (tmp_path / "env/bin").mkdir()
    (tmp_path / "env/bin/python").symlink_to(sys.executable)
    link, sparse = (
        site / "nvidia/nvjitlink/lib/libnvJitLink.so.12",
        site / "nvidia/cusparse/lib/libcusparse.so.12",
    )
    root = site / "torch/lib/libtorch_cuda.so"
    compiled(link, soname=link.name)
    compiled(toolkit / link.name, soname=link.name)
    compiled(toolkit / sparse.name, soname=sparse.name)
    compiled(sparse, soname=sparse.name, needs=[link], rpath="$ORIGIN/../../nvjitlink/lib", new=True)
    compiled(root, soname=root.name, needs=[sparse], rpath="$ORIGIN/../../nvidia/cusparse/lib", new=new)
    (site / "torch/version.py").write_text("cuda = '12.4'\n", encoding="utf-8")
    environ = {"LD_LIBRARY_PATH": str(toolkit)} if with_path else {}
    load = f"import ctypes; ctypes.CDLL({str(root)!r}); print(open('/proc/self/maps').read())"
    maps = subprocess.run(
        [sys.executable, "-c", load], env=environ, capture_output=True, text=True, check=True
    )
    real = {word for word in maps.stdout.split() if word.startswith(str(tmp_path)) and "torch" not in word}
    machine = Machine(environ=environ, python=str(tmp_path / "env/bin/python"))
    found = {path for path in loaded(machine).values() if path.startswith(str(tmp_path))}
    assert found == real
    assert len(real) == (1 if with_path and new else 2)
