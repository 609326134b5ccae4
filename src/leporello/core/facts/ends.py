"""What is over: given up, ended, the other way round, in other hands."""

from __future__ import annotations

from leporello.core.facts import cues_words as words
from leporello.core.facts.claim import Claim, contrasted
from leporello.core.facts.cues_frames import SINGLE
from leporello.core.facts.frames import JOB_WORDS, JOBLESS
from leporello.core.facts.relation import NONE, Relation
from leporello.core.facts.tokens import apart, stem
from leporello.core.facts.values import clash


def given_up(old: Claim, new: Claim) -> Relation | None:
    """From A to B, instead of A, Thursday and not Tuesday: the earlier one says A."""
    if old.negated or old.ended or not (new.gone or new.gone_times):
        return None
    if new.gone_times and old.times and clash(new.gone_times, old.times) is False:
        if old.about & new.about:
            return Relation("update", "corrected")
        return Relation("conflict", "corrected, but it is not sure of what") if not new.about else None
    if contrasted(old, new):
        return NONE
    lost = frozenset(w for w in new.gone if w not in words.STOP and w not in _LIGHT)
    if not lost or not lost <= old.about | frozenset(map(stem, old.value)):
        return None
    told = lost & old.capitals or lost & {stem(w) for k, v in old.kinds for w in (v, *v.split("-"))} or (old.about - lost) & new.about
    if not told:
        return None
    own = old.subject.startswith(f"{new.subject}'s ")
    if new.person != old.person and "user" in {old.subject, new.subject} and old.subject != new.subject and not own:
        return None
    if new.predicate == "prefer" and old.predicate not in {"prefer", "use", "like", ""} and not old.predicate.startswith("use"):
        return None
    extra = len(old.about - lost - new.about)
    if new.predicate.startswith("use") and new.where - old.about - old.where - _GENERAL and old.predicate.startswith("use"):
        return Relation("conflict", "given up, perhaps only in part")
    return Relation("update", "given up") if extra <= 3 else Relation("conflict", "given up, perhaps only in part")


_GENERAL = frozenset("projekt proyecto projet project team everything all main time now good".split())
_LIGHT = frozenset("tak us go do hav get be mak driv keep work meet stay".split())


def ended(old: Claim, new: Claim) -> Relation | None:
    """No longer, cancelled, stopped: what the earlier one says is over."""
    if not new.ended or old.ended:
        return None
    if old.negated or clash(old.times, new.times) or contrasted(old, new):
        return NONE
    if new.predicate in {"employer", "partner", "job"} and old.predicate in {"employer", "partner", "job"}:
        return _ended_frame(old, new)
    if new.person and old.person and old.subject != new.subject and stem(new.subject) not in old.core:
        return NONE
    if new.predicate == "school" and old.predicate in {"school", "major"}:
        alike = not new.value or old.predicate == "major" or bool(set(new.value) & set(old.value))
        return Relation("update", "no longer") if alike else NONE
    if (
        new.verbs & _OUT
        and (new.verbs & {"ausgezogen"} or {"moved", "out"} <= new.verbs)
        and old.subject == new.subject
        and old.verbs & _LIVES
    ):
        return Relation("update", "moved out")
    if _stays_away(old, new) or (new.verbs & _RETURNED and old.predicate not in {"is", "reside", "home"}):
        return NONE
    if new.predicate == old.predicate and new.predicate.startswith("use") and new.where and not new.where & old.where:
        return NONE if old.where else Relation("conflict", "over, perhaps only in part")
    if (
        new.predicate == old.predicate
        and new.predicate not in {"", "is"}
        and not set(new.value) - words.ENDED
        and (not old.value or new.predicate in _HABITS)
    ):
        return Relation("update", "no longer")
    return _over(old, new)


def _over(old: Claim, new: Claim) -> Relation | None:
    """Whether what the later one says is over is what the earlier one tells."""
    over = frozenset(w for w in new.core if w not in _ENDED_STEMS and not (new.person and w == stem(new.subject))) - _OVER_FILLERS
    if new.predicate == old.predicate and new.predicate not in {"", "is"} and new.value and old.value:
        over = frozenset(map(stem, new.value)) & (new.core | frozenset(map(stem, new.value[:1])))
    said = old.about | frozenset(map(stem, old.value)) | old.where | {stem(w) for w in old.verbs}
    if over & said and (old.verbs & _MOTION or said & _TRIPS):
        over = over - _TRIPS or over
    missing = apart(over, said)
    if missing and over & said:
        missing -= _COMMITMENTS
    if not over or missing:
        if len(missing) == 1 and _one_more(old, new, over & said, missing):
            return Relation("update", "no longer")
        return None if new.predicate == old.predicate and new.change == 2 and new.predicate in SINGLE else NONE
    extra = old.about - over - {stem(new.subject)} - {stem(w) for w in old.subject.split()}
    if len(extra) > max(2, len(over)) and old.predicate not in {"", "is"}:
        return Relation("conflict", "over, perhaps only in part")
    return Relation("update", "no longer")


def _one_more(old: Claim, new: Claim, shared: frozenset[str], missing: frozenset[str]) -> bool:
    """All but one of the words of what is over are in the earlier one, which says nothing else."""
    if (
        old.predicate == new.predicate
        and old.predicate.partition(":")[0] in _TASTES
        and old.value
        and not missing.isdisjoint(map(stem, new.value))
    ):
        return False  # coffee, my coffee machine
    subject = {stem(w) for w in (*old.subject.replace("'s", "").split(), *new.subject.replace("'s", "").split())}
    shared, left = shared - subject, apart(old.core - subject - _OVER_FILLERS, new.about)
    return bool(shared) and not left and not missing & new.capitals and old.subject == new.subject and not old.event and not old.numbers


_TASTES = frozenset("like prefer have eat drink play speak use".split())


def _stays_away(old: Claim, new: Claim) -> bool:
    """One who does not come to what takes place without them."""
    if not new.person or new.subject in {"user", "we", "?", ""} or stem(new.subject) in old.core:
        return False
    return {"make", "it"} <= new.verbs or bool(new.verbs & _DROPS_OUT and "out" in new.verbs)


_DROPS_OUT = frozenset("dropped pulled backed bowed".split())
_OUT, _LIVES = frozenset("out ausgezogen".split()), frozenset("live lives living wohnt wohne wohnen lebt".split())
_HABITS = frozenset("smoke drink drive eat play".split())
_RETURNED = frozenset("returned recovered released discharged zuruck vuelto volvio volvi rentre rentree".split())
_MOTION = frozenset(
    "go going fly flying fliegen fliege flieg travel travelling traveling viajo viaja viajan voyage voyageons vuelo vuela visit visiting fahren fahre fahrt reisen reise besuchen ir vamos voy viajar viajamos volar volamos aller allons vais va partir partons pars 去 飞".split()
)
_TRIPS = frozenset(
    "trip travel journey visit vacatio holiday tour fly flieg reis urlaub ausflug besuch viaj visita vacacion voyag visit vacanc sejour volar 行 程 旅".split()
)
_COMMITMENTS = frozenset(
    "plan idea appointment book reservat reservatio subscriptio membership habit clas cours course order contract abo termin mitgliedschaft cita reserva suscripcio abonnement".split()
)
_ENDED_STEMS = frozenset(map(stem, words.ENDED)) | words.ENDED
_OVER_FILLERS = frozenset(
    "against pull mak need want use wear tak play buy see own keep read watch doch back mind becom liv lives live wohn hous decid intend 打 算 fallt fallen fiel aus away gav throw threw turn took tak shut phas up down out comer rauch any going doing using being longer anymore mehr got gave rid off giv go us call broke split up ya no plus 不 消 取 停 戒 止 掉 卖 用 再 已 经 去 弃 放 have hab tien dej deje dejo work job".split()
)


def jobless(old: Claim, new: Claim) -> Relation | None:
    """Out of work, and then not; or the other way round."""
    a, b = bool(old.verbs & JOBLESS), bool(new.verbs & JOBLESS)
    if a == b or old.negated or new.negated or new.predicate not in {"employer", "job"} or old.predicate not in {"employer", "job"}:
        return None
    return Relation("update", "another value of employer")


def _ended_frame(old: Claim, new: Claim) -> Relation:
    if old.predicate == "partner" and set(new.value) & set(old.value):
        return Relation("update", "no longer")
    if new.predicate != old.predicate and {new.predicate, old.predicate} != {"employer", "job"}:
        return NONE
    if not set(new.value) - JOB_WORDS or new.predicate == "partner" and not new.names:
        return Relation("update", "no longer") if not (new.predicate == "partner" and "single" in old.value) else NONE
    alike = set(new.value) & set(old.value)
    return Relation("update", "no longer") if alike else NONE


def gained(old: Claim, new: Claim) -> Relation | None:
    """What somebody did not have, and got."""
    if not old.negated or new.negated or new.ended or not new.verbs & _GAINED or old.subject != new.subject or new.additional:
        return None
    subject = {stem(w) for w in old.subject.split()}
    mine, other = old.core - subject - _OVER_FILLERS - _DONE_STEMS, new.core - subject - _OVER_FILLERS - _DONE_STEMS
    return Relation("update", "has it now") if mine and not apart(mine, other) else None


_GAINED = frozenset(
    "got bought received obtained earned passed adopted found learned acquired installed added hired bekommen gekauft erhalten gelernt compro compre consiguio consegui aprendio achete obtenu appris 买 到 学".split()
)


def polarity(old: Claim, new: Claim) -> Relation | None:
    """Yes and no about the same."""
    flipped = (old.negated or old.ended) != (new.negated or new.ended)
    if old.predicate == new.predicate == "like" or (old.predicate == new.predicate and old.opposite != new.opposite):
        flipped = ((old.negated or old.ended) != old.opposite) != (new.negated != new.opposite)
    if not flipped:
        return None
    if _both_hold(old, new):
        return NONE
    if old.predicate == new.predicate and old.predicate not in {"", "is"}:
        if not set(old.value) & set(new.value) and (old.value or new.value):
            return NONE if new.predicate not in SINGLE or new.negated else None
        if set(old.value) != set(new.value) and not (set(old.value) <= set(new.value) or set(new.value) <= set(old.value)):
            return NONE
        sure = new.change or (set(old.value) == set(new.value) and old.core == new.core and not new.verbs & _NEVER)
        return Relation("update", "the other way round now") if sure else Relation("conflict", "yes and no")
    a, b = old.core | old.where, new.core | new.where
    if old.subject != new.subject and "" in {old.subject, new.subject} or len(a ^ b) > len(a & b):
        return None if new.change == 2 and not new.negated else NONE
    if not a or not b or len(a & b) < max(1, min(len(a), len(b))) or len(a ^ b) > 2:
        return None if new.change == 2 and not new.negated else NONE
    pending = old.negated and not new.negated and bool(old.verbs & _YET) and old.core <= new.core
    sure = (new.change and len(a ^ b) <= 1) or (
        a == b and old.subject == new.subject and not old.event and not (new.verbs | old.verbs) & _NEVER
    )
    if pending:
        return Relation("update", "done by now")
    return Relation("update", "the other way round now") if sure else Relation("conflict", "yes and no")


_YET = frozenset("yet noch todavia aun encore 还".split())


def _both_hold(old: Claim, new: Claim) -> bool:
    """Yes and no about two things: other numbers, times, purposes, owners, or a part of what the earlier one says."""
    if any(a.unit == b.unit != "" and a.value != b.value for a in old.numbers for b in new.numbers) and not new.change:
        return True
    if clash(old.times, new.times) or contrasted(old, new):
        return True
    if old.predicate == new.predicate and old.predicate.startswith("use") and old.where and new.where and not old.where & new.where:
        return True
    return new.negated and not new.change and _narrower(old, new)


def _narrower(old: Claim, new: Claim) -> bool:
    """No files over 2 GB, no coffee after three, no goat cheese: what is denied is a part of what was said."""
    limited = (bool(new.numbers) and not old.numbers) or (bool(new.times) and not old.times)
    return limited or (old.predicate == new.predicate != "" and bool(old.value) and set(old.value) < set(new.value))


_NEVER = frozenset("never nie niemals nunca jamas jamais".split())


def led(old: Claim, new: Claim) -> Relation | None:
    """Somebody else now leads the same, or it was handed to somebody else."""
    if old.negated or new.negated or old.ended or new.ended or contrasted(old, new):
        return None
    if old.predicate == new.predicate == "leads" and old.subject != new.subject and "?" not in {old.subject, new.subject}:
        first, second = (frozenset(map(stem, c.value)) - _WORKS for c in (old, new))
        if first and second and first == second:
            return Relation("update", "somebody else now") if new.change else Relation("conflict", "somebody else")
    return _succeeded(old, new) or _handed(old, new)


def _succeeded(old: Claim, new: Claim) -> Relation | None:
    """Carol is the team lead; Dan took over as team lead from Carol, Dan succeeded Carol as team lead."""
    if not new.verbs & _SUCCEEDED or not new.verbs & _AS or new.event != bool(new.verbs & words.EVENT_VERBS) or new.subject == old.subject:
        return None
    if old.predicate not in {"job", "lead", "leads", "is"} or not old.person or not old.value:
        return None
    role = frozenset(map(stem, old.value)) - {"the"}
    return Relation("update", "somebody else now") if role <= new.core and stem(old.subject.split()[0]) in new.core else None


_SUCCEEDED = frozenset(
    "over succeeded succeeds replaces ubernommen ubernimmt abgelost sucedio reemplaza sustituye succede remplace".split()
)
_AS = frozenset("as als como comme".split())


def _handed(old: Claim, new: Claim) -> Relation | None:
    """Somebody has it in hand, and it was given to another ("reassigned to Dmitri", "is now led by Dmitri")."""
    passed = new.verbs & _PASSED and new.verbs & _TO
    done_by = bool(new.change) and "by" in new.verbs and old.person
    held = old.verbs & _IN_HAND or old.predicate in {"leads", "lead"}
    if not done_by and (not (passed or (new.predicate == "lead" and new.change)) or not held):
        return None
    subject = {stem(w) for w in old.subject.split()} if old.person else set()
    mine, other = old.core - subject - _IN_HAND_STEMS - _WORKS, new.core - subject - _WORKS - _PASSED
    shared = mine & other
    if not shared or apart(mine, other) or len(mine) < (1 if held else 2) or not new.capitals - old.capitals - shared:
        return None
    return Relation("update", "somebody else now")


_WORKS = frozenset("project team task account work job part area projekt aufgab proyecto tarea projet tach equip equipo".split())
_PASSED = frozenset(
    "reassigned reassign handed passed transferred delegated given assigned ubergeben ubertragen abgegeben weitergegeben traspasado traspasaron traspaso asigno asignado asignaron transferido reasignado confie confiee transmis transfere transferee 交 转".split()
)
_TO = frozenset("to an a al au an on over onto 给".split())
_IN_HAND = frozenset(
    "responsible charge owns own lead leads leading manage manages managing works work working handle handles handling maintains runs owner verantwortlich leitet betreut zustandig kummert bearbeitet responsable encargado encargada encarga lleva dirige lidera gere occupe charge 负 做".split()
)
_IN_HAND_STEMS = frozenset(map(stem, _IN_HAND))


def stated(old: Claim, new: Claim) -> Relation | None:
    """Open, and then fixed; on, and then off: states of which a thing is in one."""
    if not old.states or not new.states or old.negated or new.negated or contrasted(old, new) or clash(old.times, new.times):
        return None
    first, second = dict(old.states), dict(new.states)
    if not any(first[d] != second[d] for d in first.keys() & second.keys()) or old.states & new.states:
        return None
    if (old.person and new.person and not _alike(old.subject, new.subject)) or ("'s" in old.verbs) != ("'s" in new.verbs):
        return None
    told = old.stated | new.stated | _OVER_FILLERS | _STATE_FILLERS
    subject = {stem(w) for w in old.subject.replace("'s", "").split()} if old.subject == new.subject else set()
    mine, other = old.core - told - subject, new.core - told - subject
    if not subject and not mine & other or old.subject in {"user", "we"} and (mine ^ other) and not mine & other:
        return None
    alike = mine == other if {d for d, _ in old.states} & _EQUAL else not mine - other or not other - mine
    return Relation("update", "another state") if alike else None


def _alike(one: str, other: str) -> bool:
    """The same subject, or a thing and who switches it."""
    first, second = set(one.split()), set(other.split())
    return (
        one == other
        or (other in {"user", "we"} and one not in {"user", "we"})
        or len(first) > 1
        and second <= first
        or len(second) > 1
        and first <= second
    )


_EQUAL = frozenset("frequency hours shift presence speed cost side2 hand deck optional".split())


_STATE_FILLERS = frozenset(
    "girl boy baby son daughter still fully finally feel got release version week month day diesem diesen dieser monat woche mes semana mois semaine work works arbeit arbeitet trabaj travaill".split()
)


def fulfilled(old: Claim, new: Claim) -> Relation | None:
    """Looking for a flat, and then one was found; a passport to renew, and then it was renewed."""
    going = bool(old.verbs & {"am", "are", "is"}) and any(w.endswith("ing") for w in old.verbs) and bool(new.verbs & _FINISHED)
    must = "to" in old.verbs and bool(old.verbs & {"have", "has"}) and not old.value
    if not (old.verbs & INTENT or going or must) or old.negated or new.negated or new.additional or clash(old.times, new.times):
        return None
    if new.mode not in {"told", "past"} or new.ended:
        return None
    subject = {stem(w) for w in old.subject.split()}
    mine = old.core - subject - INTENT_STEMS - _DONE_STEMS
    other = new.core - subject - _DONE_STEMS
    same = any(w.endswith("ed") and len(w) > 4 and stem(w) in mine for w in new.verbs)
    if not mine or not (new.verbs & _DONE or same) or len(mine) > 4 or apart(mine, other) or apart(other, old.about) - new.capitals:
        return None
    return Relation("update", "done")


_FINISHED = frozenset("finished done complete completed over".split())
INTENT = frozenset(
    """looking searching saving want wants need needs plan plans planning hope hopes trying hiring waiting considering preparing applying thinking aiming must hunting
    suche sucht suchen spare spart sparen mochte mochten muss mussen warte wartet plane plant brauche braucht busco busca buscamos ahorrando quiero quiere necesito necesita espero cherche cherchons economise veux veut dois attends attend 想 找 存 打 需 等""".split()
)
INTENT_STEMS = frozenset(map(stem, INTENT)) | {"to", "up", "for"}
_DONE = frozenset(
    """bought found got finished completed received hired filled passed arrived done submitted launched released built made accepted admitted enrolled moved joined learned learnt went took sold paid sent wrote chose began
    gekauft gefunden bekommen erhalten abgeschlossen eingestellt bestanden angekommen fertig erledigt compre compro compramos encontre encontro encontramos consegui conseguio recibi termine aprobe llego
    achete trouve obtenu recu termine fini reussi arrive 买 到 完 了""".split()
)
_DONE_STEMS = frozenset(map(stem, _DONE)) | {"finally", "position"}
