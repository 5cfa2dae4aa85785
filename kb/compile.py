"""A document of YAML becomes the plain record that is cached: expressions parsed, patterns made ready.

Everything that can be wrong with one entry is found here, all of it at once, with its place in the file.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from gpuhelp.kb import regexes
from gpuhelp.kb.code_patterns import CodeError, Table, code_patterns
from gpuhelp.kb.entry import CAPTURED_NAMES, LANGUAGES, Record
from gpuhelp.kb.evaluation import Node
from gpuhelp.kb.expressions import ExpressionError, parse_expression, parse_template
from gpuhelp.kb.problems import Problem
from gpuhelp.kb.schema_check import check_added_translation, check_entry, check_translation
from gpuhelp.kb.yaml_source import Document, Path

Messages = Mapping[str, Any]
"""tables/messages.yaml: wording families that several entries share."""
CodeTables = Mapping[str, Table]
"""The tables of codes by their file's stem, with code_spaces.yaml, which says how codes are printed."""


def is_capture(name: str) -> bool:
    """True for a contract name, and for a helper group that only feeds `let`."""
    return name in CAPTURED_NAMES or name.endswith("_text")


def compile_entry(
    document: Document,
    korean: Document | None,
    family: str,
    messages: Messages,
    code_tables: CodeTables | None = None,
) -> tuple[Record | None, tuple[Problem, ...]]:
    """The entry's record, or None and every fault found."""
    problems = _faults_of_form(document, check_entry)
    if korean is not None:
        is_addition = isinstance(document.data, dict) and document.data.get("existing") == "extend"
        problems += _faults_of_form(korean, check_added_translation if is_addition else check_translation)
    compiler = _Compiler(document, korean, messages, code_tables or {})
    if problems:
        compiler.look_through(document.data, ())
        return None, (*problems, *compiler.problems)
    record = compiler.entry(family)
    return (None if compiler.problems else record), tuple(compiler.problems)


def _faults_of_form(document: Document, check: Callable[[Document], list[Problem]]) -> list[Problem]:
    if document.problems:
        return [*document.problems, *(check(document) if document.data is not None else ())]
    if document.data is None:
        return [document.problem((), "the file is empty", "write it, or remove the file")]
    return check(document)


class _Compiler:
    """Walks one checked document. Collects problems instead of raising, so that none hides another."""

    def __init__(
        self, document: Document, korean: Document | None, messages: Messages, code_tables: CodeTables
    ) -> None:
        self.document, self.korean = document, korean
        self.messages, self.code_tables = messages, code_tables
        self.data: Record = document.data
        self.translation: Record = korean.data if korean else {}
        self.problems: list[Problem] = []
        self.scanned: list[list[Any]] = []

    def look_through(self, value: Any, where: Path) -> None:
        """Finds faults of conditions and patterns in a document whose form is wrong, to tell all at once."""
        if isinstance(value, dict):
            for key, inner in value.items():
                self.look_through(inner, (*where, key))
        elif isinstance(value, list):
            for index, inner in enumerate(value):
                self.look_through(inner, (*where, index))
        elif isinstance(value, str) and where and where[0] in ("match", "unless", "causes"):
            if where[-1] in ("when", "hint", "where"):
                self._expression(value, where)
            elif where[-1] in ("regex", "says"):
                self._regex(value, where)

    def entry(self, family: str) -> Record:
        data = self.data
        self._check_translated_ids()
        return {
            "id": data["id"],
            "family": family,
            "layer": data.get("layer", ""),
            "existing": data.get("existing", ""),
            "origin": self.document.path,
            "title": self._both("title"),
            "summary": self._both("summary"),
            "questions": self._both("questions"),
            "refines": data.get("refines", []),
            "fallback": data.get("fallback", False),
            "reports": data.get("reports", False),
            "leads_to": data.get("leads_to", []),
            "patterns": [
                p for index, item in enumerate(data.get("match", [])) for p in self._patterns(item, index)
            ],
            "unless": self._guards(data.get("unless", []), ("unless",), anywhere=True),
            "causes": [self._cause(cause, index) for index, cause in enumerate(data.get("causes", []))],
            "references": data.get("references", []),
            "checked": data.get("checked", ""),
            "examples": data.get("examples", []),
            "not_examples": data.get("not_examples", []),
            "scan": self.scanned,
        }

    def _both(self, key: str) -> Record:
        texts = {"en": self.data[key]} if key in self.data else {}
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
        if "codes" in item:
            return self._codes(item["codes"], common, where)
        kind = next(kind for kind in ("text", "regex", "exception", "fuzzy") if kind in item)
        record = {"kind": kind, "label": item[kind], **common, **self._needle(kind, item, where)}
        return [_without_empty(record)]

    def _needle(self, kind: str, item: Record, where: Path) -> Record:
        source: str = item[kind]
        if kind in ("text", "regex"):
            self._scan(kind, item)
        if kind == "text":
            squashed = "".join(source.split()) if item.get("case") else regexes.squash(source)
            return {"needle": squashed, "anchors": [regexes.lower(squashed)]}
        if kind == "regex":
            self._check_groups(source, (*where, "regex"))
            return self._regex(source, (*where, "regex"), item.get("case", False))
        if kind == "exception":
            says = item.get("says", "")
            self._check_groups(says, (*where, "says"))
            said = self._regex(says, (*where, "says")) if says else {"needle": "", "anchors": []}
            further = [group for group in (said["anchors"], *said.get("further", [])) if group]
            return {
                "needle": source,
                "says": said["needle"],
                "anchors": _name_part(source),
                "further": further,
            }
        return {"needle": source}

    def _codes(self, space: str, common: Record, where: Path) -> list[Record]:
        try:
            patterns = code_patterns(space, self.data["id"], self.code_tables)
        except CodeError as error:
            known = ", ".join(self.code_tables.get("code_spaces", {}).get("spaces", {}))
            self._complain((*where, "codes"), str(error), f"known spaces: {known}")
            return []
        records = []
        for pattern in patterns:
            record = {**common, "kind": "regex", "label": f"codes: {space}"}
            if pattern.unless:
                guard = self._regex(pattern.unless, (*where, "codes"))
                record["unless"] = [*record["unless"], {"regex": guard["needle"]}]
            record |= self._regex(pattern.regex, (*where, "codes"), common["case"])
            if (
                pattern.numbers
            ):  # their literals are everyday words and digits: nothing to look for in a large log
                condition = parse_expression(f"{pattern.group} in {list(pattern.numbers)}")
                record |= {"anchors": list(pattern.anchors), "where": condition}
                record["further"] = []
            else:
                self._scan("regex", {**common, "regex": pattern.regex})
            records.append(_without_empty(record))
        return records

    def _message(self, name: str, common: Record, where: Path) -> list[Record]:
        message = self.messages.get(name)
        if message is None:
            self._complain((*where, "message"), f"no message {name!r}", f"known: {', '.join(self.messages)}")
            return []
        records = []
        for form in message["forms"]:
            self._scan("regex", form)
            ready = self._regex(form["regex"], (*where, "message"))
            let = self._named(form.get("let", {}), (*where, "message")) + common["let"]
            record = {**common, "kind": "regex", "label": name, **ready, "let": let}
            records.append(_without_empty(record))
        return records

    def _regex(self, source: str, where: Path, case: bool = False) -> Record:
        try:
            return {
                "needle": regexes.ready(source, case=case),
                "anchors": list(regexes.anchors(source)),
                "further": [list(group) for group in regexes.further_anchors(source)],
            }
        except regexes.RegexError as error:
            self._complain(where, str(error), "RE2 syntax: no look-around, no back-references")
            return {"needle": "", "anchors": []}

    def _check_groups(self, source: str, where: Path) -> None:
        for name in regexes.group_names(source):
            if not is_capture(name):
                known = ", ".join(sorted(CAPTURED_NAMES))
                hint = f"captured names: {known}; a helper for `let` ends in _text"
                self._complain(where, f"group {name!r} is not a captured name", hint)

    def _scan(self, kind: str, item: Record) -> None:
        """Note a pattern to be found anywhere in a large text: its source, and whether case counts."""
        source = regexes.escaped(item["text"]) if kind == "text" else item[kind]
        self.scanned.append([source, bool(item.get("case", False))])

    def _guards(self, items: list[Record], where: Path, anywhere: bool = False) -> list[Record]:
        """Guards; those that count `anywhere` in a text are looked for like patterns."""
        guards = []
        for index, item in enumerate(items):
            if anywhere:
                self._scan("text" if "text" in item else "regex", item)
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
            "ask": self._ask(cause.get("ask"), korean, cause["id"]),
            "fixes": [
                self._fix(fix, cause["id"], (*where, "fixes", number))
                for number, fix in enumerate(cause["fixes"])
            ],
        }
        for key in ("because", "refuted"):
            record[key] = self._templates(cause, korean, key, where, ("causes", cause["id"]))
        return record

    def _ask(self, ask: Record | None, korean: Record, cause_id: str) -> Record | None:
        place: Path = ("causes", cause_id)
        if ask is None:
            for key in {"ask", "choices"} & korean.keys():
                self._unpaired((*place, key))
            return None
        if "choices" in korean and len(korean["choices"]) != len(ask.get("choices", [])):
            wanted = len(ask.get("choices", []))
            self._unpaired((*place, "choices"), f"as many choices as in the entry: {wanted}")
        text = {"en": ask["text"], **({"ko": korean["ask"]} if "ask" in korean else {})}
        choices = {"en": ask.get("choices", []), **({"ko": korean["choices"]} if "choices" in korean else {})}
        return {"fact": ask["fact"], "kind": ask["kind"], "text": text, "choices": choices}

    def _fix(self, fix: Record, cause_id: str, where: Path) -> Record:
        korean: Record = self._korean(cause_id).get("fixes", {}).get(fix["id"], {})
        place: Path = ("causes", cause_id, "fixes", fix["id"])
        record: Record = {
            "id": fix["id"],
            "title": self._templates(fix, korean, "title", where, place),
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
            record[key] = self._templates(fix, korean, key, where, place)
        return record

    def _korean(self, cause_id: str) -> Record:
        found: Record = self.translation.get("causes", {}).get(cause_id, {})
        return found

    def _localized(self, english: Record, korean: Record, key: str) -> Record:
        return {"en": english[key], **({"ko": korean[key]} if key in korean else {})}

    def _templates(
        self, english: Record, korean: Record, key: str, where: Path, korean_where: Path
    ) -> Record | None:
        """A text in every language it has; `where` and `korean_where` are the places that hold `key`."""
        if key not in english:
            if key in korean:
                self._unpaired((*korean_where, key))
            return None
        texts = {"en": self._template(english[key], (*where, key))}
        if key in korean:
            texts["ko"] = self._template(korean[key], (*korean_where, key), self.korean)
        return texts

    # parts

    def _expression(self, source: str | None, where: Path) -> Node:
        return None if source is None else self._parsed(parse_expression, source, where, self.document)

    def _template(self, source: str, where: Path, document: Document | None = None) -> list[Node]:
        return self._parsed(parse_template, source, where, document or self.document) or []

    def _parsed(self, parse: Callable[[str], Any], source: str, where: Path, document: Document) -> Any:
        try:
            return parse(source)
        except ExpressionError as error:
            hint = _TEMPLATE_FORMS if parse is parse_template else _EXPRESSION_FORMS
            self.problems.append(document.problem(where, str(error), hint))
            return None

    def _named(self, sources: Mapping[str, str], where: Path) -> list[list[Any]]:
        return [[name, self._expression(source, (*where, name))] for name, source in sources.items()]

    def _check_translated_ids(self) -> None:
        if self.korean is None:
            return
        causes = {cause["id"]: cause for cause in self.data.get("causes", [])}
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

    def _unpaired(self, where: Path, hint: str = "remove it, or add it to the entry") -> None:
        assert self.korean is not None
        self.problems.append(self.korean.problem(where, "translates what the entry does not have", hint))

    def _complain(self, where: Path, message: str, hint: str = "") -> None:
        self.problems.append(self.document.problem(where, message, hint))


_EXPRESSION_FORMS = (
    "allowed: names of facts and captured values, literals, and or not, comparisons, in, + - * / %,"
    " `x is known`, `x is none`, `a if b else c`, the listed filters and functions"
)
_TEMPLATE_FORMS = "a text may hold {{ expression }} and {% if condition %}…{% elif %}…{% else %}…{% endif %}"


def _name_part(glob: str) -> list[str]:
    """The longest literal part of an exception's name, which stands wherever the exception does."""
    part = max(re.split(r"[*?]|\[[^\]]*\]", glob), key=len)
    return [regexes.squash(part)] if len(part) >= regexes.SHORTEST_ANCHOR else []


def _without_empty(record: Record) -> Record:
    return {key: value for key, value in record.items() if value not in (None, [], False, "")}


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
