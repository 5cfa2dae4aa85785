"""The command line's grammar: subcommands and options, with help in the person's language."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from functools import partial
from typing import NoReturn

from gpuhelp.errors import InputError
from gpuhelp.words import Words

COMMANDS = ("diagnose", "explain", "check", "env", "kb", "chat")
_HELP_COLUMNS = 88
"""Given, since argparse would otherwise load shutil at every start to ask for the terminal's width."""
_WITH_VALUE = frozenset(
    {"--format", "--lang", "--env", "--python", "--kb", "--color", "--probe-timeout", "--width"}
)
DEFAULT_PROBE_TIMEOUT_S = 5.0


class _Parser(argparse.ArgumentParser):
    """argparse that raises instead of printing a page and leaving."""

    def error(self, message: str) -> NoReturn:
        raise InputError(f"gpuhelp: {message}; see `{self.prog} --help`")


def parse(argv: Sequence[str], words: Words) -> argparse.Namespace:
    """The options. Raises InputError, one line, for a command line that is not understood."""
    command, rest = _command_of(list(argv))
    if command is None:
        return _overview(words).parse_args(rest)
    parser = _Parser(
        prog=f"gpuhelp {command}",
        description=words(f"help.{command}"),
        allow_abbrev=False,
        formatter_class=partial(argparse.HelpFormatter, width=_HELP_COLUMNS),
    )
    parser.set_defaults(command=command)
    _COMMAND_OPTIONS[command](parser, words)
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


def _overview(words: Words) -> argparse.ArgumentParser:
    """The parser that only answers --help and --version."""
    from gpuhelp import __version__

    listed = "\n".join(f"  {name:<10}{words('help.' + name)}" for name in COMMANDS)
    parser = _Parser(
        prog="gpuhelp",
        usage="gpuhelp [COMMAND] [OPTIONS] [FILE...]",
        description=f"{words('help.program')}\n\n{listed}\n\n{words('help.more')}",
        epilog=words("help.exit"),
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"gpuhelp {__version__}")
    return parser


def _common(parser: argparse.ArgumentParser, words: Words, formats: Sequence[str] = ("text", "json", "markdown")) -> None:
    parser.add_argument("--format", choices=formats, default="text", help=words("help.format"))
    parser.add_argument("--lang", choices=("en", "ko"), help=words("help.lang"))
    parser.add_argument("--color", choices=("auto", "always", "never"), default="auto", help=words("help.color"))
    parser.add_argument("--kb", action="append", default=[], metavar="DIR", help=words("help.kb_dir"))
    parser.add_argument("--redact", action="store_true", help=words("help.redact"))


def _machine(parser: argparse.ArgumentParser, words: Words) -> None:
    parser.add_argument("--no-probes", action="store_true", help=words("help.no_probes"))
    parser.add_argument("--env", metavar="SNAPSHOT", help=words("help.env_file"))
    parser.add_argument("--python", metavar="PATH", help=words("help.python"))
    parser.add_argument(
        "--probe-timeout", type=_seconds, default=DEFAULT_PROBE_TIMEOUT_S, metavar="SECONDS", help=words("help.probe_timeout")
    )


def _seconds(text: str) -> float:
    value = float(text)
    if not 0 < value <= 600:
        raise argparse.ArgumentTypeError("must be between 0 and 600 seconds")
    return value


def _diagnose(parser: argparse.ArgumentParser, words: Words) -> None:
    parser.add_argument("files", nargs="*", metavar="FILE", help=words("help.files"))
    parser.add_argument("--all", action="store_true", help=words("help.all"))
    _common(parser, words)
    _machine(parser, words)


def _explain(parser: argparse.ArgumentParser, words: Words) -> None:
    parser.add_argument("what", nargs="+", metavar="ID", help=words("help.explain_what"))
    _common(parser, words)
    _machine(parser, words)


def _check(parser: argparse.ArgumentParser, words: Words) -> None:
    _common(parser, words)
    _machine(parser, words)


def _env(parser: argparse.ArgumentParser, words: Words) -> None:
    _common(parser, words, ("json", "text"))
    parser.set_defaults(format="json")
    _machine(parser, words)


def _kb(parser: argparse.ArgumentParser, words: Words) -> None:
    parser.add_argument("action", choices=("list", "lint", "test"), help=words("help.kb_action"))
    parser.add_argument("ids", nargs="*", metavar="ID", help=words("help.kb_ids"))
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
