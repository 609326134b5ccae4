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
OPEN = _any(
    r"""open questions?|(?:noted|left|kept|marked|stays?|remains?|still) (?:as )?open|unclear|not (?:yet )?(?:clear|known|decided)|not (?:sure|clear)|(?:is|are|am|was|were)n['’]t (?:sure|clear)|unsure|uncertain|still undecided|nobody knows|tbd|todo|to be (?:decided|determined|confirmed)|(?:need|have) to (?:decide|find out|investigate|figure out|check whether)|still (?:unknown|undecided)|wondering|
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
    r"""(?:is|was|now|got|been|i|we) (?:fixed|solved|resolved)|(?:fixes|solved|resolved|fixed) (?:the|it|this|that|both|all)|the fix (?:is|was)|works now|working now|behoben|gelöst|funktioniert jetzt|corrigé|résolu|arreglad[oa]|resuelto|corregido""",
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
    r"(?:\bbecause(?: of)?\b|\bsince\b(?! (?:the )?(?:last|v?\d|yesterday|then|monday))|\bso that\b|\bdue to\b|\bas (?:it|this|that|the|we|they)\b.{0,40}\b(?:is|are|was|would|can|need)|\bbecause\b|\bweil\b|\bdamit\b|\bwegen\b|\bda (?:es|sie|er|wir)\b|"
    r"\bparce qu[e']|\bcar\b|\bà cause\b|\bporque\b|\bya que\b|\bdebido\b|因为|由于|以便|ため|から、|ので|потому|так как|때문)\s*(.+)",
    re.IGNORECASE,
)
EXPLAINS = re.compile(
    r"^(?:because|since|then (?:the|we|it|they)|this (?:is|was|would|means|way|avoids|keeps|breaks|caused)|it (?:is|was|would|has|breaks|doesn|didn|needs|turned)|that (?:is|was|would)|the (?:reason|problem|issue)|otherwise|weil|sonst|das|car|sinon|porque|si no|因为|否则|なぜなら)\b",
    re.IGNORECASE,
)
CHATTER = re.compile(
    r"^\W*(?:hi+|hey+|hello|thanks?(?: you)?|thank you|thx|bye|good (?:morning|night|evening)|see you|talk (?:to you )?(?:soon|later)|until (?:tomorrow|later|next|then|monday)|written down|enjoy|have a (?:good|nice|great)|bis (?:morgen|dann)|à (?:demain|plus)|hasta (?:mañana|luego)|take care|wow|cool|awesome|nice|great|lol|haha+|perfect|sure|no problem|you['’]re (?:welcome|absolutely right)|"
    r"of course|certainly|absolutely|sounds (?:good|great|fun|like)|that['’]?s (?:great|awesome|cool|amazing|so|really|wonderful|fantastic|nice)|glad|happy to|i['’]m (?:glad|happy|so glad) (?:to|you|that)|let me know|feel free|hope (?:this|that|you)|congrat\w*|"
    r"good (?:luck|to see)|noted|understood|how (?:are|have|is|about|was) (?:you|your|it)|what['’]?s up|hallo|danke|bitte|salut|bonjour|merci|hola|gracias|你好|谢谢|哈哈|こんにちは|ありがとう|привет|спасибо|안녕|감사)\b",
    re.IGNORECASE,
)
NARRATION = re.compile(
    r"^(?:\w+[.,!—–-]+ )?(?:(?:ok(?:ay)?|good|great|perfect|now|first|next|then|also|alright|right|so|finally|excellent)[,.!]? +)*(?:let me|i['’]ll|i will|i['’]d like to|i would like to|i want to|i['’]m going to|i need to|i should|let['’]s|now i|i can see|i see|lass mich|ich werde|je vais|laisse-moi|voy a|déjame|让我|我来|我将|では|まず)",
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


AGENT_DECISION = _any(
    r"""decid(?:ed|es|ing) (?:to|on|that|against|not)|decision(?: is|:| was)|settled on|opted (?:for|to)|agreed (?:to|on|that)|in favou?r of|
(?:we|i)(?:['’]ll| will|['’]ve| have)?(?: now| therefore| then| also)? (?:use|replace|switch(?:ed)? (?:to|from)|keep|kept|go with|went with|choose|chose|chosen|pick(?:ed)?|store|stor(?:ed)|adopt(?:ed)?|drop(?:ped)?|move[d]? (?:it|the|this) .{2,60} to) (?!(?:it|that|this|them|those)\b(?! as| in| for))[^?]{2,}|
let['’]?s (?:go with|use|keep|switch|stick|store)|(?:us(?:e|es|ed|ing)|pass(?:ing|ed)?|keep(?:ing|s)?|make|stor(?:e|es|ed|ing)|call(?:ing)?|return(?:s|ing)?|writ(?:e|ing)|do|go|sign|send) [^.]{2,80}(?:instead of|rather than)|
so (?:the|we|they) [^.]{2,60} (?:stays?|keeps?|becomes?|remains?)|the [\w `.-]{2,40} becomes?|(?:the|a|my) fix(?:es)?(?: is|:| was)|by design|design decision|the approach(?: is|:)|my recommendation|(?:i|we) recommend|
wir (?:nehmen|verwenden|behalten|ersetzen)|beschlossen|entschieden|stattdessen|entscheidung|einigten|(?:j['’]ai|on a|nous avons) (?:décidé|choisi)|plutôt que|au lieu de|on va utiliser|nous (?:utilisons|gardons|remplaçons)|décision|
(?:hemos |he )?(?:decid(?:í|imos|ido|ió)|elegido)|elegimos|(?:vamos a usar|usaremos|usamos)|en lugar de|en vez de|decisión|karar|decidiu|decidimos|optamos|deciso|scelto|invece di""",
    r"决定|采用|选择了|改用|而不是|决策|決定|採用|にしました|ことにし|方針|решил|вместо|выбрали|결정|대신",
)
"""What an agent says when it states what is chosen, used or replaced, told more narrowly than `DECISION`."""
CHANGED_MIND = _any(
    r"""chang(?:ed|ing) (?:my|our) mind|on second thou?ght|scratch that|forget (?:what i said|about) |meinung geändert|doch lieber|changé d['’]avis|finalement|cambi(?:é|ado) de (?:opinión|idea)|mejor no""",
    r"改变主意|改主意|还是算了|考え直し|やっぱり|передумал|마음이 바뀌",
)
DROPPED = re.compile(
    r"\b(?:drop(?:ped|ping)?|replac(?:e|es|ed|ing)|get rid of|abandon(?:ed)?|stop using|no longer (?:use|need|want)|(?:switch(?:ed)?|move[d]?|migrate[d]?) (?:away )?from|instead of|rather than|not|ersetzen|statt|anstelle von|remplace[rz]?|au lieu d[e']|plutôt que|abandonne[rz]?|reempla[cz]\w+|en (?:lugar|vez) de)\s+"
    r"(?P<what>(?:the |our |a |an |den |die |das |le |la |les |el |los |las )?[^\s,.;:()][^,.;:()]{1,60}?)(?=\s+(?:and|with|by|to|for good|because|since|in favou?r|so|as|und|durch|mit|weil|et|par|car|y|con|por|porque)\b|[,.;:()]|$)"
    r"|(?:放弃|不再用|弃用)(?P<zh>[^，。；]{1,20})|(?P<ja>[^、。]{1,20})(?:の代わりに|をやめ)",
    re.IGNORECASE,
)
"""What is given up in a sentence: its `what` (or `zh`, `ja`)."""
CHOICE = _any(
    r"""let['’]?s (?:use|keep|go with|switch|stick|store|call|name|drop|leave|take|stay)|(?:we|i)['’]ll (?:use|keep|go with|stick|take|have)|(?:we|i) will (?:use|keep|go with|stick)|(?:go|going|went)(?: ahead)? with|go for|stick (?:with|to)|settle (?:on|for)|
option (?:\d|[a-d])|i think [a-d]\)?|(?:i|we)(?:['’]ve| have)? (?:decided|chose|chosen|agreed)|(?:use|take|keep|put|store|make|call|send|return|write) [^.?]{2,80} (?:instead|rather than|and not)|instead of|drop [^.?]{2,60} (?:and|for|in favou?r)|replace [^.?]{2,60} (?:with|by)|
we should|(?:so|then|therefore) (?:keep|use|make|store|drop|leave)|keep (?:the|our|all|every|those|these) [^.?]{2,60} (?:for|at|in|as|on|under)|
nehmen wir|wir nehmen|lass uns .{2,60} (?:nehmen|verwenden|behalten)|entschieden|beschlossen|stattdessen|statt|on (?:va|garde|prend)|prenons|gardons|au lieu|plutôt que|décidé|vamos a (?:usar|dejar)|usemos|dejemos|en (?:lugar|vez) de|decidid[oa]|mejor usa""",
    r"我们(?:就|还是|用|改)|就用|改用|决定|用.{1,20}代替|にしよう|にします|ことにし|давай|решили|вместо|쓰자|결정",
)
"""What a person says when choosing something concrete."""
APPROVAL = re.compile(
    r"^\W*(?:(?:y(?:es|ep|eah)|ok(?:ay)?|good|great|perfect|sure|exactly|right|ja|gut|oui|s[ií]|vale|好的?|はい)[,.! ]+)*(?:fine (?:with|by|for) (?:me|us)|go ahead|do (?:it|that|so)\b|(?:i )?agreed?\b|let['’]?s do (?:it|that)|sounds (?:good|great|right)|works for me|that works|make it so|please do|"
    r"go for it|einverstanden|mach(?:en wir)? (?:das|es)|so machen wir|d['’]accord|vas[- ]y|faisons|allez[- ]y|de acuerdo|adelante|hazlo|同意|就这样|可以|お願いします|それで|賛成|давай|согласен|좋아)",
    re.IGNORECASE,
)
PROPOSAL = _any(
    r"""let['’]?s (?:go with|use|keep|make|store|put|take|switch|move|split)|i(?:['’]d| would) (?:use|move|keep|go (?:with|for)|store|switch|replace|take|put|make|drop|choose|pick|recommend|suggest|split|rename|leave)|i (?:suggest|propose|recommend)|we (?:could|should|can) (?:use|keep|store|move|switch|drop|make|split)|
my (?:suggestion|proposal|recommendation)|(?:it is|it['’]s|would be) better to|ich (?:würde|schlage|empfehle)|je (?:propose|suggère|recommande)|propongo|sugiero|recomiendo""",
    r"我建议|建议|提案|おすすめ|がいいと思|предлагаю|제안",
)
REQUEST = _any(
    r"""please|pls|plz|(?:can|could|would|will) (?:you|u|yu|we)|shall we|i(?:['’]d| would) (?:like|love)|i (?:want|need) (?:you|to|a|an|the|some|this|it)|we need|i['’]m (?:trying|looking) to|(?:the |my |our )?(?:goal|task|aim|objective)(?: is|:)|your (?:task|job) is|help me|let['’]?s|let me know|need to|
bitte|kannst du|könn(?:t|test|ten|en) (?:du|wir|sie|ihr)|ich (?:möchte|brauche|will|hätte gern)|wir (?:brauchen|müssen|wollen)|ziel|aufgabe|hilf mir|
s['’]il (?:te|vous) pla[iî]t|peux-tu|pou(?:vez-vous|rrais-tu|rriez-vous)|je (?:veux|voudrais|souhaite)|j['’]ai besoin|objectif|aide-moi|aidez-moi|
por favor|puedes?|podr[ií]as?|quiero|quisiera|necesit(?:o|amos)|objetivo|ayúdame|per favore|puoi|vorrei|pode|preciso|quero""",
    r"请|帮(?:我|忙)|能不能|能否|我(?:想要?|要|需要)|需要你|目标|任务|ください|お願い|してほしい|してくれ|したいで|目標|教えて|пожалуйста|можешь|можете|мне нужно|нужно|хочу|해 ?줘|부탁|해주세요",
)
_FILLERS = r"(?:ok(?:ay)?|good|great|perfect|nice|cool|right|yes|yeah|yep|sure|so|and|then|now|also|but|well|alright|thanks?|exactly|first|next|finally|just|maybe|next up|gut|ja|dann|jetzt|und|bien|alors|maintenant|et|bueno|ahora|y|entonces)"
IMPERATIVE = re.compile(
    rf"^\W*(?:{_FILLERS}[,.:;!]* +){{0,4}}(?:add|adjust|analy[sz]e|apply|ask|assume|build|bump|change|check|clean|collect|commit|compare|configure|confirm|connect|consider|continue|convert|copy|count|create|cut|debug|define|delete|deploy|describe|design|disable|do|document|"
    r"download|draft|draw|drop|edit|enable|ensure|evaluate|examine|expand|explain|export|extend|extract|figure out|fill|find|finish|fix|focus|follow|format|generate|get|give|go|guide|handle|hide|hook|identify|ignore|implement|import|improve|include|increase|insert|inspect|install|"
    r"integrate|investigate|keep|limit|link|list|load|log|look|make|measure|merge|migrate|move|name|open|optimi[sz]e|order|parse|pause|pick|plan|point|port|prepare|print|proceed|propose|prove|provide|publish|pull|push|put|read|rebase|recommend|redo|reduce|refactor|release|"
    r"remove|rename|render|reorder|repeat|replace|report|reproduce|rerun|research|respond|restart|restore|resume|retry|return|revert|review|rewrite|rework|roll back|run|save|scan|search|see if|send|set|share|ship|show|simplify|skip|sort|split|squash|start|stop|store|structure|"
    r"submit|suggest|summari[sz]e|support|switch|sync|take|tell|test|think|trace|track|translate|trim|try|tune|turn|undo|uninstall|update|upgrade|upload|use|validate|verify|walk|watch|wire|work on|wrap|write|"
    r"schreib|mach|füg|änder|prüf|erstell|lösch|zeig|erklär|such|teste|bau|ajoute|écris|corrige|change|crée|supprime|vérifie|montre|explique|lance|añade|escribe|corrige|cambia|crea|borra|revisa|muestra|explica|ejecuta|agrega)(?![\w'’:(/=]|-\w)"
    r"|^\W*(?:now|next|then|jetzt|maintenant|ahora)[, ]+(?:the|to|for|on to|die|der|das|le|la|les|el)\b|^\W*(?:修复|添加|写|创建|检查|运行|改|实现|生成|解释|删除)",
    re.IGNORECASE,
)
SMALL_TALK = _any(
    r"""cats?|dogs?|kitten|lunch|dinner|breakfast|coffee|tea|weather|rain(?:ing|y)?|sunny|snow|train|weekend|plants?|sleep|slept|tired|holidays?|vacation|birthday|football|movie|kids?|patience|enough for today|be right back|brb|afk|see you|until tomorrow|talk tomorrow|
katze|hund|mittag(?:essen)?|wetter|regen|urlaub|wochenende|müde|feierabend|chat|chien|déjeuner|météo|pluie|vacances|fatigué|gato|perro|almuerzo|lluvia|vacaciones|cansad[oa]""",
    r"午饭|天气|周末|休息|睡|猫|ランチ|天気|週末|お疲れ|обед|погода|кот|점심|날씨",
)
OWN_STEP = re.compile(
    r"^\W*(?:(?:then|so|and|ok|but)[, ]+)?(?:i(?:['’]ll| will|['’]m going to| am going to)|we(?:['’]ll| will)|let me (?:ask|check|think|sleep|talk)|ich (?:werde|frage)|je vais|voy a|(?:明天)?我(?:会|去|明天)|私が|я (?:спрошу|проверю))",
    re.IGNORECASE,
)
AGENT_NEXT = _any(
    r"""next steps?(?: is| are| will be|:)|the next (?:thing|task)|tomorrow i(?:['’]d|['’]ll| will| would)|remaining(?: work| steps?| tasks?)?(?: is|:| are)|still (?:needs?|to do|has to|have to)|left to do|what(?:['’]s| is) left|the order is|until [^.]{3,80} (?:i|we) (?:leave|wait|keep|hold|do not|don['’]t)|
not (?:yet )?(?:done|started|implemented|deployed|merged)|nächster? schritte?|bleibt noch|noch zu tun|prochaines? étapes?|il reste|siguientes? pasos?|queda por|falta""",
    r"下一步|接下来|还需要|尚未|次のステップ|次は|残り|следующий шаг|осталось|다음 단계",
)
REMEMBER = _any(
    r"""(?:remember|note|keep in mind|bear in mind|don['’]t forget|be aware)(?: that|:|,)|for the record|fyi|denk(?:e|t)? daran|merk dir|beachte|n['’]oublie[zs]? pas|note[zs]? (?:bien )?que|souviens-toi|recuerda|ten en cuenta|toma nota""",
    r"记住|注意|请记得|別忘|覚えて|忘れない|запомни|имей в виду|기억해",
)
RULE = re.compile(
    r"\b(?:everywhere|at all times|no exceptions|(?:append|read|write|invite|staging|local|ascii)-only|(?:stay|stays|be|remain|kept?) (?:under|below|within|above|at most)|only|every (?:mon|tues|wednes|thurs|fri|satur|sun)day|on (?:mon|tues|wednes|thurs|fri|satur|sun)days|überall|ausnahmslos|partout|en todas partes)\b|到处|一律|只能|すべて|везде|только",
    re.IGNORECASE,
)
"""What makes a plain statement a rule: everywhere, only, append-only, must stay under, on Tuesdays."""
THEREFORE = re.compile(
    r"^\W*(?:so|therefore|thus|hence|that['’]s why|deshalb|daher|darum|deswegen|donc|alors|por eso|así que|entonces|所以|因此|因而|だから|そこで|なので|поэтому|그래서)\b(?! that\b)",
    re.IGNORECASE,
)
_LEAD = re.compile(
    r"^[\s\"'“(]*(?:(?:right|yes|yeah|ok(?:ay)?|good|great|sure|so|also|and|but|oh|well|hm+|understood|noted|agreed|corrected|exactly|thanks|interesting|progress|then|do it|go ahead|fine (?:with|by) me)(?:[,.:;!]+ +| +(?=(?:and |please )?(?:remember|keep|note|use|drop|let)\b)))*"
    r"(?:(?:and |but |also |so )?(?:please )?(?:(?:remember|note|keep in mind|bear in mind|don['’]t forget|be aware)(?: that\b|[:,]) *|for the record[:,] *|fyi[:,]? *|by the way,? +)|one (?:more |other )?(?:rule|wish|thing|note|remark|request)\b(?! is)[^:.?]{0,50}: +)?",
    re.IGNORECASE,
)


def lead(text: str) -> int:
    """How many characters at the start of `text` only lead up to what it says ("right, and remember that …")."""
    found = _LEAD.match(text)
    end = found.end() if found and any(map(str.isalpha, found.group())) else 0
    return end if len(text) - end >= 12 and len(text[end:].split()) >= (3 if text.isascii() else 1) else 0


_COLON = re.compile(r"([^:]{6,100}): (?=\S)([^`]*[^:`]{10,})$")


def reason(text: str) -> str:
    """The clause that gives the reason in `text`, or the empty string."""
    found = REASON.search(text)
    if found is None and (after := _COLON.match(text)) and (ELIMINATED.search(after.group(1)) or DECISION.search(after.group(1))):
        found = re.match(r"(.*)", after.group(2))
    clause = found.group(1).strip(" .:;—–-") if found else ""
    return clause if len(clause) >= (4 if not clause.isascii() else 7) else ""


def chatter(text: str) -> bool:
    """True for greetings, thanks and cheering that say nothing else."""
    found = CHATTER.match(text)
    return bool(found) and len(text) < found.end() + 45 if found else False


_WELL = re.compile(
    r"\b(?:now (?!fails)\w+s\b|(?:all|the|both) (?:\d+ )?[\w -]{0,30}tests? (?:now )?pass|no errors?|without errors?|passe[sd]\b)",
    re.IGNORECASE,
)


def of_agent(text: str, heading: str = "") -> Section | None:
    """The section of something that an agent said, or None when neither a cue nor the heading tells."""
    if NARRATION.match(text):
        return "decision" if re.search(r"\binstead\b|rather than|stattdessen|au lieu|en lugar|而不是", text) else None
    for section, pattern in _AGENT:
        if pattern.search(text):
            return "state" if section == "error" and _WELL.search(text) else section
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


_AGENT: tuple[tuple[Section, re.Pattern[str]], ...] = (
    ("open", OPEN), ("next", AGENT_NEXT), ("eliminated", ELIMINATED), ("decision", AGENT_DECISION), ("error", ERROR), ("error", SOLVED),
)  # fmt: skip
_OWN = re.compile(r"\b(?:i|my|we|our|ich|wir|mein\w*|je|j['’]|nous|mon|ma|yo|mi|nosotros)\b|我|私|僕|я|나", re.IGNORECASE)
_TALK: tuple[tuple[Section, re.Pattern[str]], ...] = (("decision", TALK_DECISION), ("preference", PREFERENCE), ("next", NEXT))
