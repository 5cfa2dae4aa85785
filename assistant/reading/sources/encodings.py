"""Which characters the bytes of a log stand for, told from the bytes alone, and the same text in UTF-8.

What is UTF-8, with or without stray bytes, is left as it is. UTF-16 and UTF-32 are told by their mark or by
where their NUL bytes stand; the code pages of Windows only where the bytes are no UTF-8, by how common the
characters are that they would stand for.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from io import RawIOBase
from itertools import pairwise

from gpuhelp.reading.sources.streams import again, blocks

_MARKS = (
    (b"\xef\xbb\xbf", "utf-8"),
    (b"\xff\xfe\0\0", "utf-32-le"),  # before UTF-16: its mark begins so
    (b"\0\0\xfe\xff", "utf-32-be"),
    (b"\xff\xfe", "utf-16-le"),
    (b"\xfe\xff", "utf-16-be"),
)
_WIDE = (("utf-32-le", 4, 0), ("utf-32-be", 4, 3), ("utf-16-le", 2, 0), ("utf-16-be", 2, 1))
"""With the size of a character and the place of its lowest byte."""
_LEAST_LATIN = 0.1
_LEAST_SPACES = 0.01
_CONTROLS = bytes(set(range(32)) - set(b"\a\b\t\n\v\f\r\x0e\x0f\x1b"))
_MOST_CONTROLS = 0.02
_HEADER_BYTES = 64
"""A binary format has its first NUL bytes about here, a log with stray ones seldom."""
_MOST_STRAY_NULS = 0.005
_SHORTEST_PADDING_BYTES = 16
_MOST_TOGETHER = 0.34
_MOST_INVALID = 0.05
_LONGEST_LINE_BYTES = 1 << 16
_MOST_TELLING_BYTES = 1 << 16
_MOST_UNTOLD = 64
"""Blocks with bytes beyond ASCII that nothing explains, after which nothing will: the log is noise."""
_HIGH = bytes(range(128, 256))

_COMMON = {
    "cp949": (
        "이다는을를에의가로하고지기한으서도자사시해리인어라대정은과일수스습니있없않음되된오류파장치메"
        "모할당실패찾못명령원듈설경프그램행버전드값입력출및중발생했되었거부액세러니만와요청잘소프트웨"
        "용제조공간족접근권디렉터연결간초통신내부상태종료예외호"
    ),
    "gbk": (
        "的一是不了在人有我他这中大来上个到说们为子和你地出道也时年得就那要下以生会自着去过家学对可里"
        "后小心多天而能好都没日于起还发成事只作当想看文无开手十用主行方又如前所本见经头面同已从动两长"
        "知样现分将外但身些与高意进把法此实回二理点明其全工定位因重被次门相信并内加化由代产入先别总才"
        "场通目应提感更反合放做系计或受界各制解任至清台统色字请认算使设置参数据类型错误存显卡驱模块件"
        "程序版本找失败指令操权限拒绝访问路径环境变量编译载库支持网络连接超参开始训练第轮损"
    ),
    "cp932": (
        "あいうえおかがきぎくけげこごさしじすせそただちっつてでとどなにねのはばびへほまみむめもやゆよ"
        "らりるれわをんアイウエオカガキクグコサシスセタダチックテデトドナニネバパフプブベホマミムメモ"
        "ラリルレロンー定見指読込"
    ),
    "cp1252": "àâäáãåæçéèêëîïìíñóòôöõøœùûüúßÀÂÄÁÃÅÇÉÈÊËÎÏÍÑÓÔÖÕØŒÙÛÜÚ«»°²³µ×€™©®·…–—‘’“”„•¿¡",
}
"""Characters that are frequent in running text and in messages of computers."""
_LEAST_SHARE = {"cp949": 0.3, "gbk": 0.3, "cp932": 0.3, "cp1252": 0.8}
_LEAST_COMMON = {"cp949": 2, "gbk": 2, "cp932": 2, "cp1252": 1}


def mark_of(head: bytes) -> tuple[str, int]:
    """The encoding that a byte order mark tells and the length of the mark in bytes; ("", 0) without one."""
    return next(((encoding, len(mark)) for mark, encoding in _MARKS if head.startswith(mark)), ("", 0))


def wide_encoding(head: bytes) -> str:
    """UTF-16 or UTF-32 without a mark, by where NUL bytes stand; empty for other data.

    Latin letters have their NUL bytes in the same place of each character, and every log has spaces.
    """
    for encoding, width, low in _WIDE:
        whole = head[: len(head) // width * width]
        count = len(whole) // width
        in_low, in_high = (whole[at::width].count(0) for at in (low, width - 1 - low))
        least = count if width == 4 else _LEAST_LATIN * count
        if count > 1 and in_high >= least and in_low < in_high / 2 and _is_wide_text(whole, encoding):
            return encoding
    return ""


def _is_wide_text(data: bytes, encoding: str) -> bool:
    text = data.decode(encoding, "replace")
    if sum(map(text.count, " \n\t")) < _LEAST_SPACES * len(text):
        return False
    odd = sum(not (character.isprintable() or character in "\t\n\r\v\f\b\x1b\ufeff") for character in text)
    return odd + text.count("\ufffd") <= _MOST_CONTROLS * len(text) + 1


def is_padded_text(head: bytes) -> bool:
    """Whether data with NUL bytes is text: room reserved, or left by a truncation, or a few strays."""
    import re

    rest = head.translate(None, b"\0")
    controls = len(rest) - len(rest.translate(None, _CONTROLS))
    if controls > _MOST_CONTROLS * len(rest) or _is_noise(rest):
        return False
    written = re.sub(rb"\0{%d,}" % _SHORTEST_PADDING_BYTES, b"", head)
    strays = len(written) - len(rest)
    return strays == 0 or (strays <= _MOST_STRAY_NULS * len(rest) and 0 not in written[:_HEADER_BYTES])


def _is_noise(data: bytes) -> bool:
    """Whether no encoding explains the bytes."""
    return _counted(data)[1] > _MOST_INVALID * len(data) and not code_page_of(data)


def is_utf8(sample: bytes) -> bool:
    """Whether the bytes beyond ASCII in a sample, which may be cut at its end, are UTF-8 but for a few."""
    valid, invalid = _counted(sample)
    return not invalid or valid > invalid


def code_page_of(sample: bytes) -> str:
    """The encoding of whole lines without a mark: "utf-8", or a code page; empty where nothing tells it."""
    valid, invalid = _counted(sample)
    if valid > invalid:
        return "utf-8"
    if not invalid:
        return ""
    told = _beyond_ascii(sample)
    share, best = max((_share(told, encoding), encoding) for encoding in _COMMON)
    return best if share > 0 else ""


def _beyond_ascii(sample: bytes) -> bytes:
    """Of a large sample the first lines with bytes beyond ASCII: all would tell no more, and cost a lot."""
    if len(sample) <= _MOST_TELLING_BYTES:
        return sample
    lines = (line for line in sample.split(b"\n") if not line.isascii())
    parts: list[bytes] = []
    room = _MOST_TELLING_BYTES
    while room > 0 and (line := next(lines, None)) is not None:
        parts.append(line[:room])
        room -= len(parts[-1]) + 1
    return b"\n".join(parts)


def _counted(sample: bytes) -> tuple[int, int]:
    """How many bytes beyond ASCII are UTF-8, and are not; a character cut by a block's end is neither."""
    from codecs import getincrementaldecoder

    is_cut = len(sample) > _LONGEST_LINE_BYTES and not sample.endswith(b"\n")
    decoder = getincrementaldecoder("utf-8")("ignore")
    whole = decoder.decode(sample, not is_cut).encode()
    plain = len(sample.translate(None, _HIGH))
    return len(whole) - plain, len(sample) - len(whole) - len(decoder.getstate()[0])


def _share(sample: bytes, encoding: str) -> float:
    """How many of the characters beyond ASCII are common ones in this encoding, 0 where too few are."""
    text = sample.decode(encoding, "replace")
    beyond = [character for character in text if character > "\x7f"]
    common = sum(map(_common(encoding).__contains__, beyond))
    share = common / max(1, len(beyond))
    enough = common >= _LEAST_COMMON[encoding] and share >= _LEAST_SHARE[encoding]
    if encoding == "cp1252" and (
        len(text) < 3 * len(beyond) or _stand_together(text) > _MOST_TOGETHER * len(beyond)
    ):
        return 0.0
    return share if enough else 0.0


def _stand_together(text: str) -> int:
    """How many characters beyond ASCII follow another: in European words they stand among plain letters."""
    return sum(one > "\x7f" < other for one, other in pairwise(text))


@lru_cache
def _common(encoding: str) -> frozenset[str]:
    return frozenset(_COMMON[encoding])


def transcoded(reader: RawIOBase, encoding: str) -> Iterator[bytes]:
    """The text of a stream in UTF-8; what does not fit the encoding becomes U+FFFD."""
    from codecs import getincrementaldecoder

    decoder = getincrementaldecoder(encoding)("replace")
    for block in blocks(reader):
        yield decoder.decode(block).encode("utf-8", "replace")
    yield decoder.decode(b"", True).encode("utf-8", "replace")


def legible(reader: RawIOBase) -> Iterator[bytes]:
    """The text of a stream in UTF-8. Its encoding is decided by the first block that tells it."""
    rest, untold = b"", 0
    for block in blocks(reader):
        data = rest + block
        if data.isascii():
            rest = b""
            yield data
            continue
        data, rest = _at_line_end(data)
        encoding = code_page_of(data)
        if encoding == "utf-8":
            yield data + rest
            yield from blocks(reader)
            return
        if encoding:
            yield from transcoded(again(data + rest, reader), encoding)
            return
        yield data
        untold += not data.isascii()
        if untold > _MOST_UNTOLD:
            yield rest
            yield from blocks(reader)
            return
    encoding = code_page_of(rest)
    if encoding in ("", "utf-8"):
        yield rest
    else:
        yield rest.decode(encoding, "replace").encode("utf-8", "replace")


def _at_line_end(data: bytes) -> tuple[bytes, bytes]:
    """The data up to its last line end, and what comes after; a very long line up to its last character."""
    from codecs import getincrementaldecoder

    cut = data.rfind(b"\n") + 1
    if len(data) - cut > _LONGEST_LINE_BYTES:
        decoder = getincrementaldecoder("utf-8")("ignore")
        decoder.decode(data[-3:])
        cut = len(data) - len(decoder.getstate()[0])
    return data[:cut], data[cut:]


def without_nuls(reader: RawIOBase) -> Iterator[bytes]:
    """The bytes of a stream without those that are NUL."""
    for block in blocks(reader):
        yield block.translate(None, b"\0") if b"\0" in block else block
