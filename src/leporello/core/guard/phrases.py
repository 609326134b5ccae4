r"""What text that gives orders to a model says, in several languages.

A phrase has the words by which it is looked for at all, and a regular expression. A space in the expression stands for white
space and marks of emphasis. Every expression begins with one of its words and has only bounded gaps, so that the time is
linear in the text.
"""

from __future__ import annotations

from typing import NamedTuple


class Phrase(NamedTuple):
    """`words`: at least one is in the small letters of every text that the expression finds."""

    detail: str
    words: tuple[str, ...]
    regex: str


IGNORE, HIDE, ROLE, FROM_NOW, KEEP, REVEAL, ADDRESS, ORDER = (
    "asks to ignore earlier instructions",
    "asks to hide something from the user",
    "gives the model another role",
    "sets rules for later answers",
    "asks to keep something in memory",
    "asks for the system prompt",
    "speaks to the model",
    "gives orders to the model",
)

_ADJ = r"(?:all|any|every|each|the|your|my|its|those|these|of|other|and|or|previous|prior|above|earlier|preceding|former|existing|original|system|safety|past|initial|given|current)"
_RULES = r"(?:instructions?|prompts?|rules?|directions?|directives?|guidelines?|commands?|constraints?|programming|safeguards?|guardrails?)"
_EARLIER = (
    r"(?:previous|prior|above|earlier|preceding|former|existing|original|system|safety|past|initial|your|all|any|every|these|those|other)"
)

PHRASES: tuple[Phrase, ...] = (
    # English
    Phrase(
        IGNORE,
        ("ignore", "disregard", "forget", "override", "bypass"),
        rf"\b(?:ignor(?:e|ing)|disregard(?:ing)?|forget(?:ting)?|overrid(?:e|ing)|bypass(?:ing)?) (?:{_ADJ}[, ]){{0,5}}?{_EARLIER} (?:{_ADJ} ){{0,3}}{_RULES}\b"
        r"|\b(?:ignore|disregard|forget) (?:everything|all|anything|whatever)(?: (?:that|which))?(?: (?:was|is|came|comes|written|said))? (?:above|before this|you (?:were|have been|know|learned)|previously|prior|so far)\b",
    ),
    Phrase(
        HIDE,
        ("tell", "inform", "mention", "reveal", "alert", "notify", "warn", "show", "hide", "secret", "telling", "informing", "conceal"),
        r"\b(?:do not|don't|don’t|never|must not|without) (?:ever )?(?:tell(?:ing)?|inform(?:ing)?|mention(?:ing)?|reveal(?:ing)?|alert(?:ing)?|notify(?:ing)?|warn(?:ing)?|show(?:ing)?)"
        r"(?: (?:this|that|it|any of this|anything|about this))?(?: to)?(?: the| your| any)? (?:user|users|human|operator|owner)\b"
        r"|\b(?:hide|conceal|keep) (?:this|that|it|the following)(?: (?:a )?(?:secret|hidden))? from the (?:user|human|operator|owner)\b",
    ),
    Phrase(
        ROLE,
        ("you are now", "you're now", "you’re now", "pretend", "act as", "roleplay", "behave as", "do anything now", "mode"),
        r"\byou(?: are|'re|’re) now (?:in (?:developer|debug|admin|maintenance|god|dan|jailbreak|unrestricted|sudo)\b|no longer (?:bound|an?|the|restricted|subject)\b|free (?:of|from|to)\b|dan\b|unrestricted\b"
        r"|jailbroken\b|acting as\b|going to (?:act|be|play)\b|my \w|(?:an?|the) (?!member\b|owner\b|admin\b|subscriber\b|contributor\b|collaborator\b|few\b|step\b|bit\b|part\b|lot\b)\w)"
        r"|\b(?:pretend|act|behave|respond|roleplay) (?:as )?(?:if |though |that |to be )?(?:you (?:are|were|have) (?:not bound|no longer|no restrictions|an? (?:un|evil|different))|an? (?:unrestricted|unfiltered|evil|jailbroken|uncensored))"
        r"|\bdo anything now\b|\b(?:developer|god|dan|jailbreak|sudo|unrestricted) mode (?:is )?(?:now )?(?:enabled|on|activated|active)\b|\b(?:enable|enter|activate|switch to) (?:dan|jailbreak|god|unrestricted) mode\b",
    ),
    Phrase(
        FROM_NOW,
        ("from now on", "henceforth", "from this point", "going forward"),
        r"\b(?:from now on|henceforth|from this point (?:on|forward)|going forward)[, ]{1,3}(?:and in all (?:later |future )?\w+[, ]{1,3})?"
        r"(?:please )?(?:always |never |only )?(?:you(?:'ll|’ll)?\b(?! (?:can|may|could|get|have (?:a|an|the|access))\b)|your (?:answers?|responses?|repl(?:y|ies)|name|role|task|job|goal|output)|answer|respond|reply|act as|behave|pretend|speak|obey|treat (?:every|all|any|this|me))\b",
    ),
    Phrase(
        KEEP,
        ("remember", "memor", "memory"),
        r"\b(?:save|store|add|commit|write|record|put|keep) (?:this|that|it|the following|these)?(?: \w+){0,2}? ?(?:to|in|into) (?:your |the |persistent |permanent |long[- ]?term |core ){0,3}(?:memory|memories)\b(?!-)(?! (?:that )?(?:i|my|we|our|i'm|i’m)\b)"
        r"(?=[ :,.!]{1,3}(?:that|:|the user|always|never)|[^\w\n]{0,3}(?:that|the user|:))"
        r"|\b(?:remember|memori[sz]e|note)[: ]{1,2}(?:that |this: |forever |permanently ){0,2}(?:the user|users|this user|you (?:must|should|are|have to|will|need to|always|never|were)|for all (?:future|later)|in (?:all|every) future)\b"
        r"|\b(?:update|overwrite|edit|change|delete|erase|wipe) your (?:long[- ]?term |persistent )?(?:memory|memories)\b",
    ),
    Phrase(
        REVEAL,
        ("prompt", "instructions"),
        r"\b(?:reveal|print|show|output|repeat|leak|disclose|reproduce|tell me|display|dump|give me|send|quote|what (?:is|are)) (?:me |us |back |out |verbatim ){0,2}(?:your|the) (?:full |entire |complete |exact |hidden |secret |original |initial |own |whole ){0,3}"
        r"(?:system (?:prompt|message|instructions?)|(?:initial|hidden|secret|developer|original) (?:prompt|instructions?|message))\b"
        r"|\b(?:new|updated|real|actual|revised|true|important|hidden|secret|system) (?:system )?instructions?(?: for (?:you|the (?:ai|assistant|model|agent)))? ?[:：](?= ?[^\s\d])"
        r"|\bnew system prompt\b|\b(?:end|start|beginning) of (?:the )?(?:system prompt|(?:system )?instructions)\b(?= ?[\]\-=*#:.\n]|\Z)",
    ),
    Phrase(
        ADDRESS,
        ("ai", "llm", "assistant", "agent", "language model", "chatgpt", "claude", "gpt", "chatbot", "copilot", "gemini"),
        r"\b(?:important|attention|note|notice|message|instructions?|urgent|warning|dear)[ :,!-]{1,3}(?:(?:to|for) )?(?:the |any |all |every ){0,2}(?:ai|llms?|language models?|chatbots?|chatgpt|claude|gpt|copilot|gemini|ai (?:assistants?|agents?|models?)|(?:assistants?|agents?) (?:reading|processing))\b(?= ?[:,!(\[—]| (?:reading|processing|models?|assistants?|agents?|that|who|you|please|must|should))"
        r"|\bif you are an? (?:ai|llm|language model|(?:ai )?assistant|chatbot|(?:ai )?agent)\b"
        r"|\b(?:any|every|all) (?:ai|llm|assistant|agent|model)s? (?:assistants?|agents?|models? )?(?:reading|processing|parsing|summari[sz]ing|that reads?|who reads?) this\b",
    ),
    Phrase(
        ORDER,
        ("if the user", "when the user", "whenever the user", "if a user", "when a user", "you must", "your new", "silently", "secretly", "covertly", "if anyone", "when anyone"),
        r"\b(?:if|when(?:ever)?) (?:the|a|any) ?(?:user|one) (?:asks?|says?|mentions?|wants?|requests?|inquires?)\b[^.\n]{0,120}?[, ](?:say that|say \"|tell (?:them|him|her|the user)|recommend|claim|lie|deny|(?:answer|reply|respond) (?:that|only)|insist|always (?:say|answer|recommend|mention))\b"
        r"|\byou must (?:now |always |never ){0,2}(?:obey|comply|follow (?:these|my|the following) (?:new )?(?:instructions|commands|orders|rules)|ignore|pretend|disregard)\b"
        r"|\byour new (?:task|goal|role|instructions?|objective|persona|mission|purpose|orders?) (?:is|are)\b"
        r"|\b(?:silently|secretly|covertly) (?:run|execute|call|invoke|send|delete|upload|install|forward|email|read|fetch|add|exfiltrate)\b",
    ),
    # German
    Phrase(IGNORE, ("ignorier", "vergiss", "missachte"), r"\b(?<!ich\s)(?:ignorier(?:e|en|t)?|vergiss|vergessen sie|missachte)(?: sie)? (?:bitte )?(?:alle |sämtliche |deine |ihre |die |jegliche ){0,3}(?:(?:vorherigen|bisherigen|vorigen|früheren|obigen|vorangegangenen|anderen)[, ]{1,2}){0,2}(?:anweisungen|instruktionen|regeln|vorgaben|befehle|richtlinien|anordnungen)\b"),
    Phrase(HIDE, ("nutzer", "benutzer", "anwender"), r"\b(?:sag|sage|verrate|erzähle?|teile?|zeige?|melde)(?: es| das| dies| sie)?(?: es| das)? (?:dem|den|der) (?:be)?nutzer(?:n|in)?(?: \w+){0,3} (?:nicht|nichts|kein)|\bohne (?:es |das )?(?:dem|den) (?:be)?nutzer (?:zu|davon)|\bvor dem (?:be)?nutzer (?:geheim|verborgen)"),
    Phrase(ROLE, ("du bist", "sie sind"), r"\b(?:du bist|sie sind) (?:jetzt|nun|ab jetzt|ab sofort) (?:ein(?:e|en)?|der|die|das|kein(?:e)?|nicht mehr|frei von|im entwicklermodus) (?!mitglied\b|teil\b)\w"),
    Phrase(FROM_NOW, ("ab jetzt", "ab sofort", "von nun an", "von jetzt an"), r"\b(?:ab jetzt|ab sofort|von nun an|von jetzt an) (?:antworte|antwortest|sollst du|musst du|wirst du|bist du|sag|befolge|befolgst|ignoriere|gib|verhalte)\b"),
    Phrase(KEEP, ("gedächtnis", "erinnerung", "merk"), r"\b(?:speicher(?:e|n)?|schreib(?:e)?|leg(?:e)?)(?: \w+){0,3} (?:in|im) (?:deinem?|dein|das) (?:langzeit)?gedächtnis\b|\bmerke? dir[,:]? (?:dass |für immer |dauerhaft ){0,2}(?:der (?:be)?nutzer|du (?:immer|niemals|musst|sollst))\b"),
    Phrase(REVEAL, ("systemprompt", "system-prompt", "systemanweisung"), r"\b(?:zeige?|verrate?|gib|nenne?|wiederhole?)(?: mir| uns)? (?:deinen?|den|deine|die) (?:vollständigen? |ganzen? |geheimen? )?(?:systemprompt|system-prompt|systemanweisung(?:en)?)\b"),
    # Spanish, Portuguese, Italian, French
    Phrase(IGNORE, ("ignor", "olvid", "esque", "dimentica", "oubli", "descarta", "desconsider"), r"\b(?:ignora(?:r|d)?|ignore[mzs]?|ignorez|olvida(?:d)?|olvide|esque[çc]a|dimentica(?:re)?|oublie[zr]?|desconsidere|descarta) (?:por favor )?(?:(?:todas?|todos?|tutt[ei]|toutes?|tous|las?|los?|le|les|as|os|i|gli|tus|sus|suas|tuas|tes|vos|tue|de) ){0,4}(?:(?:anteriores|previas|precedentes|précédentes|antérieures|precedenti) )?(?:instrucciones|instruções|istruzioni|instructions|órdenes|reglas|regras|regole|règles|indicaciones|consignes|comandos)\b"),
    Phrase(HIDE, ("usuario", "usuário", "utente", "utilisateur"), r"\b(?:no|não|non|ne)(?: le| lo| se lo| l')? ?(?:digas?|diga|informes?|informe|reveles?|menciones|mencione|conte|dire|rivelare|informare|dis|dites|révèle[zr]?|informe[zr]?|mentionne[zr]?)(?: \w+){0,3}?(?: pas| rien)? ?(?:al|ao|à l'|à l’|l'|l’|all'|all’|el|o) ?(?:usuario|usuário|utente|utilisateur)\b|\b(?:sin|sem|senza|sans) (?:decírselo|informar|avisar|dizer|dirlo|le dire|prévenir|informer|que lo sepa)(?: \w+){0,2}? ?(?:al|ao|à l'|à l’|l'|l’|all'|all’|el|o) ?(?:usuario|usuário|utente|utilisateur)\b"),
    Phrase(ROLE, ("ahora eres", "eres ahora", "agora você é", "você agora é", "ora sei", "adesso sei", "tu es maintenant", "vous êtes maintenant", "tu es désormais", "vous êtes désormais"), r"\b(?:ahora eres|eres ahora|agora você é|você agora é|ora sei|adesso sei|tu es (?:maintenant|désormais)|vous êtes (?:maintenant|désormais)) (?:una?|uma?|uno|une?|el|la|le|il|lo|o|libre|libero|livre|dan)\b(?! (?:miembro|membro|membre|parte)\b)"),
    Phrase(FROM_NOW, ("partir de ahora", "ahora en adelante", "partir de agora", "agora em diante", "ora in poi", "partir de maintenant", "dorénavant", "désormais"), r"\b(?:a partir de ahora|de ahora en adelante|a partir de agora|de agora em diante|d'ora in poi|d’ora in poi|à partir de maintenant|dorénavant|désormais)[, ]{1,2}(?:siempre |sempre |toujours |solo |tu |vous |tú |você ){0,2}(?:respond\w*|réponds?|répondez|contesta\w*|debes|deberás|deve(?:s|rá)?|devi|dois|devez|actúa\w*|aja|agis|agissez|rispondi|di|dis|obedece\w*|obéis)\b"),
    Phrase(KEEP, ("memoria", "memória", "mémoire", "recuerda", "lembre", "ricorda", "souviens"), r"\b(?:guarda|guarde|salve|grave|almacena|anota|salva|memorizza|enregistre[zr]?|sauvegarde[zr]?|mémorise[zr]?)(?: \w+){0,2} (?:en|na|nella|dans) (?:tu |tua |sua |su |la |ta |votre ){0,2}(?:memoria|memória|mémoire)\b|\b(?:recuerda|lembre-se de|ricorda|souviens-toi) (?:que |che |para siempre ){0,2}(?:el usuario|o usuário|l'utente|l'utilisateur|l’utilisateur|debes|deves|devi|tu dois)\b"),
    Phrase(REVEAL, ("prompt", "sistema", "système"), r"\b(?:muestra|muéstrame|revela|mostre|revele|mostra|rivela|montre|montrez|révèle|révélez|affiche|affichez|imprime)(?:-moi| me)? (?:tu|el|seu|o|il tuo|il|ton|votre|le|tus|las|tes|les|vos) (?:prompt (?:de |del |do )?(?:sistema|système|di sistema|system)|(?:instrucciones|instructions|instruções) (?:del |do |de |du )?(?:sistema|système))\b"),
    # Russian and Ukrainian, Polish, Turkish
    Phrase(IGNORE, ("игнорируй", "забудь", "проигнорируй", "ігноруй", "zignoruj", "ignoruj", "zapomnij", "yok say", "unut"), r"(?:\b(?:про)?игнорируй(?:те)?|\bзабудь(?:те)?|\bігноруй(?:те)?) (?:(?:все|всё|всі|свои|эти|любые|твои|ваши|про) ){0,3}(?:(?:предыдущие|прежние|прошлые|вышеуказанные|прошлых|попередні|системные) ){0,2}(?:инструкции|указания|правила|команды|інструкції|вказівки)|\b(?:z?ignoruj|zapomnij)(?:cie)? (?:o )?(?:wszystkie |wszystkich ){0,1}(?:poprzednie|wcześniejsze|poprzednich|wcześniejszych) (?:instrukcje|polecenia|zasady|instrukcji)|\b(?:önceki|yukarıdaki)(?: tüm| bütün)? (?:talimatları|komutları|kuralları)(?: tamamen)? (?:yok say|unut|görmezden gel)"),
    Phrase(HIDE, ("пользовател", "користувач", "użytkownik"), r"\bне (?:говори(?:те)?|сообщай(?:те)?|рассказывай(?:те)?|показывай(?:те)?|упоминай(?:те)?|кажи|повідомляй)(?: \w+){0,2} (?:пользователю|пользователям|користувачу|користувачеві)|\bпользователю(?: \w+){0,2} не (?:говори|сообщай|рассказывай|показывай)|\bnie (?:mów|informuj|ujawniaj|pokazuj)(?: \w+){0,2} użytkownik(?:owi|a)"),
    Phrase(ROLE, ("ты теперь", "теперь ты", "вы теперь", "теперь вы", "отныне ты"), r"\b(?:ты теперь|теперь ты|вы теперь|теперь вы|отныне ты)(?: больше)? (?:не |— |- |являешься |в режиме |свободен |играешь роль |злой |другой )+\w|\b(?:ты теперь|теперь ты|отныне ты)[ —-]{1,3}(?:неограниченн|ассистент|ии|помощник|модель|хакер|бот|dan)\w*"),
    Phrase(FROM_NOW, ("отныне", "с этого момента", "теперь всегда", "відтепер"), r"\b(?:отныне|с этого момента|теперь всегда|відтепер)[, ]{1,2}(?:ты |вы |всегда |на все вопросы |только |должен ){0,3}(?:отвечай|отвечаешь|говори|делай|должен|обязан|выполняй|веди себя|відповідай)\w*"),
    Phrase(KEEP, ("памят", "запомни"), r"\b(?:сохрани|запиши|занеси|добавь)(?:те)?(?: \w+){0,2} (?:в|во) (?:свою |твою |долговременную |долгосрочную ){0,2}память\b|\bзапомни(?:те)?[:, ]{1,3}(?:что |навсегда |это ){0,2}(?:пользовател\w+|ты (?:должен|всегда|никогда))"),
    Phrase(REVEAL, ("системный промпт", "системную инструкцию", "системные инструкции"), r"\b(?:покажи|выведи|раскрой|повтори|напечатай|скажи)(?:те)?(?: мне)? (?:свой |твой |весь |полный |свои |свою |твои ){0,3}(?:системный промпт|системную инструкцию|системные инструкции)"),
    # Chinese, Japanese, Korean
    Phrase(IGNORE, ("忽略", "无视", "無視", "忘记", "忘記", "忘掉", "무시", "잊어"), r"(?:忽略|无视|無視|忘记|忘記|忘掉|不要理会)(?:掉)?(?:你|您)?(?:之前|以前|先前|上面|以上|前面|此前|上述|所有|全部|的|一切|任何|收到){1,5}(?:指令|指示|提示词?|规则|規則|命令|要求|内容|設定|设定)|(?:これまで|以前|上記|前|今まで|すべて|全て)(?:の)?(?:すべて|全て)?(?:の)?(?:指示|命令|ルール|プロンプト|指令)(?:を|は)(?:すべて|全て|完全に)?(?:無視|忘れ)|(?:이전|앞|위)의? ?(?:모든 ?)?(?:지시|명령|지침|규칙)(?:사항)?(?:을|를|은)? ?(?:모두 ?)?(?:무시|잊)"),
    Phrase(HIDE, ("用户", "用戶", "使用者", "ユーザー", "사용자"), r"(?:不要|别|別|不得|切勿|请勿|勿)(?:告诉|告訴|告知|通知|提醒|透露给|透露給|让|讓)(?:任何)?(?:用户|用戶|使用者)|(?:对|對|向)(?:用户|用戶|使用者)(?:保密|隐瞒|隱瞞)|ユーザー(?:に|には|へ)(?:は)?(?:絶対に|決して)?(?:言わ|伝え|知らせ|教え|見せ)(?:ない|ず)|사용자에게(?:는)? ?(?:절대 ?)?(?:말하지|알리지|보여주지)"),
    Phrase(ROLE, ("你现在是", "你現在是", "现在你是", "從現在起你是", "从现在起你是", "あなたは今", "あなたはこれから", "너는 이제", "당신은 이제"), r"(?:你现在是|你現在是|现在你是|从现在起你是|從現在起你是)(?:一个|一個|一名|一位|不受|没有|沒有|dan|开发者)|あなたは(?:今|これ)から.{1,20}(?:です|として)|(?:너는|당신은) 이제"),
    Phrase(FROM_NOW, ("从现在", "從現在", "今后", "今後", "これから", "以后", "지금부터", "앞으로"), r"(?:从现在(?:开始|起)|從現在(?:開始|起)|今后|以后)[，, ]{0,2}(?:你|您)?(?:必须|必須|只能|要|应该|應該|都要|总是|總是|一律)?(?:都)?(?:回答|回复|回覆|说|服从|听从|扮演|忽略|执行)|(?:今後は?|これから(?:は)?)[、, ]{0,2}(?:必ず|常に|すべて|いつも|.{0,6}だけ)?.{0,8}(?:[とで](?:お?答え|回答|返答)|返答し|従って|従い)|(?:지금부터|앞으로)(?:는)? .{0,12}(?:대답|답변|응답|행동)(?:해|하)"),
    Phrase(KEEP, ("记忆", "記憶", "记住", "記住", "メモリ", "기억"), r"(?:保存|存储|存入|写入|添加|记录|加入)(?:到|进|進|至|在)?(?:你的|您的)?(?:长期|長期)?(?:记忆|記憶)|(?:记住|記住)[：:，, ]{0,2}(?:用户|用戶|使用者|你必须|你必須|你要|你应该|永远|永遠)|(?:記憶|メモリ)(?:に|へ)(?:保存|記録|追加)(?:して|せよ|し)|(?:ユーザーは|ユーザーが).{1,40}(?:と|を)(?:覚えて|記憶して)|(?:메모리|기억)에 ?(?:저장|기록|추가)(?:해|하)"),
    Phrase(REVEAL, ("系统提示", "系統提示", "システムプロンプト", "시스템 프롬프트"), r"(?:显示|輸出|输出|告诉我|透露|打印|重复|泄露|给我看)(?:一下)?(?:你的|您的|完整的?|全部的?){0,3}(?:系统提示|系統提示)|システムプロンプト(?:を|の内容を|全文を)(?:表示|教え|出力|見せ|繰り返)|시스템 프롬프트(?:를|을) ?(?:보여|출력|알려)"),
    # Arabic, Hindi
    Phrase(IGNORE, ("تجاهل", "انس", "अनदेखा", "नज़रअंदाज़", "भूल"), r"(?:تجاهل|انس|انسَ|انسى) (?:(?:جميع|كل|كافة) )?(?:التعليمات|الأوامر|القواعد|تعليماتك)(?: السابقة)?|(?:पिछले|पहले के|उपरोक्त|सभी)(?: सभी)?(?: पिछले)? (?:निर्देशों|नियमों|आदेशों)(?: को| की)? (?:अनदेखा|नज़रअंदाज़|भूल|उपेक्षा)"),
    Phrase(HIDE, ("المستخدم", "उपयोगकर्ता"), r"لا (?:تخبر|تقل|تُخبر|تذكر)(?: \w+){0,2} ?(?:المستخدم|للمستخدم)|(?:उपयोगकर्ता|यूज़र) को (?:यह |कुछ |इसके बारे में ){0,2}(?:मत|न|नहीं) (?:बता|बताएं|दिखा)"),
    Phrase(ROLE, ("أنت الآن", "انت الان"), r"(?:أنت الآن|انت الان) \w"),
    Phrase(FROM_NOW, ("من الآن فصاعد", "अब से"), r"من الآن فصاعد(?:ا|اً|ًا)[،, ]{1,2}(?:أجب|أجيب|رد|عليك|أنت|ستجيب|تحدث|تصرف)|अब से (?:हमेशा |केवल |तुम |आप ){0,2}(?:जवाब|उत्तर)"),
)  # fmt: skip
