"""The words that the dataset's texts are made of. A change of any of them raises SCHEMA_VERSION."""

# ruff: noqa: SIM905 - one string with its words is easier to read than a list of strings

FIRST_NAMES = (
    "Ada Alice Amélie André Anna Ben Björn Carla Chloé Dmitri Elif Emma Erik Fatima Félix Grace Hana Håkon Iris Ivan"
    " Jonas José Jürgen Kenji Lara Léa Liam Łukasz Maja Mateo Mia Nora Noé Olga Omar Paula Pedro Quinn Rosa Søren"
    " Sofía Tariq Ulla Uwe Vera Wei Ximena Yuki Zoë Žofia 愛子 明 Мария Σοφία"
).split()
SYLLABLES = "an be da el fa go ha il jo ka lu ma no pe ro vi".split()  # 16: three make 4,096 names
# The tables of endings have entries of one length in UTF-8 (pieces.py says why): here 3, 5, 10 and 13 bytes.
NAME_ENDINGS = "son sen man dal rup ski ova ida ero ley ton tje ås nes ell tti".split()
STREET_ENDINGS = " Road| Lane| Gate| Kade| Plac| Rúa| Väg| Park".split("|")
DOMAINS = "@a.example @b.example @c.example @d.example".split()
CITIES = (  # city, region, country
    ("Berlin", "Berlin", "DE"), ("München", "Bayern", "DE"), ("Köln", "Rheinland", "DE"),
    ("Paris", "Île-de-France", "FR"), ("Lyon", "Rhône", "FR"), ("Nantes", "Pays de la Loire", "FR"),
    ("Madrid", "Madrid", "ES"), ("Sevilla", "Andalucía", "ES"), ("Roma", "Lazio", "IT"),
    ("Milano", "Lombardia", "IT"), ("Lisboa", "Lisboa", "PT"), ("Porto", "Norte", "PT"),
    ("London", "England", "GB"), ("Glasgow", "Scotland", "GB"), ("Dublin", "Leinster", "IE"),
    ("Göteborg", "Västra Götaland", "SE"), ("Malmö", "Skåne", "SE"), ("København", "Hovedstaden", "DK"),
    ("Oslo", "Oslo", "NO"), ("Łódź", "Łódzkie", "PL"), ("Kraków", "Małopolskie", "PL"),
    ("Praha", "Praha", "CZ"), ("Boston", "Massachusetts", "US"), ("Toronto", "Ontario", "CA"),
)  # fmt: skip
COMPANY_FORMS = (" GmbH", ", Inc.", ", Ltd", " S.A.", " & Söhne", ' "Prime"', " AB")
RANKS = "Junior Senior Lead Chief Vice".split()
TRADES = "analyst buyer clerk driver editor fitter nurse planner teacher".split()
AGENTS = "Chrome Firefox Safari Edge Opera curl okhttp wget".split()
SYSTEMS = "Linux macOS Windows Android iOS FreeBSD".split()
TAGS = "new hot sale gift vip bulk eco used rush trial beta gold intl promo bio craft".split()
# Free text is "<subject> <verb>, <place> <number><ending>": always quoted in the CSV, for the comma.
SUBJECTS = 'Order|Parcel|"B" lot|Courier|Invoice|Café № 7|"Ä" 7|Zürich|Ålesund|明'.split("|")
VERBS = "arrived|came|waits|is paid|got lost|left|broke|weighs|is late|is new".split("|")
PLACES = "gate|row|dock|shelf|hall|Süd|lot|bay|box|at\nno.".split("|")
ENDINGS = (
    ".\nCall Zoë!!", ": 20 € cash", ", as is fine.", "\nwithout word", "; naïve, ok?",
    "– for Jörg", ", not twice..", "; paid by Łu", "\n(a copy, ö)",
)  # fmt: skip
