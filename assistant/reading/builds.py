"""Build logs: the first error of the compiler, far above the builder's own last words."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpuhelp.reading import kinds
from gpuhelp.reading.evidence import Episode
from gpuhelp.reading.script import Script, says

_WORDS = (
    "error: ", " error C", " error LNK", "error[E", "error #", ": fatal error", "FAILED: ", "*** [",
    "ninja: ", "CMake Error", "nvcc fatal", "ptxas fatal", "undefined reference to", "ld: cannot find",
    "not found", "multiple definition of", "Failed building wheel", "Failed to build",
    "Configuring incomplete", "compilation terminated", "Error building extension", "No rule to make target",
    "Bad return status for module build", "did not complete successfully",
)  # fmt: skip
_PLACE = r"(?:\w:\d{1,7}(?::\d{1,6})?|\(\d{1,7}(?:,\d{1,6})?\)) ?: (?:catastrophic |fatal )?$"
_CODE = r"(?: #\d{1,6}(?:-D)?| (?P<code>[A-Z]{1,4})\d{2,5})?: "
"""What stands before and after the word "error" in a line of gcc, clang, hipcc, nvcc and Visual C++."""
_MOST_TRIED = 8
_TOOL = (
    r"(?:[\w./+-]{0,200}/)?(?:[\w.+-]{1,40}-)?"
    r"(?:gcc|g\+\+|cc|c\+\+|cc1|cc1plus|clang|clang\+\+|nvcc|hipcc|ld|ld\.\w{2,4}|collect2|cicc|ptxas|nvlink)"
)
_TELLS = (
    r"error(?:\[E\d{4}\]): "  # rustc
    r"|(?:nvcc|ptxas|nvlink|cicc|fatbinary) (?:fatal|error) *: "
    r"|" + _TOOL + r"(?:\.exe)?: (?:\S{1,300}:\d+: )?(?:fatal )?error: (?!ld returned)"
    r"|CMake Error(?: at |: | \(dev\)|$)"
    r"|make(?:\[\d+\])?: \*\*\* No rule to make target "
    r"|(?:/bin/)?(?:ba|da)?sh: .{0,80}(?:gcc|g\+\+|nvcc|ninja|cmake|cl)(?:: |\b.{0,20})not found"
    r"|error: (?:command '[^']{1,300}' failed: No such file|Microsoft Visual C\+\+ )"
)
"""How lines begin in which a tool says what it found wrong."""
_TELLING_WORDS = (
    ": undefined reference to ", ": multiple definition of ", "/ld: cannot find ", "ld: error: ",
    "ld.lld: error: ",
)  # fmt: skip
_ENDS = (
    r"FAILED: |ninja: (?:build stopped|error|fatal)|make(?:\[\d+\])?: \*\*\* \[|compilation terminated"
    r"|error: (?:subprocess-exited-with-error|[Cc]ommand .{1,1900} exit |could not compile|aborting due to)"
    r"|ERROR: (?:Failed |Could not build |Command errored)|collect2: error: |-- Configuring incomplete, err"
    r"|\d{1,6} errors? (?:detected in the compilation|generated)|Error: Bad return status for module build"
)
"""How lines begin in which a builder says that a step failed."""
_ENDING_WORDS = (
    "Failed building wheel for ", "Failed to build ", "Error building extension '",
    "did not complete successfully: exit code", "collect2: error: ",
)  # fmt: skip


def build_episodes(script: Script) -> Iterator[Episode]:
    """The build of a document, if one failed: from its first error to the builder's last words.

    A compiler's error alone is a failed build, too. Words of a builder alone tell that one failed, not why.
    """
    if not script.holds(_WORDS):
        return
    told: list[int] = []
    ended: list[int] = []
    for index in script.lines_with(_WORDS):
        text = script.head(index).lstrip()
        if _is_located(text) or re.match(_TELLS, text) or _holds(_TELLING_WORDS, text):
            told.append(index)
        elif re.match(_ENDS, text) or _holds(_ENDING_WORDS, text):
            ended.append(index)
    if told:
        yield Episode(kinds.BUILD, min([*told[:1], *ended[:1]]), max([*told[-1:], *ended[-1:]]), told[0])
    elif ended:
        yield Episode(kinds.BUILD_END, ended[0], ended[-1], ended[0])


def _holds(words: tuple[str, ...], text: str) -> bool:
    return any(word in text for word in words)


def _is_located(text: str) -> bool:
    """True for a compiler's line: a place in a source, then the word "error", and maybe a code.

    Visual C++'s linker names no place.
    """
    end = 0
    for _ in range(_MOST_TRIED):
        place = text.find("error", end)
        if place < 0:
            return False
        end = place + len("error")
        code = re.match(_CODE, text[end : end + 20])
        if code and (code["code"] == "LNK" or says(_PLACE, text[max(0, place - 40) : place])):
            return True
    return False
