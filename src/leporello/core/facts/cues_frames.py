"""Phrases by which people tell one thing about another, by predicate, in five languages.

A line is `predicate flags: phrase, phrase …`. "…" in a phrase stands for the object ("nach … gezogen"). Flags: `+` the phrase itself
says that it changed, `-` that it is over, `~` that it is disliked (the opposite of the predicate).
"""

from __future__ import annotations

from dataclasses import dataclass

_TABLE = """
home: live on, lives on, living on, address is, place is on, place is in, moved in with, live in, lives in, living in, reside in, resides in, residing in, based in, home is, home is in, lives near, live at, lives at, settled in, located in
home: wohne ich in, wohnt er in, wohnt sie in, wohnen wir in, lebe ich in, leben wir in, wohne in, wohnt in, wohnen in, lebe in, lebt in, leben in, in … wohnt, wohnhaft in, zuhause in, in … lebt
home: vivo en, vive en, vivimos en, viven en, resido en, reside en, residimos en, radico en, radica en, viviendo en
home: habite a, habitent a, habitons a, habite en, habite au, habite, vit a, vis a, vivons a, vivent a, vit en, vis en, reside a, vis au, vit au, residons a
home: 在 … 住, 住 在, 住, 居 住 在, 定 居 在, 家 在, 生 活 在
home +: moved to, move to, moves to, moving to, relocated to, moved back to, moved into, moved over to, settled down in, returned to live in
home +: fue a vivir a, fui a vivir a, ido a vivir a, fuimos a vivir a, fue a vivir en, went to live in, gone to live in, moved house to, moved out to
home +: parti vivre a, partie vivre a, partis vivre a
home +: nach … gezogen, nach … umgezogen, zog nach, zogen nach, zieht nach, nach … ubergesiedelt, in … gezogen
home +: me mude a, se mudo a, nos mudamos a, mudado a, se mudaron a, me traslade a, se traslado a, mude para, mudo para, nos trasladamos a, me he mudado a, se ha mudado a, trasladado a
home +: demenage a, demenage au, demenage en, emmenage a, installe a, installee a, demenage pour, partie vivre a, parti vivre a
home +: 搬 到, 搬 去, 搬 回, 迁 到, 搬 到 了, 移 居, 搬 去 了
employer: unemployed, jobless, out of work, arbeitslos, desempleado, desempleada, en paro, au chomage, 失 业, 待 业
employer: work at, works at, working at, work for, works for, working for, employed at, employed by, employer is, job at, work with the company
employer: arbeite ich bei, arbeite ich fur, arbeitet er bei, arbeitet sie bei, arbeite bei, arbeitet bei, arbeiten bei, bei … angestellt, arbeite fur, arbeitet fur, angestellt bei, bei … tatig, bei … arbeitet
employer: trabajo en, trabaja en, trabajo para, trabaja para, trabajamos en, empleado en, empleada en, trabajando en, trabajando para
employer: travaille chez, travaille pour, travaillent chez, employe chez, employee chez, bosse chez, travaille a
employer: 在 … 工 作, 在 … 上 班, 就 职 于, 任 职 于, 工 作 于
employer +: stelle bei … gefunden, job bei … gefunden, stelle gefunden, job gefunden, arbeit gefunden, found a job, found a new job, found work, encontro trabajo, encontre trabajo
employer +: joined, started at, started working at, got a job at, hired by, got hired by, took a job at, started a job at, moved to the company, new job at
employer +: zu … gewechselt, wechselte zu, wechselt zu, bei … angefangen, fing bei … an
employer +: entro en, entre en, entro a trabajar en, empezo en, empece en, empezo a trabajar en, empece a trabajar en, se unio a, me uni a, fichado por
employer +: rejoint, rejointe, rejoins, embauche chez, embauchee chez, commence chez, entre chez
employer +: 加 入 了, 加 入, 入 职, 跳 槽 到, 跳 槽 去
job: work as, works as, working as, job is, profession is, occupation is, job title is, role is, position is, employed as
job: arbeite als, arbeitet als, arbeiten als, beruf ist, als … tatig, von beruf
job: trabajo como, trabaja como, trabajo de, trabaja de, mi profesion es, ejerce de, ejerzo de
job: travaille comme, travaille en tant que, travaille en tant qu', metier est, exerce comme, poste de
job: 职 业 是, 当 了, 担 任, 的 工 作 是, 做
job +: promoted to, became a, became an, became the, became, retrained as, now works as, appointed, started as, moved into the role of, took over as
job +: befordert zu, zum … befordert, zur … befordert, wurde … befordert, umgeschult zu, zum … ernannt, zur … ernannt
job +: ascendio a, ascendida a, ascendido a, la ascendieron a, lo ascendieron a, me ascendieron a, promovida a, promovido a, se convirtio en, me converti en, nombrada, nombrado
job +: promu, promue, devenu, devenue, nomme, nommee
job +: 升 为, 升 任, 晋 升 为, 成 为, 升 职 为, 转 行 做, 改 行 做
employer -: left, quit, quit her job at, quit his job at, quit my job at, resigned from, fired from, laid off from, laid off by, leaving
employer -: bei … gekundigt, bei … aufgehort, verliess, hat … verlassen
employer -: dejo, deje, renuncio a, renuncie a, salio de, sali de, deje mi trabajo en, dejo su trabajo en, me fui de, se fue de
employer -: quitte, demissionne de, parti de, partie de
employer -: 从 … 离 职, 离 开 了, 辞 去 了, 从 … 辞 职
partner: married to, married, dating, engaged to, in a relationship with, husband is, wife is, partner is, girlfriend is, boyfriend is, spouse is, fiance is, fiancee is, together with, seeing, going out with, living with her partner, single, unmarried
partner: verheiratet mit, mit … verheiratet, mit … zusammen, verlobt mit, mit … verlobt, verheiratet, liiert mit, freundin ist, freund ist, frau ist, mann ist, frau heisst, mann heisst, freundin heisst, freund heisst, ledig, partner ist, partnerin ist
partner: casado con, casada con, sale con, salgo con, comprometida con, comprometido con, novio es, novia es, novia se llama, novio se llama, marido es, marido se llama, esposa es, esposo es, mujer es, pareja es, pareja de, casada, casado, soltero, soltera
partner: marie a, mariee a, marie avec, mariee avec, en couple avec, fiance a, fiancee a, fiance avec, sort avec, mari est, femme est, celibataire, copain est, copine est, mari s' appelle, femme s' appelle, marie, mariee
partner: 结 婚 了, 和 … 结 婚, 嫁 给, 跟 … 结 婚, 妻 子 是, 丈 夫 是, 女 朋 友 是, 男 朋 友 是, 单 身, 已 婚, 未 婚, 和 … 在 一 起, 和 … 订 婚
partner +: got married to, married to, got engaged to, got together with, hat … geheiratet, se caso con, me case con, nos casamos, s' est marie avec, s' est mariee avec, started dating, got married, remarried
partner -: divorced, divorced from, got divorced, broke up, broke up with, split up with, separated, separated from, widowed, split from, getting divorced
partner -: geschieden, getrennt, von … getrennt, verwitwet, von … geschieden, schluss gemacht, von … scheiden lassen, scheiden lassen, mit … schluss gemacht
partner -: divorciado, divorciada, divorcio, se divorcio, me divorcie, se separo, me separe, separada, separado, rompio con, rompi con, viuda, viudo, rompieron, terminaron, separaron, divorciaron, hemos roto, ha roto con
partner -: divorce, divorcee, separe, separee, rompu avec, quitte son mari, quitte sa femme, veuf, veuve, rompu
partner -: 离 婚, 分 手, 离 了 婚, 分 了 手
boss: report to, reports to, boss is, manager is, supervisor is, berichtet an, berichte an, chef ist, chefin ist, vorgesetzter ist, vorgesetzte ist, jefe es, jefa es, reporta a, reporto a, chef est, cheffe est, manager est, patron est, 老 板 是, 上 司 是, 领 导 是
team: on the … team, in the … team, member of the … team, part of the … team, works on the … team
team +: transferred to the … team, joined the … team, moved to the … team, switched to the … team, left for the … team
grade: in … grade, started … grade, entered … grade, begins … grade, finished … grade
school: student at, goes to, studying in, studies in, degree at, study at, studies at, studying at, enrolled at, goes to school at, attends, studiert an, studiere an, studiert in, estudia en, estudio en, etudie a, 就 读 于, 在 … 读 书, 在 … 上 学
school -: dropped out of, graduated from, finished school, dropped out, abgebrochen, exmatrikuliert, dejo la universidad, dejo los estudios, arrete ses etudes, 退 学, 毕 业
major: study, studies, majoring in, majors in, major is, studiert, studiere, estudia, estudio, etudie, 学 的 是, 专 业 是
like: like, likes, love, loves, enjoy, enjoys, fond of, interested in, adore, adores, fan of, keen on, crazy about
like +: come round to, came round to, come around to, came around to, warmed to, warmed up to, grown fond of, taken a liking to
like: mag, moge, mogen, liebe, liebt, lieben, gefallt, fan von, geniesse, steht auf
like: interesa, interesan, gusta, gustan, encanta, encantan, amo, adoro, adora, disfruto, disfruta, fan de, apasiona
like: aime, aimons, aiment, adore, adorent, apprecie
like: 喜 欢, 爱, 热 爱, 喜 爱, 爱 吃, 爱 喝, 喜 欢 吃, 喜 欢 喝
like ~: hate, hates, dislike, dislikes, detest, detests, loathe, loathes, can't stand, can not stand, cannot stand, despise, despises, allergic to the idea of
like ~: hasse, hasst, hassen, verabscheut, verabscheue
like ~: odio, odia, odiamos, detesto, detesta, no soporto, no soporta, aborrece
like ~: deteste, detestent, deteste, hais, hait, horreur de
like ~: 讨 厌, 恨
prefer: would like, prefer, prefers, favour, favours, favor, favors, rather have, would rather, preference is, preferred, favourite is, ziehe … vor, zieht … vor, bevorzuge, bevorzugt, bevorzugen, lieber, prefiero, prefiere, preferimos, prefieren, preferencia es, prefere, preferons, preferent, 更 喜 欢, 偏 好, 宁 愿, 偏 爱, 倾 向 于
have: have a, has a, have an, has an, own a, owns a, own an, owns an, have two, has two, have three, has three, got a, adopted a, bought a, own, owns, 's got a
have: habe einen, habe eine, habe ein, hat einen, hat eine, hat ein, besitze, besitzt, besitzen, haben einen, haben eine, haben ein
have: tengo un, tengo una, tiene un, tiene una, tenemos un, tenemos una, poseo, posee, tienen un, tienen una
have: ai un, ai une, a un, a une, avons un, avons une, possede, possedons, ont un, ont une
have: 有 一 只, 有 一 个, 养 了, 有 一 条, 有 一 辆, 养 着, 有 只
speak: speak, speaks, spricht, spreche, habla, hablo, parle, parlons, 会 说, 讲
play: play, plays, plays the, play the, spielt, spiele, juega, juego, juega al, juego al, toca, toco, joue, 玩, 弹, 打
drive: drive a, drives a, drive an, drives an, drive, drives, commute by, commutes by, go to work by, goes to work by, cycle to, fahrt einen, fahre einen, fahre mit, fahrt mit, conduce un, conduzco un, conduce una, voy en, va en, conduit une, roule en, va au travail en, vais au travail en, 开 车, 骑
drink: drink, drinks, drinking, trinke, trinkt, trinken, bebo, bebe, bebemos, tomo, toma, bois, boit, buvons, 喝
eat: eat, eats, eating, esse, essen, isst, como, come, comer, manger, comemos, mange, mangeons, 吃
smoke: smoke, smokes, smoking, smoker, rauchen, fumar, fumer, rauche, raucht, raucher, raucherin, fumo, fuma, fumador, fumadora, fume, fumeur, 抽 烟, 吸 烟
smoke -: 戒 烟, 戒 了 烟, 戒 掉 烟
allergic: allergic to, allergic, allergisch gegen, gegen … allergisch, alergico a, alergica a, allergique a, allergique aux, allergy to, 对 … 过 敏
use: use, uses, using, run on, runs on, running on, rely on, relies on, work with, works with, built on, built with, powered by, based on, hosted on, deploy on, deploys on, deploy to, deploys to, deployed on, deployed to, written in, written with, write in, host on, code in, hosts on, hosted at, runs, run, stored in, store in, managed with, tracked in, we track, use … as, database is, framework is
use: nutze, nutzt, nutzen, verwende, verwendet, verwenden, benutze, benutzt, benutzen, setze auf, setzt auf, setzen auf, setzen … ein, setzt … ein, lauft auf, lauft unter, laufen unter, laufen auf, in … geschrieben, gehostet auf, gehostet bei, arbeite mit, arbeitet mit, arbeiten mit, deployen auf, basiert auf, mit … gebaut, laufen bei, lauft bei
use: uso, usa, usamos, usan, utilizo, utiliza, utilizamos, utilizan, empleamos, escrito en, escrita en, escribimos en, alojado en, alojada en, desplegamos en, corre en, corre sobre, funciona con, trabajamos con, basado en, basada en, se ejecuta en
use: utilise, utilisons, utilisent, emploie, tourne sur, ecrit en, heberge sur, hebergee sur, deployons sur, ecrite en, fonctionne avec, travaillons avec, repose sur, se sert de
use: 使 用, 用 的 是, 采 用, 用, 部 署 在, 运 行 在, 基 于, 用 着
use +: switched back to, went back to, moved back to, switched to, switching to, switched over to, migrated to, changed to, went with, changed over to, migrated over to, swapped to, adopted, settled on, ported to, rewrote it in, rewritten in, rewrote in, moved on to, standardised on, standardized on, opted for, converted to, transitioned to, moved over to
use +: auf … umgestiegen, auf … gewechselt, zu … gewechselt, auf … umgestellt, nach … migriert, auf … migriert, wechselten zu, stiegen auf … um, steigen auf … um, in … neu geschrieben, auf … gewechselt
use +: cambiamos a, cambie a, cambio a, cambiado a, pasamos a, paso a, pase a, migramos a, migro a, migrado a, nos pasamos a, me pase a, se paso a, adoptamos, he pasado a, hemos pasado a, hemos migrado a, ha migrado a, reescrito en, se cambio a, me cambie a, nos cambiamos a, pasado a
use +: passe a, passes a, passee a, migre vers, migre a, bascule sur, bascule vers, adopte, opte pour, passe au, passes au, passes sous, migres vers, reecrit en
use +: 换 成 了, 换 成, 改 用, 迁 移 到, 切 换 到, 转 到 了, 换 到, 改 用 了, 转 用, 改 成, 换 用
reside: takes place in, take place in, held in, held at, happens in, happens at, taking place in, takes place at, located at, findet in … statt, findet im … statt, im … statt, in … statt, se celebra en, tiene lugar en, se hara en, sera en, se celebrara en, a lieu a, a lieu au, aura lieu a, se tient a, se trouve a, se encuentra en, sits in, 在 … 举 行, 在 … 举 办, 位 于, befindet sich in, liegt in
reside +: moved the venue to, relocated the venue to, venue changed to
lead: led by, managed by, owned by, maintained by, run by, headed by, taught by, organised by, organized by, geleitet von, von … geleitet, von … betreut, dirigido por, dirigida por, gere par, geree par, dirige par, dirigee par, 由 … 负 责, 负 责 人 是, handled by, reviewed by, assigned to, belongs to
leads: responsible for, in charge of, handles the, looks after the, takes care of the, taking care of the, verantwortlich fur, zustandig fur, kummert sich um, responsable de, encargado de, encargada de, s' occupe de, s' occupe du, charge de, 负 责, owner of the, lead of the, leads the, lead the, leads, runs the, heads the, heads, manages, manages the, leite, leitet, dirige, dirijo, lidera, encabeza, maintains the, owns the, teaches the
leads +: took over the, took over, taken over the, takes over the, taking over the, asumio, ubernimmt, repris
named: address me as, call me, goes by, go by, going by, known as, last name is, surname is, nachname ist, nenn mich, llamame, apellido es, appelle moi, appelle-moi, nom de famille est, named, called, name is, titled, heisst, heissen, heissen jetzt, namens, se llama, me llamo, llamado, llamada, nombre es, s' appelle, m' appelle, nom est, nomme, intitule, 叫 做, 名 叫, 叫, 名 字 是
named +: renamed to, renamed, rebranded as, rebranded to, renamed as, in … umbenannt, umbenannt in, renombrado a, renombrada a, paso a llamarse, ahora se llama, renomme en, rebaptise, rebaptisee, 改 名 为, 更 名 为, 改 名 叫, 改 叫
"""


@dataclass(frozen=True)
class Phrase:
    """A phrase of a frame: the words before the object, those after it (often none), and what it says."""

    words: tuple[str, ...]
    tail: tuple[str, ...]
    predicate: str
    changed: bool
    ended: bool
    opposite: bool


def _phrases() -> dict[str, tuple[Phrase, ...]]:
    """By first word, longest first."""
    found: dict[str, list[Phrase]] = {}
    for line in _TABLE.strip().splitlines():
        head, _, phrases = line.partition(": ")
        predicate, _, flags = head.partition(" ")
        for phrase in phrases.split(", "):
            words, _, tail = phrase.partition("…")
            made = Phrase(tuple(words.split()), tuple(tail.split()), predicate, "+" in flags, "-" in flags, "~" in flags)
            found.setdefault(made.words[0], []).append(made)
    return {w: tuple(sorted(p, key=lambda q: len(q.words) + 2 * len(q.tail), reverse=True)) for w, p in found.items()}


PHRASES = _phrases()

OPEN_VERBS = frozenset(
    """supports support accepts accept allows allow offers offer provides provide includes include contains contain has have covers cover handles handle knows sells sell reads exports imports tests tested available works-with needs
    unterstutzt akzeptiert erlaubt bietet enthalt hat haben verkauft kennt soporta admite acepta permite ofrece incluye contiene tiene vende supporte accepte permet propose contient vend 支 持""".split()
)
"""Verbs that take many objects at a time."""
SINGLE = frozenset("home employer job partner boss school age diet version deadline lead named reside grade".split())
"""Predicates that hold one value at a time."""
ALMOST_SINGLE = frozenset("drive major team".split())
"""Predicates with one value for most people: another value is a conflict unless a word says that it changed."""
MANY = frozenset("like have speak play allergic eat drink".split())
PERSONAL = frozenset(
    "team grade leads home employer job partner boss school major like prefer have speak play drive drink eat smoke allergic diet age".split()
)
"""Predicates whose subject is somebody."""
