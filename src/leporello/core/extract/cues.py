"""What a sentence is, told by the words that it uses: cue lists for several languages, most telling section first.

A cue is a phrase that people and agents use when they decide, rule out, forbid, ask, plan or fail. A sentence in a language
without cues still gets a place by its position, its names and its numbers (see `weigh`).
"""

from __future__ import annotations

import re

from leporello.records import Section


def _any(latin: str, wide: str = "") -> re.Pattern[str]:
    joined = rf"(?<!\w)(?:{latin})(?!\w)" + (f"|{wide}" if wide else "")
    return re.compile(re.sub(r"\s*\n\s*", "", joined), re.IGNORECASE)


DECISION = _any(
    r"""decid(?:ed|es|ing) (?:to|on|that|against|not)|(?:we|i)['’]ve decided|decision(?: is|:| was)|(?:we|i|let['’]?s)(?:['’]ll| will| should)? (?:go|went|are going) with|settled on|opted (?:for|to)|
chose|chosen|agreed (?:to|on|that)|(?:we|i)['’]ll (?:use|keep|stick|switch)|let['’]?s (?:use|keep|switch|stick|do|make|call)|switch(?:ed|ing)? (?:to|from)|(?:us(?:e|es|ed|ing)|pass(?:ing|ed)?|keep(?:ing|s)?|make|stor(?:e|es|ed|ing)|call(?:ing)?|return(?:s|ing)?|writ(?:e|ing)|do|go) [^.]{2,80}(?:instead of|rather than)|
design decision|the approach|my recommendation|recommend(?:ed)?|better to|makes? (?:more )?sense to|in favou?r of|
beschlossen|entschieden|wir nehmen|stattdessen|entscheidung|einigten|
(?:j['’]ai|on a|nous avons) (?:décidé|choisi)|plutôt que|au lieu de|on va utiliser|décision|
(?:decid(?:í|imos|ido|ió)|elegimos|vamos a usar|en lugar de|en vez de|decisión)|
karar|decidiu|decidimos|optamos|deciso|scelto|invece di""",
    r"决定|采用|选择了|改用|而不是|决策|決定|採用|にしました|ことにし|方針|решил|вместо|выбрали|결정|대신",
)
ELIMINATED = _any(
    r"""(?:did|does|do|would|will|can|could)(?:n['’]t| not) work|won['’]t work|not (?:viable|feasible|an option|worth it|possible)|ruled? (?:it |that |this )?out|reject(?:ed|s)?|abandon(?:ed)?|dead end|
gave up on|dropped (?:the|it|this|that)|discard(?:ed)? (?:the|it|this|that)|(?:i|we)(?:['’]ve| have)? reverted|revert(?:ed)? (?:it|this|that|those)|(?:i|we)(?:['’]ve| have)? rolled back|backed out|tried .{3,80}? but|didn['’]t help|no longer (?:need|use|want|necessary)|
too (?:slow|complex|complicated|risky|fragile|expensive|invasive)|overkill|rule that out|unreliable|throwaway|not a good (?:idea|fit)|
funktioniert(?:e)? nicht|verworfen|ausgeschlossen|klappt nicht|zu langsam|aufgegeben|
ne (?:marche|fonctionne) pas|n['’]a pas (?:marché|fonctionné)|abandonné|écarté|trop (?:lent|complexe|risqué)|
no (?:funciona|funcionó|sirve)|descartad[oa]|descartamos|abandonamos|demasiado (?:lento|complejo)|
não (?:funciona|funcionou)|descartado|non funziona|scartato|çalışmadı""",
    r"行不通|不可行|不起作用|放弃|排除|太慢|没有用|駄目|ダメ|うまくいか|動かな|却下|やめた|断念|не работает|отказались|안 되|포기",
)
CONSTRAINT = _any(
    r"""never|must(?:n['’]t| not)?|do not|don['’]t|should(?:n['’]t| not)|may not|not allowed|always|make sure|ensure|required?|requirement|only (?:use|when|if)|avoid|without (?:breaking|changing|using)|
no more than|at (?:most|least)|keep (?:it|the|in mind)|important|be careful|has to|have to be|needs? to be|mandatory|forbidden|prohibited|under no circumstances|
niemals|nie|darf(?:st)? (?:nicht|kein)|muss(?:t|en)?|immer|auf keinen fall|keinesfalls|bitte nicht|nur wenn|verboten|
jamais|ne (?:doit|dois|touche[zr]?|pas)|toujours|il faut|interdit|obligatoire|assure[z-]|
nunca|jamás|siempre|no (?:debes?|toques|uses|hay que)|debe(?:s|mos)?|tiene que|prohibido|obligatorio|asegúrate|
sempre|não deve|mai|deve|asla|her zaman""",
    r"绝不|绝对不|不要|不能|必须|禁止|务必|一定要|千万|決して|絶対に|禁止|必ず|しないで|してはいけ|なければならな|никогда|нельзя|всегда|обязательно|절대|반드시|하지 마",
)
CORRECTION = re.compile(
    r"^\W*(?:no+(?:pe)?[,.!]|no (?:i|we|that|this|it|revert|don|not|need|use|just|let|please|wait|you)\b|actually\b|wait\b|that['’]s (?:wrong|not|incorrect)|that is (?:wrong|not)|not (?:what|quite|really|like)|wrong\b|i meant\b|stop\b|nein\b|doch\b|falsch\b|eigentlich\b|"
    r"non[, ]|en fait\b|c['’]est faux|pas ça|no[, ]|en realidad\b|está mal|eso no|不对|不是|错了|其实|いや|違(?:う|い)|そうじゃな|нет[,. ]|неверно|아니)"
    r"|\b(?:you (?:forgot|missed|broke|should have|misunderstood|didn['’]t)|should be .{2,60} (?:not|instead)|still (?:not|doesn['’]t|fails|wrong|broken|see(?:ing)?|get(?:ting)?)|isn['’]t (?:right|correct)|why (?:did|do|are|is|would) (?:you|we|it|this|that)|instead(?! of))\b",
    re.IGNORECASE,
)
CONFIRMATION = re.compile(
    r"^\W*(?:y(?:es|ep|eah|up)?\b|ok(?:ay)?\b|perfect\b|great\b|exactly\b|correct\b|right\b|sure\b|sounds (?:good|great)|looks (?:good|great)|go ahead|lgtm\b|do it\b|please do\b|i agree\b|agreed\b|good\b|nice\b|works?\b|that works|"
    r"ja\b|genau\b|gut\b|passt\b|einverstanden|oui\b|d['’]accord|parfait|exact(?:ement)?\b|s[ií]\b|vale\b|perfecto|de acuerdo|correcto|sim\b|是的|好的?|对|可以|行|没错|はい|うん|了解|いいね|そうです|да\b|хорошо|네|좋아)",
    re.IGNORECASE,
)
USER_DECISION = _any(
    r"let['’]?s|we['’]ll|option (?:\d|[a-d])|i think [a-d]\)?|go with|we should|agreed|(?:i|we)(?:['’]ve| have)? (?:decided|chose|chosen|agreed)|nehmen wir|lass uns|on va|vamos a|mejor",
    r"我们(?:就|还是|用|改)|就用|にしよう|давай",
)
OPEN = _any(
    r"""open questions?|unclear|not (?:yet )?(?:clear|known|decided)|not sure|unsure|uncertain|tbd|todo|to be (?:decided|determined|confirmed)|(?:need|have) to (?:decide|find out|investigate|figure out|check whether)|still (?:unknown|open|undecided)|wondering|
remains? (?:to be|open|unclear)|don['’]t know (?:if|whether|why|how)|blocked (?:by|on)|waiting (?:for|on)|follow[- ]?up|known (?:issue|limitation)|
offene frage|unklar|nicht sicher|noch offen|je ne sais pas|pas sûr|à décider|reste à|no (?:sé|estoy segur[oa])|por decidir|pendiente|queda por""",
    r"不确定|不清楚|待定|还不知道|有待|未定|不明|わからない|まだ決ま|検討中|не уверен|неясно|непонятно|모르겠|미정",
)
NEXT = _any(
    r"""next(?: steps?| up|,|:| we| i|$)|remaining|still (?:need|needs|have|has|to do)|(?:will|['’]ll) (?:need|now|then|next|be)|(?:i|we)(?:['’]m| am|['’]re| are) (?:going to|planning|about to)|gonna|plan(?:s|ning)? (?:to|on|for)|left to do|to[- ]do|
then (?:we|i)|once (?:that|this|it)['’]?s|afterwards|follow up|hoping to|want to|looking forward to|
als nächstes|danach|noch zu tun|ich werde|wir werden|ich habe vor|ensuite|prochaine étape|il reste|je vais|on va|a continuación|próximo paso|falta|voy a|vamos a""",
    r"接下来|下一步|然后|还需要|将要|打算|计划|准备|次は|次に|予定|つもり|これから|далее|следующий|собираюсь|다음|예정",
)
ERROR = _any(
    r"""errors?|fail(?:s|ed|ing|ure|ures)?|exceptions?|panic(?:ked|s)?|traceback|bugs?|broken?|crash(?:es|ed)?|issue is|the (?:issue|problem)|problem (?:is|was)|root cause|caused by|race condition|regression|missing|undefined|timed? ?out|deadlock|leak|
wrong(?:ly)?|incorrect(?:ly)?|fehler|kaputt|schlägt fehl|absturz|ursache|erreur|échoue|échec|plante|cassé|falla|falló|roto|causa|hata|erro""",
    r"错误|失败|报错|异常|崩溃|问题是|原因|エラー|失敗|バグ|例外|原因|落ち|ошибка|сбой|причина|오류|에러|실패",
)
SOLVED = _any(
    r"""fix(?:ed|es)?|solved|resolved|the fix|works now|working now|behoben|gelöst|funktioniert jetzt|corrigé|résolu|arreglad[oa]|resuelto|corregido""",
    r"修复|解决|已修|通过了|直した|直った|修正|解決|исправ|решен|해결|수정",
)
DONE = _any(
    r"""done|implemented|all (?:tests )?pass(?:ed|ing)?|tests pass|added|created|updated|removed|renamed|moved|refactored|replaced|extracted|migrated|changed|complete[d]?|committed|merged|deployed|pushed|released|wrote|written|verified|confirmed|now (?:uses?|has|have|returns?|handles?)|
summary|all (?:tests|checks)|fertig|erledigt|hinzugefügt|geändert|erstellt|fait|terminé|ajouté|créé|modifié|hecho|terminado|añadido|creado|cambiado""",
    r"完成|已经|添加了|创建了|更新了|完了|追加し|作成し|変更し|готово|добавил|создал|완료|추가",
)
TALK_DECISION = _any(
    r"decid(?:ed|ing) (?:to|on|that|against|not)|made up my mind|chose to|opted (?:for|to)|settled on|entschieden|beschlossen|décidé|decidid[oa]|he decidido|decidí|decidimos",
    r"决定|決めた|ことにし|решил|결정",
)
PREFERENCE = _any(
    r"""(?:i|we|he|she|they)(?: really| also| just| always| usually)? (?:like|love|prefer|enjoy|hate|dislike|adore)s?|prefer(?:s|red|ence)?|favou?rite|i['’]?d (?:rather|prefer)|i(?:['’]m| am) (?:a (?:big )?fan|into|keen|allerg|obsessed)|
fan of|can['’]t stand|passionate about|interested in|my (?:hobby|hobbies|style)|allergic|vegan|vegetarian|
(?:ich )?(?:mag|liebe|bevorzuge|hasse)|am liebsten|lieblings\w*|j['’](?:aime|adore|apprécie)|je (?:préfère|déteste)|préféré|me (?:gusta|encanta|interesa)|prefiero|favorit[oa]|odio""",
    r"喜欢|最爱|偏好|讨厌|更愿意|爱好|好きで|好みは|が好き|嫌い|люблю|нравится|предпочита|좋아하|싫어",
)
REASON = re.compile(
    r"(?:\bbecause(?: of)?\b|\bsince\b(?! (?:the )?(?:last|\d|yesterday|then|monday))|\bso that\b|\bdue to\b|\bas (?:it|this|that|the|we|they)\b.{0,40}\b(?:is|are|was|would|can|need)|\bbecause\b|\bweil\b|\bdamit\b|\bwegen\b|\bda (?:es|sie|er|wir)\b|"
    r"\bparce qu[e']|\bcar\b|\bà cause\b|\bporque\b|\bya que\b|\bdebido\b|因为|由于|以便|ため|から、|ので|потому|так как|때문)\s*(.+)",
    re.IGNORECASE,
)
EXPLAINS = re.compile(
    r"^(?:because|since|this (?:is|was|would|means|way|avoids|keeps|breaks|caused)|it (?:is|was|would|has|breaks|doesn|didn|needs|turned)|that (?:is|was|would)|the (?:reason|problem|issue)|otherwise|weil|sonst|das|car|sinon|porque|si no|因为|否则|なぜなら)\b",
    re.IGNORECASE,
)
CHATTER = re.compile(
    r"^\W*(?:hi+|hey+|hello|thanks?(?: you)?|thank you|thx|bye|good (?:morning|night|evening)|see you|talk (?:to you )?(?:soon|later)|take care|wow|cool|awesome|nice|great|lol|haha+|perfect|sure|no problem|you['’]re (?:welcome|absolutely right)|"
    r"of course|certainly|absolutely|sounds (?:good|great|fun|like)|that['’]?s (?:great|awesome|cool|amazing|so|really|wonderful|fantastic|nice)|glad|happy to|i['’]m (?:glad|happy|so glad) (?:to|you|that)|let me know|feel free|hope (?:this|that|you)|congrat\w*|"
    r"good (?:luck|to see)|how (?:are|have|is|about|was) (?:you|your|it)|what['’]?s up|hallo|danke|bitte|salut|bonjour|merci|hola|gracias|你好|谢谢|哈哈|こんにちは|ありがとう|привет|спасибо|안녕|감사)\b",
    re.IGNORECASE,
)
NARRATION = re.compile(
    r"^(?:\w+[.,!—–-]+ )?(?:(?:ok(?:ay)?|good|great|perfect|now|first|next|then|also|alright|right|so|finally|excellent)[,.!]? +)*(?:let me|i['’]ll|i will|i['’]m going to|i need to|i should|let['’]s|now i|i can see|i see|lass mich|ich werde|je vais|laisse-moi|voy a|déjame|让我|我来|我将|では|まず)",
    re.IGNORECASE,
)
HEADINGS: tuple[tuple[Section, re.Pattern[str]], ...] = (
    ("next", re.compile(r"next|remaining|to[- ]?do|follow|pending|plan\b|nächste|prochain|siguiente|下一步|次の", re.IGNORECASE)),
    ("open", re.compile(r"open (?:question|issue|point|item)|unresolved|questions? for|offene? (?:frage|punkt)|questions? ouverte|preguntas? abierta|待解决|未解決|課題", re.IGNORECASE)),
    ("eliminated", re.compile(r"reject|ruled out|not (?:do|doing)|out of scope|verworfen|descart|écart|rejet|除外", re.IGNORECASE)),
    ("constraint", re.compile(r"constraint|require|rule|must|convention|anforderung|contrainte|restricc|约束|要求|制約", re.IGNORECASE)),
    ("decision", re.compile(r"decision|decided|recommendation|entscheid|décision|decisi[oó]n|决定|方針", re.IGNORECASE)),
    ("state", re.compile(r"summary|status|state|done|changes|completed|implemented|result|verif|files|zusammen|résumé|resumen|总结|まとめ", re.IGNORECASE)),
)  # fmt: skip


def reason(text: str) -> str:
    """The clause that gives the reason in `text`, or the empty string."""
    found = REASON.search(text)
    clause = found.group(1).strip(" .:;—–-") if found else ""
    return clause if len(clause) >= (4 if not clause.isascii() else 7) else ""


def chatter(text: str) -> bool:
    """True for greetings, thanks and cheering that say nothing else."""
    found = CHATTER.match(text)
    return bool(found) and len(text) < found.end() + 45 if found else False


def of_user(text: str) -> Section | None:
    """The section of something that a person said to an agent, or None when no cue tells."""
    if CORRECTION.search(text) and len(text) > 12:
        return "correction"
    for section, pattern in _USER:
        if pattern.search(text):
            return section
    return None


def of_agent(text: str, heading: str = "") -> Section | None:
    """The section of something that an agent said, or None when neither a cue nor the heading tells."""
    if NARRATION.match(text):
        return "decision" if re.search(r"\binstead\b|rather than|stattdessen|au lieu|en lugar|而不是", text) else None
    for section, pattern in _AGENT:
        if pattern.search(text):
            return section
    for section, pattern in HEADINGS:
        if heading and pattern.search(heading) and (section != "constraint" or CONSTRAINT.search(text)):
            return section
    return "state" if DONE.search(text) else None


def of_talk(text: str) -> Section | None:
    """The section of something that one person told another, or None when no cue tells."""
    for section, pattern in _TALK:
        if pattern.search(text) and _OWN.search(text):
            return section
    return None


_USER: tuple[tuple[Section, re.Pattern[str]], ...] = (
    ("eliminated", ELIMINATED), ("constraint", CONSTRAINT), ("decision", DECISION), ("preference", PREFERENCE), ("error", ERROR), ("open", OPEN),
)  # fmt: skip
_AGENT: tuple[tuple[Section, re.Pattern[str]], ...] = (
    ("eliminated", ELIMINATED), ("open", OPEN), ("decision", DECISION), ("error", ERROR), ("error", SOLVED),
)  # fmt: skip
_OWN = re.compile(r"\b(?:i|my|we|our|ich|wir|mein\w*|je|j['’]|nous|mon|ma|yo|mi|nosotros)\b|我|私|僕|я|나", re.IGNORECASE)
_TALK: tuple[tuple[Section, re.Pattern[str]], ...] = (("decision", TALK_DECISION), ("preference", PREFERENCE), ("next", NEXT))
