"""Entries from several places become one list: an id counts once, and a later file may extend or replace it.

A file that takes up an id which exists already says so: `existing: extend` adds to the entry, `existing:
replace` stands in its place. Without it the second file is refused; but a file in a person's own place stands
for the one of an installed package, so that its authors can work on their entries.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from gpuhelp.kb.entry import Record

_LISTS = ("patterns", "unless", "refines", "leads_to", "references", "examples", "not_examples", "scan")
_TEXTS = ("title", "summary")
EXTEND, REPLACE = "extend", "replace"


class Clash(NamedTuple):
    """Why a record cannot be taken: the key at fault, the message and what would be right."""

    key: str
    message: str
    hint: str


def add(record: Record, records: dict[str, Record]) -> Clash | None:
    """Take the record up among `records`, by its own wish; or say why that cannot be."""
    before = records.get(record["id"])
    wish = record.get("existing", "")
    if before is None:
        if wish != EXTEND:
            records[record["id"]] = record
            return None
        return Clash("existing", f"there is no entry {record['id']!r} to extend", "check the id")
    if not wish and not (_is_of_package(before) and _is_of_person(record)):
        message = f"{record['id']!r} exists already in {before['origin']}"
        return Clash("id", message, "choose another id, or add `existing: extend` or `existing: replace`")
    records[record["id"]] = _extended(before, record) if wish == EXTEND else record
    return None


def _is_of_person(record: Record) -> bool:
    """True for a file of one's own folder, or one that was named: these are called by their place."""
    return bool(record["source"]) and record["origin"].startswith(record["source"])


def _is_of_package(record: Record) -> bool:
    return bool(record["source"]) and not _is_of_person(record)


def _extended(before: Record, more: Record) -> Record:
    merged = {**before, "source": more["source"], "extended_by": more["origin"]}
    merged.pop("key", None)  # made of two: no file alone gives it again
    merged |= {key: [*before[key], *more[key]] for key in _LISTS}
    merged |= {key: {**before[key], **more[key]} for key in _TEXTS}
    merged["questions"] = _joined(before["questions"], more["questions"])
    merged["causes"] = _causes(before["causes"], more["causes"])
    return merged


def _joined(before: dict[str, list[str]], more: dict[str, list[str]]) -> dict[str, list[str]]:
    return {lang: [*before.get(lang, []), *more.get(lang, [])] for lang in {**before, **more}}


def _causes(before: list[Any], more: list[Any]) -> list[Any]:
    """A cause with an id that exists stands in its place; the others come after."""
    by_id = {cause["id"]: cause for cause in before}
    return list({**by_id, **{cause["id"]: cause for cause in more}}.values())
