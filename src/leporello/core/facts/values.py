"""What can be compared in a statement: points in time by facet, numbers with units."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from leporello.core.facts.cues_words import CHANGE_STEMS
from leporello.core.facts.tokens import Token, stem

WEEKDAYS = {
    **{w: n % 7 for n, w in enumerate("monday tuesday wednesday thursday friday saturday sunday mondays tuesdays wednesdays thursdays fridays saturdays sundays".split())},
    **{w: n % 7 for n, w in enumerate("montag dienstag mittwoch donnerstag freitag samstag sonntag montags dienstags mittwochs donnerstags freitags samstags sonntags".split())},
    **{w: n % 7 for n, w in enumerate("lunes martes miercoles jueves viernes sabado domingo lunes martes miercoles jueves viernes sabados domingos".split())},
    **{w: n % 7 for n, w in enumerate("lundi mardi mercredi jeudi vendredi samedi dimanche lundis mardis mercredis jeudis vendredis samedis dimanches".split())},
    "sonnabend": 5, "weekend": 8, "weekends": 8, "wochenende": 8,
}  # fmt: skip
_SHORT_DAYS = {"mon": 0, "tue": 1, "tues": 1, "wed": 2, "thu": 3, "thur": 3, "thurs": 3, "fri": 4, "sat": 5, "sun": 6}
_MONTHS = {
    **{w: n for n, w in enumerate("january february march april may june july august september october november december".split(), 1)},
    **{w: n for n, w in enumerate("januar februar marz april mai juni juli august september oktober november dezember".split(), 1)},
    **{w: n for n, w in enumerate("janvier fevrier mars avril mai juin juillet aout septembre octobre novembre decembre".split(), 1)},
    **{w: n for n, w in enumerate("enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre".split(), 1)},
    **{w: n for n, w in enumerate("jan feb mar apr may jun jul aug sep oct nov dec".split(), 1)}, "sept": 9,
}  # fmt: skip
_AMBIGUOUS = {"may", "march", "mar", "mars", "jan", "mai", "sun", "sat", "mon", "wed"}
_PARTS = {
    "noon": 12, "midday": 12, "midnight": 0, "mittag": 12, "mittags": 12, "mediodia": 12, "midi": 12, "minuit": 0, "mitternacht": 0,
}  # fmt: skip
_RELATIVE = frozenset("tomorrow yesterday today tonight morgen gestern ubermorgen heute manana-adv ayer demain hier".split())
_ISO = re.compile(r"(\d{4})[-/.](\d{1,2})(?:[-/.](\d{1,2}))?$")
_DOTTED = re.compile(r"(\d{1,2})[./](\d{1,2})(?:[./](\d{2,4}))?\.?$")
_CLOCK = re.compile(r"(\d{1,2})[:h](\d{2})?(am|pm)?$")
_HALF = re.compile(r"(\d{1,2})(am|pm|h|uhr)$")
_ORDINAL = re.compile(r"(\d{1,2})(?:st|nd|rd|th|er|\.)?$")
_NUMBER = re.compile(r"(\d+(?:[.,]\d+)*)([a-z%°/]*)$")
_CJK_NUMBERS = {c: n for n, c in enumerate("一二三四五六七八九十", 1)} | {"两": 2}
_NUMBER_WORDS = {
    **{w: n for n, w in enumerate("two three four five six seven eight nine ten eleven twelve".split(), 2)},
    **{w: n for n, w in enumerate("zwei drei vier funf sechs sieben acht neun zehn elf zwolf".split(), 2)},
    **{w: n for n, w in enumerate("dos tres cuatro cinco seis siete ocho nueve diez once doce".split(), 2)},
    **{w: n for n, w in enumerate("deux trois quatre cinq six sept huit neuf dix onze douze".split(), 2)},
    "one": 1, "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "hundred": 100, "zwanzig": 20, "dreissig": 30, "veinte": 20, "treinta": 30, "vingt": 20, "trente": 30, "fifteen": 15, "quince": 15, "quinze": 15, "funfzehn": 15,
}  # fmt: skip
_UNITS: dict[str, tuple[str, float]] = {}
for _kind, _scale, _names in (
    ("time", 0.001, "ms millisecond millisekunde milisegundo milliseconde msec 毫"),
    ("time", 1.0, "s sec second sekunde segundo seconde secs sekunden 秒"),
    ("time", 60.0, "min minute minuto minuten mins 分"),
    ("time", 3600.0, "h hr hour stunde hora heure hrs stunden std 小"),
    ("time", 86400.0, "day tag dia jour tage tagen 天"),
    ("time", 604800.0, "week woche semana semaine wochen 周"),
    ("time", 2592000.0, "month monat mes mois monate monaten 月"),
    ("time", 31536000.0, "year jahr ano annee jahre jahren ans an yr yrs 年 岁"),
    ("size", 1.0, "kb"), ("size", 1e3, "mb"), ("size", 1e6, "gb"), ("size", 1e9, "tb"),
    ("%", 1.0, "% percent prozent porciento pourcent"),
    ("length", 1.0, "km kilometer kilometre kilometro"), ("length", 1.6093, "mile milla meile mi"), ("length", 0.001, "m meter metre metro"), ("length", 0.00001, "cm"),
    ("mass", 1.0, "kg kilo kilogram kilogramm"), ("mass", 0.4536, "lb lbs pound"), ("mass", 0.001, "g gram gramm"),
    ("money", 1.0, "€ eur euro $ usd dollar dolar £ gbp 元 块 peso franc chf"), ("money", 1e3, "k€ k$"),
    ("rate", 1.0, "rps qps req/s"), ("degree", 1.0, "° degree grad °c celsius"), ("port", 1.0, "port puerto"),
):  # fmt: skip
    for _name in _names.split():
        _UNITS[_name] = (_kind, _scale)
        if len(_name) > 3:
            _UNITS.setdefault(stem(_name), (_kind, _scale))
MEASURES = frozenset(kind for kind, _ in _UNITS.values()) | {"age", "version"}
"""Kinds of units, as opposed to nouns that are counted."""


@dataclass(frozen=True)
class Quantity:
    """A number in the base of its unit's kind; `unit` is the kind ("time", "money", "version"), a counted noun's stem, or "".

    `sense`: "by" for a difference ("improved by 20%"), "limit" for what is aimed at or allowed ("under 200KB"), else "".
    """

    value: float
    unit: str
    index: int
    sense: str = ""


Times = tuple[tuple[str, frozenset[int]], ...]
"""Facets of a point in time ("weekday", "month", "day", "year", "hour", "relative") with the values named."""


def times(tokens: Sequence[Token]) -> tuple[Times, frozenset[int]]:
    """The facets named in the tokens, and the positions that they take up."""
    found: dict[str, set[int]] = {}
    used: set[int] = set()
    for i in range(len(tokens)):
        if i in used:
            continue
        facets, width = _time_at(tokens, i)
        for facet, value in facets:
            found.setdefault(facet, set()).add(value)
        used.update(range(i, i + width))
    return tuple(sorted((f, frozenset(v)) for f, v in found.items())), frozenset(used)


_Found = tuple[list[tuple[str, int]], int]
_NOTHING: _Found = ([], 0)


def _time_at(tokens: Sequence[Token], i: int) -> _Found:
    token = tokens[i]
    word = token.fold
    if word[0].isdigit():
        return _digits_at(tokens, i)
    if not word.isascii():
        return _cjk_time(tokens, i)
    if word in WEEKDAYS:
        return [("weekday", WEEKDAYS[word])], 1
    if (word in _SHORT_DAYS or word in _MONTHS) and word in _AMBIGUOUS and not _is_name_of_time(tokens, i):
        return _NOTHING
    if word in _MONTHS:
        return _month_at(tokens, i)
    if word in _SHORT_DAYS and token.capital:
        return [("weekday", _SHORT_DAYS[word])], 1
    if word in _PARTS:
        return [("hour", _PARTS[word] * 60)], 1
    if word in _RELATIVE:
        return [("relative", hash_of(word))], 1
    after = tokens[i + 1].fold if i + 1 < len(tokens) else ""
    if word == "q" and after in {"1", "2", "3", "4"}:
        return [("quarter", int(after))], 2
    return ([("quarter", int(word[1]))], 1) if len(word) == 2 and word[0] == "q" and word[1] in "1234" else _NOTHING


def _cjk_time(tokens: Sequence[Token], i: int) -> _Found:
    word = tokens[i].fold
    after = tokens[i + 1].fold if i + 1 < len(tokens) else ""
    if word in {"上", "下", "早", "晚", "中"} and after in {"午", "上"} and i + 3 < len(tokens) and tokens[i + 3].fold == "点":
        number = tokens[i + 2].fold
        value = int(number) if number.isascii() and number.isdigit() else _CJK_NUMBERS.get(number, 0)
        return [("hour", 60 * (value + 12 * (word in {"下", "晚"} and value < 12)))], 4
    if word in {"周", "星"}:
        at = i + (2 if word == "星" else 1)
        day = tokens[at].fold if at < len(tokens) else ""
        if day and day in "一二三四五六日天":
            return [("weekday", "一二三四五六日".find(day) if day != "天" else 6)], at + 1 - i
    return _cjk_month(tokens, i)


def hash_of(word: str) -> int:
    """A number for a word, the same on every run."""
    return int.from_bytes(word.encode("utf-8", "replace")[:8], "big")


def _cjk_month(tokens: Sequence[Token], i: int) -> _Found:
    word = tokens[i].fold
    after = tokens[i + 1].fold if i + 1 < len(tokens) else ""
    if word in _CJK_NUMBERS and after == "月":
        return [("month", _CJK_NUMBERS[word])], 2
    if word in _CJK_NUMBERS and after == "点":
        return [("hour", 60 * _CJK_NUMBERS[word])], 2
    return _NOTHING


def _is_name_of_time(tokens: Sequence[Token], i: int) -> bool:
    """May the month, not the verb: a capital letter inside a sentence, or "in" or a number beside it."""
    before = tokens[i - 1].fold if i else ""
    after = tokens[i + 1].fold if i + 1 < len(tokens) else ""
    return (
        tokens[i].capital
        and (i > 0 or after[:1].isdigit())
        and (before in _BEFORE_TIME or before[:1].isdigit() or after[:1].isdigit() or before in WEEKDAYS or not before.isalpha())
    )


_BEFORE_TIME = frozenset(
    "in on by until to since from of for early late mid next last this at im am bis seit ab bis anfang ende en a de du debut fin is ist im vom zum every on before after till through para el los les le auf den".split()
)


def _month_at(tokens: Sequence[Token], i: int) -> _Found:
    """A month with the day and the year after it ("May 3rd, 2024")."""
    out = [("month", _MONTHS[tokens[i].fold])]
    width = 1
    for offset in (1, 2):
        word = tokens[i + offset].fold if i + offset < len(tokens) else ""
        if word in {"de", "del"} or not word:
            continue
        after = tokens[i + offset + 1].fold if i + offset + 1 < len(tokens) else ""
        if offset == width and (found := _ORDINAL.match(word)) and 1 <= int(found.group(1)) <= 31 and stem(after) not in _UNITS:
            out.append(("day", int(found.group(1))))
            width = offset + 1
        elif word.isascii() and len(word) == 4 and word.isdigit() and word[:2] in {"19", "20"}:
            out.append(("year", int(word)))
            width = offset + 1
    return out, width


def _digits_at(tokens: Sequence[Token], i: int) -> _Found:  # noqa: C901 - one way to write a time after another
    word = tokens[i].fold
    after = tokens[i + 1].fold if i + 1 < len(tokens) else ""
    before = tokens[i - 1].fold if i else ""
    if not word.isascii():
        return _NOTHING
    if found := _ISO.match(word):
        if 1 <= int(found.group(2)) <= 12:
            day = [("day", int(found.group(3)))] if found.group(3) else []
            return [("year", int(found.group(1))), ("month", int(found.group(2))), *day], 1
    if found := _CLOCK.match(word):
        part = found.group(3) or (after if after in {"am", "pm", "a.m", "p.m"} else "")
        return [("hour", _minutes(int(found.group(1)), int(found.group(2) or 0), part))], 1 + (
            not found.group(3) and after in {"am", "pm", "uhr", "a.m", "p.m"}
        )
    if found := _HALF.match(word):
        if found.group(2) != "h" or before in {"a", "at", "um"}:
            return [("hour", _minutes(int(found.group(1)), 0, found.group(2)))], 1
    if after in {"am", "pm", "a.m", "p.m", "uhr", "o'clock", "点", "heures"} and word.isdigit() and int(word) < 25:
        return [("hour", _minutes(int(word), 0, after))], 2
    if after == "月" and word.isdigit():
        number = tokens[i + 2].fold if i + 2 < len(tokens) else ""
        unit = tokens[i + 3].fold if i + 3 < len(tokens) else ""
        return (
            ([("month", int(word)), ("day", int(number))], 4)
            if number.isascii() and number.isdigit() and unit in {"日", "号"}
            else ([("month", int(word))], 2)
        )
    if after in {"日", "号"} and word.isdigit():
        return [("day", int(word))], 2
    if after == "年" and len(word) == 4:
        return [("year", int(word))], 2
    return _day_or_year(tokens, i)


def _day_or_year(tokens: Sequence[Token], i: int) -> _Found:
    word = tokens[i].fold
    before = tokens[i - 1].fold if i else ""
    at = i + 1
    while at < len(tokens) and tokens[at].fold in {"of", "de", "del"}:
        at += 1
    if (
        (found := _ORDINAL.match(word))
        and 1 <= int(found.group(1)) <= 31
        and at < len(tokens)
        and tokens[at].fold in _MONTHS
        and (at > i + 1 or tokens[at].fold not in {"mar"})
    ):
        facets, width = _month_at(tokens, at)
        return [("day", int(found.group(1))), *(f for f in facets if f[0] != "day")], at + width - i
    if word.endswith(("st", "nd", "rd", "th")) and (found := _ORDINAL.match(word)):
        return [("day", int(found.group(1)))], 1
    if len(word) == 4 and word.isdigit() and word[:2] in {"19", "20"} and before in _YEAR_BEFORE:
        return [("year", int(word))], 1
    if word.isdigit() and int(word) < 25 and before in {"las", "um", "at"} and (at >= len(tokens) or stem(tokens[at].fold) not in _UNITS):
        return [("hour", int(word) * 60)], 1
    if (found := _DOTTED.match(word)) and before in {"am", "on", "el", "le", "bis", "zum", "vom", "den"} and int(found.group(2)) <= 12:
        return [("day", int(found.group(1))), ("month", int(found.group(2)))], 1
    if word.isdigit() and 1 <= int(word) <= 31 and before == "el":
        return [("day", int(word))], 1
    return _NOTHING


_YEAR_BEFORE = frozenset("in since until by from of to bis seit ab im jahr en desde hasta depuis jusqu' for fur para pour ano".split())


def _minutes(hour: int, minute: int, part: str) -> int:
    late = part in {"pm", "p.m"} and hour < 12
    early = part in {"am", "a.m"} and hour == 12
    return (hour + 12 * late - 12 * early) * 60 + minute


def quantities(tokens: Sequence[Token], used: frozenset[int], stop: frozenset[str]) -> tuple[Quantity, ...]:
    """The numbers in the tokens outside `used`, each with the unit or the noun that it counts."""
    out: list[Quantity] = []
    for i, token in enumerate(tokens):
        if i in used or len(out) >= 12:
            continue
        value, unit = _number(token.fold)
        if value is None:
            continue
        before = tokens[i - 1].fold if i else ""
        after = tokens[i + 1].fold if i + 1 < len(tokens) else ""
        if token.fold == "one" and (before in {"the", "this", "that", "no", "any", "which", "each", "every"} or not after or after in stop):
            continue
        if not unit and (
            found := _UNITS.get(after)
            or _UNITS.get(stem(after))
            or (_UNITS.get(before) if before in {"$", "€", "£", "port", "puerto"} else None)
        ):
            out.append(Quantity(round(value * found[1], 6), found[0], i))
        elif unit in _UNITS:
            out.append(Quantity(round(value * _UNITS[unit][1], 6), _UNITS[unit][0], i))
        elif unit == "k":
            out.append(Quantity(value * 1000, _counted(tokens, i, stop), i))
        elif not unit:
            out.append(Quantity(value, _counted(tokens, i, stop), i))
    return tuple(replace(q, sense=_sense(tokens, q.index)) if q.index else q for q in out)


def _sense(tokens: Sequence[Token], i: int) -> str:
    before = [t.fold for t in tokens[max(0, i - 3) : i]]
    changed = any(t.fold in _GROWN for t in tokens[max(0, i - 8) : i])
    if ("by" in before[-2:] and changed) or (
        before[-1:] == ["um"] and tokens[i].fold.isdigit() and i + 1 < len(tokens) and tokens[i + 1].fold not in {"uhr"}
    ):
        return "by"
    return "limit" if set(before) & _LIMITS else ""


_GROWN = CHANGE_STEMS | frozenset(
    "improve increase reduce decrease boost boosted cut grow lower raise drop gain gained rose fell optimize optimized".split()
)
_LIMITS = frozenset(
    "under below least most within unter mindestens hochstens menos maximo minimo moins above over exceed exceeding reach achieve goal target".split()
)


def _number(word: str) -> tuple[float | None, str]:
    if not word[0].isdigit() or not word.isascii():
        return (float(_NUMBER_WORDS[word]), "") if word in _NUMBER_WORDS else (None, "")
    found = _NUMBER.match(word)
    if not found or len(found.group(1)) > 18:
        return None, ""
    digits = found.group(1)
    plain = re.sub(r"[.,](?=\d{3}(?:\D|$))", "", digits) if not re.match(r"0[.,]", digits) else digits
    plain = plain.replace(",", ".")
    head, _, tail = plain.partition(".")
    return float(f"{head}.{tail.replace('.', '') or 0}"), found.group(2)


def _counted(tokens: Sequence[Token], i: int, stop: frozenset[str]) -> str:
    """The stem of the noun after a number: the last of a run, the first where "de" follows."""
    run: list[str] = []
    for token in tokens[i + 1 : i + 5]:
        if token.fold in stop or not token.fold[0].isalpha() or token.mark:
            break
        run.append(token.fold)
        if not token.fold.isascii():
            break
    return stem(run[-1]) if run else ""


def clash(a: Times, b: Times) -> bool | None:
    """True where a facet that both name differs, False where all that both name agree, None where they name different facets."""
    first, second = dict(a), dict(b)
    shared = first.keys() & second.keys()
    if not shared:
        return None
    return any(not first[f] & second[f] for f in shared)
