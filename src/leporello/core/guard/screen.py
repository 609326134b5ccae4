"""Screening: what makes a text suspicious when it does not come from the user, with the place and the reason.

Found are orders to the model, marks that pose as a role or as memory, requests to send data away, secrets, and text that is
not to be seen. Full-width and mathematical letters, letters of another alphabet within a word, invisible characters and marks
of emphasis hide nothing. What is written in another code (base64, an image) or in plain words of the matter is not found.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal

from leporello.core.guard.phrases import PHRASES
from leporello.core.guard.redact import find

Reason = Literal["instruction", "role marker", "exfiltration", "secret", "hidden text"]

_INVISIBLE = re.compile("[\u00ad\u034f\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff\U000e0000-\U000e01ef]+")
_RUN = re.compile(
    "(?!\u200b\u200b(?![\u180e\u200b-\u200d\u2060-\u2064\ufeff]))[\u180e\u200b-\u200d\u2060-\u2064\ufeff]{2,}|[\ufe00-\ufe0f\U000e0100-\U000e01ef]{3,}"
)
"""Two zero-width spaces are what machine translation leaves behind."""
_OVERRIDE = re.compile("[\u202d\u202e]+")
_TAGS = re.compile("[\U000e0000-\U000e007f]+")
_CONCEALED = re.compile("\x1b\\[(?:\\d{1,3};){0,4}8m")
_ALPHABETS = re.compile("[A-Za-z][\u0370-\u03ff\u0400-\u04ff]|[\u0370-\u03ff\u0400-\u04ff][A-Za-z]")
_LOOKALIKES = str.maketrans("аеорсухікмтвнАЕОРСУХІКМТВНјѕԁοαεικρτνυΟΑΕΙΚΡΤΝ", "aeopcyxikmtbhAEOPCYXIKMTBHjsdoaeikptvuOAEIKPTN")
_LETTERS = {0xFF01 + i: 0x21 + i for i in range(94)}
for _first in range(0x1D400, 0x1D6A4, 26):  # thirteen alphabets of mathematical letters, capital and small by turns
    _LETTERS |= {_first + i: ord("Aa"[(_first - 0x1D400) // 26 % 2]) + i for i in range(26)}

_ROLES = re.compile(
    r"<\|(?:im_start|im_end|im_sep|system|user|assistant|tool|endoftext|eot_id|eom_id|start_header_id|end_header_id|begin_of_text"
    r"|end_of_text|start_of_role|end_of_role|channel|message|start|end|return|call)\|>|\[/?INST\]|<</?SYS>>|<(?:start|end)_of_turn>"
    r"|</?(?:system|assistant|human|system[-_]prompt|system[-_]message|function_calls|function_results|tool_results?"
    r"|antml:\w{1,30}|leporello-memory)(?:\s[^<>]{0,120})?>|</?leporello-memory\b|</data>|<data\s{1,4}from\s{0,4}="
    r"|^[ \t>]{0,8}#{1,6}[ \t]{0,3}(?:System|Assistant|Human|Instructions?|Response|SYSTEM|ASSISTANT|HUMAN|INSTRUCTIONS?)(?: (?:Prompt|prompt|Message|message))?[ \t]?:"
    r"|^[ \t>]{0,8}\**(?:Human|Assistant|HUMAN|ASSISTANT)\**[ \t]?:"
    r"|^[ \t>]{0,8}\**(?:System|SYSTEM)\**(?: (?:prompt|message|override|PROMPT|MESSAGE|OVERRIDE))?[ \t]?:[ \t*]{0,3}"
    r"(?=(?i:you(?:r| are| must)\b|ignore\b|new (?:rule|task|instruction)|override\b|from now|the user\b|always\b|never\b|important\b|disregard\b))",
    re.MULTILINE,
)
_VERBS = re.compile(
    r"(?i)\b(?:send|post|upload|forward|e-?mail|transmit|exfiltrate|leak|submit|report|copy|share|append|include|encode|paste|put|attach|pass"
    r"|sende?|schicke?|lade|übertrage|leite|envía|envíe|enviar|envoie|envoyez|transmets|invia|envie|mande|sube)\b"
    r"|\b(?:отправь|отправьте|перешли|вышли|загрузи)\b|发送|發送|发到|发给|上传|上傳|转发|傳送|送信|送って|アップロード|전송|보내"
)
_GOODS = re.compile(
    r"(?i)\b(?:api[ _-]?(?:keys?|tokens?)|(?:ssh|private|secret|access|signing|encryption)[ _-]keys?|passwords?|credentials?|secrets?|cookies"
    r"|(?:access|auth|session|bearer)[ _-]tokens?|tokens|env(?:ironment)?(?:[ _-]variables?| vars?)|conversation|chat (?:history|logs?)"
    r"|message history|memor(?:y|ies)|system prompt|private (?:data|files?|messages?|notes?)|personal (?:data|information)|user(?:'s|’s) (?:data|e-?mails?|files?|messages?|address|name)"
    r"|passw(?:ö|oe)rt(?:er)?|zugangsdaten|schlüssel|umgebungsvariablen|gespräch(?:sverlauf)?|contraseñas?|credenciales|claves?|conversación|identifiants|mots? de passe|clés?|conversation)\b"
    r"|(?<!\w)(?:\.env\b|id_rsa\b|id_ed25519\b|/etc/(?:passwd|shadow)\b|~/\.(?:ssh|aws)\b|\.aws/credentials\b)"
    r"|\b(?:ключи?|парол[ьи]|переписку|переменные окружения|токены?)\b|密钥|密鑰|密码|密碼|环境变量|環境變數|对话(?:记录|内容|历史)?|對話|聊天记录|凭据|凭证|パスワード|APIキー|環境変数|会話|認証情報|비밀번호|대화|환경 변수"
)
_PLACES = re.compile(
    r"(?i)https?://(?!localhost\b|127\.|0\.0\.0\.0)|\bwww\.|[\w.+-]{1,64}@[\w-]{1,63}\.|\bwebhook\b|(?<![\w./])(?!127\.|0\.0\.0\.0)\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3}(?![\w.])"
)
_STOPS = re.compile(r"[.!?][\s\"')]|[。！？\n]")
_IMAGE = re.compile(
    r"!\[[^\]\n]{0,300}\]\(\s{0,3}<?https?://[^\s)]{1,2000}|(?i:<img\s[^<>]{0,300}?src\s?=\s?[\"']?https?://[^\s\"'<>]{1,2000})"
)
_LINK = re.compile(r"(?<!!)\[[^\]\[\n]{0,300}\]\(\s{0,3}<?https?://[^\s)]{1,2000}")
_DATA_NAME = re.compile(
    r"(?i)[?&](?:data|d|q|payload|p|conversation|history|secrets?|key|api_?key|leak|exfil|content|msg|message|prompt|context|info|user_?data|memory|env|text|chat|c|log|x|stolen|b64)="
    r"(?!&|$|#)[^&#]"
)
_BLANK = re.compile(
    r"(?i)[?&/=](?:\{[^}]{1,80}\}|\{\{|%7B|\[[^\]]{1,80}\]|<[^>]{1,80}>|\$\{?\w|(?:YOUR|THE|INSERT|BASE64|ENCODED|USER|SUMMARY|CONVERSATION|SECRET)_?[A-Z_]{0,40}(?:[&#]|$))"
)
_SHELL = re.compile(
    r"(?i)(?:curl|wget|ncat|nc|invoke-webrequest|iwr|httpie|fetch)\b[^\n]{0,400}?"
    r"(?:\$\((?:\s?(?:cat|env|printenv|base64|whoami|hostname|tar|gzip|history|head|tail|jq)\b|\s?<)|`\s?(?:cat|env|printenv|base64|history)\b"
    r"|@~?[\w./-]{0,80}(?:\.env|id_rsa|id_ed25519|\.ssh/|\.aws/|/etc/passwd|/etc/shadow|credentials|\.netrc|\.npmrc|\.pypirc|\.kube/config)|\$\{?\w{0,40}(?:KEY|TOKEN|SECRET|PASSWORD)\w{0,20}\}?[\"']?\s*$)"
    r"|(?:\bcat|\bprintenv|\benv|\bbase64|\btar|\bhistory)\b[^\n|]{0,200}\|[^\n]{0,100}?\b(?:curl|wget|nc|ncat)\b"
)
_TOOLS = re.compile(r"(?i)\b(?:curl|wget|nc|ncat|iwr|httpie|fetch|invoke-webrequest)\b")


@dataclass(frozen=True)
class Suspicion:
    """One thing that makes a text suspicious: characters `start` to `end`, the reason, and what it is in a few words.

    `detail` never holds a secret that was found, so it may be shown and stored.
    """

    reason: Reason
    detail: str
    start: int
    end: int


def screen(text: str) -> tuple[Suspicion, ...]:
    """What is suspicious about a text, by place; empty for text that only says something. Time is linear in the text.

    Meant for what tools and other sources say, and for facts: a user may well give orders.
    """
    plain, places = _plain(text)
    found = [*_instructions(plain), *_markers(plain), *_exfiltration(plain)]
    moved = [Suspicion(s.reason, s.detail, _at(places, s.start), _at(places, s.end - 1) + 1) for s in found] if places else found
    moved += [Suspicion("secret", f.name, f.start, f.end) for f in find(text, ("secrets",))]
    moved += _hidden(text)
    return tuple(sorted(set(moved), key=lambda s: (s.start, s.end, s.reason, s.detail)))


def _plain(text: str) -> tuple[str, Sequence[tuple[int, int]]]:
    """The text as it is read: without invisible characters, with plain letters; and where characters were taken out.

    A place is `(index in the plain text, characters taken out before it)`.
    """
    if text.isascii():
        return text, ()
    out, places, taken, done = [], [], 0, 0
    for match in _INVISIBLE.finditer(text):
        out.append(text[done : match.start()])
        taken += match.end() - match.start()
        done = match.end()
        places.append((done - taken, taken))
    plain = "".join([*out, text[done:]]).translate(_LETTERS) if out else text.translate(_LETTERS)
    return plain, places


def _at(places: Sequence[tuple[int, int]], index: int) -> int:
    """The index in the text of an index in the plain text."""
    found = bisect_right(places, (index, len(places) and places[-1][1] + 1)) - 1
    return index + (places[found][1] if found >= 0 else 0)


@cache
def _phrase(index: int) -> re.Pattern[str]:
    """A phrase's expression; its spaces take white space and marks of emphasis, its apostrophes are as they are."""
    return re.compile(_spaced(PHRASES[index].regex), re.IGNORECASE)


def _spaced(regex: str) -> str:
    """Spaces outside of character classes become runs of white space and emphasis."""
    out, inside, escaped = [], False, False
    for char in regex:
        if char == " " and not inside and not escaped:
            out.append(r"[\s*_~`\"'“”«»]{1,6}")
            continue
        inside = (char == "[" or (inside and char != "]")) if not escaped else inside
        escaped = char == "\\" and not escaped
        out.append(char)
    return re.sub(r"(\[\\s[^\]]*\]\{1,6\})\?", lambda m: m[1].replace("{1,6}", "{0,6}"), "".join(out))


def _instructions(text: str) -> Iterator[Suspicion]:
    variants = [text]
    if _ALPHABETS.search(text):
        variants.append(text.translate(_LOOKALIKES))
    for variant in variants:
        small = variant.lower()
        for index, phrase in enumerate(PHRASES):
            if any(w in small for w in phrase.words):
                for match in _phrase(index).finditer(variant):
                    yield Suspicion("instruction", phrase.detail, match.start(), match.end())


def _markers(text: str) -> Iterator[Suspicion]:
    for match in _ROLES.finditer(text):
        yield Suspicion("role marker", " ".join(match.group().split())[:40].strip("> "), match.start(), match.end())


def _exfiltration(text: str) -> Iterator[Suspicion]:
    yield from _requests(text)
    for pattern, what in ((_IMAGE, "an image whose address carries data"), (_LINK, "a link whose address is to be filled in")):
        if "](" not in text and "<" not in text:
            break
        for match in pattern.finditer(text):
            address = match.group()[match.group().lower().rfind("http") :]
            if _BLANK.search(address) or (pattern is _IMAGE and _DATA_NAME.search(address)):
                yield Suspicion("exfiltration", what, match.start(), match.end())
    if _TOOLS.search(text):
        for line in re.finditer(r"[^\n]{3,2000}", text):
            if _TOOLS.search(line.group()) and (sent := _SHELL.search(line.group())):
                yield Suspicion("exfiltration", "a command that sends data", line.start() + sent.start(), line.start() + sent.end())


def _requests(text: str) -> Iterator[Suspicion]:
    """A word for sending, something worth stealing and a place to send it to, in one sentence, near one another."""
    verbs = [m.start() for m in _VERBS.finditer(text)]
    places = [m.span() for m in _PLACES.finditer(text)] if verbs else []
    goods = [m.span() for m in _GOODS.finditer(text)] if places else []
    if not goods:
        return
    stops = [m.start() for m in _STOPS.finditer(text)]
    starts = [p[0] for p in places]
    goods_at = [g[0] for g in goods]
    last = -1
    for verb in verbs:
        if verb < last:
            continue
        ends = min(verb + 300, _next(stops, verb, len(text)))
        i = bisect_left(goods_at, verb)
        if i and not text[verb].isascii() and goods_at[i - 1] > max(last, verb - 60, _last(stops, verb)):
            i -= 1  # "the keys … send": the order of words in Chinese, Japanese and Korean
        p = bisect_left(starts, verb)
        if i < len(goods) and p < len(places) and goods_at[i] < ends and starts[p] < ends:
            last = max(goods[i][1], places[p][1])
            yield Suspicion("exfiltration", "asks to send private data away", min(verb, goods_at[i]), last)


def _next(stops: Sequence[int], after: int, otherwise: int) -> int:
    i = bisect_left(stops, after)
    return stops[i] if i < len(stops) else otherwise


def _last(stops: Sequence[int], before: int) -> int:
    i = bisect_left(stops, before)
    return stops[i - 1] if i else -1


def _hidden(text: str) -> Iterable[Suspicion]:
    if _CONCEALED.search(text):
        yield from (Suspicion("hidden text", "concealed in a terminal", *m.span()) for m in _CONCEALED.finditer(text))
    if text.isascii():
        return
    yield from (Suspicion("hidden text", "a run of invisible characters", *m.span()) for m in _RUN.finditer(text))
    yield from (Suspicion("hidden text", "the order of the letters is turned round", *m.span()) for m in _OVERRIDE.finditer(text))
    for match in _TAGS.finditer(text):
        start, end = match.span()
        flag = text[start - 1 : start] == "\U0001f3f4" and text[end - 1] == "\U000e007f" and end - start <= 7
        if not flag:
            read = "".join(chr(ord(c) - 0xE0000) for c in match.group()[:60] if 0xE0020 <= ord(c) < 0xE007F)
            yield Suspicion(
                "hidden text", f"invisible tag characters that read {read!r}" if read else "invisible tag characters", start, end
            )
