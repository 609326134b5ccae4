"""Capitalised words that are no names, and words beside which a capitalised word is one. All are folded."""

from __future__ import annotations

from functools import cache

from leporello.core.graph.shapes import key

_LISTS = {
    "never": """
    i i'm i'd i've i'll im ive ok okay yes no yeah yep nope hi hey hello dear bye please thanks thank cheers sorry wow oh ah hmm lol omg btw fyi imo
    asap todo fixme note nb ps pm am tv cv pdf faq diy id it hr qa ui ux pr ci cd db api url uri http https json xml html css sql csv yaml utc gmt
    ai ml llm sdk cli gpu cpu ram usb os ip vpn dns ssh tls ssl rest crud mvp kpi roi eta eod tba tbd rip usd eur gbp never always must not do
    don't warning error info debug important bug fix feat true false null none nil nan
    monday tuesday wednesday thursday friday saturday sunday mon tue tues wed thu thur thurs fri sat sun
    january february march april may june july august september october november december jan feb mar apr jun jul aug sep sept oct nov dec
    montag dienstag mittwoch donnerstag freitag samstag sonnabend sonntag januar februar marz mai juni juli oktober dezember
    lunes martes miercoles jueves viernes sabado domingo enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre
    lundi mardi mercredi jeudi vendredi samedi dimanche janvier fevrier mars avril juin juillet aout septembre octobre novembre decembre
    user assistant system tool human agent bot model sie ihr ihnen du ich usted ustedes
    god gott dios mr mrs ms mx dr prof sr sra srta herr frau fraulein monsieur madame mme
    """,
    "starter": """
    a about above actually after again ah all almost along already also although always among an and another any anybody anyone anything anyway
    apparently are aren't as at back basically be because been before behind being below besides best better between beyond both but by can can't
    could currently despite did didn't do does doesn't don't done down due during each earlier either else enough especially even eventually ever every
    everybody everyone everything everywhere except exactly few finally first five for four from further generally good got great had half hardly has hasn't have having
    he he'd he'll he's hence her here here's hers herself him himself his hopefully how how's however if in indeed inside instead into is isn't
    it's it'd it'll its itself just last lastly late lately later least less let let's like likely little look lots many maybe me meanwhile mine
    more moreover most mostly much my myself near nearly neither never nevertheless new next nice nobody none nor normally nothing now obviously of
    off often old on once one only onto or originally other others otherwise our ours out outside over overall own people perhaps personally plus
    possibly previously probably quite rather really recently right same second seems seven several she she'd she'll she's should similarly since
    six so some somebody somehow someone something sometimes somewhere soon still such suddenly sure ten than that that'd that's the their theirs
    them then there there's therefore these they they'd they'll they're they've third this those though three through throughout thus till to today
    together tomorrow tonight too total toward towards two typically under unfortunately unless unlike until up upon us used usually very via was
    wasn't we we'd we'll we're we've well were weren't what what's whatever when when's whenever where where's wherever whether which while who
    who's whoever whole whom whose why why's will with within without won't would wouldn't yesterday yet you you'd you'll you're you've your yours
    aww haha congrats congratulations absolutely definitely life family art nature pottery painting dance dancing love luck glad proud perfect amazing awesome
    exciting lunch dinner breakfast coffee tea work home school weekend morning evening afternoon night week month year day time money water food music
    der die das den dem des ein eine einer eines einem einen und oder aber auch dann denn doch er es wir man mein meine meinen meiner meinem dein
    deine sein seine seinen ihre ihren unser unsere euer dieser diese dieses jeder jede jedes alle viele einige kein keine nicht nur noch schon
    sehr wenn weil dass als ob wie wo was wer wann warum woher wohin welche welcher welches heute gestern morgen jetzt bald immer nie hier dort da
    nachste nachsten letzte letzten vor nach mit bei von zu zum zur im am auf aus in fur uber unter durch ohne um seit wahrend wegen trotz bitte
    danke ja nein hallo
    el la los las un una unos unas y o pero tambien cuando donde como que quien cual porque si no muy mas mi mis tu tus su sus nuestro nuestra
    este esta estos estas ese esa eso aqui alli hoy ayer manana ahora siempre nunca en de del al con sin por para entre desde hasta sobre yo el
    ella ellos ellas nosotros todo todos toda todas cada otro otra hola gracias
    le les une des du et ou mais avec dans pour sans sous sur chez je il elle nous vous ils elles ce cette ces mon ma mes ton ta tes son sa ses
    notre votre leur leurs qui quoi quand comment pourquoi aujourd'hui hier demain maintenant toujours jamais bonjour merci
    il lo gli uno e ma anche quando dove come che chi perche se non molto piu mio mia suo sua questo questa oggi ieri domani io lui lei noi loro
    o os as um uma e mas quando onde como quem porque nao muito meu minha seu sua isto isso hoje ontem amanha eu ele ela nos eles
    и в на он она они мы вы ты я это как но если когда где кто что мой моя наш наша его ее их сегодня вчера завтра сейчас
    """,
    "imperative": """
    add allow apply ask assume attend avoid begin book bring build buy call cancel change check choose clean close come commit compare complete configure
    confirm connect consider contact continue convert copy create delete deploy describe discuss drop eat email enable ensure enjoy explain explore
    export find finish fix follow get give go grab handle help hold implement import improve include install invite join keep know learn leave list
    load love make mark meet mention merge message migrate mind miss move need notify open order pay pick ping plan play prefer prepare publish pull
    push put reach read rebase refactor reference reject release remember remind remove rename reopen replace reply report request require reset resolve
    restart restore return review revert rewrite run save schedule see select send set setup share ship show sign skip start stay stop store study
    support switch take talk tell test text thank think try turn uninstall update upgrade use verify visit wait want wash watch welcome wish write
    """,
    "person verb": """
    lives lived works worked likes liked loves loved hates hated prefers preferred enjoys enjoyed thinks thought believes believed feels felt
    knows knew married moved loathes dislikes disliked told asked went graduated retired emailed texted phoned drinks drank eats ate speaks
    spoke cooks cooked dances studies studied teaches taught plays played reads visited adopted smiled laughed hopes hoped wishes wished
    wohnt lebt arbeitet mag liebt hasst isst trinkt heisst heißt studiert spielt glaubt denkt zog vive vivia trabaja trabajo prefiere odia estudia
    habite travaille aime deteste prefere vit etudie abita lavora ama preferisce mora trabalha gosta живет живёт работает любит родился родилась
    """,
    "actor verb": """
    said says wants wanted uses used has had needs needed owns owned runs ran leads led joined left bought sold built wrote writes made makes
    suggested proposed decided agreed refused recommended reported reviewed approved announced called sent gave got took started stopped
    switched uploaded reminded promised explained mentioned came comes goes keeps kept plans planned sagt sagte will hat kommt kam macht machte zieht geht ging
    dice dijo quiere tiene tuvo dit veut dice vuole ha diz quer tem сказал сказала хочет
    """,
    "kin": """
    sister brother mother father mom mum dad mommy mummy daddy son daughter wife husband partner girlfriend boyfriend friend uncle aunt auntie
    cousin nephew niece grandma grandpa grandmother grandfather granny fiance fiancee colleague coworker boss manager teammate roommate flatmate
    neighbour neighbor teacher professor doctor dentist therapist landlord mentor coach client customer ceo cto cfo president chancellor king
    queen pope saint sir lady lord captain colonel general sergeant mr mrs ms mx dr prof
    schwester bruder mutter vater sohn tochter mann ehemann freund freundin onkel tante cousine neffe nichte oma opa kollege kollegin chef
    chefin nachbar nachbarin lehrer lehrerin arzt arztin herr frau herrn
    hermana hermano madre padre hijo hija esposa esposo marido mujer amigo amiga tio tia primo prima novio novia jefe jefa colega vecino vecina
    señor senor senora señora don dona sr sra soeur frere mere pere fils fille femme mari ami amie oncle cousin patron monsieur madame
    сестра брат мать отец мама папа сын дочь жена муж друг подруга дядя тетя начальник
    """,
    "person object": "met meet married marry emailed hired dating phoned texted hugged kissed",
    "place cue": "lives lived living moved moving relocated flew flying travelled traveled travelling traveling trip born based visited visiting wohnt wohne vive vivo habite nach",
    "project cue": "project projekt proyecto projet progetto projeto repository repo проект",
    "organisation": "inc corp ltd llc gmbh ag plc university universitat universidad universite institute foundation bank hospital college company",
    "first person": "i me my mine i'm we our us ich mein meine meinen meiner mir mich unser unsere yo mi mis me je mon ma mes я мой моя мне",
    "name part": "new los las la el le de san",
    "particle": "of van von de da di du del della der den la le bin ibn al the zu zur y",
    "german": "der die das und ist nicht ich ein eine mit auf für im den dem wir sie wird wurde hat haben war bei zum zur auch sich mein meine seit",
    "english": "the and is are was of to in that it for with on my his her has have at be this will from",
    "german determiner": """
    der die das den dem des ein eine einer eines einem einen mein meine meinen meiner meinem dein deine sein seine seinen seiner ihr ihre ihren
    ihrer unser unsere unserem unseren unserer kein keine keinen keiner dieser diese dieses diesen diesem jeder jede jedes jeden viel viele
    wenig einige mehr alle im am zum zur beim vom ins ans kleine neue große gute alte kleinen neuen großen guten alten
    """,
    "german preposition": "in nach aus bei mit für von an über",
    "german place": """
    münchen bremen dresden aachen essen göttingen tübingen solingen reutlingen leverkusen spanien italien schweden norwegen polen rumänien indien
    brasilien argentinien kroatien belgien slowenien australien bayern sachsen hessen thüringen westfalen wien
    """,
    "german noun": """
    hause zukunft ordnung zeit ruhe arbeit urlaub milch zucker wasser musik ende anfang mitte fall frage sicht form teil rahmen bezug hilfe
    beispiel abend nacht tag tage tagen woche wochen monate monaten jahre jahren jahr uhr geld spaß angst lust glück liter tasse stück glas
    kilo paar firma stadt land team büro schule uni sport kindern kind freunden freunde leuten menschen kollegen eltern essen trinken kaffee tee
    wein bier brot käse fleisch deutsch englisch reise sachen dinge dingen version seite datei fehler code test tests hunger fahrrad auto bus bahn zug
    """,
}  # fmt: skip
GERMAN_NOUN_ENDINGS = (
    "ung",
    "heit",
    "keit",
    "schaft",
    "tion",
    "tat",
    "chen",
    "lein",
    "ling",
    "nis",
    "tum",
    "en",
    "ern",
    "ismus",
    "zeug",
    "zeit",
)


@cache
def words(which: str) -> frozenset[str]:
    """The words of a list, folded as names are."""
    return frozenset(map(key, _LISTS[which].split()))
