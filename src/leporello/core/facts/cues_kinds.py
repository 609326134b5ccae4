"""Kinds of values: words of one kind exclude one another, or compete, where they answer the same question."""

from __future__ import annotations

_EXCLUSIVE = """
indent: tabs tab spaces space leerzeichen tabulatoren tabulator tabuladores espacios tabulations espaces
package-manager: npm yarn pnpm bun
python-manager: pip poetry uv pipenv conda pdm
frontend: react vue svelte angular solid preact ember nextjs next.js nuxt
test-runner: pytest unittest nose jest vitest mocha jasmine junit testng
ci: jenkins github-actions gitlab-ci circleci travis buildkite teamcity drone
bundler: webpack vite rollup parcel esbuild turbopack
theme: dark light dunkel dunkle dunklen dunkles dunkelmodus hell helle hellen helles hellmodus oscuro oscura claro clara sombre clair 深 浅 暗
seat: aisle window gang gangplatz fenster fensterplatz pasillo ventana ventanilla couloir hublot fenetre 走 窗
diet: vegetarian vegan pescatarian omnivore carnivore meat vegetarisch vegetarier vegetarierin veganer veganerin fleisch allesesser vegetariano vegetariana vegano vegana carne omnivoro omnivora pescetariano vegetarien vegetarienne vegetalien vegane viande 素 荤 肉
casing: snake_case camelcase snake-case camel-case kebab-case pascalcase
quotes: single-quotes double-quotes
license: mit apache apache-2.0 gpl gplv3 bsd agpl lgpl mpl proprietary
licence-model: free paid kostenlos kostenpflichtig gratis gratuit payant
style: rest graphql grpc soap
switch: enabled disabled aktiviert deaktiviert activado desactivado activada desactivada active desactive inactive 开 关
updown: online offline
openness: open closed geschlossen offen abierto abierta cerrado cerrada ouvert ouverte ferme fermee
visibility: public private privat offentlich publico publica privado privada prive privee
necessity: required optional mandatory verpflichtend freiwillig obligatorio obligatoria opcional obligatoire facultatif
outcome: passing failing green red broken working rot grun verde roja rojo
job-time: full-time part-time vollzeit teilzeit
place-of-work: remote onsite on-site hybrid homeoffice office buro remoto presencial oficina bureau teletravail
length: short longer shorter long brief detailed concise verbose kurz kurze kurzen ausfuhrlich ausfuhrliche ausfuhrlichen lange langen knapp knappe detailliert detaillierte detaillierten corto corta cortas cortos breve breves largo larga largas largos detallada detalladas detallado detallados court courte courtes courts longue long longues detaille detaillee detaillees bref breves
formality: duze duzt sieze siezt tutear tutoyer vouvoyer formal informal casual formell informell locker duzen siezen formel informel
daypart: morning mornings evening evenings afternoon afternoons night nights morgens abends nachmittags morgen-s manana-s vormittags mananas tardes noches matin soir apres-midi 早 晚
branching: monorepo polyrepo multirepo
sync: synchronous asynchronous sync async synchron asynchron
temperature: hot cold iced warm kalt heiss caliente frio fria chaud froid
spice: spicy mild scharf mildes picante suave epice doux 辣
spelling: british american
ordinal: first second third fourth fifth sixth seventh eighth ninth tenth ersten zweiten dritten vierten funften sechsten siebten primer segundo tercer primero tercero cuarto quinto premier deuxieme troisieme quatrieme cinquieme
degrees: celsius fahrenheit kelvin
measures: metric imperial metrisch imperial
sugar: sweet salty savoury savory suss salzig dulce salado sucre sale
paper: paperback ebook ebooks e-book audiobook audiobooks horbuch horbucher hardcover gedruckte
"""
_COMPETING = """
database: postgres postgresql mysql mariadb sqlite mongodb mongo oracle cockroachdb dynamodb cassandra mssql duckdb firestore supabase couchdb neo4j
cache: redis memcached valkey
queue: kafka rabbitmq sqs nats celery pulsar
language: python rust go golang java kotlin typescript javascript ruby php c++ c# scala elixir swift clojure haskell perl
backend: django flask fastapi rails spring express nestjs laravel starlette gin actix
cloud: aws gcp azure heroku vercel netlify hetzner fly.io digitalocean railway render on-premise on-prem cloudflare
editor: vim neovim emacs vscode vs-code intellij pycharm sublime zed cursor webstorm
os: linux windows macos ubuntu debian fedora arch mint android ios mac
tracker: jira linear trello asana notion github-issues monday clickup
chat: slack teams discord mattermost zulip whatsapp telegram signal threema
host: github gitlab bitbucket gitea codeberg
formatter: black ruff prettier biome flake8 pylint eslint
drink: tea coffee tee kaffee te cafe the matcha water wasser agua mate espresso decaf cappuccino juice beer wine bier wein cerveza vino 茶 咖 水 奶
transport: bike bicycle car train bus tram metro subway foot scooter plane fly flugzeug avion fahrrad rad auto zug bahn bicicleta bici coche tren autobus velo voiture
browser: firefox chrome safari edge brave
container: docker podman kubernetes nomad swarm k8s
format: json yaml toml xml csv
colour: red blue green yellow black white orange purple pink teal grey gray brown turquoise rot blau grun gelb schwarz weiss lila rosa braun grau turkis rojo azul verde amarillo negro blanco morado marron rouge bleu vert jaune noir blanc violet 红 蓝 绿 黄 黑 白 紫
genre: jazz rock pop classical techno metal rap folk blues
sport: tennis football soccer basketball swimming running cycling climbing yoga padel badminton fussball schwimmen laufen futbol natacion
season: summer winter spring autumn fall fruhling sommer herbst verano invierno primavera otono ete hiver printemps automne
monitoring: grafana datadog prometheus newrelic sentry
infra: terraform pulumi ansible cloudformation helm
auth: jwt sessions session-cookies oauth saml cookies auth0 okta keycloak cognito
css: tailwind bootstrap sass css-modules bulma
orm: sqlalchemy prisma typeorm sequelize hibernate drizzle
search: elasticsearch opensearch solr meilisearch typesense algolia
payment: stripe paypal adyen braintree
email-tool: gmail outlook protonmail thunderbird
state: redux zustand mobx recoil
tongue: english german spanish french italian portuguese chinese mandarin japanese korean russian arabic dutch polish turkish englisch deutsch spanisch franzosisch italienisch ingles aleman espanol frances anglais allemand espagnol francais 英 德 法
bank: visa mastercard amex
shell: bash zsh fish powershell
"""
ALIASES = {
    "postgresql": "postgres", "mongo": "mongodb", "golang": "go", "k8s": "kubernetes", "bicycle": "bike", "fahrrad": "rad", "tab": "tabs", "space": "spaces", "tabulator": "tabulatoren",
    "gray": "grey", "onsite": "on-site", "bici": "bicicleta", "soccer": "football", "vegetarier": "vegetarisch", "vegetarierin": "vegetarisch", "vegetariana": "vegetariano",
    "vegana": "vegano", "veganer": "vegan", "veganerin": "vegan", "vegetarienne": "vegetarien", "vs-code": "vscode", "macos": "mac", "on-prem": "on-premise", "actions": "github-actions",
    "gangplatz": "gang", "fensterplatz": "fenster", "ventanilla": "ventana", "dunkelmodus": "dunkel", "hellmodus": "hell", "dunkle": "dunkel", "dunklen": "dunkel", "dunkles": "dunkel", "helle": "hell",
    "hellen": "hell", "helles": "hell", "oscura": "oscuro", "clara": "claro", "mornings": "morning", "evenings": "evening", "afternoons": "afternoon", "nights": "night", "kurze": "kurz", "kurzen": "kurz",
    "cortas": "corto", "cortos": "corto", "corta": "corto", "largas": "largo", "largos": "largo", "larga": "largo", "breves": "breve", "iphone": "ios", "iphones": "ios", "longer": "long", "shorter": "short", "brief": "short", "concise": "short", "verbose": "long", "detailed": "long",
    "corto": "breve", "detallada": "largo", "detalladas": "largo", "detallado": "largo", "detallados": "largo", "ausfuhrlich": "lang", "ausfuhrliche": "lang", "ausfuhrlichen": "lang", "lange": "lang",
    "langen": "lang", "detailliert": "lang", "detaillierte": "lang", "detaillierten": "lang", "knapp": "kurz", "knappe": "kurz", "ebooks": "ebook", "audiobooks": "audiobook", "abierta": "abierto",
    "cerrada": "cerrado", "activada": "activado", "desactivada": "desactivado", "publica": "publico", "privada": "privado", "roja": "rojo", "ouverte": "ouvert", "fermee": "ferme", "hellblau": "blau",
    "longue": "long", "longues": "long", "courte": "court", "courtes": "court", "courts": "court", "detaille": "long", "detaillee": "long", "detaillees": "long", "bref": "court", "green": "green", "e-book": "ebook",
    "broken": "failing", "next.js": "nextjs", "gplv3": "gpl", "apache-2.0": "apache",
}  # fmt: skip


def _read(table: str) -> dict[str, str]:
    return {w: line.partition(": ")[0] for line in table.strip().splitlines() for w in line.partition(": ")[2].split()}


_EXCLUDING = _read(_EXCLUSIVE)
EXCLUSIVE_KINDS = frozenset(_EXCLUDING.values())
"""Kinds of which one subject has one; of the others it may have several."""
KIND = _read(_COMPETING) | _EXCLUDING
"""Folded word to its kind."""
TECHNICAL = frozenset(
    "package-manager python-manager frontend test-runner ci bundler casing quotes style branching database cache queue language backend cloud editor os tracker chat host formatter browser container format "
    "monitoring infra auth css orm search payment email-tool state shell license indent".split()
)

MANY_NOUNS = frozenset(
    """friend colleague brother sister child son daughter kid pet hobby language allergy phone number telephone mobile email mail account cousin uncle aunt neighbour neighbor teammate interest skill goal book movie song
    freund-m kollege kollegin bruder schwester kind sohn tochter haustier sprache telefonnummer handynummer nummer telefon handy e-mail nachbar
    amigo amiga colega companero hermano hermana hijo hija mascota idioma telefono numero correo movil vecino
    ami amie collegue frere soeur enfant fils fille langue telephone numero courriel voisin
    problem issue bug risk reason idea option advantage plus example task todo concern feature step member dependency requirement
    朋 电 号 兄 弟 姐 妹""".split()
)
"""Nouns of which somebody has several: another one is additional."""
ATTRIBUTES = frozenset(
    """status colour color name title goal default limit location venue topic owner password role strategy branch port format theme favourite favorite priority policy budget deadline price size address language database
    framework version level grade score rate quota timeout interval threshold capacity speed duration length weight height temperature theme tool editor provider vendor host licence license manager lead leader boss
    doctor dentist teacher coach mentor landlord capital ceo cto president chair director maintainer reviewer team salary rent income destination hotel airline seat room model plan approach method layout stack
    destino nombre titulo color farbe name lieblings favorito favorita couleur nom prefere preferee preferida preferido wohnort adresse direccion ubicacion ort sede lugar lieu budget presupuesto precio preis prix estado
    status etat puerto passwort contrasena motto focus style convention encoding locale timezone zeitzone gehalt miete salario sueldo alquiler loyer salaire chef verantwortliche responsable lehrer arzt medico
    profesor profesora entrenador reiseziel ziel thema tema sujet plattform plataforma bank banco banque
    最 状 态 颜 色 名 预 算 地 点 负 责""".split()
)
COUNTRIES = frozenset(
    """alabama alaska arizona arkansas colorado connecticut delaware georgia hawaii idaho illinois indiana iowa kansas kentucky louisiana maine maryland massachusetts michigan minnesota mississippi missouri montana nebraska nevada ohio oklahoma oregon pennsylvania tennessee utah vermont virginia wisconsin wyoming thailand vietnam indonesia singapore malaysia philippines nigeria kenya ghana ethiopia pakistan bangladesh croatia serbia romania hungary bulgaria iceland estonia latvia lithuania
    portugal spain france germany italy england scotland ireland wales uk usa us america canada mexico brazil argentina chile peru colombia japan china india korea australia austria switzerland netherlands belgium denmark
    norway sweden finland poland czechia greece turkey russia ukraine israel egypt morocco europe asia africa california texas bavaria florida quebec ontario catalonia andalusia scandinavia
    deutschland spanien frankreich italien osterreich schweiz niederlande belgien england schottland irland polen griechenland turkei japan kanada brasilien bayern hessen sachsen europa
    espana francia alemania italia inglaterra irlanda suiza paises-bajos belgica japon canada brasil mexico cataluna andalucia galicia estados-unidos
    espagne allemagne italie angleterre suisse belgique autriche bretagne normandie canada chine japon
    中国 日本 美国 英国 法国 德国""".split()
)
"""Places that hold other places: that somebody lives there says nothing against a town."""
OCCUPATIONS = frozenset(
    """engineer developer teacher doctor nurse lawyer manager designer architect chef cook pilot journalist writer student professor scientist accountant analyst consultant director programmer dentist plumber electrician carpenter
    baker photographer musician actor painter translator librarian pharmacist physicist chemist biologist economist psychologist therapist mechanic firefighter paramedic researcher barista waiter waitress editor producer lead head cto ceo
    intern freelancer entrepreneur retiree vet veterinarian gardener tester sysadmin administrator
    lehrer lehrerin arzt arztin krankenschwester pfleger anwalt anwaltin ingenieur ingenieurin entwickler entwicklerin koch kochin backer architekt architektin student studentin journalistin designerin beraterin berater leiterin leiter teamleiterin
    teamleiter rentner rentnerin programmierer programmiererin tischler
    profesor profesora maestro maestra medico medica enfermera enfermero abogado abogada ingeniero ingeniera desarrollador desarrolladora cocinero cocinera arquitecto arquitecta estudiante periodista disenador disenadora directora director gerente
    jefa jefe jubilado jubilada programador programadora fontanero
    professeur professeure medecin infirmier infirmiere avocat avocate ingenieur ingenieure developpeur developpeuse cuisinier architecte etudiant etudiante journaliste directeur directrice retraite retraitee
    老师 医生 工程师 律师 设计师 经理 护士 学生""".split()
)

_TOWNS = """
portugal: lisbon lisboa porto braga coimbra faro
spain espana spanien espagne: madrid barcelona valencia sevilla seville malaga bilbao granada zaragoza
france frankreich francia: paris lyon marseille nice toulouse lille bordeaux nantes metz strasbourg
germany deutschland alemania allemagne: berlin munich munchen hamburg cologne koln frankfurt stuttgart leipzig dresden bremen mainz ulm bonn hannover
italy italia italien italie: rome roma rom milan milano mailand naples turin florence venice bologna
england: london manchester bristol leeds liverpool oxford cambridge brighton
scotland: edinburgh glasgow aberdeen dundee
uk: london manchester bristol leeds liverpool oxford cambridge edinburgh glasgow cardiff belfast
ireland: dublin cork galway
usa us america: boston chicago seattle denver austin dallas houston miami atlanta portland
california: oakland sacramento
canada kanada: toronto montreal vancouver ottawa calgary
austria osterreich autriche: vienna wien graz linz salzburg
switzerland schweiz suiza suisse: zurich geneva genf basel bern lausanne
netherlands niederlande: amsterdam rotterdam utrecht
belgium belgien belgica belgique: brussels brussel antwerp ghent
denmark: copenhagen aarhus
norway: oslo bergen trondheim
sweden: stockholm gothenburg malmo
finland: helsinki tampere
poland polen: warsaw krakow gdansk
japan japon: tokyo osaka kyoto
china: beijing shanghai shenzhen
india: mumbai delhi bangalore chennai
brazil brasil brasilien: recife salvador brasilia
mexico: guadalajara monterrey puebla
australia: sydney melbourne brisbane perth
peru: lima cusco arequipa
"""
TOWNS: dict[str, frozenset[str]] = {
    country: frozenset(line.partition(": ")[2].split())
    for line in _TOWNS.strip().splitlines()
    for country in line.partition(": ")[0].split()
}
"""Towns of a country: who lives in the one lives in the other."""
