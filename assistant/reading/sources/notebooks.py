"""What the cells of a notebook printed, as text, and an error as the editor copies it, in JSON."""

from __future__ import annotations

from collections.abc import Iterator

MOST_BYTES = 64 << 20
"""A notebook is read whole; a larger one is read as the text it is."""
_SHOWN_BYTES = 4096


def may_be_notebook(head: bytes, name: str) -> bool:
    """Whether a text that begins so, with this name, is worth reading as JSON."""
    start = head[:_SHOWN_BYTES].lstrip(b"\xef\xbb\xbf \t\r\n")
    if not start.startswith(b"{"):
        return False
    if name.lower().endswith(".ipynb"):
        return True
    if b'"cells"' in head and b'"cell_type"' in head:
        return True
    return start[1:].lstrip().startswith(b'"name"') and b'"message"' in start and b'"stack"' in head


def printed_text(data: bytes) -> str | None:
    """The outputs in the JSON of a notebook or of a copied error; None for what is neither, or is cut off."""
    import json

    try:
        found = json.loads(data)
    except (ValueError, RecursionError):
        return None
    if not isinstance(found, dict):
        return None
    if isinstance(found.get("stack"), str) and isinstance(found.get("message"), str):
        return _copied_error(found)
    cells = found.get("cells")
    if cells is None and isinstance(found.get("worksheets"), list):  # format 3
        sheets = [sheet for sheet in found["worksheets"] if isinstance(sheet, dict)]
        cells = [cell for sheet in sheets for cell in _dicts(sheet.get("cells"))]
    if not isinstance(cells, list):
        return None
    return "".join(_outputs_of_cells(_dicts(cells)))


def _copied_error(error: dict[str, object]) -> str:
    """VS Code copies an error as {"name", "message", "stack"}; the stack says all of it where it is there."""
    stack = str(error["stack"])
    said = f"{error.get('name', '')}: {error['message']}"
    is_told = str(error["message"]).partition("\n")[0] in stack
    return f"{stack}\n" if stack and is_told else f"{stack}\n{said}\n".lstrip("\n")


def _outputs_of_cells(cells: list[dict[str, object]]) -> Iterator[str]:
    for number, cell in enumerate(cells, 1):
        texts = [text for output in _dicts(cell.get("outputs")) if (text := _output(output))]
        if texts:
            run = cell.get("execution_count", cell.get("prompt_number"))
            yield f"# cell {number}" + (f", run as [{run}]\n" if isinstance(run, int) else "\n")
            yield from (text if text.endswith("\n") else f"{text}\n" for text in texts)


def _output(output: dict[str, object]) -> str:
    kind = output.get("output_type")
    if kind == "stream":
        return _joined(output.get("text"), "")
    if kind in ("error", "pyerr"):
        name, value = output.get("ename") or "", output.get("evalue") or ""
        traceback = _joined(output.get("traceback"), "\n")
        return traceback if traceback.strip() else f"{name}: {value}"
    return ""


def _joined(value: object, between: str) -> str:
    """Text that JSON holds in one piece or in several."""
    if isinstance(value, list):
        return between.join(item for item in value if isinstance(item, str))
    return value if isinstance(value, str) else ""


def _dicts(value: object) -> list[dict[str, object]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []
