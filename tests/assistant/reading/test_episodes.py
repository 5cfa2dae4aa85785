"""Lines that belong together are one episode, and the line that tells what failed is pointed at."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from gpuhelp.reading import kinds
from gpuhelp.reading.episodes import repeats, swallowed
from gpuhelp.reading.evidence import Document
from gpuhelp.reading.pieces import Piece, RawText
from gpuhelp.reading.read import read

ReadText = Callable[[str], Document]
Shown = tuple[str, int, int, str]


def shown(document: Document) -> list[Shown]:
    """Kind, first and last line from 0, and what the telling line says."""
    return [
        (episode.kind, episode.first, episode.last, document.lines[episode.telling].text.strip())
        for episode in document.episodes
    ]


TERMINATE = """step 3
terminate called after throwing an instance of 'c10::Error'
  what():  CUDA error: an illegal memory access was encountered
CUDA kernel errors might be asynchronously reported at some other API call.
For debugging consider passing CUDA_LAUNCH_BLOCKING=1
Compile with `TORCH_USE_CUDA_DSA` to enable device-side assertions.

Exception raised from c10_cuda_check at ../c10/cuda/CUDAException.cpp:43 (most recent call first):
frame #0: c10::Error::Error(c10::SourceLocation, std::string) + 0x57 (0x7f8600788d87 in /opt/libc10.so)
frame #1: <unknown function> + 0xdf6b11 (0x7f860168ab11 in /opt/libtorch_cuda.so)

Aborted (core dumped)
"""
UCX = """[gpu01:1000:0:1000] Caught signal 11 (Segmentation fault: address not mapped to object at 0x20)
==== backtrace (tid:   1000) ====
 0  /usr/lib/libucs.so.0(ucs_handle_error+0x294) [0x7a8e68aadba4]
 1  /lib/x86_64-linux-gnu/libc.so.6(+0x42520) [0x7a8e68aadd65]
=================================
"""
OPEN_MPI = """[node1:08445] *** Process received signal ***
[node1:08445] Signal: Segmentation fault (11)
[node1:08445] Signal code: Address not mapped (1)
[node1:08445] Failing at address: (nil)
[node1:08445] [ 0] /lib64/libpthread.so.0(+0xf100)[0x7f1b82419100]
[node1:08445] *** End of error message ***
"""
GLOG = """*** Aborted at 1484050164 (unix time) try "date -d @1484050164" if you are using GNU date ***
PC: @     0x7fb3019ecd26 __memcpy_avx_unaligned
*** SIGSEGV (@0x4206540000) received by PID 20664 (TID 0x7fb27ffff700) from PID 106168320; stack trace: ***
    @     0x7fb3156259f0 (unknown)
    @     0x7fb3019ecd26 __memcpy_avx_unaligned
"""
FAULT = """Fatal Python error: Segmentation fault

Thread 0x00007f5982efe6c0 (most recent call first):
  File "/usr/lib/python3.11/threading.py", line 982 in run

Current thread 0x00007f598b46cb80 (most recent call first):
  File "/home/user/train.py", line 8 in crash
  File "/home/user/train.py", line 9 in <module>

Extension modules: numpy._core._multiarray_umath (total: 1)
"""
GO = """/ml/backend/ggml/ops.cpp:965: fatal error
SIGSEGV: segmentation violation
PC=0x73aa55c24fb7 m=12 sigcode=1 addr=0x204a03fa8
signal arrived during cgo execution

goroutine 37 gp=0xc0001d1c00 m=12 mp=0xc000101008 [syscall]:
runtime.cgocall(0x571fcc14f180, 0xc001927a58)
        runtime/cgocall.go:167 +0x4b fp=0xc001927a30
created by os/signal.Notify.func1.1 in goroutine 1
the end
"""
RUST = """
thread 'main' (24442) panicked at src/main.rs:1:51:
index out of bounds: the len is 0 but the index is 3
stack backtrace:
   0: __rustc::rust_begin_unwind
             at /rustc/59807616/library/std/src/panicking.rs:689:5
note: Some details are omitted, run with `RUST_BACKTRACE=full` for a verbose backtrace.
"""
JULIA = """ERROR: LoadError: Failed to precompile CUDA_Runtime_jll
Stacktrace:
  [1] error(s::String)
    @ Base ./error.jl:35
in expression starting at /home/user/run.jl:2

caused by: Out of GPU memory trying to allocate 2.000 GiB
Stacktrace:
  [1] _alloc(sz::Int64)
    @ CUDA ~/.julia/packages/CUDA/src/pool.jl:234
"""
OOM = """[  100.100000] python3 invoked oom-killer: gfp_mask=0xcc0(GFP_KERNEL), order=0, oom_score_adj=0
[  100.200000] CPU: 5 PID: 1975 Comm: python3 Not tainted 5.4.0
[  100.300000] Call Trace:
[  100.400000]  dump_stack+0x6d/0x8b
[  100.500000] [  pid  ]   uid  tgid total_vm      rss pgtables_bytes swapents oom_score_adj name
[  100.600000] [    375]     0   375    14010     2008   102400      256          -250 journald
[  100.700000] Out of memory: Killed process 7899 (python3) total-vm:26184840kB, anon-rss:15370088kB
[  100.800000] oom_reaper: reaped process 7899 (python3), now anon-rss:0kB
[  100.900000] eth0: link up
"""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(
            TERMINATE,
            [(kinds.NATIVE_ABORT, 1, 9, "what():  CUDA error: an illegal memory access was encountered")],
            id="terminate",
        ),
        pytest.param(
            "terminate called without an active exception\nAborted",
            [(kinds.NATIVE_ABORT, 0, 0, "terminate called without an active exception")],
            id="terminate without exception",
        ),
        pytest.param(
            "libc++abi: terminating due to uncaught exception of type std::runtime_error: no device\n",
            [
                (
                    kinds.NATIVE_ABORT,
                    0,
                    0,
                    "libc++abi: terminating due to uncaught exception of type std::runtime_error: no device",
                )
            ],
            id="libc++",
        ),
        pytest.param(
            "ok\nfree(): double free detected in tcache 2\nAborted (core dumped)\n",
            [(kinds.NATIVE_ABORT, 1, 1, "free(): double free detected in tcache 2")],
            id="glibc",
        ),
        pytest.param(
            'run: run.c:3: main: Assertion `n == 1 && "x"\' failed.\n',
            [(kinds.NATIVE_ABORT, 0, 0, 'run: run.c:3: main: Assertion `n == 1 && "x"\' failed.')],
            id="assert of the C library",
        ),
        pytest.param(UCX, [(kinds.NATIVE_ABORT, 0, 4, UCX.splitlines()[0])], id="UCX"),
        pytest.param(
            OPEN_MPI,
            [(kinds.NATIVE_ABORT, 0, 5, "[node1:08445] Signal: Segmentation fault (11)")],
            id="Open MPI",
        ),
        pytest.param(GLOG, [(kinds.NATIVE_ABORT, 0, 4, GLOG.splitlines()[2])], id="glog"),
        pytest.param(
            "/src/ggml-cuda.cu:86: GGML_ASSERT(n <= 512) failed\n",
            [(kinds.NATIVE_ABORT, 0, 0, "/src/ggml-cuda.cu:86: GGML_ASSERT(n <= 512) failed")],
            id="ggml",
        ),
        pytest.param(
            "[940392] signal (11.1): Segmentation fault\nin expression starting at /home/user/a.jl:3\n"
            "unknown function (ip: 0x7f178961bac5)\ncublasDestroy_v2 at /lib/libcublas.so (unknown line)\n",
            [(kinds.NATIVE_ABORT, 0, 3, "signal (11.1): Segmentation fault")],
            id="Julia's signals",
        ),
        pytest.param(
            FAULT,
            [(kinds.INTERPRETER_DEATH, 0, 9, "Fatal Python error: Segmentation fault")],
            id="faulthandler",
        ),
        pytest.param(GO, [(kinds.GO_PANIC, 1, 8, "SIGSEGV: segmentation violation")], id="Go"),
        pytest.param(
            RUST,
            [(kinds.RUST_PANIC, 1, 6, "index out of bounds: the len is 0 but the index is 3")],
            id="Rust",
        ),
        pytest.param(
            "thread 'main' panicked at 'no GPU', src/main.rs:2:5\nnote: run with `RUST_BACKTRACE=1`\n",
            [(kinds.RUST_PANIC, 0, 1, "thread 'main' panicked at 'no GPU', src/main.rs:2:5")],
            id="Rust before 1.73",
        ),
        pytest.param(
            JULIA,
            [(kinds.JULIA_ERROR, 0, 9, "caused by: Out of GPU memory trying to allocate 2.000 GiB")],
            id="Julia",
        ),
        pytest.param(
            OOM, [(kinds.OOM_KILLER, 0, 7, OOM.splitlines()[6].partition("] ")[2])], id="the kernel's report"
        ),
        pytest.param(
            "NVRM: Xid (PCI:0000:3b:00): 45, pid=123, Ch 00000010\n"
            "NVRM: Xid (PCI:0000:3b:00): 79, pid=123, GPU has fallen off the bus.\n"
            "NVRM: GPU 0000:3b:00.0: GPU has fallen off the bus.\neth0: up\n",
            [(kinds.XID, 0, 2, "NVRM: Xid (PCI:0000:3b:00): 79, pid=123, GPU has fallen off the bus.")],
            id="Xids",
        ),
        pytest.param(
            "gpu01:10:12 [0] NCCL INFO Bootstrap\ngpu01:10:12 [0] NCCL WARN Cuda failure 'out of memory'\n"
            "gpu01:10:12 [0] NCCL INFO p2p.cc:156 -> 1\ngpu01:10:12 [0] NCCL INFO init.cc:1048 -> 1\n",
            [(kinds.NCCL_WARNING, 1, 3, "gpu01:10:12 [0] NCCL WARN Cuda failure 'out of memory'")],
            id="NCCL",
        ),
        pytest.param(
            "docker: Error response from daemon: failed to create shim task: "
            "OCI runtime create failed: runc create failed: error running prestart hook #0: exit status 1\n"
            "nvidia-container-cli: initialization error: nvml error: driver not loaded\n: unknown.\n",
            [
                (
                    kinds.CONTAINER,
                    0,
                    2,
                    "nvidia-container-cli: initialization error: nvml error: driver not loaded",
                )
            ],
            id="container",
        ),
    ],
)
def test_an_episode_has_its_kind_its_lines_and_a_telling_line(
    document: ReadText, text: str, expected: list[Shown]
) -> None:
    assert shown(document(text)) == expected


ASSERT = "../aten/src/ATen/native/cuda/Indexing.cu:1292: indexSelect: block: [{0},0,0], thread: [{0},0,0] "
FLOOD = "".join(ASSERT.format(n) + "Assertion `srcIndex < srcSelectDimSize` failed.\n" for n in range(400))


def test_a_flood_of_assertions_is_one_episode_that_can_be_counted(document: ReadText) -> None:
    found = document(f"step\n{FLOOD}end\n")
    (episode,) = found.episodes
    assert (episode.kind, episode.first, episode.last, repeats(found, episode)) == (
        kinds.DEVICE_ASSERT,
        1,
        400,
        400,
    )


def test_floods_of_interleaved_ranks_are_one_episode_each(document: ReadText) -> None:
    text = "".join(f"[rank{n % 3}]: {line}\n" for n, line in enumerate(FLOOD.splitlines()[:60]))
    found = document(text)
    assert [(e.first, e.last) for e in found.episodes] == [(0, 57), (1, 58), (2, 59)]


@pytest.mark.parametrize(
    "text",
    [
        "we terminate called jobs",
        "the panic: none",
        "panic: at the disco",
        "fatal error: the word alone",
        "ERROR: something, without a trace of stacks",
        "free() was called",
        "torch.cuda: Assertion of faith",
        "NCCL INFO Bootstrap : Using eth0",
        "NVRM: loading NVIDIA UNIX x86_64 Kernel Module  550.54.15",
        "oom-killer is off",
        "python invoked oom-killer: but the rest of the report is gone",
        "0 errors, 3 warnings",
        "errors: 0",
        "val/error: 0.03",
        "step 12: error: 0.31",
        "train FAILED to improve",
        "Root Cause: unknown yet",
        "Process group watchdog thread started",
        "+---+\n| a | b |\n+---+",
        "collected 3 items, Signal: 0.3 noise",
    ],
)
def test_other_lines_are_no_episodes(document: ReadText, text: str) -> None:
    assert shown(document(text)) == []


def test_the_table_of_nvidia_smi_is_a_screen(document: ReadText) -> None:
    text = (
        "+-----------------------------------------------------------------------------+\n"
        "| NVIDIA-SMI 550.54.15    Driver Version: 550.54.15    CUDA Version: 12.4     |\n"
        "|-----------------------------------------------------------------------------|\n"
        "| GPU  Name   | Memory-Usage |\n+-------------+---------------+\n"
    )
    (episode,) = document(text).episodes
    assert (episode.kind, episode.last, episode.kind in kinds.NO_FAILURE) == (kinds.SCREEN, 4, True)


def test_nothing_is_joined_over_lines_that_were_left_out() -> None:
    pieces = (
        Piece(1, "terminate called after throwing an instance of 'c10::Error'\n"),
        Piece(50, "  what():  CUDA error: late\nTraceback (most recent call last):\n"),
        Piece(90, '  File "/home/user/a.py", line 3, in f\nValueError: a\n'),
        Piece(200, "and no more of it\n"),
    )
    (document,) = read([RawText("x", pieces, 1, 201)])
    assert [(e.first, e.last) for e in document.episodes] == [(0, 0)]
    (error,) = document.errors
    assert (error.first, error.message) == (5, "a")


# errors that the program survived

TRACE = 'Traceback (most recent call last):\n  File "/home/user/a.py", line 3, in f\n    x()\nOSError: a\n'


@pytest.mark.parametrize(
    ("text", "last"),
    [
        (f"Exception ignored in: <function A.__del__ at 0x7f>\n{TRACE}done", 5),
        (f"Exception ignored while calling deallocator <function A.__del__ at 0x7f>:\n{TRACE}\ndone", 4),
        ("Exception ignored in: <module 'threading' from\n '/usr/lib/threading.py'>\nKeyError: 1\n\nx", 2),
        (
            f'--- Logging error ---\n{TRACE}Call stack:\n  File "a.py", line 7, in <module>\n    f()\n'
            "Message: 'step %d'\nArguments: ('x',)\n",
            4,
        ),
        (f"Error in atexit._run_exitfuncs:\n{TRACE}", 4),
        ("Exception AttributeError: \"'NoneType' object\" in <bound method A.__del__ of <a>> ignored", 0),
        (
            f"Exception ignored in: <f>\n{TRACE}\nDuring handling of the above exception, another exception "
            f"occurred:\n\n{TRACE}",
            11,
        ),
    ],
)
def test_what_the_interpreter_ignored_is_an_episode_of_its_own(
    document: ReadText, text: str, last: int
) -> None:
    found = document(text)
    assert [(e.kind, e.first, e.last) for e in found.episodes] == [(kinds.IGNORED, 0, last)]
    assert len(swallowed(found)) == len(found.errors)


def test_the_error_that_a_broken_hook_was_called_for_is_not_swallowed(document: ReadText) -> None:
    found = document(f"Error in sys.excepthook:\n{TRACE}\nOriginal exception was:\n{TRACE}")
    assert swallowed(found) == {0}


@pytest.mark.parametrize(
    ("head", "off"),
    [
        ("2024-01-01 12:00:00,123 - train - WARNING - caught exception, retrying", True),
        ("2024-01-01 12:00:00,123 - train - ERROR - step failed, falling back to the CPU", True),
        ("INFO: skipping the bad sample", True),
        ("2024-01-01 12:00:00,123 - train - ERROR - step failed", False),
        ("UserWarning: take care", False),
        ("An error has been caught in function 'main'", False),
        ("epoch 3", False),
    ],
)
def test_a_record_may_say_that_the_program_went_on(document: ReadText, head: str, off: bool) -> None:
    assert bool(swallowed(document(f"{head}\n{TRACE}"))) is off


@pytest.mark.parametrize("separator", ["/", "\\"])
def test_an_error_of_the_resource_tracker_ends_nothing(document: ReadText, separator: str) -> None:
    file = separator.join(("", "usr", "lib", "python3.11", "multiprocessing", "resource_tracker.py"))
    head = "Traceback (most recent call last):\n"
    text = f"{head}  File \"{file}\", line 209, in main\n    cache[rtype].remove(name)\nKeyError: '/mp-0a'\n"
    assert swallowed(document(text)) == {0}
    assert swallowed(document(text.replace("resource_tracker.py", "queues.py"))) == frozenset()


def test_a_traceback_logged_as_a_warning_is_swallowed(document: ReadText) -> None:
    text = "".join(
        f"[2024-01-26 08:48:31,543] torch._dynamo: [WARNING] {line}\n" for line in TRACE.splitlines()
    )
    assert swallowed(document(text)) == {0}


def test_the_calls_that_a_logger_prints_are_no_error(document: ReadText) -> None:
    calls = '  File "a.py", line 7, in <module>\n    f()\n  File "a.py", line 9, in f\n    g()\n'
    assert document(f"Stack (most recent call last):\n{calls}INFO: on\n").errors == ()


@pytest.mark.parametrize(
    "flood",
    [
        "python invoked oom-killer: x\n",
        "ERROR: x\n",
        "panic: x\n",
        "Exception ignored in: <f>\n",
        "x FAILED\n=======\n",
        "Root Cause (first observed failure):\n",
        "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa error: x\n",
        "[rank1]: h [0] NCCL WARN x\n[rank2]: h [0] NCCL WARN x\n",
        "terminate called after throwing an instance of\n",
    ],
)
def test_a_hostile_flood_costs_no_more_than_its_length(document: ReadText, flood: str) -> None:
    started = time.perf_counter()
    document(flood * 8_000 + "goroutine 1 [running]:\nStacktrace:\nKilled process 12\n" + TRACE)
    assert time.perf_counter() - started < 4
