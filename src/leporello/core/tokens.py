"""A token estimate that needs no tokenizer: conservative, and by script.

About four characters a token for text with spaces, one token a character for Chinese, Japanese and Korean
(o200k and Claude tokenizers stay below both on prose; code and base64 come close to the first).
"""

from __future__ import annotations

import re

_WIDE = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1100-\u11ff\u2e80-\u9fff\uac00-\ud7ff\uf900-\ufaff\U00020000-\U0003ffff]")


def estimate(text: str) -> int:
    """Estimated tokens of `text`; 0 for the empty string."""
    if not text:
        return 0
    wide = 0 if text.isascii() else len(_WIDE.findall(text))
    return wide + -(-(len(text) - wide) // 4)


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
