"""Kinds of episodes: what an Episode's `kind` may be, and what each says about a failure."""

from __future__ import annotations

NATIVE_ABORT = "native-abort"
"""A native program that ended itself or was ended by a signal: terminate, glibc, ggml, UCX, MPI, glog."""
DEVICE_ASSERT = "device-assert"
"""Assertions of a kernel, one line for each thread."""
INTERPRETER_DEATH = "interpreter-death"
"""Python's own dump of stacks: `Fatal Python error`."""
GO_PANIC = "go-panic"
RUST_PANIC = "rust-panic"
JULIA_ERROR = "julia-error"
NCCL_WARNING = "nccl-warning"
XID = "xid"
"""Kernel lines of the NVIDIA driver about one fault."""
OOM_KILLER = "oom-killer"
"""The kernel's report of a process that it killed for memory."""
CONTAINER = "container"
"""A container that could not be started."""
BUILD = "build"
"""A build that failed: `telling` is the first error of the compiler, linker or configuration."""
BUILD_END = "build-end"
"""A build that failed, of which only the builder's own words are there."""
FAILURE_TABLE = "failure-table"
"""The table in which torchelastic lists the workers that failed."""
IGNORED = "ignored"
"""An error that the program survived: ignored by the interpreter, or of a log handler."""
SCREEN = "screen"
"""The table of nvidia-smi: no failure."""

BY_ITSELF = frozenset(
    {NATIVE_ABORT, DEVICE_ASSERT, INTERPRETER_DEATH, GO_PANIC, RUST_PANIC, JULIA_ERROR, XID, OOM_KILLER,
     CONTAINER, BUILD}
)  # fmt: skip
"""Kinds that went wrong by themselves."""
REPORTS = frozenset({NCCL_WARNING, BUILD_END, FAILURE_TABLE})
"""Kinds that report what went wrong elsewhere, mostly."""
NO_FAILURE = frozenset({IGNORED, SCREEN})
"""Kinds that show no failure of the run."""
