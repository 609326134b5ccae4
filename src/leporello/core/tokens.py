"""A token estimate that needs no tokenizer: conservative, and by script.

About four characters a token for text with spaces, one token a character for Chinese, Japanese and Korean
(o200k and Claude tokenizers stay below both on prose; code and base64 come close to the first).
"""

from __future__ import annotations

import re

_WIDE = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1100-\u11ff\u2e80-\u9fff\uac00-\ud7ff\uf900-\ufaff\U00020000-\U0003ffff]")


def _kind(byte: int) -> int:
    """The kind of a byte of UTF-8: letter, digit, mark, white space, or the length of the character that it begins."""
    if byte >= 0xC0:
        return ord("2" if byte < 0xE0 else "3" if byte < 0xF0 else "4")
    if byte >= 0x80 or byte <= 32 or byte == 127:
        return ord("-" if byte >= 0x80 else " ")
    char = chr(byte)
    return ord("a" if char.isalpha() else "0" if char.isdigit() else ".")


_KINDS = bytes(map(_kind, range(256)))


def estimate(text: str) -> int:
    """Estimated tokens of `text`; 0 for the empty string."""
    if not text:
        return 0
    wide = 0 if text.isascii() else len(_WIDE.findall(text))
    return wide + -(-(len(text) - wide) // 4)


def weigh(text: str) -> int:
    """Tokens that a provider may count for `text`: by kinds of characters, so that code and data are not taken for prose.

    A letter counts a quarter and a digit two fifths, but a run of either at least one; a mark counts four fifths, a line break one
    half, other white space nothing; of other scripts a character of two bytes counts three quarters, of three one, of four one
    and a half. It is what the calibrated estimate of a request starts from (`core.loop.measure`).
    """
    data = text.encode("utf-8", "surrogatepass")
    kinds = data.translate(_KINDS)
    letters, digits = kinds.count(b"a"), kinds.count(b"0")
    words = kinds.replace(b"0", b" ").replace(b".", b" ").count(b" a") + kinds.startswith(b"a")
    numbers = kinds.replace(b"a", b" ").replace(b".", b" ").count(b" 0") + kinds.startswith(b"0")
    other = 45 * kinds.count(b"2") + 60 * kinds.count(b"3") + 90 * kinds.count(b"4")
    plain = max(15 * letters, 60 * words) + max(24 * digits, 60 * numbers) + 48 * kinds.count(b".") + 30 * data.count(b"\n")
    return -(-(plain + other) // 60)


def clip(text: str, tokens: int, *, mark: str = " … ") -> str:
    """`text` with its middle left out so that it fits into `tokens`: two thirds head, one third tail (D9)."""
    if estimate(text) <= tokens:
        return text
    room = max(0, tokens - estimate(mark)) * 4
    if room < 40:
        return text[: max(0, tokens * 4)] if text.isascii() else text[: max(0, tokens)]
    size = room if text.isascii() else room * len(text) // (4 * estimate(text)) if estimate(text) else 0
    head = size * 2 // 3
    return text[:head].rstrip() + mark + text[len(text) - (size - head) :].lstrip()
