"""Relative dates made absolute: "yesterday" becomes "yesterday (2026-11-29)", the words kept (D45).

English, German, French, Spanish, Chinese and Japanese expressions, counted from the instant at which they were said. A day
gives a date, a week "week of" its Monday, a month `YYYY-MM`, a year `YYYY`: never more exact than what was said. General
date parsers give an exact day for "last week" and none for "next Friday", and look for dates in every word; this looks
only for phrases that are certain, in time linear in the text.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime, timedelta

_DAYS = {
    **{w: n for n, w in enumerate("monday tuesday wednesday thursday friday saturday sunday".split())},
    **{w: n for n, w in enumerate("montag dienstag mittwoch donnerstag freitag samstag sonntag".split())},
    **{w: n for n, w in enumerate("lundi mardi mercredi jeudi vendredi samedi dimanche".split())},
    **{w: n for n, w in enumerate("lunes martes miércoles jueves viernes sábado domingo".split())},
    **{w: n for n, w in enumerate("一二三四五六日")}, "天": 6,
    **{w: n for n, w in enumerate("月火水木金土")},
}  # fmt: skip
_MONTHS = {
    **{w: n for n, w in enumerate("january february march april may june july august september october november december".split(), 1)},
    **{w: n for n, w in enumerate("januar februar märz april mai juni juli august september oktober november dezember".split(), 1)},
    **{w: n for n, w in enumerate("janvier février mars avril mai juin juillet août septembre octobre novembre décembre".split(), 1)},
    **{w: n for n, w in enumerate("enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre".split(), 1)},
    **{w: n for n, w in enumerate("jan feb mar apr may jun jul aug sep oct nov dec".split(), 1)},
}
_NUMBERS = {
    **{w: n for n, w in enumerate("one two three four five six seven eight nine ten eleven twelve".split(), 1)}, "a": 1, "an": 1, "a couple of": 2,
    **{w: n for n, w in enumerate("ein zwei drei vier fünf sechs sieben acht neun zehn".split(), 1)}, "einem": 1, "einer": 1,
    **{w: n for n, w in enumerate("un deux trois quatre cinq six sept huit neuf dix".split(), 1)}, "une": 1,
    **{w: n for n, w in enumerate("un dos tres cuatro cinco seis siete ocho nueve diez".split(), 1)}, "una": 1,
    **{w: n for n, w in enumerate("一二三四五六七八九十", 1)}, "两": 2,
}  # fmt: skip
_UNITS = (
    ("day", r"days?|tag(?:e|en)?|jours?|d[ií]as?|天|日"),
    ("week", r"weeks?|wochen?|semaines?|semanas?|周|星期|週間?"),
    ("month", r"months?|monat(?:e|en)?|mois|mes(?:es)?|个月|か月|ヶ月"),
    ("year", r"years?|jahr(?:e|en)?|ans?|années?|años?|年"),
)
_NUMBER = "|".join(sorted(map(re.escape, _NUMBERS), key=len, reverse=True))
_UNIT = "|".join(p for _, p in _UNITS)
_SHORT_DAYS = {"mon": 0, "tue": 1, "tues": 1, "wed": 2, "thu": 3, "thur": 3, "thurs": 3, "fri": 4, "sat": 5, "sun": 6}
_LATIN_DAY = "|".join(d for d in _DAYS if len(d) > 1)
_ANY_DAY = "|".join([_LATIN_DAY, *sorted(_SHORT_DAYS, key=len, reverse=True)])
_LATIN_MONTH = (
    "|".join(sorted((m for m in _MONTHS if m not in {"may", "mar", "mars", "mai"}), key=len, reverse=True)) + "|(?-i:May|Mai|Mars)"
)


@dataclass(frozen=True)
class DateMention:
    """A relative date at `start` to `end` of a text, and the absolute one that it stands for."""

    start: int
    end: int
    text: str
    value: str


def _week(day: date) -> str:
    return f"week of {day - timedelta(days=day.weekday())}"


def _month(day: date, by: int) -> str:
    index = day.year * 12 + day.month - 1 + by
    return f"{index // 12:04d}-{index % 12 + 1:02d}" if 12 <= index < 120_000 else ""


def _shift(day: date, unit: str, by: int) -> str:
    if unit == "day":
        return str(day + timedelta(days=by))
    if unit == "week":
        return _week(day + timedelta(weeks=by))
    if unit == "month":
        return _month(day, by)
    return f"{day.year + by:04d}" if 1 <= day.year + by <= 9999 else ""


def _unit(word: str) -> str:
    return next(name for name, pattern in _UNITS if re.fullmatch(pattern, word, re.IGNORECASE))


def _count(word: str) -> int:
    word = word.casefold().strip()
    return int(word) if word.isdigit() else _NUMBERS[word]


def _weekday(day: date, word: str, way: int) -> str:
    """way -1: the last such day before `day`; +1: the next one after it; 0: the one in this week."""
    target = (_DAYS | _SHORT_DAYS)[word.casefold()]
    if way == 0:
        return str(day + timedelta(days=target - day.weekday()))
    ahead = (target - day.weekday()) % 7
    return str(day + timedelta(days=(ahead or 7) if way > 0 else ahead - 7))


def _weekday_of_week(day: date, word: str, weeks: int) -> str:
    monday = day - timedelta(days=day.weekday()) + timedelta(weeks=weeks)
    return str(monday + timedelta(days=_DAYS[word.casefold()]))


def _dated(day: date, number: str, month: str) -> str:
    """A day and a month without a year: the nearest such date to `day`."""
    candidates = []
    for year in (day.year - 1, day.year, day.year + 1):
        try:
            candidates.append(date(year, _MONTHS[month.casefold()], int(number)))
        except ValueError:
            continue
    return str(min(candidates, key=lambda d: abs((d - day).days))) if candidates else ""


_Rule = tuple[re.Pattern[str], Callable[[re.Match[str], date], str]]


def _rule(pattern: str, value: Callable[[re.Match[str], date], str], *, case: bool = False) -> _Rule:
    return re.compile(pattern, 0 if case else re.IGNORECASE), value


def _days(by: int, words: str) -> _Rule:
    return _rule(words, lambda m, d: _shift(d, "day", by))


def _span(unit: str, by: int, words: str) -> _Rule:
    return _rule(words, lambda m, d: _shift(d, unit, by))


_RULES: tuple[_Rule, ...] = (
    _days(-2, r"\bthe day before yesterday\b|\bvorgestern\b|\bavant-hier\b|\banteayer\b|前天|一昨日|おととい"),
    _days(2, r"\bthe day after tomorrow\b|\bübermorgen\b|\baprès-demain\b|\bpasado mañana\b|后天|明後日|あさって"),
    _days(-1, r"\byesterday(?: (?:morning|afternoon|evening|night))?\b|\blast night\b|\bgestern\b|(?<!avant-)\bhier\b(?= (?:soir|matin|après|j|on|nous|il|elle)|[,.!])|\bayer\b|\banoche\b|昨天|昨晚|昨日|きのう|昨夜"),
    _days(0, r"\btoday\b|\btonight\b|\bthis (?:morning|afternoon|evening)\b|\bheute\b|\baujourd['’]hui\b|\bhoy\b(?! en día)|今天|今晚|今日|今朝"),
    _days(1, r"\btomorrow(?: (?:morning|afternoon|evening|night))?\b|(?<!après-)\bdemain\b|(?<!la )(?<!pasado )(?<!de )\bmañana\b|明天|(?<!説)明日"),
    _rule(r"(?<!heute )(?<!guten )(?<!am )(?<!jeden )\bmorgen\b(?! früh um)", lambda m, d: _shift(d, "day", 1), case=True),
    _rule(rf"\b(?:last|past) ({_ANY_DAY})\b|\b(?:letzten?|vergangenen?) ({_LATIN_DAY})\b|\b({_LATIN_DAY}) (?:dernier|pasado)\b", lambda m, d: _weekday(d, m.group(m.lastindex or 1), -1)),
    _rule(rf"(?:\b(?:will|going to|wants? to|plans? to|planning to|ha(?:ve|s) to|needs? to|must|should|shall|let['’]s|due)\b|['’]ll\b)[^.?!]{{0,60}}?\b(?P<at>(?:on|by|until|before) (?P<day>{_LATIN_DAY})\b)(?!s)", lambda m, d: _weekday(d, m.group("day"), 1)),
    _rule(rf"\b(?:was|were|had|did|told|said|saw|met|went|came|bought|got|[a-z]{{3,}}ed)\b[^.?!]{{0,40}}?\b(?P<at>on (?P<day>{_LATIN_DAY})\b)(?!s)", lambda m, d: _weekday(d, m.group("day"), -1)),
    _rule(rf"\b(?:next|coming) ({_ANY_DAY})\b|\b(?:nächsten?|kommenden?) ({_LATIN_DAY})\b|\b({_LATIN_DAY}) (?:prochain|próximo|que viene)\b|\bpróximo ({_LATIN_DAY})\b", lambda m, d: _weekday(d, m.group(m.lastindex or 1), 1)),
    _rule(rf"\bthis ({_LATIN_DAY})\b|\bdiesen ({_LATIN_DAY})\b", lambda m, d: _weekday(d, m.group(m.lastindex or 1), 0)),
    _rule(r"上(?:个)?(?:周|星期)([一二三四五六日天])|先週の?([月火水木金土日])曜日?", lambda m, d: _weekday_of_week(d, m.group(m.lastindex or 1), -1)),
    _rule(r"下(?:个)?(?:周|星期)([一二三四五六日天])|来週の?([月火水木金土日])曜日?", lambda m, d: _weekday_of_week(d, m.group(m.lastindex or 1), 1)),
    _rule(r"(?:本|这)(?:个)?(?:周|星期)([一二三四五六日天])|今週の?([月火水木金土日])曜日?", lambda m, d: _weekday_of_week(d, m.group(m.lastindex or 1), 0)),
    _rule(r"\b(?:last|past) weekend\b|\bletztes wochenende\b|\ble week-end dernier\b|\bel fin de semana pasado\b|上周末|先週末", lambda m, d: f"weekend of {_weekday_of_week(d, 'saturday', -1)}"),
    _rule(r"\bnext weekend\b|\bnächstes wochenende\b|\ble week-end prochain\b|下周末|来週末", lambda m, d: f"weekend of {_weekday_of_week(d, 'saturday', 1)}"),
    _rule(r"\bthis weekend\b|\bdieses wochenende\b|\bce week-end\b|\beste fin de semana\b|这个?周末|今週末", lambda m, d: f"weekend of {_weekday_of_week(d, 'saturday', 0)}"),
    _span("week", -1, r"\b(?:last|the past) week\b|\bletzten? woche\b|\bla semaine dernière\b|\bla semana pasada\b|上(?:个)?(?:周|星期)(?![一二三四五六日天末])|先週(?!末|の?[月火水木金土日]曜)"),
    _span("week", 1, r"\bnext week\b|\bnächsten? woche\b|\bla semaine prochaine\b|\bla (?:próxima semana|semana que viene)\b|下(?:个)?(?:周|星期)(?![一二三四五六日天末])|来週(?!末|の?[月火水木金土日]曜)"),
    _span("week", 0, r"\bthis week\b|\bdiese woche\b|\bcette semaine\b|\besta semana\b|(?:本|这)周(?![一二三四五六日天末])|今週(?!末|の?[月火水木金土日]曜)"),
    _span("month", -1, r"\blast month\b|\bletzten monat\b|\ble mois dernier\b|\bel mes pasado\b|上个月|先月"),
    _span("month", 1, r"\bnext month\b|\bnächsten monat\b|\ble mois prochain\b|\bel (?:próximo mes|mes que viene)\b|下个月|来月"),
    _span("month", 0, r"\bthis month\b|\bdiesen monat\b|\bce mois-ci\b|\beste mes\b|这个月|今月"),
    _span("year", -1, r"\blast year\b|\bletztes jahr\b|\bl['’]an(?:née)? derni(?:er|ère)\b|\bel año pasado\b|去年|昨年"),
    _span("year", 1, r"\bnext year\b|\bnächstes jahr\b|\bl['’]an(?:née)? prochaine?\b|\bel (?:próximo año|año que viene)\b|明年|来年"),
    _span("year", 0, r"\bthis year\b|\bdieses jahr\b|\bcette année\b|\beste año\b|今年"),
    _rule(r"\blast (january|february|march|april|may|june|july|august|september|october|november|december)\b", lambda m, d: _past_month(d, m.group(1), -1)),
    _rule(r"\bnext (january|february|march|april|may|june|july|august|september|october|november|december)\b", lambda m, d: _past_month(d, m.group(1), 1)),
    _rule(rf"\b(\d{{1,3}}|{_NUMBER}) ({_UNIT}) ago\b|\bvor (\d{{1,3}}|{_NUMBER}) ({_UNIT})\b|\bil y a (\d{{1,3}}|{_NUMBER}) ({_UNIT})\b|\bhace (\d{{1,3}}|{_NUMBER}) ({_UNIT})\b", lambda m, d: _counted(m, d, -1)),
    _rule(rf"(\d{{1,3}}|[一二三四五六七八九十两])\s?({_UNIT})(?:之?前)", lambda m, d: _counted(m, d, -1)),
    _rule(rf"\bin (\d{{1,3}}|{_NUMBER}) (days?|weeks?|months?|years?|tagen?|wochen?|monaten?|jahren?)\b(?! of|['’])|\bdans (\d{{1,3}}|{_NUMBER}) ({_UNIT})\b|\bdentro de (\d{{1,3}}|{_NUMBER}) ({_UNIT})\b", lambda m, d: _counted(m, d, 1)),
    _rule(rf"(\d{{1,3}}|[一二三四五六七八九十两])\s?({_UNIT})(?:之?后|後)", lambda m, d: _counted(m, d, 1)),
    _rule(rf"\b({_LATIN_MONTH})\.? (\d{{1,2}})(?:st|nd|rd|th)?\b(?![,/:.-]? ?\d)", lambda m, d: _dated(d, m.group(2), m.group(1))),
    _rule(rf"\b(?:(?:the|le|el|am|den|vom|bis) )?(\d{{1,2}})(?:st|nd|rd|th|er|\.)? (?:of |de )?({_LATIN_MONTH})\b(?![,.]? (?:de )?\d)", lambda m, d: _dated(d, m.group(1), m.group(2))),
)  # fmt: skip


_HINT = re.compile(
    r"yester|today|night|morning|afternoon|evening|morrow|last|next|past|this|coming|ago|\b(?:on|by|until|before) |\bin (?:\d|[a-z])|gestern|heute|morgen|letzte|nächste|vergangen|kommende|diese|\bvor\b|hier|demain|derni|prochain|\bil y a|dans|cette|"
    r"ayer|anoche|hoy|mañana|pasad|próxim|viene|hace|dentro|est[ea]|\d|[前后昨今明周星期月年日先来後去本这上下]",
    re.IGNORECASE,
)


def _past_month(day: date, word: str, way: int) -> str:
    month = _MONTHS[word.casefold()]
    if way < 0:
        return f"{day.year if month < day.month else day.year - 1:04d}-{month:02d}"
    return f"{day.year if month > day.month else day.year + 1:04d}-{month:02d}"


def _counted(found: re.Match[str], day: date, way: int) -> str:
    count, unit = (g for g in found.groups() if g)
    return _shift(day, _unit(unit), way * _count(count))


_YEARLY = re.compile(
    r"\b(?:birthday|anniversary|every year|each year|annual\w*|geburtstag|jahrestag|jedes jahr|cumpleaños|aniversario|cada año|anniversaire|chaque année)\b|生日|周年|每年|誕生日|毎年",
    re.IGNORECASE,
)


def mentions(text: str, said: datetime) -> list[DateMention]:
    """The relative dates in `text`, said at `said`, in order and without overlap (the longer phrase wins)."""
    if not _HINT.search(text):
        return []
    day = said.date()
    found: list[DateMention] = []
    for pattern, value in _RULES:
        for match in pattern.finditer(text):
            absolute_date = _safe(value, match, day)
            if absolute_date:
                at = "at" if "at" in pattern.groupindex else 0
                found.append(DateMention(match.start(at), match.end(at), match.group(at), absolute_date))
    out: list[DateMention] = []
    for mention in sorted(found, key=lambda m: (m.start, -m.end)):
        if not out or mention.start >= out[-1].end:
            out.append(mention)
    return out


def _safe(value: Callable[[re.Match[str], date], str], match: re.Match[str], day: date) -> str:
    try:
        return value(match, day)
    except OverflowError:
        return ""


def absolute(text: str, said: datetime) -> str:
    """`text` with each relative date followed by the absolute one in parentheses; doing it twice changes nothing.

    A day that comes back each year, such as a birthday, has no year to add.
    """
    out, place = [], 0
    yearly = _YEARLY.search(text) is not None
    for mention in mentions(text, said):
        if (
            yearly
            and not mention.value.startswith(mention.text)
            and re.search(r"\d", mention.text)
            and not re.search(r"ago|vor|hace|il y a|前", mention.text)
        ):
            continue
        if re.match(r"(?:['’]s)? ?[(（]", text[mention.end :]):
            continue
        end = mention.end + (2 if text[mention.end : mention.end + 2] in {"'s", "’s"} else 0)
        out += [text[place:end], f" ({mention.value})"]
        place = end
    return "".join([*out, text[place:]])
