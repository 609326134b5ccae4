"""What is over: given up, ended, the other way round, in other hands."""

from __future__ import annotations

from leporello.core.facts import cues_words as words
from leporello.core.facts.claim import Claim
from leporello.core.facts.cues_frames import SINGLE
from leporello.core.facts.frames import JOB_WORDS, JOBLESS
from leporello.core.facts.relation import NONE, Relation
from leporello.core.facts.tokens import stem
from leporello.core.facts.values import clash


def given_up(old: Claim, new: Claim) -> Relation | None:
    """From A to B, instead of A, Thursday and not Tuesday: the earlier one says A."""
    if old.negated or old.ended or not (new.gone or new.gone_times):
        return None
    if new.gone_times and old.times and clash(new.gone_times, old.times) is False:
        if old.about & new.about:
            return Relation("update", "corrected")
        return Relation("conflict", "corrected, but it is not sure of what") if not new.about else None
    lost = frozenset(w for w in new.gone if w not in words.STOP)
    if not lost or not lost <= old.about | frozenset(map(stem, old.value)):
        return None
    told = lost & old.capitals or lost & {stem(w) for k, v in old.kinds for w in (v, *v.split("-"))} or (old.about - lost) & new.about
    if not told:
        return None
    if new.person != old.person and "user" in {old.subject, new.subject} and old.subject != new.subject:
        return None
    if new.predicate == "prefer" and old.predicate not in {"prefer", "use", "like", ""} and not old.predicate.startswith("use"):
        return None
    extra = len(old.about - lost - new.about)
    return Relation("update", "given up") if extra <= 3 else Relation("conflict", "given up, perhaps only in part")


def ended(old: Claim, new: Claim) -> Relation | None:
    """No longer, cancelled, stopped: what the earlier one says is over."""
    if not new.ended or old.ended:
        return None
    if old.negated or clash(old.times, new.times):
        return NONE
    if new.predicate in {"employer", "partner", "job"} and old.predicate in {"employer", "partner", "job"}:
        return _ended_frame(old, new)
    if new.person and old.person and old.subject != new.subject:
        return NONE
    over = frozenset(w for w in new.about if w not in _ENDED_STEMS and not (new.person and w == stem(new.subject))) - _OVER_FILLERS
    if new.predicate == old.predicate and new.predicate.startswith("use") and new.where and not new.where & old.where:
        return NONE if old.where else Relation("conflict", "over, perhaps only in part")
    if new.predicate == old.predicate and new.predicate not in {"", "is"} and new.value and old.value:
        over = frozenset(map(stem, new.value))
    if new.predicate == old.predicate and new.predicate not in {"", "is"} and not new.value and not old.value:
        return Relation("update", "no longer")
    if not over or not over <= old.about | frozenset(map(stem, old.value)) | old.where | {stem(w) for w in old.verbs}:
        return None if new.predicate == old.predicate and new.change == 2 and new.predicate in SINGLE else NONE
    extra = old.about - over - {stem(new.subject)} - {stem(w) for w in old.subject.split()}
    if len(extra) > max(2, len(over)) and old.predicate not in {"", "is"}:
        return Relation("conflict", "over, perhaps only in part")
    return Relation("update", "no longer")


_ENDED_STEMS = frozenset(map(stem, words.ENDED)) | words.ENDED
_OVER_FILLERS = frozenset(
    "decid intend 打 算 fallt fallen fiel aus away gav throw threw turn took tak shut phas up down out comer rauch any going doing using being longer anymore mehr got gave rid off giv go us call broke split up ya no plus 不 消 取 停 戒 止 掉 卖 用 再 已 经 去 弃 放 have hab tien dej deje dejo work job".split()
)


def jobless(old: Claim, new: Claim) -> Relation | None:
    """Out of work, and then not; or the other way round."""
    a, b = bool(old.verbs & JOBLESS), bool(new.verbs & JOBLESS)
    if a == b or old.negated or new.negated or new.predicate not in {"employer", "job"} or old.predicate not in {"employer", "job"}:
        return None
    return Relation("update", "another value of employer")


def _ended_frame(old: Claim, new: Claim) -> Relation:
    if new.predicate != old.predicate and {new.predicate, old.predicate} != {"employer", "job"}:
        return NONE
    if not set(new.value) - JOB_WORDS or new.predicate == "partner" and not new.names:
        return Relation("update", "no longer") if not (new.predicate == "partner" and "single" in old.value) else NONE
    alike = set(new.value) & set(old.value)
    return Relation("update", "no longer") if alike else NONE


def polarity(old: Claim, new: Claim) -> Relation | None:
    """Yes and no about the same."""
    flipped = (old.negated or old.ended) != new.negated
    if old.predicate == new.predicate == "like" or (old.predicate == new.predicate and old.opposite != new.opposite):
        flipped = ((old.negated or old.ended) != old.opposite) != (new.negated != new.opposite)
    if not flipped:
        return None
    if clash(old.times, new.times) or (
        old.predicate == new.predicate and old.predicate.startswith("use") and old.where and new.where and not old.where & new.where
    ):
        return NONE
    if old.predicate == new.predicate and old.predicate not in {"", "is"}:
        if not set(old.value) & set(new.value) and (old.value or new.value):
            return NONE if new.predicate not in SINGLE or new.negated else None
        if set(old.value) != set(new.value) and not (set(old.value) <= set(new.value) or set(new.value) <= set(old.value)):
            return NONE
        return Relation("update", "the other way round now") if new.change else Relation("conflict", "yes and no")
    a, b = old.about | old.where, new.about | new.where
    if not a or not b or len(a & b) < max(1, min(len(a), len(b))) or len(a ^ b) > 2:
        return None if new.change == 2 and not new.negated else NONE
    return Relation("update", "the other way round now") if new.change and len(a ^ b) <= 1 else Relation("conflict", "yes and no")


def led(old: Claim, new: Claim) -> Relation | None:
    """Somebody else now leads the same."""
    if (
        old.predicate != "leads"
        or new.predicate != "leads"
        or old.subject == new.subject
        or frozenset(map(stem, old.value)) != frozenset(map(stem, new.value))
        or not old.value
    ):
        return None
    if old.negated or new.negated or old.ended or new.ended or "?" in {old.subject, new.subject}:
        return None
    return Relation("update", "somebody else now") if new.change else Relation("conflict", "somebody else")
