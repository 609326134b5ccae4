"""States that exclude one another: a thing is in one of a line at a time."""

from __future__ import annotations

from leporello.core.facts.cues_words import Phrases, indexed

_STATES = """
life: alive, am leben, lebt noch, vivo, vivant, 活 着 / died, dead, passed away, deceased, gestorben, verstorben, murio, fallecio, mort, morte, decede, 去 世, 死 了
birth: pregnant, expecting, schwanger, embarazada, enceinte, 怀 孕 / had a baby, gave birth, had a boy, had a girl, had a son, had a daughter, had her baby, baby was born, ein baby bekommen, dio a luz, tuvo un bebe, accouche, 生 了
fault: open, unresolved, broken, failing, red, buggy, not fixed, still there, crashes, down, unpatched, pending fix, kaputt, offen, ungelost, roto, rota, abierto, casse, cassee, en panne, 坏 了, 没 修 / fixed, resolved, repaired, green, passing, patched, solved, back up, working again, works again, works now, behoben, repariert, gelost, geschlossen, arreglado, arreglada, resuelto, resuelta, repare, reparee, corrige, resolu, 修 好, 修 复, 解 决
power: on, enabled, active, activated, turned on, switched on, an, aktiv, aktiviert, eingeschaltet, activado, activada, encendido, encendida, active, activee, allume, 开 着, 启 用, 打 开 / off, disabled, inactive, deactivated, turned off, switched off, aus, deaktiviert, ausgeschaltet, abgeschaltet, desactivado, desactivada, apagado, apagada, desactive, desactivee, eteint, 关 着, 禁 用, 关 闭, 关 了
health: sick, ill, unwell, injured, has a cold, has the flu, has covid, in hospital, in the hospital, on crutches, krank, verletzt, im krankenhaus, enfermo, enferma, malade, blesse, blessee, 生 病, 病 了, 住 院 / healthy, recovered, better now, well again, fine again, feeling better, feels better, feels fine, back on her feet, back on his feet, discharged, out of hospital, home from hospital, home from the hospital, got well, gesund, genesen, erholt, wieder fit, recuperado, recuperada, gueri, guerie, retabli, 康 复, 出 院, 好 了
away: on vacation, on holiday, on leave, on parental leave, on maternity leave, on paternity leave, on sick leave, away, abroad, out of office, im urlaub, krankgeschrieben, in elternzeit, de vacaciones, de baja, en vacances, en conge, 休 假, 度 假, 出 差 / is back, are back, back from, back at work, back in the office, returned from, got back, came back, back home, am back, zuruck, wieder da, ha vuelto, volvio, de retour, est rentre, est rentree, 回 来
taken: available, vacant, free, in stock, verfugbar, disponible, libre, 有 货, 空 着 / filled, occupied, taken, sold out, booked up, fully booked, out of stock, unavailable, rented out, ausverkauft, ausgebucht, vergriffen, agotado, agotada, complet, epuise, 卖 完, 售 罄
verdict: pending, under review, waiting for approval, awaiting approval, in review, ausstehend, in prufung, pendiente, en attente, 待 审, 审 核 中 / approved, accepted, signed off, genehmigt, angenommen, bewilligt, aprobado, aprobada, aceptado, approuve, approuvee, accepte, acceptee, 批 准, 通 过 / rejected, declined, denied, turned down, refused, abgelehnt, rechazado, rechazada, denegado, refuse, refusee, rejete, rejetee, 拒 绝, 否 决
stage: in progress, ongoing, underway, not finished, unfinished, not done, a draft, in draft, in the works, not started, in arbeit, lauft noch, en curso, en proceso, en cours, 进 行 中 / finished, done, completed, complete, concluded, wrapped up, shipped, launched, released, published, deployed, live, fertig, abgeschlossen, beendet, erledigt, veroffentlicht, terminado, terminada, completado, acabado, publicado, termine, terminee, acheve, publie, publiee, 完 成, 结 束, 上 线 了, 发 布 了
signature: unsigned, not signed, nicht unterschrieben, sin firmar, pas signe, 未 签 / signed, unterschrieben, firmado, firmada, firmo, signe, signee, 签 了
merge: not merged, unmerged / merged, gemergt, fusionado, fusionne
price: free, free of charge, gratis, kostenlos, umsonst, gratuito, gratuita, gratuit, gratuite, 免 费 / paid, costs, charged, no longer free, kostet, kostenpflichtig, cuesta, de pago, coute, payant, payante, 收 费
schedule: on schedule, on track, on time, im zeitplan, a tiempo, dans les temps / behind schedule, delayed, late, running late, overdue, verspatet, im verzug, retrasado, retrasada, atrasado, en retard
studying: in school, a student, studying, student, studiert, studentin, estudiante, etudiant, etudiante, 学 生 / fini ses etudes, termino sus estudios, finished university, finished college, finished school, studium abgeschlossen, graduated, got her degree, got his degree, finished her degree, finished his degree, has a degree, abschluss gemacht, se graduo, se recibio, diplome, diplomee, 毕 业
couple: single, unmarried, ledig, soltero, soltera, celibataire, 单 身 / married, engaged, has a girlfriend, has a boyfriend, in a relationship, dating, got married, verheiratet, verlobt, geheiratet, casado, casada, caso, marie, mariee, fiance, fiancee, 结 婚, 订 婚
work: unemployed, jobless, out of work, between jobs, looking for work, looking for a job, arbeitslos, auf jobsuche, desempleado, desempleada, en paro, au chomage, 失 业 / found a job, got a job, has a job, landed a job, got hired, started working, started a new job, new job, stelle gefunden, job gefunden, arbeit gefunden, encontro trabajo, encontre trabajo, trouve un emploi, trouve du travail, 找 到 工 作, 找 到 了 工 作 / retired, in rente, pensioniert, jubilado, jubilada, retraite, retraitee, 退 休
pause: on hold, paused, frozen, suspended, pausiert, auf eis, en pausa, en pause, 暂 停 / resumed, restarted, unpaused, unfrozen, running again, back on, wieder aufgenommen, reanudado, retomado, repris, reprise, 恢 复
chronotype: morning person, early bird, fruhaufsteher, madrugador, leve tot / night owl, night person, nachteule, nocturno, couche tard
frequency: daily, every day, once a day, taglich, jeden tag, diario, a diario, cada dia, todos los dias, quotidien, tous les jours, chaque jour, 每 天 / weekly, every week, once a week, wochentlich, jede woche, semanal, cada semana, hebdomadaire, chaque semaine, toutes les semaines, 每 周 / every two weeks, biweekly, every other week, fortnightly, alle zwei wochen, quincenal, cada dos semanas, toutes les deux semaines, 每 两 周 / monthly, every month, once a month, monatlich, jeden monat, mensual, cada mes, mensuel, chaque mois, tous les mois, 每 月 / quarterly, every quarter, vierteljahrlich, trimestral, trimestriel / yearly, annually, every year, once a year, jahrlich, anual, cada ano, annuel, chaque annee / twice a week, two times a week, zweimal die woche, dos veces por semana, deux fois par semaine / three times a week / four times a week / three times a day / four times a day / hourly, every hour, stundlich / twice a month / twice a day
hours: full-time, full time, vollzeit, a tiempo completo, jornada completa, temps plein, 全 职 / part-time, part time, halftime, teilzeit, a tiempo parcial, media jornada, temps partiel, 兼 职
shift: night shift, night shifts, nights, nachtschicht, turno de noche, 夜 班 / day shift, day shifts, tagschicht, turno de dia, 白 班 / early shift, fruhschicht / late shift, spatschicht
automatic: manual, manually, by hand, manuell, von hand, a mano, manuel, 手 动 / automated, automatic, automatically, automatisiert, automatisch, automatico, automatica, automatizado, automatique, 自 动
presence: in person, face to face, on site, onsite, in the office, vor ort, im buro, presencial, en persona, en presentiel, 线 下, 当 面 / online, remote, remotely, from home, virtual, virtually, over zoom, im homeoffice, von zuhause, en linea, a distancia, remoto, en ligne, teletravail, 线 上, 远 程
weight: overweight, ubergewichtig / healthy weight, normal weight, underweight
doneness: rare, medium rare / medium / well done
mood: happy, satisfied, glucklich, zufrieden, feliz, contento, contenta, heureux, heureuse / unhappy, sad, dissatisfied, unzufrieden, unglucklich, triste, descontento, malheureux
fullness: full / empty
speed: slow, sluggish, langsam, lento, lenta, lent, lente / fast, quick, schnell, rapido, rapida, rapide
cost: cheap, affordable, billig, gunstig, barato, barata / expensive, pricey, teuer, caro, cara
stability: stable, stabil, estable / unstable, flaky, instabil, inestable, instable
side2: north, nord, norte / south, sud, sur / east, ost, este / west, oeste, ouest
hand: left, links, izquierda, gauche / right, rechts, derecha, droite
rank: junior, trainee, an intern, apprentice, praktikant, praktikantin, azubi, becario, becaria, stagiaire / senior / principal
skill: a beginner, beginner, anfanger, principiante, debutant / intermediate, fortgeschritten / advanced, expert, fluent, avanzado
deck: upstairs / downstairs
indoors: indoors, drinnen / outdoors, draussen
beta: in beta, beta, alpha / stable release, generally available, out of beta
optional: optional, voluntary, freiwillig, opcional, facultatif / mandatory, required, obligatory, compulsory, verpflichtend, pflicht, obligatorio, obligatoria, obligatoire
fear: afraid, scared / not afraid, fearless
rent: rent, renting, mieten, miete / bought the, own the, bought it
hair: long hair, hair is long / short hair, hair short
lock: locked, closed, shut, geschlossen, zu, cerrado, cerrada, ferme, fermee / unlocked, opened, reopened, open again, wieder offen, geoffnet, reabierto, reabrio, rouvert, rouverte
weather: sunny, clear, dry / raining, rainy, snowing, cloudy
side: public, open source, oeffentlich, publico, publica, public, publique, 公 开 / private, closed source, privat, privado, privada, prive, privee, 私 有
veg: a vegetarian, a vegan, vegetarian, vegan, vegetarierin, vegetarier, veganerin, vegetariana, vegetariano, vegetarienne, vegetarien / eats meat, eating meat, eat meat, eating fish, isst wieder fleisch, esse wieder fleisch, come carne, como carne, mange de la viande
license: learning to drive, lerne autofahren / got her license, got his license, got my license, passed the driving test, passed her driving test, passed his driving test, passed my driving test
"""
STATES: Phrases = {}
STATE_OF: dict[tuple[str, ...], tuple[tuple[str, int], ...]] = {}
"""The states (which line, which part of it) that a phrase says."""
for _line in _STATES.strip().splitlines():
    _name, _, _rest = _line.partition(": ")
    for _n, _part in enumerate(_rest.split(" / ")):
        for _phrase in _part.split(", "):
            _words = tuple(_phrase.split())
            STATE_OF[_words] = (*STATE_OF.get(_words, ()), (_name, _n))
STATES = indexed(*(" ".join(p) for p in sorted(STATE_OF, key=len, reverse=True)))
