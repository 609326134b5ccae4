"""Compacts and episodes as text: merging with what was known before, rendering under a budget.

The order of sections is the order in which an agent needs them: what it is about, where it stands, what was decided and
ruled out, what holds always, what was done, what is open, what comes next.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable, Sequence

from leporello.core.tokens import clip, estimate
from leporello.records import Episode, Item, Section

TITLES: tuple[tuple[Section, str], ...] = (
    ("goal", "Task"),
    ("state", "Current state"),
    ("decision", "Decisions"),
    ("eliminated", "Ruled out"),
    ("constraint", "Constraints"),
    ("correction", "Corrections by the user"),
    ("confirmation", "Confirmed by the user"),
    ("preference", "Preferences"),
    ("event", "What happened"),
    ("pattern", "Patterns"),
    ("work", "Work done, in order"),
    ("error", "Problems and causes"),
    ("result", "Results worth keeping"),
    ("open", "Open questions"),
    ("next", "Next steps"),
)
CLOSING = "Go on from the current state above. Do not explore again what was ruled out."
NEWEST = "Newest: "
ASKED: frozenset[str] = frozenset({"goal", "correction", "confirmation", "decision", "constraint", "preference"})
KEPT: frozenset[str] = frozenset({"goal", "constraint", "decision", "eliminated", "preference", "correction", "event", "pattern"})
_WORD = re.compile(r"[^\W_]+")
_SPEAKER = re.compile(r"[\w .'-]{1,40}: ")
_POINTS = re.compile(r"\W*[\w'’]+ (?:it|this|that|them|these|those|both)\b", re.IGNORECASE)
"""A request that only the talk around it tells the meaning of."""
_LEANS = re.compile(r"\W*(?:\w+[,.!] )?(?:that|this|it|those|they)\b", re.IGNORECASE)
_CHANGED = re.compile(r" — (?:changed|wrote|added to|took out of) ")
_DATE = re.compile(r" \((?:week(?:end)? of )?\d{4}(?:-\d\d){0,2}\)")


def line(item: Item) -> str:
    """The list item that shows `item`: its text, and its reason where the text does not hold it."""
    text = item.text
    if item.why and item.why.casefold() not in text.casefold():
        text = f"{text} Why: {item.why}" if text[-1:] in ".!?。！？" else f"{text}: {item.why}"
    return f"- {text}"


def size(text: str) -> int:
    """What `text` takes of a budget, in quarters of a token: characters for ASCII text, four times the estimate for other text."""
    return len(text) if text.isascii() else max(len(text), 4 * estimate(text))


def cost(item: Item) -> int:
    """What `item` takes of a budget when it is rendered, in quarters of a token."""
    return size(line(item)) + 1


def render(items: Iterable[Item], *, tokens: int) -> tuple[str, tuple[Item, ...]]:
    """The text of a compact, and the items that found room. The text is never over `tokens` (four characters each).

    When not all fit, the heaviest go first; a goal alone that is too long is shortened. Items keep their order in a section.
    """
    room = 4 * tokens
    given = list(items)
    kept, left, open_sections = set[int](), room - len(NEWEST), set[str]()
    titles = dict(TITLES)
    for n in sorted(range(len(given)), key=lambda n: (given[n].section != "goal", -given[n].weight, n)):
        section = given[n].section
        price = cost(given[n]) + (0 if section in open_sections else len(titles[section]) + 5)
        if price <= left:
            kept.add(n)
            open_sections.add(section)
            left -= price
    if not kept and given:
        return _shortest(given[0], tokens)
    shown = tuple(item for n, item in enumerate(given) if n in kept)
    text = _text(shown)
    if shown and left + len(NEWEST) >= len(CLOSING) + 2 + (len(NEWEST) if NEWEST in text else 0):
        text = f"{text}\n\n{CLOSING}"
    return text, shown


def _shortest(item: Item, tokens: int) -> tuple[str, tuple[Item, ...]]:
    text = clip(item.text, tokens)
    return (text, (dataclasses.replace(item, text=text),)) if text else ("", ())


def _text(items: Sequence[Item]) -> str:
    blocks = []
    newest = _newest(items)
    for section, title in TITLES:
        found = [i for i in items if i.section == section]
        if found:
            blocks.append("\n".join([f"## {title}", *_lines(found, newest)]))
            newest = None if newest in found else newest
    return "\n\n".join(blocks)


def _newest(items: Sequence[Item]) -> Item | None:
    """The first item of the user's last message, when there is a task, more than one message of the user, and it asks or rules."""
    told = [i for i in items if i.trust == "user" and i.spans]
    if not any(i.section == "goal" for i in told) or len({i.spans[0].message for i in told}) < 2:
        return None
    last = max(reversed(told), key=lambda i: i.at.timestamp() if i.at else 0.0)
    same = [i for i in told if i.spans[0].message == last.spans[0].message and i.section in ASKED]
    return min(same, key=lambda i: [s for s, _ in TITLES].index(i.section), default=None)


def _lines(items: Sequence[Item], newest: Item | None) -> list[str]:
    """A line for each item, `newest` marked; sentences that followed one another on one line are one line again."""
    out: list[str] = []
    before: Item | None = None
    for item in items:
        shown = line(item)
        if (
            before is not None
            and item is not newest
            and _follows(before, item)
            and out[-1].endswith(_SPEAKER.sub("", before.text, count=1))
        ):
            speaker = _SPEAKER.match(before.text)
            out[-1] = f"{out[-1]} {shown[2:].removeprefix(speaker.group() if speaker else '')}"
        else:
            out.append(f"- {NEWEST}{shown[2:]}" if item is newest else shown)
        before = item
    return out


def _follows(before: Item, item: Item) -> bool:
    if not before.spans or not item.spans or not item.at == before.at:
        return False
    a, b = before.spans[-1], item.spans[0]
    return a.message == b.message and 0 <= b.start - a.end <= 1


def normal(text: str) -> str:
    """The words of `text`, for comparing; absolute dates that were added to it do not count."""
    return " ".join(_WORD.findall(_DATE.sub("", text).casefold()))


def merge(prior: Sequence[Item], new: Sequence[Item]) -> tuple[Item, ...]:
    """Prior items and new ones as one list (R77): what was resolved is left out, what was said again is kept once, newest last.

    Prior steps and questions that the new items answer, the prior current state, and duplicates are dropped; prior items
    of passing sections weigh less than before, so that a compact does not grow from session to session (R78).
    """
    fresh = {normal(i.text) for i in new}
    bags = [set(normal(i.text).split()) for i in new if i.section in {"state", "work", "decision", "error", "confirmation", "result"}]
    kept = []
    for item in prior:
        if normal(item.text) in fresh:
            continue
        if item.section in {"open", "next"} and _settled(item, bags):
            continue
        kept.append(_aged(item) if new else item)
    seen: set[str] = set()
    out: list[Item] = []
    for item in reversed([*kept, *new]):
        words = f"{item.section in KEPT}:{normal(item.text)}"
        if words not in seen:
            seen.add(words)
            out.append(item)
    return tuple(reversed(out))


def _settled(item: Item, bags: Sequence[set[str]]) -> bool:
    words = {w for w in normal(item.text).split() if len(w) > 3 or not w.isascii()}
    return bool(words) and any(len(words & bag) >= 0.7 * len(words) for bag in bags)


def _aged(item: Item) -> Item:
    if item.section in KEPT:
        return dataclasses.replace(item, weight=round(item.weight * 0.95, 4))
    section: Section = "work" if item.section == "state" else item.section
    return dataclasses.replace(item, section=section, weight=round(item.weight * 0.5, 4))


def summarise(items: Sequence[Item], *, tokens: int = 1_000) -> str:
    """Two or three sentences: what was wanted or told, what was decided or found out, where it stood at the end.

    Of those that do not fit into `tokens` together, later ones are left out; the first alone is shortened.
    """
    told = [i for i in items if not i.text.rstrip("\"') ").endswith(("?", "？", ":", "：")) or (i.section == "goal" and ". " in i.text)]
    goals = [i for i in told if i.section == "goal" and len(i.text) >= 32 and not _POINTS.match(i.text)]
    begun = [i for i in told if i.section == "work" and _CHANGED.search(i.text)]
    wanted = _heaviest(goals, ("goal",)) or tuple(begun[:1]) or _heaviest(told, ("goal", "event", "preference"))
    settled = (
        _heaviest([i for i in told if not _LEANS.match(i.text)], ("decision", "eliminated"), besides=wanted)
        or _heaviest(told, ("correction", "constraint", "event"), besides=wanted)
        or _heaviest(told, ("error",), besides=wanted)
    )
    ended = _latest(told, ("state", "work"), besides=(*wanted, *settled)) or _heaviest(
        told, ("next", "event", "preference"), besides=(*wanted, *settled)
    )
    out = ""
    for item in [*wanted, *settled, *ended] or list(items)[:1]:
        text = _ended(clip(item.text.split(" — ")[0], 60))
        longer = f"{out} {text}".strip()
        out = longer if estimate(longer) <= tokens else out or clip(text, tokens)
    return out


def _heaviest(items: Sequence[Item], sections: Sequence[str], besides: Sequence[Item] = ()) -> tuple[Item, ...]:
    found = [i for i in items if i.section in sections and i not in besides]
    return (max(found, key=lambda i: (len(i.text) > 24, i.weight)),) if found else ()


def _latest(items: Sequence[Item], sections: Sequence[str], besides: Sequence[Item]) -> tuple[Item, ...]:
    """The last statement of how it stands; without one, the last step that is told in words."""
    found = [i for i in items if i.section in sections and i not in besides and not i.text.endswith("(completed)")]
    stated = [i for i in found if i.section == "state"]
    worded = [i for i in found if re.match(r"[A-Z`\w][^—]* — |[^`]{40}", i.text)]
    return tuple((stated or worded or found)[-1:])


def _ended(text: str) -> str:
    return text if text[-1:] in ".!?。！？…:”" else f"{text}."


def render_episode(episode: Episode) -> str:
    """One episode for the context: its id, turn range, summary, decisions, ruled out, open questions, results (X9)."""
    first, last = episode.turns
    out = [f"### {episode.id} · turns {first}–{last}" if first != last else f"### {episode.id} · turn {first}", episode.summary]
    for section, title in TITLES:
        lines = [line(i) for i in episode.items if i.section == section and i.text not in episode.summary]
        if lines:
            out.append("\n".join([f"{title}:", *lines]))
    return "\n".join(out)


def episode_tokens(summary: str, items: Sequence[Item]) -> int:
    """What an episode costs where it is shown: its summary, and the items with their reasons that do not stand in it."""
    return estimate(summary) + sum(
        estimate(i.text) + (estimate(i.why) if i.why not in i.text else 0) for i in items if i.text not in summary
    )
