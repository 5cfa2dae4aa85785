"""In the log of a build, the first error of the compiler is pointed at, not the builder's last words."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from gpuhelp.reading import kinds
from gpuhelp.reading.evidence import Document

ReadText = Callable[[str], Document]
PIP = """Building wheels for collected packages: ops
  Building wheel for ops (pyproject.toml): finished with status 'error'
  error: subprocess-exited-with-error

  × Building wheel for ops (pyproject.toml) did not run successfully.
  │ exit code: 1
  ╰─> [16 lines of output]
      running build_ext
      gcc -Wall -c a.c -o build/a.o
      a.c:1:18: warning: unused variable 'error' [-Wunused-variable]
      gcc -Wall -c b.c -o build/b.o
      {}
          1 | int main(void){{ return nothing; }}
      error: command '/usr/bin/gcc' failed with exit code 1
      [end of output]

  note: This error originates from a subprocess, and is likely not a problem with pip.
  ERROR: Failed building wheel for ops
Failed to build ops
ERROR: Failed to build installable wheels for some pyproject.toml based projects (ops)
"""
NINJA = """[1/3] /usr/local/cuda/bin/nvcc -c multi.cu -o multi.o
FAILED: multi.o
/usr/local/cuda/bin/nvcc -c multi.cu -o multi.o
{}
1 error detected in the compilation of "multi.cu".
[2/3] c++ -c ok.cpp -o ok.o
ninja: build stopped: subcommand failed.
Traceback (most recent call last):
  File "/opt/conda/lib/python3.10/site-packages/torch/utils/cpp_extension.py", line 2105, in _run_ninja_build
    subprocess.run(
subprocess.CalledProcessError: Command '['ninja', '-v']' returned non-zero exit status 1.
"""


@pytest.mark.parametrize(
    "line",
    [
        "b.c:1:24: error: 'nothing' undeclared (first use in this function)",
        "/tmp/pip/csrc/flash.cpp:12:10: fatal error: cuda_runtime.h: No such file or directory",
        'flash.cu(1): error: identifier "undefinedx" is undefined',
        '/usr/include/c++/13/bits/std_function.h(435): error #20: identifier "x" is undefined',
        "csrc\\flash.cpp(12): error C2065: 'x': undeclared identifier",
        "csrc\\flash.cpp(12,5): fatal error C1083: Cannot open include file: 'x.h'",
        "LINK : fatal error LNK1181: cannot open input file 'cudart.lib'",
        "a.obj : error LNK2019: unresolved external symbol cudaMalloc referenced in function main",
        "nvcc fatal   : Unsupported gpu architecture 'compute_120'",
        "ptxas fatal   : Value 'sm_120' is not defined for option 'gpu-name'",
        "c++: fatal error: Killed signal terminated program cc1plus",
        "x86_64-linux-gnu-gcc: error: unrecognized command-line option '-fno-lto-x'",
        "/usr/bin/ld: cannot find -lcuda: No such file or directory",
        "c.cpp:(.text+0x5): undefined reference to `cudaMalloc'",
        "ld.lld: error: undefined symbol: cudaMalloc",
        "error[E0308]: mismatched types",
        "CMake Error at CMakeLists.txt:3 (find_package):",
        "make: *** No rule to make target 'x.cu', needed by 'x.o'.  Stop.",
        "/bin/sh: 1: /usr/local/cuda/bin/nvcc: not found",
        "error: command 'gcc' failed: No such file or directory",
        "src/error.cpp:3:4: error: expected ';'",
    ],
)
@pytest.mark.parametrize("log", [PIP, NINJA], ids=["pip", "ninja"])
def test_the_tool_that_found_the_fault_tells(document: ReadText, log: str, line: str) -> None:
    found = document(log.format(line))
    (episode,) = (one for one in found.episodes if one.kind in (kinds.BUILD, kinds.BUILD_END))
    assert (episode.kind, found.lines[episode.telling].text.strip()) == (kinds.BUILD, line)
    assert episode.first <= episode.telling < episode.last


@pytest.mark.parametrize(
    "text",
    [
        "make[2]: *** [CMakeFiles/x.dir/build.make:90: x.o] Error 1\nmake: *** [Makefile:91: all] Error 2",
        "ERROR: Failed building wheel for flash-attn",
        "  × Failed to build `flash-attn==2.7.4.post1`\n  ├─▶ The build backend returned an error",
        "collect2: error: ld returned 1 exit status",
        "Error! Bad return status for module build on kernel: 6.8.0-31-generic (x86_64)\nFAILED: x.o",
        'ERROR: failed to solve: process "/bin/sh -c make" did not complete successfully: exit code: 1',
    ],
)
def test_a_builders_own_words_tell_that_it_failed_but_not_why(document: ReadText, text: str) -> None:
    assert [episode.kind for episode in document(text).episodes] == [kinds.BUILD_END]


@pytest.mark.parametrize(
    "text",
    [
        "gcc -Werror -c a.c",
        "a.c:1:18: warning: unused variable",
        "Building wheel for x (setup.py): finished with status 'done'",
        "-- Looking for cudaMalloc - not found",
        "torch version not found",
        "Successfully built x",
        "step:12 error: 0.3",
        "mean error (10): 0.3",
    ],
)
def test_a_build_that_works_is_no_episode(document: ReadText, text: str) -> None:
    assert document(text).episodes == ()
