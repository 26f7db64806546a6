"""What the rows are made of: each field's values, as pieces in the order of the schema."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from datetime import date, timedelta
from functools import cache

from storebench.dataset import words
from storebench.dataset.checksum import mix
from storebench.dataset.pieces import Piece, composed, product, single, whole, with_nulls

TABLE = 4096  # entries of most tables: what is taken at random should be near the processor
ROW_ID_BASE = 1_000_000_000  # ids have ten digits up to a billion rows
FIRST_DAY = date(2015, 1, 1)


def _numbers(count: int, digits: int) -> list[str]:
    return [f"{n:0{digits}}" for n in range(count)]


def _spread(low: int, high: int, count: int = TABLE) -> list[int]:
    """`count` whole numbers from `low` to `high`, scattered, the same for ever."""
    return [low + mix(n + 1) % (high - low + 1) for n in range(count)]


def _days(count: int, first: date = FIRST_DAY) -> list[str]:
    return [(first + timedelta(days=n)).isoformat() for n in range(count)]


def _joined(*choices: Sequence[str]) -> list[str]:
    return ["".join(parts) for parts in itertools.product(*choices)]


def _tags() -> list[str]:
    pick = [words.TAGS[mix(n) % len(words.TAGS)] for n in range(TABLE + 2)]
    return [";".join(dict.fromkeys(pick[n : n + 1 + n % 2])) for n in range(TABLE)]


@cache
def layout() -> tuple[Piece, ...]:
    """All pieces of a row, in order. Takes about half a second, once."""
    digits2, digits3, digits4 = _numbers(100, 2), _numbers(1000, 3), _numbers(10_000, 4)
    hex3 = [f"{n:03x}" for n in range(TABLE)]
    cents = [f".{text}" for text in digits2]
    # decimal places that `repr` keeps: the last is not 0
    places3 = [text for text in digits3 if text[-1] != "0"]
    days, minutes = _days(TABLE), [f"{n // 60:02}:{n % 60:02}:" for n in range(24 * 60)]
    moments = ([f"{day}T" for day in days], minutes, [f"{n:02}Z" for n in range(60)])
    names = [name.capitalize() for name in _joined(*[words.SYLLABLES] * 3)]
    letters2 = _joined(*["ABCDEFGHJKLMNPRSTUVWXYZ"] * 2)
    octets = [f"{a}.{b}." for a, b in itertools.product(range(1, 224, 7), range(0, 256, 2))]
    subjects = [f"{subject} {verb}, " for subject, verb in itertools.product(words.SUBJECTS, words.VERBS)]
    pieces = [
        composed(
            "id",
            [str(ROW_ID_BASE // 10**6 + n) for n in range(1000)],
            digits3,
            digits3,
            divisors=(10**6, 1000, 1),
        ),
        composed("event_key", [f"K{text}" for text in hex3], hex3),
        composed("created_at", *moments),
        composed("measured_at", *moments),
        single("order_date", days),
        single("due_date", with_nulls(days)),
        product(
            "is_active is_verified status priority channel",
            ("true", "false"),
            ("true", "false", "true", "false", ""),
            ("new", "paid", "packed", "shipped", "returned", "closed"),
            ("1", "2", "3", "4", "5"),
            ("web", "store", "phone", "partner", "app"),
        ),
        single("quantity", [str(n) for n in range(1, 10_000)]),
        composed("unit_price", [str(n) for n in range(10_000)], cents),
        single("discount_rate", [f"0.{text}" for text in digits4]),
        product(
            "tax_rate currency payment_method",
            ("0.00", "0.05", "0.07", "0.19", "0.21"),
            ("EUR", "USD", "GBP", "JPY", "SEK", "PLN", "CZK", "CAD"),
            ("card", "cash", "invoice", "transfer", "wallet", "voucher"),
        ),
        composed("total_amount", [str(n) for n in range(1, 10_000)], [f"{t[:2]}.{t[2:]}" for t in digits4]),
        composed("balance", [f"{n}." for n in _spread(-99_999, 99_999) if n], digits2, nullable=True),
        single("loyalty_points", with_nulls([str(n) for n in _spread(0, 99_999, 10_000)])),
        single("first_name", words.FIRST_NAMES),
        composed("last_name", names, words.NAME_ENDINGS),
        composed("email", [name.lower() for name in names], digits4, words.DOMAINS),
        composed("phone", [f"+{a}-{b}-" for a in range(20, 100) for b in range(20, 99, 2)], digits4),
        single("birth_date", _days(24_836, date(1940, 1, 1))),
        product(
            "gender language segment",
            ("female", "male", "other", ""),
            ("de", "en", "fr", "es", "it", "pt", "sv", "pl"),
            ("private", "business", "school", "public", "trade"),
        ),
        single("company", with_nulls([name + words.COMPANY_FORMS[n % 7] for n, name in enumerate(names)])),
        single(
            "job_title", [f"{rank} {trade}" for rank, trade in itertools.product(words.RANKS, words.TRADES)]
        ),
        single("house_number", [str(n) for n in range(1, 1001)]),
        composed("street", names, words.STREET_ENDINGS),
        composed("postal_code", letters2, digits4),
        whole("city region country", words.CITIES),
        composed("latitude", [f"{n / 10}" for n in range(-899, 900) if abs(n) > 9], places3),
        composed("longitude", [f"{n / 10}" for n in range(-1799, 1800) if abs(n) > 9], places3),
        single("temperature_c", [repr(n / 10) for n in range(-400, 601)]),
        single("humidity", [repr(n / 10_000) for n in range(10, 10_001)]),
        composed("score", [f"0.{text}" for text in digits3[1:]], places3, nullable=True),
        composed("device_id", [f"dev-{text}" for text in hex3], [f"{n:02x}" for n in range(256)]),
        composed("ip_address", octets, [f"{a}.{b}" for a, b in itertools.product(range(10, 74), repeat=2)]),
        product("user_agent os", words.AGENTS, words.SYSTEMS),
        single("app_version", [f"v{a}.{b}.{c}" for a in range(1, 6) for b in range(8) for c in range(5)]),
        composed("duration_ms", [str(n) for n in range(1, 1000)], digits3),
        single("tags", with_nulls(_tags())),
        composed("comment", subjects, digits4, words.ENDINGS, nullable=True, quoted=True),
        composed("description", subjects, digits4, words.ENDINGS, quoted=True),
    ]
    return tuple(itertools.chain.from_iterable(pieces))
