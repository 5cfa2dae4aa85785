"""One call of a traceback: how it is printed, and whether its path is a library's or the person's own."""

from __future__ import annotations

import re

from gpuhelp.reading.evidence import Frame

_FRAME = re.compile(
    r'^[\s|]{0,40}(?:\S.{0,60}?)?File "(?P<file>[^"\n]{1,500})", line (?P<line>\d{1,7})'
    r"(?:,? in (?P<function>.{1,200}))?"
)
_CUT_FRAME = r'^(?P<file>[^"\n]{1,500}\.pyx?)", line (?P<line>\d{1,7})(?:,? in (?P<function>.{1,200}))?'
_NOTEBOOK_FRAME = (
    r"^ {0,2}(?:(?:File )?(?P<file>(?:[A-Za-z]:)?[^:()\"'<>\n]{1,400}\.pyx?|<[^<>\n]{1,80}>)"
    r"|\[(?P<linked>[^\]\n]{1,400}\.pyx?|<[^<>\]\n]{1,80}>)\]\(https?://[^)\s]{1,400}\)"
    r"|(?P<cell>(?:Cell |Input )?In ?\[\d+\]))"
    r"(?::(?P<line>\d{1,7})|, line (?P<other>\d{1,7}))?(?:,? in (?P<function>[^\n]{1,200}))?$"
)
_FRAME_BEGINNINGS = ("Cell In", "Input In", "File ", "  Cell In", "  File ")
_LIBRARY = re.compile(
    r"site-packages|dist-packages|[\\/]lib(?:64)?[\\/]python\d|^lib/python\d|^<(?!ipython|stdin)"
    r"|(?:python[\d.]*|c?python-\d[\w.+-]*|PythonSoftwareFoundation[^\\/]*|pyenv-win[\\/]versions[\\/][^\\/]+"
    r"|conda\d*|envs[\\/][^\\/]+|\.?v?env)[\\/]lib[\\/]"
    r"|[\\/]s?bin[\\/][^\\/.]+$|\.exe[\\/]__main__\.py$|^/usr/lib/"
    r"|huggingface[\\/]modules[\\/]|torchinductor_[^\\/]*[\\/]"
    r"|[\\/]torch[\\/](?:_\w+|autograd|cuda|distributed|nn|optim|utils[\\/]data)(?:[\\/]|\.py$)",
    re.I,
)


def is_library(file: str) -> bool:
    """True for code that the person did not write: installed packages, the standard library, launchers."""
    return bool(_LIBRARY.search(file))


def frame_of(text: str) -> Frame | None:
    """The call of a line `File "x.py", line 3, in f`, also when its beginning was cut off."""
    found = (
        _FRAME.match(text) if 'File "' in text else re.match(_CUT_FRAME, text) if '", line ' in text else None
    )
    if found is None:
        return None
    return Frame(
        found["file"].strip(), found["line"], (found["function"] or "").strip(), is_library(found["file"])
    )


def notebook_frame_of(text: str) -> Frame | None:
    """The call of a notebook's line: `x.py in f(a)`, `File x.py:3, in f(a)`, `Cell In[3], line 2`.

    Colab copies the file as a link: `[x.py](https://localhost:8080/#) in f(a)`.
    """
    text = text.rstrip()
    if " in " not in text and not text.startswith(_FRAME_BEGINNINGS):
        return None
    found = re.match(_NOTEBOOK_FRAME, text)
    if found is None or not (found["line"] or found["other"] or found["function"]):
        return None
    file = (found["file"] or found["linked"] or found["cell"]).strip()
    line = found["line"] or found["other"] or ""
    return Frame(file, line, (found["function"] or "").strip(), is_library(file))
