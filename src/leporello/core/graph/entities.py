"""Names in text: people, places, organisations, projects, files, code, @handles, hosts. Few and right rather than many.

In most languages a capital inside a sentence marks a name. At its start, in headings, in capitals throughout, and in German,
where every noun has one, a capital says little: such a word counts if it is known as a name, or if something beside it tells
(a verb that people do, a possessive, a title, "my friend …"). Scripts without capitals give names that are marked: 「…」, 《…》,
…さん, 叫…, 住在….
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from leporello.core.graph.lexicon import GERMAN_NOUN_ENDINGS, words
from leporello.core.graph.shapes import EntityKind, Mention, key

LONGEST = 20_000
"""Characters of a text that are read."""
_NAME_MAX = 80
_RUN_MAX = 6

_DENSE = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3"
_LETTER = rf"[^\W\d_{_DENSE}]"
_UPPER = "[A-ZÀ-ÖØ-ÞА-Я]"
_WORD = re.compile(rf"{_LETTER}(?:{_LETTER}|[\u0300-\u036f]|(?<={_LETTER})['’\-](?={_LETTER}))*")
_HAN, _KANA, _HANGUL = "\u4e00-\u9fff", "\u30a1-\u30ff", "\uac00-\ud7a3"
_SURNAME = (
    "王李张刘陈杨赵黄周吴徐孙胡朱高林何郭马罗梁宋郑谢韩唐冯于董萧程曹袁邓许傅沈曾彭吕苏卢蒋蔡贾丁魏薛叶阎余潘杜戴夏钟汪田任姜范方石姚谭"
    "廖邹熊金陆郝孔白崔康毛邱秦江史顾侯邵孟龙万段雷钱汤尹黎易常武乔贺赖龚"
)

_MARKED: tuple[tuple[EntityKind, re.Pattern[str]], ...] = (
    ("person", re.compile(rf"\b((?!\d){_UPPER}\w+ [(\"“]{_UPPER}\w+[)\"”](?: {_UPPER}\w+)+)")),
    ("host", re.compile(r"https?://(?:[^\s/@]*@)?(?:www\.)?([\w.-]+\w)(?::\d+)?[^\s<>\"')\]]*|\bwww\.([\w-]+(?:\.[\w-]+)+)")),
    ("handle", re.compile(r"(?<![\w.])([\w.+-]+@[\w-]+(?:\.[\w-]+)+)")),
    ("file", re.compile(
        r"(?<![\w/.])((?:~/|\.{1,2}/|/|[\w@+-][\w.@+-]*/)(?:[\w.@+-]+/)*[\w.@+-]*\w\.[A-Za-z]\w{0,5})\b"
        r"|(?<![\w/.])([\w-][\w.-]*\.(?:go|py|pyi|ipynb|ts|tsx|js|jsx|mjs|md|rst|sh|ya?ml|json|jsonl|toml|ini|cfg|lock|rs|txt|sql|java|kt|swift|rb|c|h|cc|cpp|hpp"
        r"|cs|php|css|scss|html|vue|proto|tf|csv|db|pdf|docx|xlsx|png|jpg|svg))\b(?![/\w])"
    )),
    ("code", re.compile(r"`([\w./:@#-]{2,60}(?:\(\))?)`|\b([A-Za-z_]\w*(?:\.\w+)*)\(\)")),
    ("handle", re.compile(r"(?:(?<=^)|(?<=[\s(,:]))@([A-Za-z][\w-]{1,38})(?![\w.(@/])")),
    ("code", re.compile(
        r"\b([a-z]+(?:[A-Z][a-z0-9]+)+|(?!Mc|Mac|La[A-Z]|De[A-Z]|Di[A-Z]|Le[A-Z]|Van[A-Z])[A-Z][a-z0-9]+(?:[A-Z][a-z0-9]+)+|[A-Z]{2,}[a-z]{2,}\w*|[A-Za-z0-9]+(?:_[A-Za-z0-9]+)+|[A-Z]{2,8}-\d{1,6})\b"
    )),
    ("name", re.compile(r"[「『《〈]([^「」『』《》〈〉\n]{1,30})[」』》〉]")),
    ("name", re.compile(r"[\"“„«]\s?([^\"“”„«»\n]{2,40}?)\s?[\"”“»]|(?<!\w)['‘]([^'‘’\n]{2,40})['’](?!\w)")),
    ("person", re.compile(
        rf"([{_HAN}]{{1,3}}|[{_KANA}]{{2,10}})(?=さん|様|くん|ちゃん|氏)|([{_SURNAME}][{_HAN}]{{0,2}}?)(?=先生|女士|小姐|老师|教授|医生)"
        rf"|([{_HANGUL}]{{2,4}})(?=\s?씨(?![{_HANGUL}]{{2}}))"
    )),
    ("person", re.compile(rf"(?:名字是|名叫|叫做|叫)([{_HAN}]{{2,4}})(?=$|[^{_HAN}])|(?:是)([{_SURNAME}][{_HAN}]{{1,2}})(?=$|[^{_HAN}])")),
    ("place", re.compile(
        rf"(?:住在|搬到了?|搬去了?|来自|飞往|出生在|出生于)([{_HAN}]{{2,6}}?)(?=了|的|工作|上班|生活|$|[^{_HAN}])|([{_HAN}]{{2,4}})(?=に住|へ引っ越|に引っ越)"
    )),
)  # fmt: skip
"""In this order: what one pattern took is not looked at by the next. The first group that matched is the name."""

_UNBROKEN = re.compile(r"[!-~]{200,}")
_FENCE = re.compile(r"^[ \t]*(```|~~~).*?(?:^[ \t]*\1|\Z)", re.MULTILINE | re.DOTALL)
_LABEL = re.compile(r"\*\*[^*\n]+\*\*|__[^_\n]+__|^[ \t]*#+[^\n]*|^[^\w\n]*(?:\d+[.)][ \t]*)?[^:.,\n]{1,60}:(?=\s|$)", re.MULTILINE)
_CODE_SIGNS = re.compile(r"[{}<>=()\[\]$\\/|*]")
_DECORATORS = frozenset(
    "dataclass property staticmethod classmethod override media param return returns override import todo fixture".split()
)
_START = re.compile(r"(?:^|\*\*|__|[.!?…:;]['\"”’)\]]*\s|[。！？：；]|\n|[\"“„«(\[]|^\W+)\s*(?:[-*+•>#|]+\s+|\d+[.)]\s+)*$")
_TITLED = re.compile(r"\b(?:Dr|Mr|Mrs|Ms|Prof|St|Sr|Sra|Fr|Hr|Jr|[A-Z])\.\s*$")
_AFTER = re.compile(rf"\s*(,\s*)?({_LETTER}+)")
_ALSO = re.compile(rf"\s+(?:and|und|y|et|e|&)\s+({_LETTER}+)")
_BE = frozenset("is was ist war es era est fu è are".split())
_RELATIVE = frozenset("my his her our the a an who mein meine seine ihre der die el la mi su".split())


@dataclass(frozen=True)
class Candidate:
    """A mention, and whether it is one by itself; otherwise it is one only if its key is known as a name.

    `rest` is the mention without its first word, where that opens a sentence ("Aww John").
    """

    mention: Mention
    sure: bool = True
    rest: Mention | None = None


@dataclass(frozen=True)
class _Token:
    word: str
    folded: str
    start: int
    end: int


@dataclass(frozen=True)
class _Line:
    """Where a run stands: the text, whether that is German, and whether the line is one in which capitals say nothing."""

    text: str
    german: bool
    shouted: bool


def entities(text: str, *, speaker: str = "", known: Collection[str] = ()) -> tuple[Mention, ...]:
    """The names in `text` in order, the speaker first. `known` are keys of names: with them a doubtful capital is no longer in doubt."""
    return settled(candidates(text, speaker=speaker), known)


def settled(found: Collection[Candidate], known: Collection[str]) -> tuple[Mention, ...]:
    """The candidates that are names by themselves, or known, or sure at another place among these."""
    sure = {c.mention.key for c in found if c.sure and c.rest is None}
    out = []
    for c in found:
        told = c.mention.key in known or c.mention.key in sure
        if c.rest is not None and not told and (c.rest.key in known or c.rest.key in sure):
            out.append(c.rest)
        elif c.sure or told:
            out.append(c.mention)
    return tuple(out)


def candidates(text: str, *, speaker: str = "") -> tuple[Candidate, ...]:
    """Everything in `text` that may be a name, in order."""
    text = tame(text[:LONGEST])
    found: list[Candidate] = []
    taken = bytearray(len(text))
    for fence in _FENCE.finditer(text):
        taken[fence.start() : fence.end()] = b"\1" * (fence.end() - fence.start())
    for kind, pattern in _MARKED:
        for match in pattern.finditer(text):
            if not any(taken[match.start() : match.end()]) and (made := _marked(kind, match)):
                found.append(made)
                taken[match.start() : match.end()] = b"\1" * (match.end() - match.start())
    found += _capitalised(text, taken)
    found.sort(key=lambda c: (c.mention.start, c.mention.end))
    name = speaker.strip()
    named = key(name) not in words("never") and any(map(str.isalnum, key(name)))
    return (Candidate(Mention(name, key(name), "person")), *found) if named else tuple(found)


def tame(text: str) -> str:
    """`text` with runs of 200 and more ASCII characters without a space (base64, minified code) blanked but for their start."""
    return _UNBROKEN.sub(lambda m: m[0][:80] + " " * (len(m[0]) - 80), text)


def _marked(kind: EntityKind, match: re.Match[str]) -> Candidate | None:
    group = match.lastindex or 0
    name, start = match[group], match.start(group)
    folded = key(name)
    if kind == "name":
        return _quoted(name, folded, start)
    if kind == "code" and match[0][0] == "`":
        name = name.removesuffix("()")
        folded = key(name)
    if (
        folded in words("never")
        or (kind == "handle" and folded in _DECORATORS)
        or len(folded) > _NAME_MAX
        or not any(map(str.isalpha, folded))
    ):
        return None
    if kind == "file" and re.fullmatch(r"[A-Z][a-z]+\.js", name):  # Node.js is no file
        kind = "name"
    return Candidate(Mention(name, folded, kind, start, start + len(name)))


def _quoted(name: str, folded: str, start: int) -> Candidate | None:
    """A quoted title: it begins with a capital (or has none to give), is short, and is no sentence."""
    if name.startswith("The "):
        name, start = name[4:], start + 4
        folded = key(name)
    parts = folded.split()
    if not name or len(parts) > 5 or name[-1] in ".!?,;:。！？，" or not (name[0].isupper() or name[0].isdigit() or ord(name[0]) > 0x2E80):
        return None
    if not any(map(str.isalpha, name)) or _CODE_SIGNS.search(name):
        return None
    if len(parts) == 1 and any(folded in words(which) for which in ("never", "starter", "imperative")):
        return None
    capitals = sum(w[:1].isupper() for w in name.split())
    plain = len(parts) > 2 and capitals * 2 < len(parts)
    return None if plain else Candidate(Mention(name, folded, "name", start, start + len(name)))


def _capitalised(text: str, taken: bytearray) -> Iterator[Candidate]:
    tokens = [_Token(m[0], key(m[0]), m.start(), m.end()) for m in _WORD.finditer(text) if not taken[m.start()]]
    seen = {t.folded for t in tokens}
    german = len(seen & words("german")) > len(seen & words("english"))
    loud = _loud(text)
    place = 0
    while place < len(tokens):
        run = _run(tokens, place, text)
        if not run:
            place += 1
            continue
        line = _Line(text, german, bool(loud[run[0].start]))
        yield from _read(run, line, tokens[place - 1] if place else None)
        place += len(run)


def _loud(text: str) -> bytearray:
    """1 at each place in a line of capitals, of words that mostly begin with one, or in a heading or label of Markdown."""
    loud = bytearray(len(text) + 1)
    ranges = [m.span() for m in _LABEL.finditer(text)]
    start = 0
    for line in text.split("\n"):
        found = [w for w in line.split() if w[:1].isalpha()]
        upper = sum(w[0].isupper() for w in found)
        whole = sum(w.isupper() and len(w) > 1 for w in found)
        titled = len(found) >= 2 and upper == len(found) or len(found) >= 4 and upper * 10 >= len(found) * 7
        if (titled and line.rstrip()[-1:] not in ".!?") or (len(found) >= 3 and whole * 10 >= len(found) * 6):
            ranges.append((start, start + len(line)))
        start += len(line) + 1
    for a, b in ranges:
        loud[a:b] = b"\1" * (b - a)
    return loud


def _run(tokens: list[_Token], first: int, text: str) -> list[_Token]:
    """Capitalised words from `first` on with only a space between them, and particles ("van", "of the") that join two of them."""
    if not _is_capital(tokens[first]):
        return []
    run, place = [tokens[first]], first + 1
    while place < len(tokens) and len(run) < _RUN_MAX and not run[-1].word.endswith(("'s", "’s")):
        ahead = place
        while ahead < len(tokens) and ahead - place < 2 and tokens[ahead].word.islower() and tokens[ahead].folded in words("particle"):
            ahead += 1
        chain = [run[-1], *tokens[place : ahead + 1]]
        if (
            ahead >= len(tokens)
            or not _is_capital(tokens[ahead])
            or not all(_joined(text, a, b) for a, b in zip(chain, chain[1:], strict=False))
        ):
            break
        if ahead > place and (run[-1].folded in words("starter") or run[-1].folded in words("never")):
            break
        run += tokens[place : ahead + 1]
        place = ahead + 1
    return run


def _is_capital(token: _Token) -> bool:
    return token.word[0].isupper()


def _joined(text: str, a: _Token, b: _Token) -> bool:
    between = text[a.end : b.start]
    return between in {" ", "\u00a0"} or (
        between == ". " and (len(a.word) == 1 or _TITLED.search(text[max(0, a.start - 1) : a.end + 2]) is not None)
    )


def _read(run: list[_Token], line: _Line, before: _Token | None) -> Iterator[Candidate]:
    """The names in a run: what is no part of a name parts it, titles fall off, doubt is marked."""
    initial = _is_start(line.text, run[0].start)
    cue: EntityKind | None = _cue(before, line.text, run[0].start)
    part: list[_Token] = []
    for token in run:
        first = initial and token is run[0]
        if not part and (told := _told(token)):
            cue = told
        elif token.folded in words("never") or (not part and _opens(token, run, initial=first)):
            yield from _made(part, line, cue, before, doubtful=initial and part[:1] == run[:1])
            part, cue = [], None
        elif first and len(run) > 1 and (token.folded in words("imperative") or token.folded.endswith(("ed", "ing"))):
            continue
        else:
            part.append(token)
    yield from _made(part, line, cue, before, doubtful=initial and part[:1] == run[:1])


def _opens(token: _Token, run: list[_Token], *, initial: bool) -> bool:
    """True for an ordinary word in front of the names of a run; "New York" and "Los Angeles" begin with one."""
    if token.folded not in words("starter"):
        return False
    alone = token is run[-1]
    return not (token.word == "Will" and not initial if alone else token.folded in words("name part"))


def _told(token: _Token) -> EntityKind | None:
    """What the word in front of a name says about it."""
    if token.folded in words("kin"):
        return "person"
    return "project" if token.folded in words("project cue") else None


def _cue(before: _Token | None, text: str, start: int) -> EntityKind | None:
    if before is None or text[before.end : start].strip(". ,") or "," in text[before.end : start]:
        return None
    if (told := _told(before)) is not None:
        return told
    if before.folded in words("person object"):
        return "person"
    return "place" if before.folded in {"in", "to", "nach", "en", "a"} and _place_verb(text, before.start) else None


def _place_verb(text: str, start: int) -> bool:
    found = _WORD.findall(text[max(0, start - 24) : start])
    return bool(found) and key(found[-1]) in words("place cue")


def _is_start(text: str, at: int) -> bool:
    before = text[max(0, at - 40) : at]
    if at <= 40 and not before.strip():
        return True
    return _START.search(before) is not None and _TITLED.search(before) is None


def _made(part: list[_Token], line: _Line, cue: EntityKind | None, before: _Token | None, *, doubtful: bool) -> Iterator[Candidate]:
    while part and (part[-1].folded in words("particle") and part[-1].word.islower()):
        part = part[:-1]
    if not part:
        return
    start, end = part[0].start, part[-1].end
    name = re.sub(r"['’]s?$", "", line.text[start:end])
    folded = key(name)
    if (
        not folded
        or (len(folded) == 1 and folded.isascii())
        or len(name) > _NAME_MAX
        or (name.isupper() and len(part) == 1 and len(name) > 6)
    ):
        return
    kind, tells = _evidence(part, line, start, end)
    kind = cue or kind
    if line.german and len(part) == 1:
        sure = cue is not None or tells and not _determined(before) or _after_preposition(part[0], before)
    elif doubtful and len(part) == 1:
        sure = cue is not None or tells
    else:
        sure = len(part) > 1 or cue is not None or folded not in words("imperative")
    sure = sure and not line.shouted
    rest = None
    if doubtful and len(part) > 1:
        skip = part[1].start - start
        rest = Mention(name[skip:], key(name[skip:]), kind, start + skip, start + len(name))
    yield Candidate(Mention(name, folded, kind, start, start + len(name)), sure, rest)


def _evidence(part: list[_Token], line: _Line, start: int, end: int) -> tuple[EntityKind, bool]:
    """The kind that the words around a run tell, and whether they tell that it is a name."""
    rest = line.text[end : end + 60]
    after = _AFTER.match(rest)
    word = key(after[2]) if after else ""
    owner = part[-1].word.endswith(("'s", "’s"))
    if part[-1].folded in words("organisation"):
        return "organisation", True
    if after and not after[1] and word in words("person verb"):
        return "person", True
    if owner:
        contracted = word in words("starter") or word.endswith(("ed", "ing", "ly"))  # "Life's been …", not "Anna's bag"
        return ("person" if word in words("kin") else "name"), bool(word) and not contracted
    if after and after[1] and word in _RELATIVE and re.match(rf"[^\S\n]+({_LETTER}+)", rest[after.end() :]):
        following = _WORD.search(rest[after.end() :])
        return (
            ("person", True) if following and key(following[0]) in words("kin") and not part[-1].folded.endswith("ly") else ("name", False)
        )
    if after and not after[1] and word in _BE and any(key(w) in words("kin") for w in _WORD.findall(rest[after.end() :])[:4]):
        return "person", True
    if after and not after[1] and word in words("actor verb"):
        return "name", True
    also = _ALSO.match(rest)
    return "name", also is not None and also[1][0].isupper() and not line.german and key(also[1]) not in words("never")


def _determined(before: _Token | None) -> bool:
    return before is not None and before.folded in words("german determiner")


def _after_preposition(token: _Token, before: _Token | None) -> bool:
    """In German, a noun straight after a preposition, unless it is known or built as an ordinary one."""
    if before is None or before.folded not in words("german preposition") or token.folded in words("german noun"):
        return False
    if token.folded in words("german place"):
        return True
    return not token.folded.endswith(GERMAN_NOUN_ENDINGS)
