"""A token estimate that needs no tokenizer: conservative, and by script.

About four characters a token for text with spaces, one token a character for Chinese, Japanese and Korean
(o200k and Claude tokenizers stay below both on prose; code and base64 come close to the first).
"""

from __future__ import annotations

import re

_WIDE = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1100-\u11ff\u2e80-\u9fff\uac00-\ud7ff\uf900-\ufaff\U00020000-\U0003ffff]")


_OTHER = bytes(range(33)) + bytes(range(127, 256))
_LETTERS = bytes((*range(65, 91), *range(97, 123)))
_DIGITS = bytes(range(48, 58))


def estimate(text: str) -> int:
    """Estimated tokens of `text`; 0 for the empty string."""
    if not text:
        return 0
    wide = 0 if text.isascii() else len(_WIDE.findall(text))
    return wide + -(-(len(text) - wide) // 4)


def weigh(text: str) -> int:
    """Tokens that a provider may count for `text`: by kinds of characters, so that code and data are not taken for prose.

    A letter counts a quarter, a digit two fifths, a mark four fifths, a line break one half, other white space nothing, three
    bytes of any other script one. It is what the calibrated estimate of a request starts from (`core.loop.measure`).
    """
    data = text.encode("utf-8", "surrogatepass")
    plain = data.translate(None, _OTHER)
    rest = plain.translate(None, _LETTERS)
    marks = rest.translate(None, _DIGITS)
    breaks = data.count(b"\n")
    letters, digits, other = len(plain) - len(rest), len(rest) - len(marks), len(data) - len(plain)
    spaces = sum(data.count(c) for c in (b" ", b"\t", b"\r"))
    return -(-(60 * (other - spaces - breaks) // 3 + 15 * letters + 24 * digits + 48 * len(marks) + 30 * breaks) // 60)


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
