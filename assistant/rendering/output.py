"""Writes a diagnosis in the format asked for."""

from __future__ import annotations

import argparse

from gpuhelp.diagnosis import Diagnosis
from gpuhelp.kb.load import KnowledgeBase
from gpuhelp.terminal import Terminal
from gpuhelp.words import Words


def write(
    diagnosis: Diagnosis, options: argparse.Namespace, terminal: Terminal, words: Words, knowledge: KnowledgeBase
) -> None:
    """Write it to the terminal's standard output."""
    from gpuhelp.rendering.documents import to_data, to_json

    data = to_data(diagnosis, words.language, knowledge)
    terminal.stdout.write(to_json(data))
