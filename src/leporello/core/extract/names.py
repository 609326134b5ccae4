"""Technical names in text: files, code identifiers, hashes, tickets, versions. They are what an agent looks for again."""

from __future__ import annotations

import re

FILE = re.compile(
    r"(?:[\w.@~+-]*/)+[\w.@+-]*\w\.[A-Za-z]\w{0,5}\b|\b[\w-]+\.(?:go|py|ts|tsx|js|jsx|md|sh|ya?ml|json|toml|rs|txt|sql|java|rb|c|h|cpp|cs|php|css|html)\b"
)
_CODE = re.compile(r"\b(?:[a-z]+(?:[A-Z][a-z0-9]*)+|[A-Z][a-z0-9]+(?:[A-Z][a-z0-9]*)+|[a-zA-Z0-9]+(?:_[a-zA-Z0-9]+)+)\b")
_MARK = re.compile(r"\b(?:[A-Z]{2,8}-\d+|v\d+\.\d+(?:\.\d+)?|(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{7,40})\b|#\d{2,6}\b")
_NUMBER = re.compile(r"(?<![\w.])\d[\d.,:]*\s?(?:%|ms|s|kb|mb|gb|€|\$|usd|km|kg)?(?!\w)", re.IGNORECASE)

_MAYBE = re.compile(r"[\d_/#]|\.\w|[a-z][A-Z]|[A-Z]{2}-|\S{400}")
"""What every technical name has some of: without it, no closer look is needed."""
_WIDE = re.compile(r"[\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff]")
_RUN = re.compile(r"\S{400,}")


def tame(text: str) -> str:
    """`text` with runs of 400 and more characters without a space (base64, minified code) blanked but for their start; places stay."""
    if len(text) < 400:
        return text
    return _RUN.sub(lambda m: m.group()[:80] + " " * (len(m.group()) - 80), text)


def base(path: str) -> str:
    """The last component of a path."""
    return path.rstrip("/.").replace("\\", "/").rsplit("/", 1)[-1]


def files(text: str) -> list[str]:
    """The file names in `text`, as written, in order, without repeats."""
    return list(dict.fromkeys(FILE.findall(tame(text))))


def names(text: str) -> set[str]:
    """File names (last component), identifiers of five or more characters, tickets, versions and hashes."""
    if not _MAYBE.search(text):
        return set()
    text = tame(text)
    found = {base(f) for f in FILE.findall(text)}
    found.update(m for m in _CODE.findall(text) if len(m) >= 5)
    found.update(_MARK.findall(text))
    return found


def numbers(text: str) -> int:
    """How many numbers stand in `text`."""
    return len(_NUMBER.findall(text))


def plain_words(text: str) -> int:
    """How many words of `text` are words, and no paths or identifiers; two characters of Chinese, Japanese or Thai count as one."""
    bare = _CODE.sub(" ", FILE.sub(" ", tame(text))) if _MAYBE.search(text) else text
    wide = 0 if text.isascii() else len(_WIDE.findall(bare)) // 2
    return wide + len(re.findall(r"(?<![\w./-])[^\W\d_]{2,}(?![\w/])", bare))
