"""Errors that other programs carry, quote, move in or annotate are found as they were raised."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from gpuhelp.reading.evidence import Document, PythonError

ReadText = Callable[[str], Document]
HEADER = "Traceback (most recent call last):\n"
CALLS = (
    '  File "/home/user/train.py", line 88, in <module>\n    main()\n'
    '  File "/home/user/project/model.py", line 41, in forward\n    return self.layer(x)\n           ^^^^^\n'
)
PLAIN = f"{HEADER}{CALLS}RuntimeError: CUDA error: out of memory\n"
MODEL = "/home/user/project/model.py:41"


def told(error: PythonError) -> tuple[str, str, str]:
    """Type, message and the deepest frame of the person's own."""
    return error.type, error.message, error.user_frame.place if error.user_frame else ""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(
            f"{HEADER}{CALLS}ray.exceptions.RayTaskError(ValueError): ray::work() (pid=9, ip=192.0.2.2)\n"
            '  File "/home/user/job.py", line 6, in work\n    return f(x)\n      ^^^^\nValueError: bad\n',
            [
                ("ray.exceptions.RayTaskError(ValueError)", "ray::work() (pid=9, ip=192.0.2.2)", MODEL),
                ("ValueError", "bad", "/home/user/job.py:6"),
            ],
            id="Ray task",
        ),
        pytest.param(
            f"{HEADER}{CALLS}torch.multiprocessing.spawn.ProcessRaisedException: \n\n"
            f"-- Process 3 terminated with the following error:\n{PLAIN}",
            [
                (
                    "torch.multiprocessing.spawn.ProcessRaisedException",
                    "\n-- Process 3 terminated with the following error:",
                    MODEL,
                ),
                ("RuntimeError", "CUDA error: out of memory", MODEL),
            ],
            id="a message that begins with a line break",
        ),
        pytest.param(
            f'multiprocessing.pool.RemoteTraceback: \n"""\n{PLAIN}"""\n',
            [("RuntimeError", "CUDA error: out of memory", MODEL)],
            id="quoted by multiprocessing",
        ),
        pytest.param(
            "  traceback : " + PLAIN.replace("\n", "\n  "),
            [("RuntimeError", "CUDA error: out of memory", MODEL)],
            id="moved in, with a name in front",
        ),
        pytest.param(
            "triton.runtime.errors.OutOfResources: out of resource: shared memory\n",
            [("triton.runtime.errors.OutOfResources", "out of resource: shared memory", "")],
            id="named by its module alone",
        ),
        pytest.param(
            "torch._dynamo.exc.BackendCompilerFailed: backend='inductor' raised:\nImportError: no x\n",
            [
                ("torch._dynamo.exc.BackendCompilerFailed", "backend='inductor' raised:", ""),
                ("ImportError", "no x", ""),
            ],
            id="torch.compile",
        ),
        pytest.param(
            f"2026-11-30 19:57:19.812 | ERROR    | __main__:<module>:7 - caught\n{HEADER}\n"
            '> File "/home/user/a.py", line 7, in <module>\n    main()\n    └ <function main at 0x7f>\n\n'
            '  File "/home/user/a.py", line 6, in main\n    return f(x)\n           │ └ 3\n\nOddError: bad\n',
            [("OddError", "bad", "/home/user/a.py:6")],
            id="loguru",
        ),
        pytest.param(
            f"{HEADER}{CALLS}jax.errors.TracerBoolConversionError: odd\n--------------------\nFor simplicity",
            [("jax.errors.TracerBoolConversionError", "odd", MODEL)],
            id="JAX's note",
        ),
    ],
)
def test_type_message_and_own_frame_are_found(
    document: ReadText, text: str, expected: list[tuple[str, str, str]]
) -> None:
    assert [told(error) for error in document(text).errors] == expected
