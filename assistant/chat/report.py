"""Writes the last answer as a Markdown report that is fit to share."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from gpuhelp.diagnosis import Diagnosis
from gpuhelp.errors import InputError
from gpuhelp.kb.load import KnowledgeBase
from gpuhelp.words import Words


def save_report(
    path: str, diagnosis: Diagnosis, words: Words, knowledge: KnowledgeBase, environ: Mapping[str, str]
) -> str:
    """The path written to; names of people and machines, and secrets, are taken out of the report.

    Raises InputError for a file that exists already or cannot be written; nothing is ever overwritten.
    """
    from gpuhelp.rendering.documents import to_data
    from gpuhelp.rendering.markdown import to_markdown
    from gpuhelp.rendering.privacy import Privacy

    privacy = Privacy(environ, share=True, hosts=diagnosis.hosts)
    text = to_markdown("diagnosis.md.j2", privacy.data(to_data(diagnosis, words.language, knowledge)), words)
    try:
        with Path(path).expanduser().open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        raise InputError(words("chat.save.exists", path=path)) from None
    except (OSError, ValueError, RuntimeError) as error:  # RuntimeError: ~name without such a person
        reason = getattr(error, "strerror", None) or error
        raise InputError(words("chat.save.failed", path=path, reason=reason)) from None
    return path
