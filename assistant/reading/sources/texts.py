"""A stream of bytes becomes one of UTF-8: encodings undone, padding left out, notebooks as printed."""

from __future__ import annotations

from io import RawIOBase

from gpuhelp.reading.sources.names import refusal
from gpuhelp.reading.sources.streams import SNIFFED_BYTES, Chunks, LogFile, again, beginning


def as_text(reader: RawIOBase, head: bytes, name: str) -> RawIOBase:
    """The text of a stream whose first bytes, already read, are `head`.

    A file that needs nothing done is handed back itself, set to its beginning. Raises InputError for no text.
    """
    text = _in_utf8(reader, head, name)
    if not head.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{"):
        return text
    from gpuhelp.reading.sources.notebooks import MOST_BYTES, may_be_notebook, printed_text

    if not may_be_notebook(head, name):
        return text
    data = beginning(text, MOST_BYTES + 1)
    printed = printed_text(data) if len(data) <= MOST_BYTES else None
    return again(data, text) if printed is None else Chunks(iter([printed.encode("utf-8", "replace")]))


def _in_utf8(reader: RawIOBase, head: bytes, name: str) -> RawIOBase:
    if isinstance(reader, LogFile) and _is_plain_file(reader, head):
        return reader
    from gpuhelp.reading.sources.encodings import legible, mark_of, transcoded, wide_encoding, without_nuls

    while len(head) == SNIFFED_BYTES and not head.strip(b"\0"):
        head = beginning(
            reader, SNIFFED_BYTES
        )  # a log that was truncated while it was written begins with a hole
    encoding, length = mark_of(head)
    whole = again(head[length:], reader)
    if encoding == "utf-8":
        return Chunks(without_nuls(whole))
    encoding = encoding or (wide_encoding(head) if 0 in head else "")
    if encoding:
        return Chunks(transcoded(whole, encoding))
    _refuse_binary(head, name)
    return Chunks(legible(Chunks(without_nuls(whole))))


def _is_plain_file(file: LogFile, head: bytes) -> bool:
    """Whether beginning and end of a file are UTF-8; then it stands at the beginning of its text again."""
    try:
        end = file.seek(0, 2)
        file.seek(max(len(head), end - SNIFFED_BYTES))
        tail = beginning(file, SNIFFED_BYTES)
        file.seek(len(head))
    except (OSError, ValueError):  # a pipe
        return False
    if head.startswith((b"\xff\xfe", b"\xfe\xff")) or b"\0" in head or b"\0" in tail:
        return False
    if not (head.isascii() and tail.isascii()):
        from gpuhelp.reading.sources.encodings import is_utf8

        if not is_utf8(head) or not is_utf8(tail[tail.find(b"\n") + 1 :]):
            return False
    file.seek(3 if head.startswith(b"\xef\xbb\xbf") else 0)
    return True


def _refuse_binary(head: bytes, name: str) -> None:
    if 0 in head:
        from gpuhelp.reading.sources.encodings import is_padded_text

        if not is_padded_text(head):
            raise refusal("not_text", name)
