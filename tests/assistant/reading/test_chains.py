"""Errors that hang together are told in order of cause, and the one to look at is named."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from gpuhelp.reading.chains import bearing, chains, innermost
from gpuhelp.reading.evidence import Document

ReadText = Callable[[str], Document]
HEAD = "Traceback (most recent call last):\n"
CAUSE = "\nThe above exception was the direct cause of the following exception:\n\n"
CONTEXT = "\nDuring handling of the above exception, another exception occurred:\n\n"


def raised(said: str, file: str = "/home/user/train.py", line: int = 3) -> str:
    """A traceback of one call."""
    return f'{HEAD}  File "{file}", line {line}, in f\n    g()\n{said}\n'


LIBRARY = "/opt/conda/lib/python3.11/site-packages/torch/x.py"
SPAWNED = (
    f"{raised('torch.multiprocessing.spawn.ProcessRaisedException: ', LIBRARY)}\n"
    f"-- Process 3 terminated with the following error:\n{raised('ValueError: bad shape')}\n"
)
REMOTE = (
    'multiprocessing.pool.RemoteTraceback: \n"""\n'
    f'{raised("ValueError: in the pool")}"""\n{CAUSE}{raised("ValueError: in the pool", LIBRARY)}'
)
RAY = (
    f"{raised('ray.exceptions.RayTaskError(ValueError): ray::work() (pid=24095, ip=192.0.2.2)', LIBRARY)}"
    '  File "/home/user/job.py", line 6, in work\n    return outer(x)\n           ^^^^^^^^\nValueError: bad\n'
)
ACTOR = (
    "ray.exceptions.ActorDiedError: The actor died because of an error raised in its creation task, "
    "ray::Actor.__init__() (pid=24094, ip=192.0.2.2, actor_id=94, repr=<Actor>)\n"
    "           ^^^^^^^^^^^^^^^^^^^^^\n"
    '  File "/home/user/job.py", line 10, in __init__\n    outer(1)\nOSError: no data\n'
)
LOADER = (
    f"{raised('RuntimeError: Caught KeyError in DataLoader worker process 0.', LIBRARY)}"
    f"Original {raised('''KeyError: 'label' ''')}"
)
COMPILED = (
    f"{raised('ImportError: no name', LIBRARY)}{CAUSE}"
    f"{raised('torch._dynamo.exc.BackendCompilerFailed: backend=inductor raised:')}ImportError: no name\n\n"
)
GROUP = """  + Exception Group Traceback (most recent call last):
  |   File "/home/user/serve.py", line 7, in <module>
  |     asyncio.run(main())
  | ExceptionGroup: unhandled errors in a TaskGroup (2 sub-exceptions)
  +-+---------------- 1 ----------------
    | Traceback (most recent call last):
    |   File "/home/user/serve.py", line 12, in work
    | RuntimeError: one
    +---------------- 2 ----------------
    | Traceback (most recent call last):
    |   File "/home/user/serve.py", line 14, in other
    | ValueError: two
    +------------------------------------
"""


@pytest.mark.parametrize(
    ("text", "names", "root"),
    [
        pytest.param(raised("ValueError: a"), ["ValueError"], "ValueError", id="alone"),
        pytest.param(
            f"{raised('OSError: a')}{CAUSE}{raised('RuntimeError: b')}{CONTEXT}{raised('TypeError: c')}",
            ["OSError", "RuntimeError", "TypeError"],
            "OSError",
            id="the cause is the first",
        ),
        pytest.param(
            f"{raised('KeyError: 0')}{CONTEXT}{raised('RuntimeError: b')}",
            ["KeyError", "RuntimeError"],
            "RuntimeError",
            id="a look-up that missed, and what went wrong instead",
        ),
        pytest.param(
            f"{raised('KeyError: 0')}{CAUSE}{raised('RuntimeError: b')}",
            ["KeyError", "RuntimeError"],
            "KeyError",
            id="a look-up that is said to be the cause",
        ),
        pytest.param(
            f"{raised('subprocess.CalledProcessError: Command x returned non-zero exit status 1.')}{CAUSE}"
            f"{raised('''RuntimeError: Error building extension 'ops' ''')}",
            ["CalledProcessError", "RuntimeError"],
            "RuntimeError",
            id="of two that report, the one that says more",
        ),
        pytest.param(SPAWNED, ["ValueError", "ProcessRaisedException"], "ValueError", id="mp.spawn"),
        pytest.param(REMOTE, ["ValueError", "ValueError"], "ValueError", id="multiprocessing pool"),
        pytest.param(RAY, ["ValueError", "RayTaskError(ValueError)"], "ValueError", id="Ray task"),
        pytest.param(ACTOR, ["OSError", "ActorDiedError"], "OSError", id="Ray actor"),
        pytest.param(LOADER, ["KeyError", "RuntimeError"], "KeyError", id="DataLoader worker"),
        pytest.param(
            COMPILED,
            ["ImportError", "ImportError", "BackendCompilerFailed"],
            "ImportError",
            id="torch.compile",
        ),
        pytest.param(
            GROUP, ["RuntimeError", "ValueError", "ExceptionGroup"], "RuntimeError", id="exception group"
        ),
    ],
)
def test_a_chain_is_in_order_of_cause_and_names_its_root(
    document: ReadText, text: str, names: list[str], root: str
) -> None:
    (chain,) = chains(document(text))
    assert ([error.name for error in chain.errors], chain.root.name) == (names, root)


def test_errors_of_a_group_keep_their_own_place(document: ReadText) -> None:
    (chain,) = chains(document(GROUP))
    places = [error.user_frame.place for error in chain.errors if error.user_frame]
    assert places == ["/home/user/serve.py:12", "/home/user/serve.py:14", "/home/user/serve.py:7"]


def test_errors_that_only_follow_each_other_are_no_chain(document: ReadText) -> None:
    found = chains(document(f"{raised('ValueError: a')}\n{raised('TypeError: b')}"))
    assert [[error.name for error in chain.errors] for chain in found] == [["ValueError"], ["TypeError"]]


def test_chains_of_interleaved_ranks_do_not_mix(document: ReadText) -> None:
    rows = f"{raised('OSError: a')}{CAUSE}{raised('RuntimeError: b')}".splitlines()
    text = "\n".join(f"[rank{rank}]: {row}" for row in rows for rank in range(3))
    found = chains(document(text))
    assert [[error.name for error in chain.errors] for chain in found] == [["OSError", "RuntimeError"]] * 3


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("ValueError: bad", 0),
        ("RuntimeError: CUDA error: out of memory", 0),
        ("RuntimeError: Engine core initialization failed. See root cause above. Failed core proc(s): {}", 1),
        ("RuntimeError: DataLoader worker (pid(s) 12) exited unexpectedly", 1),
        ("RuntimeError: Error building extension 'ops'", 1),
        ("subprocess.CalledProcessError: Command x returned non-zero exit status 1.", 2),
        ("torch.distributed.elastic.multiprocessing.errors.ChildFailedError: ", 2),
        ("torch.multiprocessing.spawn.ProcessExitedException: process 0 terminated with signal SIGKILL", 2),
        (
            "subprocess.CalledProcessError: Command '['/usr/bin/gcc', '/tmp/main.c']' returned non-zero exit",
            1,
        ),
        (
            "vllm.v1.engine.exceptions.EngineDeadError: EngineCore died. See stack trace (above)",
            1,
        ),
        ("RuntimeError: DataLoader worker (pid 30882) is killed by signal: Bus error.", 1),
        ("BrokenPipeError: [Errno 32] Broken pipe", 1),
        ("hydra.errors.InstantiationException: Error in call to target 'trainer.Trainer':", 1),
        ("EOFError", 1),
        ("EOFError: Ran out of input", 0),
        ("exceptiongroup.ExceptionGroup: unhandled errors in a TaskGroup (1 sub-exception)", 1),
        ("KeyboardInterrupt", 2),
        ("SystemExit: 1", 2),
    ],
)
def test_a_launchers_error_is_told_from_one_that_went_wrong(
    document: ReadText, said: str, expected: int
) -> None:
    (error,) = document(raised(said)).errors
    assert bearing(error) == expected


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("ValueError: bad", ("ValueError", "bad")),
        ("torch._inductor.exc.InductorError: RuntimeError: no gcc", ("RuntimeError", "no gcc")),
        ("jax._src.traceback_util.UnfilteredStackTrace: ValueError: odd\nmore", ("ValueError", "odd\nmore")),
        ("RuntimeError: the error: late", ("RuntimeError", "the error: late")),
    ],
)
def test_an_error_that_begins_with_anothers_type_is_that_one(
    document: ReadText, said: str, expected: tuple[str, str]
) -> None:
    (error,) = document(raised(said)).errors
    assert innermost(error) == expected
