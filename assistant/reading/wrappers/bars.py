"""Progress bars: where one ends and the next thing on the line begins."""

from __future__ import annotations

from gpuhelp.reading.wrappers.escapes import rare

_BAR = (
    r"\d{1,3}%\|[^|\n]{0,400}\|[^\[\]\n]{1,80}\[[^\]\n]{1,300}\]"  # tqdm
    r"|\b\d{1,12}it \[[^\]\n]{1,300}\]"  # tqdm, where the total is not known
)
_BEGINS = r" ?(?:Traceback \(|[\w.]{1,80}(?:Error|Exception)\b)|\S"


def split_bars(text: str) -> list[str] | None:
    """The bars of a line, and what follows each without a line break: one part after the other."""
    if (text.count("%|") < 2 and text.rstrip()[-1:] == "]") or ("%|" not in text and "it [" not in text):
        return None
    ends = (found.end() for found in rare(_BAR).finditer(text))
    cuts = [end for end in ends if rare(_BEGINS).match(text, end)]
    if not cuts:
        return None
    return [text[start:end] for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True)]
