"""Words that frame what a statement says, in English, German, Spanish, French and (single characters, pairs) Chinese.

All lists are folded: lower case, no diacritics. A phrase is words with blanks; Chinese is read a character at a time.
"""

from __future__ import annotations

Phrases = dict[str, tuple[tuple[str, ...], ...]]
"""Phrases by their first word, each as its words."""


def indexed(*texts: str) -> Phrases:
    """The phrases of the texts, which "|" stands between."""
    found: dict[str, tuple[tuple[str, ...], ...]] = {}
    for phrase in "|".join(texts).split("|"):
        words = tuple(phrase.split())
        found[words[0]] = (*found.get(words[0], ()), words)
    return found


def _set(text: str) -> frozenset[str]:
    return frozenset(text.split())


STOP = _set(
    """a an the this that these those my our your his her its their of in on at to for from with by about as into onto over per via and or but so than then
    i we you he she it they me us him them is are was were be been being am have has had do does did will would 's s which who whom whose there here
    not no nor very quite really just too also only both each all any some more most much many up out off own same
    ich wir du er sie es man mein meine meiner meinem meinen unser unsere unserer unserem unseren dein sein seine seinem seinen seiner ihr ihre ihrem ihren der die das den dem des
    ein eine einer einem einen eines und oder aber in im am an auf aus bei beim mit nach von vom zu zum zur fur uber um als ist sind war waren bin bist hat habe haben hatte hatten wird werden wurde
    dass da so sehr nur auch nicht kein keine keinen keinem keiner mich mir dich dir sich uns
    yo nosotros nosotras tu el ella ellos ellas usted ustedes mi mis nuestro nuestra nuestros nuestras su sus tu tus la los las lo le les un una unos unas de del al a en con por para sobre y o u e que se
    es son era eran soy somos esta estan estoy estamos fue ser estar he ha han hemos habia hay muy no me te nos tiene tengo como
    je j' j nous tu il elle on ils elles mon ma mes notre nos ton ta son sa ses leur leurs le l' l les un une des du de d' d au aux dans sur sous chez avec pour par et ou est sont etait etaient
    suis sommes ete a ai ont avons avez ne n' n pas que qu' qu qui ce c' c cette ces se s' y tres plus en
    的 是 在 和 了 我 你 他 她 它 们 这 那 有 也 都 很 吗 呢 吧 啊 个 只 把 被 对 为 着 过 得 地 就 又 一 上 中 于 里 到 mehr anymore longer"""
)

ADVERBS = _set(
    """yet please kindly bitte now currently still recently just already presently meanwhile lately nowadays today actually finally officially usually normally always mostly mainly generally typically
    jetzt nun inzwischen mittlerweile neuerdings aktuell derzeit momentan gerade schon bereits noch kurzlich seitdem heute eigentlich normalerweise meistens immer endlich nunmehr ab sofort
    ahora actualmente ya todavia aun recientemente hoy normalmente siempre finalmente generalmente
    maintenant actuellement desormais recemment deja encore toujours aujourd'hui aujourd hui finalement normalement dorenavant
    again once instead anymore wieder stattdessen even lot lots beaucoup mucho sehr
    really basically probably formerly together permanently erst last next letzte letzten letztes nachste nachsten pasado pasada proximo proxima dernier derniere prochain prochaine"""
)
"""Words left out before phrases are looked for; some say that something changed (see `CHANGED`)."""

NOW = _set(
    """now currently nowadays meanwhile instead anymore jetzt nun inzwischen mittlerweile neuerdings aktuell derzeit nunmehr kunftig zukunftig doch stattdessen ahora actualmente maintenant
    actuellement desormais dorenavant new newly neue neuer neues neuen neuem erst nuevo nueva nuevos nuevas nouveau nouvelle nouvel nouveaux again wieder"""
)
"""Words that say that what is told holds from now on, as opposed to before."""
NOW_PHRASES = indexed(
    "from next|starting next|beginning next|ab nachster|ab nachstem|ab nachsten|from now on|as of now|as of this|starting this|beginning this|starting today|as of monday|ab diesem|ab dieser|a partir de este|a partir de esta|a partir de hoy|a compter de|as of today|these days|going forward|ab jetzt|ab sofort|von nun an|de nuevo|otra vez|a partir de ahora|en su lugar|en cambio|en lugar de|en vez de|au lieu de|"
    "a nouveau|de nouveau|a la place|a partir de maintenant|instead of|rather than|no longer|decided not to|decided against|moved out|doch nicht|not any more|any more|nicht mehr|now on|au lieu|down to|up to|down from|up from|"
    "现 在|如 今|目 前|从 现 在|改 为|改 成|改 到|改 用|换 成|换 到|换 了|新 的|变 成|变 为|重 新|已 经 改"
)
CHANGE_STEMS = _set(
    """rebooked retimed retitled trimmed realigned transferred extended shortened slipped doubled halved swapped rescheduled moved moving move relocated switched switching switch migrated migrating replaced replaces changed changes become became becomes turned improved increased decreased dropped reduced raised lowered
    grown grew rose risen fell fallen reached reaches extended shortened bumped upgraded downgraded updated renamed rescheduled postponed pushed delayed shifted brought promoted cut doubled halved expanded hit
    rewrote rewritten ported rebuilt relicensed converted transferred slipped climbed jumped shrunk shrank slashed hiked rebranded
    gezogen umgezogen zog zieht gewechselt wechselte wechselt umgestiegen stieg gestiegen stiegen sank gesunken gefallen erhoht gesenkt verbessert verschlechtert verschoben verlegt vorverlegt geandert geworden
    neugeschrieben umgeschrieben angehoben reduziert migriert ersetzt umgestellt umbenannt befordert aktualisiert erreicht gewachsen verlangert verkurzt gekurzt verringert aufgestockt gesteigert halbiert heruntergesetzt hochgesetzt umgezogen verkleinert vergrossert vorgezogen umgeschwenkt verdoppelt
    mudo mude mudado mudamos mudaron cambio cambie cambiado cambiamos cambiaron paso pase pasado pasamos pasaron aumento aumentado subio subido bajo bajado mejoro mejorado redujo reducido aplazo aplazado
    pospuso pospuesto pospusieron retraso retrasado adelanto adelantado movio movido migro migramos migrado reemplazo reemplazado reemplazamos sustituyo sustituido convirtio convertido actualizo actualizado
    actualizamos ascendio ascendida ascendido renombro renombrado alcanzo alcanzado crecio crecido traslado trasladado traslade trasladamos trasladada trasladaron cambiada aplazada movida pospuesta
    retrasada adelantada extendio ampliado ampliada ampliaron recorto recortado recortaron duplico movieron cambiaron reprogramada reprogramado reprogramo
    subimos bajamos aumentamos reducimos ampliamos aplazamos aplazaron pospusimos retrasamos retrasaron adelantamos adelantaron cambiarian reprogramamos renombramos verschoben verschieben verlegten umziehen reportons reporte decalons
    demenage emmenage passe passee passes change changee augmente baisse diminue ameliore amelioree reporte reportee repousse repoussee decale decalee avance avancee deplace deplacee migre remplace remplacee devenu
    devenue promu promue renomme monte descendu atteint atteinte prolonge prolongee reduit reduite
    搬 换 改 升 降 涨 变 推 提 调 增 减 达 转 加"""
)
"""Verb forms that say that something became different; in a clause with a value, the value is the new one."""

CHANGED_PHRASES = indexed(
    "come to hate|come to love|come to like|come to enjoy|grown to|learned to love|learned to like|started to like|set to|after all|instead|stattdessen|en su lugar|a la place|gone over to|went over to|went up|went down|gone up|gone down|goes up|came down|cut down|cut back|brought forward|put off|bumped up|decided not to|decided against"
)
CORRECTION = _set(
    "correction actually oops wrong mistake corrected mistaken vertan korrektur falsch vielmehr korrigiere correccion perdon rectifico corrijo corrige rectification correction erreur pardon 更 正 纠 正"
)
NEGATION = _set(
    "cannot not no never nor without none neither nicht kein keine keinen keinem keiner keines nie niemals ohne nunca jamas tampoco ne n' n pas jamais aucun aucune sin 不 没 未 无"
)

ENDED_PHRASES = indexed(
    "no longer|decided not to|decided against|moved out|doch nicht|not any more|not anymore|any more|anymore|nicht mehr|ya no|不 再|不 了|取 消|戒 了|戒 掉|辞 职|离 职|离 开|卖 了|卖 掉|离 婚|分 手|停 止|放 弃|停 用|弃 用|去 世|停 了|下 线|退 出|停 掉|作 废|中 止"
    "|can not make it|not make it|not be able to|went off|came off|is off|are off|falls through|shaved off|burned down|burnt down|knocked down|back from|home from hospital|home from the hospital|out of hospital|out of the hospital|aus dem krankenhaus entlassen|returned from|recovered from|released from|discharged from|changed my mind|changed his mind|changed her mind|changed their mind|changed our mind|no more|over with|fed up with|stopped being"
    "|ripped out|pull out of|is gone|are gone|ist weg|sind weg|pulled out|pulled the plug|parted ways|walked away|fell out|calling off|calling it off|giving up|zuruck aus|zuruck von|zuruck vom|anders uberlegt|cambio de opinion|cambie de opinion|cambio de idea|cambie de idea"
    "|change d' avis|de retour de|改 变 主 意|rentre de|rentree de|vuelto de|volvio de|volvi de|wieder zuruck|out of business|not going ahead|off the table"
    "|got rid of|gotten rid of|gave up|given up|called off|broke up|split up|passed away|backed out|moved off|moved away from|migrated off|moved out of|shut down|phased out|fell through|let go|laid off|dropped out"
    "|did away with|stepped down|fallt aus|fiel aus|hor auf|hort auf|deja de|arrete de|arretez de|dejo de|deje de|dejado de|dejamos de|dejaron de|rompio con|rompi con|hat aufgehort"
)
ENDED = _set(
    """stopped quit quits quitting cancelled canceled ended sold dropped removed discontinued deprecated abandoned retired uninstalled expired deleted scrapped axed divorced separated resigned died fired left closed
    cancel skip skips stolen robbed totaled totalled wrecked shaved ausgezogen cancelling canceling withdrawn withdrew reversed overturned rescinded shelved demolished outgrew outgrown forgot ditching dropping quitted skipping
    dissolved sunset disbanded decommissioned dismissed ditched lifted terminated ceased revoked lost withdrew renounced unsubscribed
    aufgehort rausgeworfen gekundigt abgesagt verkauft getrennt eingestellt storniert aufgegeben abgeschafft geschieden gestorben beendet entfernt geloscht verlassen gestrichen abgeschaltet weggegeben abbestellt ausgestiegen kundigte
    abgebrochen verstorben aufgehoben
    cancelo cancele cancelado cancelada canceladas cancelados cancelaron cancelamos suspendio suspendido suspendida suspendieron vendio vendi vendido vendimos vendieron renuncio renuncie renunciado abandono abandone abandonado abandonamos termino
    terminado divorcio divorciado divorciada separo separado separada murio elimino eliminado eliminada eliminamos retiro retirado desinstale quito quitamos quitado quitaron anulo anulado anulada jubilo despidieron fallecio
    descartado descartada levantado levantada
    arrete arretee arretes annule annulee annules quitte quittes vendu vendue divorce divorcee separe separee demissionne supprime supprimee abandonne abandonnee mort morte resilie resiliee decede decedee licencie licenciee"""
)
"""Words that say that something is over."""
ENDED_APART = (("gave", "away"), ("given", "away"), ("threw", "away"), ("threw", "out"), ("took", "down"), ("turned", "off"), ("shut", "down"), ("call", "off"), ("phased", "out"), ("gab", "weg"), ("sagte", "ab"), ("sagten", "ab"), ("gibt", "auf"),
    ("gab", "auf"), ("stellt", "ein"), ("stellte", "ein"), ("stellen", "ein"), ("hort", "auf"), ("schaffte", "ab"), ("schafft", "ab"), ("tore", "down"), ("let", "go"))  # fmt: skip
"""Verbs whose second part stands further on."""
BEFORE_END = _set("almost nearly never not fast beinahe casi presque nunca nie nicht jamais")

MAYBE = _set(
    """might maybe perhaps could would should possibly considering consider considers thinking wondering wonder wish wishes hope hopes hoping if unless whether trying try tries tempted dreams dreaming
    imagine suppose assuming proposes propose proposed suggests suggest suggested suggesting aims shall likely unlikely wouldn couldn unsure undecided discussing debating toying supposing evaluating exploring
    vielleicht eventuell moglicherweise sollte sollten falls wenn ob uberlege uberlegt uberlegen hoffe hofft wunsche wunscht wunschen vorschlage
    quizas quiza podria podriamos podrian deberia deberiamos quisiera quisieramos gustaria espera espero esperamos piensa pienso pensando considera considerando considero propone propongo ojala
    dudo podriais
    peut-etre peutetre pourrait pourrais pourrions devrait devrais devrions voudrait voudrais aimerait aimerais envisage envisagent envisageons espere songe propose pense
    如 若"""
)
MAYBE_PHRASES = indexed(
    "thinking of|thinking about|looking to|want to|wants to|wanted to|need to|needs to|going to try|let's|lets|how about|what if|tal vez|a lo mejor|a menos que|me gustaria|peut etre|"
    "可 能|也 许|如 果|考 虑|想 要|想 去|想 搬|想 换|希 望|或 许|要 是|应 该|是 否|denke daruber|denken daruber|denkt daruber|hatte gern|hatte gerne|wurde gern|wurde gerne|wurden gern|"
    "hat vor|habe vor|haben vor|would like|in case|feels like|were to"
)
IF_START = _set("if unless suppose falls wenn sofern si wenn ob")
FUTURE = _set(
    "plane plant planen planea planeo planeamos will 'll werde wirst werden wird ira iras irons iront va vais vas vont voy vamos van mudare mudara usare usaremos demenagerai demenagera gonna 将 会"
)
FUTURE_PHRASES = indexed(
    "going to|about to|intend to|intends to|打 算|i plan to|we plan to|they plan to|plans to|am planning to|is planning to|are planning to|been planning to|planned to|want to move|is moving|am moving|are moving|is switching|are switching|next year|next month|nachstes jahr|nachsten monat|proximo ano|proximo mes|mes prochain|"
    "annee prochaine|ano que viene|mes que viene|明 年|下 个 月|即 将|准 备"
)
REPORTED_PHRASES = indexed(
    "says|said|say|told|tells|claims|claimed|heard|apparently|allegedly|supposedly|reportedly|according to|rumour|rumor|thinks|believes|mentioned that|i think|i believe|i guess|seems|seemingly|reckons|"
    "sagt|sagte|sagen|meint|meinte|behauptet|angeblich|laut|gehort dass|scheinbar|anscheinend|wohl|glaubt|glaube|soll|erzahlt|erzahlte|erwahnte|"
    "dice|dijo|dicen|segun|cuenta|conto|oi que|he oido|parece|supuestamente|al parecer|afirma|cree|creo|menciono|"
    "dit que|dit qu'|a dit|disent|selon|parait|apparemment|j' ai entendu|pretend|affirme|croit|crois|il parait|"
    "听 说|据 说|说|据|好 像|似 乎|觉 得|认 为"
)
PAST = _set(
    """lived worked formerly previously originally childhood wohnte wohnten lebte lebten arbeitete arbeiteten fruher damals ehemals vivia vivi vivio viviamos trabajaba trabaje trabajabamos antes antano anteriormente usaba usabamos
    habitait habitais habitions vivait vivais travaillait travaillais autrefois jadis auparavant nutzte nutzten verwendete benutzte bevorzugte
    liked loved preferred hated wanted owned dated enjoyed studied spoke gustaba encantaba preferia tenia teniamos estudiaba aimait aimais preferait avait avais utilisait utilisions was were war waren era eran etait etaient had hatte hatten"""
)
LEADS = indexed(
    "turns out|turns out that|it turns out|it turns out that|it turned out|it turned out that|as it turns out|as it turned out|in fact|scratch that|no wait|i was wrong|my mistake|i made a mistake|i misspoke|to be precise|change of plans|small correction|sorry|"
    "es stellte sich heraus dass|wie sich herausstellt|es stellt sich heraus dass|stellt sich heraus|tatsachlich|plananderung|resulta que|en realidad|de hecho|me equivoque|en fait|en realite|finalement|je me suis trompe|cambio de planes|changement de programme|"
    "原 来|其 实|事 实 上"
)
"""What begins a sentence that puts something right."""
PAST_PHRASES = indexed(
    "used to|as a child|as a kid|as a student|as a teenager|when i was|when she was|when he was|back then|back in|years ago|in the past|grew up|at school|als kind|als student|als jugendlicher|als ich|vor jahren|"
    "in meiner kindheit|de nino|de nina|de joven|cuando era|hace anos|en el pasado|de pequeno|de pequena|solia|solian|soliamos|quand j' etais|quand elle etait|quand il etait|enfant|il y a des annees|dans le passe|"
    "以 前|曾 经|小 时 候|过 去|当 年|从 前"
)
USED_TO = indexed("used to|solia|fruher|以 前|曾 经")
QUESTION_START = _set(
    """what when where why how who which can could should would do does did is are was were will has have may shall am any
    was wann wo warum wie wer welche welcher welches kann kannst konnt konntest soll sollen sollte sollten ist sind hat hast haben wird werden darf
    que cuando donde como quien cual puedes puede podrias debo debemos deberiamos deberia hay
    quand comment pourquoi qui quel quelle peux pouvez pourrais doit doit-on dois devons devrions est-ce"""
)
REQUEST_START = _set(
    "can could help would kannst konnt por puedes podrias peux pouvez pourrais pourriez wondering how what let suggest show give tell explain"
)

FIRST = _set("i me my mine im ich mich mir mein meine meiner meinem meinen yo mi mis j' j je moi mon ma mes 我")
FIRST_MANY = _set(
    "we us our ours wir uns unser unsere unserer unserem unseren nosotros nosotras nuestro nuestra nuestros nuestras nous notre nos"
)
OTHERS = _set(
    "he she they it him them er sie es ihm ihn ella ellos ellas il elle ils elles on 他 她 它 this that which who das dies who's eso esto ca cela"
)
DETERMINERS = _set(
    """the a an this that these those my our your his her its their some der die das den dem des ein eine einen einem einer mein meine meinen meinem meiner unser unsere unseren unserem unserer sein seine ihr ihre dieser diese dieses
    el la los las un una unos unas mi mis nuestro nuestra nuestros nuestras su sus este esta le l' les une mon ma mes notre nos son sa ses ce cette ces du des de d'"""
)
INDEFINITE = _set("a an another some ein eine einen einem einer un una unos unas otro otra une des autre another second weiteren weitere")
ADDITIONAL = _set(
    "also another second too additionally auch zusatzlich weitere weiteren zweite zweiten zweites ausserdem tambien otro otra ademas segundo segunda aussi autre egalement deuxieme besides plus 也 还 另"
)
ONE_OF = indexed("one of|some of|einer der|eine der|eines der|einer von|eine von|eines von|uno de|una de|un de|une de|l' un|l' une|之 一")
COPULA = _set(
    "is are am 's be being ist sind bin es son soy somos esta estan estoy estamos est sont suis sommes c'est lautet heisst liegt betragt equals remains stands 是 为 became becomes become wird wurde geworden was were been"
)
TEAM = _set("team project company group squad projekt firma equipo proyecto empresa equipe projet entreprise 团队 项目 公司")
STATE_TIME = _set(
    "since seit desde depuis because weil porque parce with mit avec after nachdem when while where until bis hasta para but and und y et thanks together instead rather statt anstatt anstelle although though so"
)
EVENT_VERBS = _set(
    """ran went bought ate saw met visited attended watched wrote made took gave sent called walked drove flew swam won lost played booked hiked cycled baked cooked cleaned finished shipped fixed merged released
    published celebrated spent presented signed travelled traveled paid donated caught broke found interviewed
    ging lief kaufte ass sah traf besuchte flog fuhr schrieb gelaufen gegangen gekauft gegessen gesehen getroffen besucht geflogen gefahren geschrieben gebucht gewonnen gelesen gekocht gerannt bestellt
    corri fui compre comi vi conoci visite asistio viajo viaje gano gane escribio escribi leyo lei corrio compro fue visito compramos viajamos cocine
    couru alle achete mange vu rencontre visite voyage gagne ecrit lu achetee parti
    跑 买 吃 看 去"""
)
"""Past forms of what happens once: two of them are two events."""
CUMULATIVE = _set(
    """completed solved finished read collected secured reached saved gathered logged scored earned written recorded accumulated studied practiced practised
    abgeschlossen gelost gelesen gesammelt gespart geschafft erledigt completado resuelto leido ahorrado reunido conseguido termine complete resolvi termines resolu lu economise fini
    完 成 解 读 存"""
)
COUNTING_SINCE = _set(
    "already total recently overall altogether insgesamt bereits schon ya total deja already now jetzt ahora maintenant 已 共 总"
)
VAGUE = _set(
    """current currently average overall total exact latest new recent usual main primary actual official planned mean typical next final default neue neuer neues neuen aktuelle aktueller aktuellen aktuelles durchschnittliche
    durchschnittlich durchschnittlichen nueva nuevo actual promedio medio media nouveau nouvelle actuel actuelle moyen moyenne old value amount number wert anzahl valor numero valeur nombre day date time
    """
)
"""Words that do not tell one attribute from another."""
SCHEDULE = _set(
    """happen happens happening takes take place start starts starting begins begin scheduled due held set planned fixed occurs occur stattfinden findet finden statt beginnt fallig angesetzt terminiert geplant startet
    empieza comienza programada programado celebra lugar hacen hace fijada fijado prevista previsto lieu commence prevu prevue fixe fixee debute arranged booked runs cae tiene sera held 举 行 开 始 定 在"""
)
"""Verbs of which the time says when something is; they do not tell one thing from another."""
QUALIFIERS = _set(
    "for in on at as during within under inside fur als bei auf im para como en pour comme dans sur lors when while wenn wahrend beim zum to with mit con avec"
)
"""Prepositions after which stands what limits an object."""
