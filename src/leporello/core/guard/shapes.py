r"""The shapes of what can be redacted: a pattern for each name, and for some a check of what it matched.

In a pattern the group `value` is what is replaced; without one it is the whole match. Each pattern begins with a fixed word or
behind a character that cannot belong to the match, so that no text is read more than a few times.
"""

from __future__ import annotations

import ipaddress
import math
import re
from collections import Counter
from collections.abc import Callable, Mapping

_PASSWORD = r"passwor[dt]|passwd|passphrase|passcode|pwd|contraseña|senha|mot de passe|wachtwoord|parola d'ordine|kennwort|пароль|密码|密碼|口令|パスワード|비밀번호"
_KEYS = (
    r"api[_ -]?key|secret[_ -]?key|secret[_ -]?access[_ -]?key|access[_ -]?key|private[_ -]?key|auth[_ -]?token|access[_ -]?token"
    r"|refresh[_ -]?token|bearer[_ -]?token|session[_ -]?token|client[_ -]?secret|app[_ -]?secret|webhook[_ -]?secret|signing[_ -]?key"
    r"|encryption[_ -]?key|credentials?|secret|token"
)
_API_KEYS = (
    r"sk-(?:ant-|proj-|svcacct-|or-v1-|lf-)?[A-Za-z0-9_-]{20,}",
    r"(?:AKIA|ASIA|ABIA|ACCA)[0-9A-Z]{16}",
    r"gh[pousr]_[A-Za-z0-9]{30,}|github_pat_[A-Za-z0-9_]{22,}|glpat-[A-Za-z0-9_-]{20,}",
    r"xox[abeoprs]-[A-Za-z0-9-]{10,}|xapp-[A-Za-z0-9-]{20,}",
    r"AIza[A-Za-z0-9_-]{35}|ya29\.[A-Za-z0-9_-]{20,}|GOCSPX-[A-Za-z0-9_-]{20,}",
    r"[spr]k_(?:live|test)_[A-Za-z0-9]{16,}|whsec_[A-Za-z0-9+/=]{24,}",
    r"SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}|key-[0-9a-f]{32}|SK[0-9a-f]{32}",
    r"npm_[A-Za-z0-9]{36}|pypi-[A-Za-z0-9_-]{50,}|hf_[A-Za-z0-9]{30,}|dop_v1_[0-9a-f]{64}|shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}",
    r"gsk_[A-Za-z0-9]{30,}|xai-[A-Za-z0-9]{40,}|pplx-[A-Za-z0-9]{40,}|nvapi-[A-Za-z0-9_-]{40,}|tvly-[A-Za-z0-9-]{20,}|r8_[A-Za-z0-9]{30,}",
    r"lin_api_[A-Za-z0-9]{30,}|ntn_[A-Za-z0-9]{40,}|[0-9]{8,10}:AA[A-Za-z0-9_-]{32,}|AGE-SECRET-KEY-1[0-9A-Z]{50,}",
    r"dckr_pat_[A-Za-z0-9_-]{20,}|glsa_[A-Za-z0-9_]{32,}|sntrys_[A-Za-z0-9_=+/-]{30,}|hv[sb]\.[A-Za-z0-9_-]{24,}",
)

PATTERNS: Mapping[str, str] = {
    "private key": r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
    r"(?:(?:[^-]|-(?!----))*-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----|[A-Za-z0-9+/=\s\\]*)",
    "api key": rf"(?<![A-Za-z0-9_-])(?:{'|'.join(_API_KEYS)})|https://hooks\.slack\.com/services/[A-Za-z0-9/]{{20,}}"
    r"|https://(?:\w+\.)?discord(?:app)?\.com/api/webhooks/[0-9]+/[A-Za-z0-9_-]{20,}",
    "password": rf"(?i)(?:(?<![^\W_])(?:pg|db|my|user|root|admin)?(?:{_PASSWORD})\d{{0,2}}\\?[\"'`*]{{0,3}}"
    r"(?P<sep>[ \t]{0,3}(?:=>|:=|={1,3}|[:：＝])[ \t]{0,3}|[ \t]{1,3}(?:is|ist|es|est|é|lautet|was|to)[ \t:]{1,3}|(?:是|は|为|為)[ \t:：]{0,3})"
    r"(?P<quote>\\?[\"'`]|\*\*)?(?P<value>(?(quote)[^\"'`\s\\](?:[^\"'`\n\\*]{0,126}[^\"'`\n\\*])?|[^\s\"'`,;<>(){}\[\]，。；、]{3,128}))"
    r"|(?<![\w.+-])--?(?:password|passwd|pass)[ =](?P<flag>[^\s\"'`$<{(-][^\s\"'`]{2,127})"
    r"|(?<![a-z0-9+.-])[a-z][a-z0-9+.-]{1,20}://[^\s:/@\"'<>]{0,64}:(?P<uri>[^\s:/@\"'<>]{1,128})@(?=[\w\[]))",
    "token": r"(?<![\w-])eyJ[\w-]{8,}\.eyJ[\w-]{8,}(?:\.[\w-]*)?"
    r"|(?i:(?<![^\W_])(?:bearer|basic|token)[ \t]{1,3}(?P<bearer>[A-Za-z0-9._~+/-]{16,}={0,2}))"
    rf"|(?i:(?<![^\W_])(?:{_KEYS})[\"'`*]{{0,3}}[ \t]{{0,3}}(?:=>|:=|={{1,3}}|:|[ \t]is)[ \t]{{0,3}}\\?[\"'`]?(?P<value>[A-Za-z0-9_.+/=~-]{{12,512}}))",
    "email": r"(?<![\w.+%-])[\w+%-][\w.+%-]{0,63}@(?:[\w-]{1,63}\.){1,8}[^\W\d_]{2,24}(?![\w-])",
    "phone": r"(?<![\w+.,/:=#-])(?:\+|00)[1-9](?:[ ./-]?\(?\d\)?){6,14}(?![\w-])"
    r"|(?<![\w+.,/:=#-])(?:\(\d{3}\) ?|\d{3}[ .-])\d{3}[ .-]\d{4}(?![\w.-]*\d)"
    r"|(?<![\w+.,/:=#-])\(?0\d{1,5}\)?(?:[ /-]{1,3}\d{2,8}){1,5}(?![\w-])"
    r"|(?i:\b(?:tel|phone|mobile|cell|telefon|handy|teléfono|móvil|téléphone|portable|телефон)(?:[ ]?(?:number|no|nr|nummer))?"
    r"[.:]{0,2}[ ]?(?:is|ist|es|est)?[ ]?(?P<value>\d{6,15})\b)|(?:电话|電話|手机|手機|携帯)(?:号码|番号)?[:：是はは为]{0,2}\s?(?P<wide>\d{6,15})",
    "card": r"(?<![\w.-])(?:[3-6]\d|2[2-7])\d\d(?:[ -]?\d){8,15}(?![\w-])",
    "iban": r"(?<![A-Za-z0-9])[A-Z]{2}\d{2}(?: ?[A-Z0-9]){11,30}",
    "ssn": r"(?<![\w.-])(?!000|666|9\d\d)\d{3}-(?!00)\d{2}-(?!0000)\d{4}(?![\w-])"
    r"|(?i:\b(?:ssn|social security(?: number)?)[:# ]{1,3}(?:is )?(?P<value>\d{3} ?\d{2} ?\d{4})\b)",
    "ip": r"(?<![\w.])(?:\d{1,3}\.){3}\d{1,3}(?![\w.]*\w)|(?<![\w:.])(?:[23][0-9A-Fa-f]{3}|f[cd][0-9A-Fa-f]{2}|fe80)(?::{1,2}[0-9A-Fa-f]{1,4}){1,7}(?:::)?(?![\w:])",
}
"""A regular expression by name; `redact.pattern` compiles it."""

SECRET_KEY = re.compile(
    rf"(?i)(?:\w*_)?(?:{_PASSWORD}|client[_-]?secret|api[_-]?key|secret[_-]?(?:access[_-]?)?key|access[_-]?token|auth[_-]?token)"
)
"""A key whose value is a secret whatever it looks like."""

_NO_VALUE = set(
    "password passwd pwd pass passphrase secret token none null nil undefined true false str string text bytes int any optional required "
    "hidden input field wrong incorrect invalid correct empty missing unset default example changeme your_password yourpassword xxx todo redacted "
    "here reset expired weak strong long short not set sent stored hashed encrypted protected needed visible secretstr varchar char "
    "type the your and with for this that what".split()
)
_CODE = re.compile(r"[A-Za-z_][\w]*(?:\.\w+)+|\$.*|%.*|<.*|.*[(){}\[\]].*|\*+|x+|\.+|process\.env.*|os\.environ.*|[\W_]+", re.IGNORECASE)


def checked(name: str, match: re.Match[str]) -> tuple[int, int] | None:
    """The span of what is to be replaced of a match, or None where the check says that it is something else."""
    group = next((g for g in ("value", "bearer", "flag", "uri", "wide") if g in match.re.groupindex and match[g] is not None), 0)
    start, end = match.span(group)
    check = _CHECKS.get(name)
    return (start, start + size) if (size := check(match, match[group]) if check else end - start) else None


def entropy(text: str) -> float:
    """Shannon entropy in bits for each character; 0 for the empty string."""
    return -sum(n / len(text) * math.log2(n / len(text)) for n in Counter(text).values()) if text else 0.0


def _password(match: re.Match[str], value: str) -> int:
    """Its length, unless it is a type, a placeholder or a word of the sentence."""
    held = match.groupdict()
    bare = value.rstrip(".!?:") if not held["quote"] else value
    if bare.casefold() in _NO_VALUE or "[redacted: " in value or value.startswith("[redacted"):
        return 0
    if held["uri"]:
        return 0 if _CODE.fullmatch(value) and not value.isalnum() else len(value)
    if held["quote"]:
        return 0 if len(value) < 3 or re.fullmatch(r"[$%<{*].*|~?/.*|x+|\.+", value) else len(value)
    if held["flag"]:
        return len(value)
    if not bare or _CODE.fullmatch(bare):
        return 0
    telling = any(c.isdigit() for c in bare) or any(not c.isalnum() and c not in "_-" for c in bare)
    if not telling and "=" in held["sep"] and held["sep"].strip() == held["sep"]:
        telling = match.string[match.start()].isupper()
    return len(bare) if telling and len(bare) >= 4 else 0


def _token(match: re.Match[str], value: str) -> int:
    """Its length if it looks made by a machine: letters with digits, and few repetitions."""
    if value.startswith("eyJ"):
        return len(value)
    mixed = any(c.isdigit() for c in value) and any(c.isalpha() for c in value)
    return (
        len(value) if mixed and entropy(value) >= 3.0 and not re.fullmatch(r"[A-Za-z_]+(?:\.\w+)+|[a-z]+(?:[-_][a-z0-9]+)+", value) else 0
    )


def _phone(_: re.Match[str], value: str) -> int:
    """Its length if it has 7 to 15 digits and is no date."""
    digits = sum(c.isdigit() for c in value)
    if re.match(r"\d{4}-\d\d-\d\d", value) or (re.match(r"\(?0", value) and digits < 9):
        return 0
    return len(value) if 7 <= digits <= 15 else 0


def _card(_: re.Match[str], value: str) -> int:
    """The length of the longest start with a card's number of digits and a right Luhn sum."""
    for size in range(len(value), 12, -1):
        digits = [int(c) for c in value[:size] if c.isdecimal()]
        if value[size - 1].isdecimal() and 13 <= len(digits) <= 19 and len(set(digits)) > 1 and _luhn(digits):
            return size if size == len(value) or not value[size].isdecimal() else 0
    return 0


def _luhn(digits: list[int]) -> bool:
    return sum(d if i % 2 == 0 else (2 * d - 9 if d > 4 else 2 * d) for i, d in enumerate(reversed(digits))) % 10 == 0


_LENGTHS = (
    "AD24 AE23 AL28 AT20 AZ28 BA20 BE16 BG22 BH22 BR29 BY28 CH21 CR22 CY28 CZ24 DE22 DK18 DO28 EE20 EG29 ES24 FI18 FO18 FR27 GB22 GE22 "
    "GI23 GL18 GR27 GT28 HR21 HU28 IE22 IL23 IQ23 IS26 IT27 JO30 KW30 KZ20 LB28 LC32 LI21 LT20 LU20 LV21 MC27 MD24 ME22 MK19 MR27 MT31 "
    "MU30 NL18 NO15 PK24 PL28 PS29 PT25 QA29 RO24 RS22 SA24 SE24 SI19 SK24 SM27 TN24 TR26 UA29 VA22 VG24 XK20"
).split()
_IBAN = {entry[:2]: int(entry[2:]) for entry in _LENGTHS}


def _iban(_: re.Match[str], value: str) -> int:
    """Its length if the country's number of characters has the remainder 1 modulo 97."""
    wanted, seen = _IBAN.get(value[:2], 0), ""
    for size, char in enumerate(value, 1):
        seen += char.strip()
        if len(seen) == wanted:
            number = int("".join(str(int(c, 36)) for c in seen[4:] + seen[:4]))
            return size if number % 97 == 1 and not value[size : size + 1].strip() else 0
    return 0


def _ip(_: re.Match[str], value: str) -> int:
    """Its length if it is an address of a machine other than this one."""
    try:
        address = ipaddress.ip_address(value)
    except ValueError:
        return 0
    return 0 if address.is_loopback or address.is_unspecified or address.is_multicast or value.startswith("255.") else len(value)


def _email(_: re.Match[str], value: str) -> int:
    """Its length, unless it is the address of a repository."""
    return 0 if value.startswith("git@") else len(value)


_CHECKS: Mapping[str, Callable[[re.Match[str], str], int]] = {
    "password": _password, "token": _token, "phone": _phone, "card": _card, "iban": _iban, "ip": _ip, "email": _email,
}  # fmt: skip
