"""Names of topic files: safe in every file system, stable, and never two that differ by case alone."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Iterable

from leporello.formats.project.index import same

_BYTES = 48
_DEVICES = {"con", "prn", "aux", "nul", *(f"{d}{n}" for d in ("com", "lpt") for n in range(10))}
_TAKEN = {"memory", "index", "readme", "claude", "agents", "gemini", "license", "changelog", "contributing"}


def file_names(topics: Iterable[str], *, held: dict[str, str], foreign: Iterable[str] = ()) -> dict[str, str]:
    """A file name for each topic. `held` are names that topics have already; `foreign` are files that are not ours.

    A topic keeps its name. A new one gets its letters and digits with hyphens; where that is taken, cut, or empty, a hash is added.
    """
    taken = {folded(n) for n in foreign}
    out: dict[str, str] = {}
    for topic in topics:
        name = held.get(same(topic))
        if name is not None and folded(name) not in taken:
            out[topic] = name
            taken.add(folded(name))
    for topic in topics:
        if topic not in out:
            out[topic] = name = _fresh(topic, taken)
            taken.add(folded(name))
    return out


def folded(name: str) -> str:
    """What two names share that one file system could take for the same."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFKC", name).casefold())


def _fresh(topic: str, taken: set[str]) -> str:
    slug = re.sub(r"[^\w]+", "-", unicodedata.normalize("NFKC", topic).casefold().replace("_", "-")).strip("-")
    slug = unicodedata.normalize("NFC", slug)
    short = slug.encode("utf-8", "ignore")[:_BYTES].decode("utf-8", "ignore").rstrip("-")
    digest = hashlib.sha256(same(topic).encode("utf-8", "surrogatepass")).hexdigest()
    plain = short == slug and short not in _DEVICES and short not in _TAKEN
    if plain and short and folded(f"{short}.md") not in taken:
        return f"{short}.md"
    stem = short or "topic"
    return next(n for size in range(8, 65, 8) if folded(n := f"{stem}-{digest[:size]}.md") not in taken)
