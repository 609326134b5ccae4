"""Words in a user's message that are not the user's own: quotations, letters, texts to be worked on, code."""

from __future__ import annotations

import re

_QUOTED_LINE = re.compile(r"^[ \t]*(?:>|\|)[^\n]*", re.MULTILINE)
_LETTER = re.compile(
    r"^[ \t]*(?:(?:From|Subject|Date|Von|Betreff|De|Asunto|Objet)\s*:[^\n]*\n|[^\n]{0,80}\b(?:wrote|writes|schrieb|escribió|a écrit|写道)\s*:\s*\n|-{3,}\s*(?:Original|Forwarded)[^\n]*\n|"
    r"(?:Dear|Hi|Hello|Liebe[rs]?|Hallo|Querid[oa]|Chère?|Bonjour) [^\n,]{1,40},\s*\n)(?s:.*)",
    re.MULTILINE | re.IGNORECASE,
)
_MARKS = re.compile(
    r"“[^”]{3,2000}”|„[^“”]{3,2000}[“”]|«[^»]{3,2000}»|「[^」]{3,2000}」|『[^』]{3,2000}』|\"[^\"\n]{3,2000}\"|(?<![\w])'[^'\n]{8,2000}'(?![\w])"
)
_SAID = re.compile(
    r"\b(?:says?|said|saying|told|asked|replied|answered|writes?|wrote|states?|stated|called|titled|sagt|sagte|meint|dice|dijo|dit|disait)\s*(?:me|us|him|her|them)?\s*[:,]?\s*[\"“„«'][^\"”“»\n]*[\"”“»']?",
    re.IGNORECASE,
)
_TASK = re.compile(
    r"^\W*(?:(?:please|can you|could you|would you|hey|hi|ok(?:ay)?|bitte|kannst du|por favor|puedes|peux-tu|s['’]il (?:te|vous) pla[iî]t)[,! ]+)*(?:me |help me )?(?:to )?"
    r"(?:translate|summari[sz]e|proof-?read|paraphrase|rewrite|rephrase|reformulate|correct|edit|shorten|fix the (?:grammar|spelling|typos)|improve|polish|classify|analy[sz]e|critique|review|explain|"
    r"write (?:me )?(?:a|an|the|some) |draft (?:a|an|the) |compose |imagine|pretend|role-?play|continue (?:the|this) (?:story|text|poem)|übersetz\w*|fasse?|korrigier\w*|schreib\w*|traduce|traduzca|resume|corrige|escribe|"
    r"traduis|traduire|résume|corrige|écris|翻译|总结|润色|改写|写一)",
    re.IGNORECASE,
)
_CODE = re.compile(r"```.*?(?:```|\Z)|`[^`\n]+`", re.DOTALL)


def foreign(text: str) -> list[tuple[int, int]]:
    """The stretches of a message that somebody else said, or that are to be worked on; in order, they may overlap."""
    if len(text) > 20_000:
        return [(0, len(text))]  # so much is pasted
    found = [m.span() for p in (_QUOTED_LINE, _LETTER, _SAID, _CODE) for m in p.finditer(text)]
    task = _TASK.match(text)
    if task is not None:  # neither the task nor what it is about tells anything of the user
        found.append((0, len(text)))
    found += [m.span() for m in _MARKS.finditer(text) if m.end() - m.start() > 24 or task is not None]
    return sorted(found)


def is_foreign(text: str, start: int, end: int) -> bool:
    """True if most of these characters of a message are not the user's own words."""
    covered = [False] * max(0, end - start)
    for a, b in foreign(text):
        for i in range(max(a, start), min(b, end)):
            covered[i - start] = True
    return sum(covered) * 2 > len(covered)
