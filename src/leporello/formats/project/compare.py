"""What people changed in a project's files, against what the store holds: a plan of edits, and what cannot be taken over.

An edit is an operation on facts by the user. The store wins where it changed as well; a fact that was erased never comes back.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Literal

from leporello.formats.project import bullets as codec
from leporello.formats.project.bullets import Bullet, Details, details_of, mark, meant, shown, standing
from leporello.formats.project.index import cleaned, same
from leporello.formats.project.names import folded
from leporello.formats.project.parse import INDEX, Page, pointer_in
from leporello.formats.project.report import Clash, Problem
from leporello.records import Fact, Operation

MEANWHILE = "the store changed this fact after the file was written"


@dataclass(frozen=True)
class Written:
    """What was written into a folder last: ids of facts by file, and when; `past` are ids that were written before.

    `taken` are bullets that were taken over since: the mark of the text, and the fact that it became. An id that was written or
    taken over and that the store does not know any more was erased: no old copy of a file brings it back.
    """

    ids: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    at: datetime | None = None
    past: frozenset[str] = frozenset()
    taken: Mapping[str, str] = field(default_factory=dict)

    @property
    def all_ids(self) -> frozenset[str]:
        """Ids that stand in the files."""
        return frozenset(i for ids in self.ids.values() for i in ids)


@dataclass(frozen=True)
class Edit:
    """One hand edit as an operation by the user (add, supersede or retract), the reason for the history, and where it stands.

    `mark` is that of the bullet's text.
    """

    operation: Operation
    reason: str
    place: str
    mark: str = ""


@dataclass
class Plan:
    """What a reading of the files comes to. `removed` are ids whose bullets were taken out of files that are there."""

    edits: list[Edit] = field(default_factory=list)
    clashes: list[Clash] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)
    entries: int = 0
    erased: int = 0
    duplicates: int = 0


def compare(
    pages: Sequence[Page], facts: Sequence[Fact], written: Written, *, now: datetime, removed: Literal["keep", "retract"] = "keep"
) -> Plan:
    """The edits in the pages. `facts` is every fact that the scope sees, those that ended or were retracted too.

    `removed="retract"` takes topic files that are gone for a retraction of what stood in them.
    """
    return _Comparison(facts, written, now).run(pages, removed == "retract")


class _Comparison:
    def __init__(self, facts: Sequence[Fact], written: Written, now: datetime) -> None:
        self.now = now
        self.written = written
        self.ours = written.all_ids | written.past
        self.by_id = {f.id: f for f in facts}
        self.standing: dict[str, Fact] = {}
        self.gone: dict[str, Fact] = {}
        for f in facts:
            held = self.standing if standing(f, now) else self.gone
            held[mark(shown(f.text))] = f
        self.seen: set[str] = set()
        self.fresh: dict[str, tuple[str, ...]] = {}
        self.subjects: dict[str, set[str]] = {}
        self.plan = Plan()

    def run(self, pages: Sequence[Page], retract: bool) -> Plan:
        self.plan.problems += [Problem(p.name, p.problem) for p in pages if p.problem]
        files = {folded(p.name) for p in pages} | {folded(n) for n in self.written.ids}
        found = [b for p in pages for b in p.bullets if not (b.file == INDEX and _points(b, files))]
        self.plan.entries = len(found)
        marked: dict[str, list[Bullet]] = {}
        free: list[Bullet] = []
        for b in found:
            if b.about and b.marker is None:
                self.subjects.setdefault(b.file, set()).add(b.about)
            if b.marker is not None and (b.marker.id in self.by_id or b.marker.id in self.ours):
                marked.setdefault(b.marker.id, []).append(b)
            else:
                free.append(b)
        for id, copies in marked.items():
            free += self._marked(id, copies)
        for b in free:
            self._free(b)
        for p in pages:
            self.seen.update(p.loose)
            self.plan.problems += [Problem(p.name, f"the entry of {i} is no bullet any more") for i in p.loose if i in self.by_id]
        self._missing(pages, retract)
        return self.plan

    def _marked(self, id: str, copies: list[Bullet]) -> list[Bullet]:
        """The bullets of one fact. Of copies, an untouched one is the fact, and edited ones are statements of their own."""
        fact = self.by_id.get(id)
        if fact is None:
            self.plan.erased += len(copies)
            return []
        self.seen.add(id)
        heir = self._heir(fact)
        if heir is not None:
            return self._again(fact, heir, copies)
        whole = [b for b in copies if not _text_edited(b)]
        edited = list({mark(b.text): b for b in copies if _text_edited(b)}.values())
        self.plan.duplicates += len(copies) - max(1, len(edited) + bool(whole))
        if whole:
            one = next((b for b in whole if _details_edited(b)), whole[0])
            if _details_edited(one):
                self._correct(fact, one)
            return edited
        self._correct(fact, edited[0])
        return edited[1:]

    def _heir(self, fact: Fact) -> Fact | None:
        """The fact that stands for this one since its bullet was taken over, if the file was not written again meanwhile."""
        ours, met = set(self.written.taken.values()), {fact.id}
        while (later := self.by_id.get(fact.superseded_by or "")) is not None and later.id in ours - met:
            met.add(later.id)
            fact = later
        return fact if len(met) > 1 and standing(fact, self.now) else None

    def _again(self, fact: Fact, heir: Fact, copies: list[Bullet]) -> list[Bullet]:
        """Bullets with an old marker: one says what was taken over, or what it was edited to once more."""
        self.seen.add(heir.id)
        if not any(mark(b.text) == mark(shown(heir.text)) for b in copies):
            one = next((b for b in copies if _text_edited(b)), copies[0])
            self.plan.edits.append(
                Edit(self._corrected(heir, one, True, details_of(fact)), f"edited in {one.file}", one.place, mark(one.text))
            )
            copies = [b for b in copies if b is not one]
        return [b for b in copies if _text_edited(b) and mark(b.text) != mark(shown(heir.text))]

    def _correct(self, fact: Fact, b: Bullet) -> None:
        """A bullet whose text or details were edited."""
        assert b.marker is not None
        texted = _text_edited(b)
        if texted and self._taken(b):
            return
        same_text = self.standing.get(mark(b.text))
        if texted and same_text is not None:
            if same_text.id != fact.id and standing(fact, self.now):
                self.plan.edits.append(_retraction(fact.id, b.file, b.place))
            self.seen.add(same_text.id)
            return
        if not standing(fact, self.now):
            if same_text is None or not _shows(same_text, b):
                self._clash(fact, b)
            return
        changed = mark(shown(fact.text)) != b.marker.text if texted else mark(details_of(fact).line()) != b.marker.details
        if changed and (texted or not _shows(fact, b)):
            self._clash(fact, b)
        elif texted and shown(fact.text).endswith(codec.CUT):
            self.plan.problems.append(Problem(b.place, f"the bullet shows {fact.id} cut short: correct the fact itself"))
        elif texted or not _shows(fact, b):
            self._edit(fact, b, texted)

    def _edit(self, fact: Fact, b: Bullet, texted: bool) -> None:
        op = self._corrected(fact, b, texted)
        if texted or (op.why, op.tags, op.confidence, op.at) != (fact.why, fact.tags, fact.confidence, fact.valid_from):
            self.plan.edits.append(Edit(op, f"edited in {b.file}", b.place, mark(b.text)))

    def _taken(self, b: Bullet) -> bool:
        """True for a bullet that was taken over and is one with a fact, be it in other words; or whose fact was erased or ended."""
        id = self.written.taken.get(mark(b.text))
        if id is None or self.standing.get(mark(b.text)) is not None:
            return False
        fact = self.by_id.get(id)
        self.seen.add(id)
        if fact is None:
            self.plan.erased += 1
        elif not standing(fact, self.now):
            self._clash(fact, b)
        return True

    def _corrected(self, fact: Fact, b: Bullet, texted: bool, shown_before: Details | None = None) -> Operation:
        was = shown_before or details_of(fact)
        now = b.details or was
        date, sure = self._date(b, was, now), self._confidence(b, was, now)
        return Operation(
            "supersede", meant(b.text) if texted else fact.text, fact.fact_kind, fact.why if now.why == was.why else now.why or "",
            fact.id, "user_stated", "user", sure if sure is not None else 1.0 if texted else fact.confidence,
            fact.tags if now.tags == was.tags else codec.tags_in(now.tags), date if date or texted else fact.valid_from,
        )  # fmt: skip

    def _date(self, b: Bullet, was: Details, now: Details) -> datetime | None:
        if now.date in {None, was.date}:
            return None
        found = codec.date_in(now.date or "")
        if found is None:
            self.plan.problems.append(Problem(b.place, f"{now.date!r:.40} is no date"))
        return found

    def _confidence(self, b: Bullet, was: Details, now: Details) -> float | None:
        self.plan.problems += [Problem(b.place, f"{piece!r:.80} says nothing known") for piece in now.unread]
        if now.confidence in {None, was.confidence}:
            return None
        found = codec.confidence_in(now.confidence or "")
        if found is None:
            self.plan.problems.append(Problem(b.place, f"{now.confidence!r:.40} is no confidence from 0 to 1"))
        return found

    def _free(self, b: Bullet) -> None:
        """A bullet without a marker, or with one of another store: a new fact by the user, unless it is known."""
        if self._taken(b):
            return
        written, b = mark(b.text), self._told(b)
        key = mark(b.text)
        known = self.standing.get(written) or self.standing.get(key)
        if known is not None or key in self.fresh:
            self.plan.duplicates += key in self.fresh or (known is not None and known.id in self.seen)
            if known is not None:
                self.seen.add(known.id)
            return
        past = self.gone.get(key)
        if past is not None and self._ended_since(past):
            self.seen.add(past.id)
            self._clash(past, b)
            return
        self.fresh |= {key: b.headings, written: b.headings}
        details = b.details or Details()
        nothing = Details()
        date, sure = self._date(b, nothing, details), self._confidence(b, nothing, details)
        operation = Operation(
            "add", meant(b.text), b.under, details.why or "", None, "user_stated", "user", 1.0 if sure is None else sure, _tags(b, details), date
        )  # fmt: skip
        self.plan.edits.append(Edit(operation, f"written in {b.file}", b.place, written))

    def _told(self, b: Bullet) -> Bullet:
        """The bullet with its heading in front, where its words alone do not say what they are about.

        That is so in a file with several headings of its own (a page on several products, say), and for words that are there twice.
        """
        again = mark(b.text) in self.fresh and self.fresh[mark(b.text)] != b.headings
        if b.marker is None and b.about and (again or len(self.subjects.get(b.file, ())) > 1):
            return replace(b, text=f"{b.about}: {b.text}")
        return b

    def _missing(self, pages: Sequence[Page], retract: bool) -> None:
        there = {p.name for p in pages if not p.problem}
        held = there | {p.name for p in pages}
        for file, ids in self.written.ids.items():
            left = [i for i in ids if i in self.by_id and standing(self.by_id[i], self.now)]
            lost = [i for i in left if i not in self.seen]
            if lost and file not in held:
                self.plan.missing.append(file)
            if lost and (file in there or (file not in held and retract)):
                self.plan.removed += lost
                self.plan.edits += [_retraction(i, file, file) for i in lost]

    def _clash(self, fact: Fact, b: Bullet) -> None:
        self.plan.clashes.append(Clash(b.place, fact.id, meant(b.text), MEANWHILE))

    def _ended_since(self, fact: Fact) -> bool:
        """True if the fact was ended or retracted after the files were written."""
        ends = [t for t in (fact.retracted_at, fact.valid_to) if t is not None and t <= self.now]
        return self.written.at is not None and bool(ends) and max(ends) >= self.written.at


def _points(b: Bullet, files: set[str]) -> bool:
    target = pointer_in(b.text)
    return b.marker is None and target is not None and folded(target.removeprefix("./")) in files


def _text_edited(b: Bullet) -> bool:
    return b.marker is not None and mark(b.text) != b.marker.text


def _details_edited(b: Bullet) -> bool:
    return b.marker is not None and b.details is not None and mark(b.details.line()) != b.marker.details


def _shows(fact: Fact, b: Bullet) -> bool:
    """True if the fact has the text and the details that the bullet shows."""
    return mark(shown(fact.text)) == mark(b.text) and (b.details is None or mark(details_of(fact).line()) == mark(b.details.line()))


def _retraction(id: str, file: str, place: str) -> Edit:
    return Edit(Operation("retract", target=id, source="user_stated", trust="user"), f"removed from {file}", place)


def _tags(b: Bullet, details: Details) -> tuple[str, ...]:
    """The bullet's own tags; else the topic of its file and the headings over it, as far as these are no sections."""
    told = codec.tags_in(details.tags)
    sections = {same(t) for t in codec.SECTIONS.values()}
    above = (cleaned(t or "") for t in (None if b.file == INDEX else b.topic, *b.headings))
    return told or tuple(dict.fromkeys(t for t in above if t and same(t) not in sections))
