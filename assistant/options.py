"""The command line's grammar: subcommands and options, with help in the person's language."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Sequence
from typing import Any, NoReturn

from gpuhelp.errors import InputError
from gpuhelp.words import Words

KB_ACTIONS = ("list", "lint", "test", "new", "try", "search", "explain-match", "coverage", "schema", "site")
COMMANDS = ("diagnose", "explain", "check", "env", "kb", "chat")
_HELP_COLUMNS = 88
"""Given, since argparse would otherwise load shutil at every start to ask for the terminal's width."""
_WITH_VALUE = frozenset(
    {
        "--format",
        "--lang",
        "--env",
        "--python",
        "--kb",
        "--color",
        "--probe-timeout",
        "--last",
        "--since",
        "--from",
        "--family",
        "--layer",
        "--to",
        "--zipapp",
    }
)
DEFAULT_PROBE_TIMEOUT_S = 5.0
_LONGEST_PROBE_TIMEOUT_S = 600
_USAGE_ERRORS = (
    ("unrecognized", r"unrecognized arguments: (?P<what>.+)"),
    ("choice", r"argument (?P<option>[^:]+): invalid choice: (?P<what>.+) \(choose from (?P<near>.+)\)"),
    ("value", r"argument (?P<option>[^:]+): expected (?:one|at least one) argument"),
    ("no_value", r"argument (?P<option>[^:]+): ignored explicit argument .+"),
    ("required", r"the following arguments are required: (?P<what>.+)"),
    ("seconds", r"argument (?P<option>[^:]+): (?P<what>seconds: .+)"),
)
"""What argparse says, to be said again in the person's language: `usage.*` of the words."""


class Shown(Exception):
    """The person asked for a page (--help, --version): `text` is all there is to do."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.text = text


class _Show(argparse.Action):
    """--help and --version: the page goes where the command line sends its output."""

    def __init__(self, option_strings: Sequence[str], dest: str, text: str = "", help: str = "") -> None:
        super().__init__(option_strings, dest, nargs=0, default=argparse.SUPPRESS, help=help)
        self._text = text

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> NoReturn:
        raise Shown(self._text or parser.format_help())


class _Parser(argparse.ArgumentParser):
    """argparse that speaks the person's language, and raises instead of printing and leaving."""

    def __init__(self, words: Words, **settings: Any) -> None:
        super().__init__(allow_abbrev=False, add_help=False, **settings)
        self._words = words
        self._positionals.title = words("help.arguments")
        self._optionals.title = words("help.options")
        self.add_argument("-h", "--help", action=_Show, help=words("help.help"))

    def error(self, message: str) -> NoReturn:
        hint = self._words("usage.see", program=self.prog)
        raise InputError(f"gpuhelp: {_in_words(message, self._words)}; {hint}")


def _in_words(message: str, words: Words) -> str:
    for key, expression in _USAGE_ERRORS:
        found = re.fullmatch(expression, message, re.DOTALL)
        if found:
            parts = {name: text.replace("'", "") for name, text in found.groupdict().items()}
            return words(f"usage.{key}", **parts)
    return message


def parse(argv: Sequence[str], words: Words) -> argparse.Namespace:
    """The options. Raises InputError, one line, for a command line that is not understood."""
    command, rest = _command_of(list(argv))
    if command is None:
        return _overview(words).parse_args(rest)
    parser = _Parser(
        words,
        prog=f"gpuhelp {command}",
        description=words(f"help.{command}"),
        formatter_class=_formatter(argparse.HelpFormatter, words),
    )
    parser.set_defaults(command=command, language=words.language)
    _COMMAND_OPTIONS[command](parser, words)
    # Told here, since parse_intermixed_args cuts seven characters off a usage line that it makes itself.
    parser.usage = parser.format_usage().removeprefix(words("help.usage")).strip().replace("%", "%%")
    return parser.parse_intermixed_args(rest)


def language_asked(argv: Sequence[str]) -> str:
    """The value of --lang before anything is parsed, so that even an error can be told in it."""
    for index, part in enumerate(argv):
        if part.startswith("--lang="):
            return part.partition("=")[2]
        if part == "--lang" and index + 1 < len(argv):
            return argv[index + 1]
    return ""


def _command_of(argv: list[str]) -> tuple[str | None, list[str]]:
    """The subcommand, and the arguments without it: `diagnose` unless one is named before any file.

    None where the person asks about the program as a whole.
    """
    skip = False
    for index, part in enumerate(argv):
        if skip:
            skip = False
        elif part in _WITH_VALUE:
            skip = True
        elif part in ("--help", "-h", "--version"):
            return None, argv
        elif not part.startswith("-") or part in ("-", "--"):
            if part in COMMANDS:
                return part, [*argv[:index], *argv[index + 1 :]]
            break
    return "diagnose", argv


def _formatter(base: type[argparse.HelpFormatter], words: Words) -> type[argparse.HelpFormatter]:
    """A formatter of a fixed width that begins a page with `usage: ` in the person's language."""

    class Formatter(base):  # type: ignore[misc, valid-type]
        def __init__(self, prog: str, **settings: Any) -> None:
            plain = {"color": False} if sys.version_info >= (3, 14) else {}
            super().__init__(prog, **{**settings, **plain, "width": _HELP_COLUMNS})

        def add_usage(self, usage: Any, actions: Any, groups: Any, prefix: str | None = None) -> None:
            super().add_usage(usage, actions, groups, words("help.usage") + " " if prefix is None else prefix)

    return Formatter


def _overview(words: Words) -> argparse.ArgumentParser:
    """The parser that only answers --help and --version."""
    from gpuhelp import __version__

    listed = "\n".join(f"  {name:<10}{words('help.' + name)}" for name in COMMANDS)
    parser = _Parser(
        words,
        prog="gpuhelp",
        usage="gpuhelp [COMMAND] [OPTIONS] [FILE...]",
        description=f"{words('help.program')}\n\n{listed}\n\n{words('help.more')}",
        epilog=words("help.exit"),
        formatter_class=_formatter(argparse.RawDescriptionHelpFormatter, words),
    )
    version = f"gpuhelp {__version__}\n"
    parser.add_argument("--version", action=_Show, text=version, help=words("help.version"))
    parser.add_argument("--lang", choices=("en", "ko"), help=words("help.lang"))
    return parser


def _common(
    parser: argparse.ArgumentParser, words: Words, formats: Sequence[str] = ("text", "json", "markdown")
) -> None:
    parser.add_argument("--format", choices=formats, default="text", help=words("help.format"))
    parser.add_argument("--lang", choices=("en", "ko"), help=words("help.lang"))
    colors = ("auto", "always", "never")
    parser.add_argument("--color", choices=colors, default="auto", help=words("help.color"))
    parser.add_argument("--kb", action="append", default=[], metavar="DIR", help=words("help.kb_dir"))
    parser.add_argument("--redact", action="store_true", help=words("help.redact"))


def _machine(parser: argparse.ArgumentParser, words: Words) -> None:
    parser.add_argument("--no-probes", action="store_true", help=words("help.no_probes"))
    parser.add_argument("--env", metavar="SNAPSHOT", help=words("help.env_file"))
    parser.add_argument("--python", metavar="PATH", help=words("help.python"))
    parser.add_argument(
        "--probe-timeout",
        type=_seconds,
        default=DEFAULT_PROBE_TIMEOUT_S,
        metavar="SECONDS",
        help=words("help.probe_timeout"),
    )


def _seconds(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value <= _LONGEST_PROBE_TIMEOUT_S:
        raise argparse.ArgumentTypeError(f"seconds: {text}")
    return value


def _diagnose(parser: argparse.ArgumentParser, words: Words) -> None:
    parser.add_argument("files", nargs="*", default=[], metavar="FILE", help=words("help.files"))
    parser.add_argument("--all", action="store_true", help=words("help.all"))
    parser.add_argument("--last", metavar="N", help=words("help.last"))
    parser.add_argument("--since", metavar="TIME", help=words("help.since"))
    _common(parser, words)
    _machine(parser, words)


def _explain(parser: argparse.ArgumentParser, words: Words) -> None:
    parser.add_argument("what", nargs="+", metavar="ID", help=words("help.explain_what"))
    _common(parser, words)
    _machine(parser, words)


def _check(parser: argparse.ArgumentParser, words: Words) -> None:
    parser.add_argument("--deep", action="store_true", help=words("help.deep"))
    _common(parser, words)
    _machine(parser, words)


def _env(parser: argparse.ArgumentParser, words: Words) -> None:
    parser.add_argument("--diff", nargs=2, metavar=("GOOD", "BAD"), help=words("help.diff"))
    parser.add_argument("--zipapp", metavar="FILE", help=words("help.zipapp"))
    _common(parser, words, ("json", "text", "markdown"))
    parser.set_defaults(format=None)
    _machine(parser, words)


def _kb(parser: argparse.ArgumentParser, words: Words) -> None:
    parser.add_argument(
        "action", choices=KB_ACTIONS, metavar="|".join(KB_ACTIONS), help=words("help.kb_action")
    )
    parser.add_argument("what", nargs="*", default=[], metavar="ID|FILE", help=words("help.kb_what"))
    parser.add_argument("--from", dest="pasted", metavar="FILE", help=words("help.kb_from"))
    parser.add_argument("--family", metavar="NAME", help=words("help.kb_family"))
    parser.add_argument("--layer", metavar="NAME", help=words("help.kb_layer"))
    parser.add_argument("--to", metavar="DIR", help=words("help.kb_to"))
    parser.add_argument("--korean", action="store_true", help=words("help.kb_korean"))
    parser.add_argument("--force", action="store_true", help=words("help.kb_force"))
    _common(parser, words)


def _chat(parser: argparse.ArgumentParser, words: Words) -> None:
    _common(parser, words, ("text",))
    _machine(parser, words)


_COMMAND_OPTIONS = {
    "diagnose": _diagnose,
    "explain": _explain,
    "check": _check,
    "env": _env,
    "kb": _kb,
    "chat": _chat,
}
