"""A document of YAML becomes the plain record that is cached: expressions parsed, patterns made ready.

Everything that can be wrong with one entry is found here, all of it at once, with its place in the file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from gpuhelp.kb import regexes
from gpuhelp.kb.entry import CAPTURED_NAMES, LANGUAGES, Record
from gpuhelp.kb.evaluation import Node
from gpuhelp.kb.expressions import ExpressionError, parse_expression, parse_template
from gpuhelp.kb.problems import Problem
from gpuhelp.kb.schema_check import check_entry, check_translation
from gpuhelp.kb.yaml_source import Document, Path

Messages = Mapping[str, Any]
"""tables/messages.yaml: wording families that several entries share."""


def is_capture(name: str) -> bool:
    """True for a contract name, and for a helper group that only feeds `let`."""
    return name in CAPTURED_NAMES or name.endswith("_text")


def compile_entry(
    document: Document, korean: Document | None, family: str, messages: Messages
) -> tuple[Record | None, tuple[Problem, ...]]:
    """The entry's record, or None and every fault found."""
    problems = [*document.problems, *(korean.problems if korean else ())]
    if document.data is None and not problems:
        problems.append(document.problem((), "the file is empty"))
    if document.data is not None:
        problems += check_entry(document)
    if korean is not None and korean.data is not None:
        problems += check_translation(korean)
    if problems:
        return None, tuple(problems)
    compiler = _Compiler(document, korean, messages)
    record = compiler.entry(family)
    return (None if compiler.problems else record), tuple(compiler.problems)


class _Compiler:
    """Walks one checked document. Collects problems instead of raising, so that none hides another."""

    def __init__(self, document: Document, korean: Document | None, messages: Messages) -> None:
        self.document, self.korean, self.messages = document, korean, messages
        self.data: Record = document.data
        self.translation: Record = korean.data if korean else {}
        self.problems: list[Problem] = []

    def entry(self, family: str) -> Record:
        data = self.data
        self._check_translated_ids()
        return {
            "id": data["id"],
            "family": family,
            "layer": data["layer"],
            "origin": self.document.path,
            "title": self._both("title"),
            "summary": self._both("summary"),
            "questions": self._both("questions"),
            "refines": data.get("refines", []),
            "fallback": data.get("fallback", False),
            "leads_to": data.get("leads_to", []),
            "patterns": [p for index, item in enumerate(data["match"]) for p in self._patterns(item, index)],
            "unless": self._guards(data.get("unless", []), ("unless",)),
            "causes": [self._cause(cause, index) for index, cause in enumerate(data["causes"])],
            "references": data["references"],
            "examples": data["examples"],
            "not_examples": data["not_examples"],
        }

    def _both(self, key: str) -> Record:
        texts = {"en": self.data[key]}
        if key in self.translation:
            texts["ko"] = self.translation[key]
        return texts

    # patterns

    def _patterns(self, item: Record, index: int) -> list[Record]:
        where: Path = ("match", index)
        common = {
            "where": self._expression(item.get("where"), (*where, "where")),
            "let": self._named(item.get("let", {}), (*where, "let")),
            "tells": self._named(item.get("tells", {}), (*where, "tells")),
            "unless": self._guards(item.get("unless", []), (*where, "unless")),
            "warning": item.get("warning", False),
            "case": item.get("case", False),
        }
        if "message" in item:
            return self._message(item["message"], common, where)
        kind = next(kind for kind in ("text", "regex", "exception", "fuzzy") if kind in item)
        record = {"kind": kind, "label": item[kind], **common, **self._needle(kind, item, where)}
        return [{key: value for key, value in record.items() if value not in (None, [], False, "")}]

    def _needle(self, kind: str, item: Record, where: Path) -> Record:
        source: str = item[kind]
        if kind == "text":
            squashed = "".join(source.split()) if item.get("case") else regexes.squash(source)
            return {"needle": squashed, "anchors": [regexes.lower(squashed)]}
        if kind == "regex":
            self._check_groups(source, (*where, "regex"))
            return self._regex(source, (*where, "regex"), item.get("case", False))
        if kind == "exception":
            says = item.get("says", "")
            self._check_groups(says, (*where, "says"))
            return {"needle": source, "says": self._regex(says, (*where, "says"))["needle"] if says else ""}
        return {"needle": source}

    def _message(self, name: str, common: Record, where: Path) -> list[Record]:
        message = self.messages.get(name)
        if message is None:
            self._complain((*where, "message"), f"no message {name!r}", f"known: {', '.join(self.messages)}")
            return []
        records = []
        for form in message["forms"]:
            ready = self._regex(form["regex"], (*where, "message"))
            let = self._named(form.get("let", {}), (*where, "message")) + common["let"]
            record = {**common, "kind": "regex", "label": name, **ready, "let": let}
            records.append({key: value for key, value in record.items() if value not in (None, [], False, "")})
        return records

    def _regex(self, source: str, where: Path, case: bool = False) -> Record:
        try:
            return {"needle": regexes.ready(source, case=case), "anchors": list(regexes.anchors(source))}
        except regexes.RegexError as error:
            self._complain(where, str(error), "RE2 has no look-around and no back-references")
            return {"needle": "", "anchors": []}

    def _check_groups(self, source: str, where: Path) -> None:
        for name in regexes.group_names(source):
            if not is_capture(name):
                self._complain(where, f"group {name!r} is not a captured name of the contract")

    def _guards(self, items: list[Record], where: Path) -> list[Record]:
        guards = []
        for index, item in enumerate(items):
            if "text" in item:
                guards.append({"literal": regexes.squash(item["text"])})
            else:
                ready = self._regex(item["regex"], (*where, index, "regex"), item.get("case", False))
                guards.append({"regex": ready["needle"]})
        return guards

    # causes

    def _cause(self, cause: Record, index: int) -> Record:
        where: Path = ("causes", index)
        korean = self._korean(cause["id"])
        record: Record = {
            "id": cause["id"],
            "title": self._localized(cause, korean, "title"),
            "weight": cause["weight"],
            "when": self._expression(cause.get("when"), (*where, "when")),
            "when_source": cause.get("when", ""),
            "hint": self._expression(cause.get("hint"), (*where, "hint")),
            "ask": self._ask(cause.get("ask"), korean),
            "fixes": [
                self._fix(fix, korean.get("fixes", {}).get(fix["id"], {}), (*where, "fixes", number))
                for number, fix in enumerate(cause["fixes"])
            ],
        }
        for key in ("because", "refuted"):
            record[key] = self._templates(cause, korean, key, where)
        return record

    def _ask(self, ask: Record | None, korean: Record) -> Record | None:
        if ask is None:
            return None
        text = {"en": ask["text"], **({"ko": korean["ask"]} if "ask" in korean else {})}
        choices = {"en": ask.get("choices", []), **({"ko": korean["choices"]} if "choices" in korean else {})}
        return {"fact": ask["fact"], "kind": ask["kind"], "text": text, "choices": choices}

    def _fix(self, fix: Record, korean: Record, where: Path) -> Record:
        record: Record = {
            "id": fix["id"],
            "title": self._templates(fix, korean, "title", where),
            "risk": fix["risk"],
            "when": self._expression(fix.get("when"), (*where, "when")),
            "commands": [
                self._template(command, (*where, "commands", number))
                for number, command in enumerate(fix.get("commands", []))
            ],
            "code": fix.get("code", ""),
            "proof": self._template(fix["proof"], (*where, "proof")),
        }
        for key in ("explain", "undo", "expect"):
            record[key] = self._templates(fix, korean, key, where)
        return record

    def _korean(self, cause_id: str) -> Record:
        found: Record = self.translation.get("causes", {}).get(cause_id, {})
        return found

    def _localized(self, english: Record, korean: Record, key: str) -> Record:
        return {"en": english[key], **({"ko": korean[key]} if key in korean else {})}

    def _templates(self, english: Record, korean: Record, key: str, where: Path) -> Record | None:
        if key not in english:
            return None
        texts = {"en": self._template(english[key], (*where, key))}
        if key in korean:
            place: Path = ("causes", *(part for part in where[2:] if isinstance(part, str)), key)
            texts["ko"] = self._template(korean[key], place, self.korean)
        return texts

    # parts

    def _expression(self, source: str | None, where: Path) -> Node:
        return None if source is None else self._parsed(parse_expression, source, where, self.document)

    def _template(self, source: str, where: Path, document: Document | None = None) -> list[Node]:
        return self._parsed(parse_template, source, where, document or self.document) or []

    def _parsed(
        self, parse: Callable[[str], Any], source: str, where: Path, document: Document
    ) -> Any:
        try:
            return parse(source)
        except ExpressionError as error:
            self.problems.append(document.problem(where, str(error)))
            return None

    def _named(self, sources: Mapping[str, str], where: Path) -> list[list[Any]]:
        return [[name, self._expression(source, (*where, name))] for name, source in sources.items()]

    def _check_translated_ids(self) -> None:
        if self.korean is None:
            return
        causes = {cause["id"]: cause for cause in self.data["causes"]}
        for cause_id, translated in self.translation.get("causes", {}).items():
            if cause_id not in causes:
                self._unknown_id(("causes", cause_id), "cause", cause_id, causes)
                continue
            fixes = {fix["id"] for fix in causes[cause_id]["fixes"]}
            for fix_id in translated["fixes"]:
                if fix_id not in fixes:
                    self._unknown_id(("causes", cause_id, "fixes", fix_id), "fix", fix_id, fixes)

    def _unknown_id(self, where: Path, what: str, name: str, known: Iterable[str]) -> None:
        assert self.korean is not None
        hint = f"the entry has: {', '.join(sorted(known))}"
        self.problems.append(self.korean.problem(where, f"no {what} {name!r} in the entry", hint))

    def _complain(self, where: Path, message: str, hint: str = "") -> None:
        self.problems.append(self.document.problem(where, message, hint))


def untranslated(record: Record) -> tuple[str, ...]:
    """Keys of an entry's record that have no text in some language: `causes.x.fixes.y.undo`."""
    return tuple(sorted(_untranslated(record, "")))


def _untranslated(value: Any, where: str) -> Iterable[str]:
    if isinstance(value, dict):
        if "en" in value:
            if any(language not in value for language in LANGUAGES) and value["en"] != []:
                yield where
            return
        for key, inner in value.items():
            yield from _untranslated(inner, f"{where}.{key}" if where else key)
    elif isinstance(value, list):
        for inner in value:
            label = inner.get("id", "") if isinstance(inner, dict) else ""
            yield from _untranslated(inner, f"{where}.{label}" if label else where)
