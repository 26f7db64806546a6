"""The words that the dataset's texts are made of. A change of any of them raises SCHEMA_VERSION."""

FIRST_NAMES = (
    "Ada Alice Amélie André Anna Ben Björn Carla Chloé Dmitri Elif Emma Erik Fatima Félix Grace Hana Håkon Iris Ivan"
    " Jonas José Jürgen Kenji Lara Léa Liam Łukasz Maja Mateo Mia Nora Noé Olga Omar Paula Pedro Quinn Rosa Søren"
    " Sofía Tariq Ulla Uwe Vera Wei Ximena Yuki Zoë Žofia 愛子 明 Мария Σοφία"
).split()
SYLLABLES = "an ber del fel ga hol im jor kel lun mar no pet ros sten vik".split()  # 16: three make 4,096 names
# Tables that end a text have entries of one length in UTF-8 (layout.py says why): here 3, 7, 12 and 26 bytes.
NAME_ENDINGS = "son sen man dal rup ski ova ida ero ley ton tje ås nes ell tti".split()
STREET_ENDINGS = " Street| Avenue| Square|straße| Gränd| Strada| Chemin| Rambla| Praça| Market".split("|")
DOMAINS = "@example.com @example.org @example.net @web.example".split()
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
RANKS = "Junior Senior Lead Chief Assistant Principal Acting Deputy".split()
TRADES = "analyst architect buyer clerk designer driver editor engineer fitter nurse planner teacher".split()
AGENTS = "Chrome/126 Chrome/125 Firefox/128 Safari/17 Edge/125 Opera/110 curl/8.5 okhttp/4.12".split()
SYSTEMS = "Linux macOS Windows Android iOS FreeBSD".split()
TAGS = "new hot sale gift vip bulk eco used rush trial beta gold intl promo bio craft".split()
# Free text is "<subject> <verb>, <place> <number><ending>": always quoted in the CSV, for the comma.
SUBJECTS = "The order|A parcel|The customer|Our courier|The invoice|Café № 7|The “blue” box|A crate".split("|")
VERBS = "arrived|was returned|is waiting|was paid|got lost|left early|needs a label|was weighed".split("|")
PLACES = "Zürich|Genève|gate|row|shelf|dock|Ålesund|“Süd”".split("|")
ENDINGS = (
    ".\nPlease call back, Zoë!!", ', marked "fragile", and so', ": 20 € in cash, no bills!", '; its note: "danke, Jörg"',
    ", as agreed; see the photo", "\nand then, without a word.", ', so "twice" is not enough', "; naïve, but it works: ok",
)  # fmt: skip
