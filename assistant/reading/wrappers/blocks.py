"""What is put around several lines: margins of journals, boxes, PowerShell's reports, Windows events.

These look at a line and its neighbours, so they run over lines whose own prefixes are off already.
"""

from __future__ import annotations

from gpuhelp.reading.evidence import PLAIN, Line, Wrapping
from gpuhelp.reading.wrappers.escapes import rare
from gpuhelp.reading.wrappers.rows import LEVEL

_NARROWEST_MARGIN = 12
_MARGIN = "\n" + " " * _NARROWEST_MARGIN
_RICH_MARGIN = " " * 10
_RICH_LEVEL = r" {10,30}(?P<level>" + LEVEL + r") {1,6}(?=\S)"
"""rich prints a time only where it changes."""
_TOPS = ("╭", "┌", "┏", "╔")
_POWERSHELL = "+ CategoryInfo"
_EVENTS = ("Log Name:", "로그 이름:")


def without_blocks(lines: list[Line], texts: tuple[str, ...]) -> list[Line]:
    """The lines without all that this module knows. `texts` are what they stand in, searched for signs."""
    if any(_MARGIN in text for text in texts):
        lines = _without_margins(lines)
    if any(top in text for text in texts for top in _TOPS):
        lines = _without_boxes(lines)
    if any(_POWERSHELL in text for text in texts):
        lines = _without_powershell(lines)
    if any(label in text for text in texts for label in _EVENTS):
        lines = _with_events(lines)
    return lines


def _without_margins(lines: list[Line]) -> list[Line]:
    """Lines that a journal indents under the first one of their record stand at the left, with its fields."""
    result: list[Line] = []
    head, width = PLAIN, 0
    for line in lines:
        if line.wrapping is not PLAIN:
            taken = len(line.raw) - len(line.text)
            is_record = bool(line.wrapping.time or line.wrapping.level)
            head, width = line.wrapping, taken if is_record and line.raw.endswith(line.text) else 0
        elif line.text.startswith(_RICH_MARGIN) and (found := rare(_RICH_LEVEL).match(line.text)):
            head, width = Wrapping(level=found["level"]), found.end()
            line = line._replace(text=line.text[width:], wrapping=head)
        elif width >= _NARROWEST_MARGIN and line.text.startswith(" " * width):
            line = line._replace(text=line.text[width:], wrapping=head)
        elif line.text.strip():
            width = 0
        result.append(line)
    return result


_TOP = r"\s*[╭┌┏╔]─?[─━═]"
_BOTTOM = r"\s*[╰└┗╚][─━═]"
_WALLS = r"\s{0,8}[│┃║] ?(?P<text>.*?)\s*[│┃║]?\s*$"


def _without_boxes(lines: list[Line]) -> list[Line]:
    """The text of panels without their walls. Boxes with a traceback stay: reading it knows their frames."""
    result: list[Line] = []
    open_for: dict[tuple[str, str, str], bool] = {}
    for line in lines:
        speaker = line.wrapping.rank, line.wrapping.pid, line.wrapping.host
        if rare(_TOP).match(line.text):
            open_for[speaker] = "Traceback" not in line.text
        elif rare(_BOTTOM).match(line.text):
            open_for.pop(speaker, None)
        elif open_for.get(speaker) and (found := rare(_WALLS).match(line.text)):
            line = line._replace(text=found["text"].rstrip())
        result.append(line)
    return result


_PROGRAM = r"[\w.\\/:-]{1,120} : (?=\S)"
_MOST_REPORT_LINES = 12


def _without_powershell(lines: list[Line]) -> list[Line]:
    """The error output of a program as it wrote it, where PowerShell reported its first line as an error.

    `python : Traceback …`, then place, command, `+ CategoryInfo`, `+ FullyQualifiedErrorId`, then the rest.
    """
    result = list(lines)
    for place, line in enumerate(lines):
        if line.text.lstrip().startswith(_POWERSHELL):
            head = next(
                (n for n in range(place - 1, max(-1, place - _MOST_REPORT_LINES), -1) if _is_head(lines[n])),
                None,
            )
            if head is not None:
                _clear_report(result, head, place)
    return result


def _is_head(line: Line) -> bool:
    return rare(_PROGRAM).match(line.text) is not None


def _clear_report(lines: list[Line], head: int, category: int) -> None:
    found = rare(_PROGRAM).match(lines[head].text)
    lines[head] = lines[head]._replace(text=lines[head].text[found.end() if found else 0 :])
    first = head + 1
    while first < category and not _is_place(lines, first):
        first += 1  # the message itself may run over several lines
    last = category
    while last + 1 < len(lines) and (
        "FullyQualifiedErrorId" in lines[last + 1].text
        or (lines[last + 1].text.startswith("   ") and "FullyQualifiedErrorId" not in lines[last].text)
        or (lines[last + 1].text.startswith("   ") and not lines[last + 1].text.strip().startswith("File "))
    ):
        last += 1
        if last - category >= _MOST_REPORT_LINES:
            break
    for place in range(first, last + 1):
        lines[place] = lines[place]._replace(text="")


def _is_place(lines: list[Line], place: int) -> bool:
    """True for the line before the command: `At line:1 char:1`, in any language."""
    return place + 1 < len(lines) and lines[place + 1].text.startswith("+ ")


_LABEL = (
    r"\s{0,4}(?P<label>Log Name|Source|Date(?: and Time)?|Event ID|Task(?: Category)?|Level|Op[Cc]ode"
    r"|Keywords?|User(?: Name)?|Logged|Computer|Description"
    r"|로그 이름|원본|날짜|이벤트 ID|작업 범주|수준|키워드|사용자|컴퓨터|설명)"
    r" ?:(?:\s+(?P<value>.*))?$"
)
_EVENT_FIELDS = {
    "Date": "time", "Date and Time": "time", "Logged": "time", "날짜": "time",
    "Level": "level", "수준": "level", "Computer": "host", "컴퓨터": "host",
}  # fmt: skip
_MOST_DESCRIPTION_LINES = 40


def _with_events(lines: list[Line]) -> list[Line]:
    """The descriptions of Windows events with time, level and machine, which stand above them."""
    result: list[Line] = []
    said = PLAIN
    left = 0
    for line in lines:
        found = rare(_LABEL).match(line.text)
        if line.text.lstrip().startswith(_EVENTS):
            said, left = PLAIN, 0
        if found and (field := _EVENT_FIELDS.get(found["label"])):
            said = said._replace(**{field: (found["value"] or "").strip()})
        elif found and found["label"] in ("Description", "설명"):
            line = line._replace(text=found["value"] or "", wrapping=_merged(line.wrapping, said))
            left = _MOST_DESCRIPTION_LINES
        elif left and not found:
            line = line._replace(wrapping=_merged(line.wrapping, said))
            left -= 1
        result.append(line)
    return result


def _merged(own: Wrapping, said: Wrapping) -> Wrapping:
    return Wrapping(*(mine or theirs for mine, theirs in zip(own, said, strict=True)))
