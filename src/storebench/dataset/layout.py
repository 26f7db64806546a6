"""Define the values of each field, as pieces in the order of the schema."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from datetime import date, timedelta
from functools import cache

from storebench.dataset import words
from storebench.dataset.checksum import mix
from storebench.dataset.pieces import (
    TABLE,
    Piece,
    alike,
    alone,
    composed,
    entire,
    filled,
    of_most_frequent_length,
    single,
    with_nulls,
)

ROW_ID_BASE = 1_000_000_000  # ids have ten digits up to a billion rows
FIRST_DAY = date(2015, 1, 1)


def _numbers(count: int, digits: int) -> list[str]:
    return [f"{n:0{digits}}" for n in range(count)]


def _spread(low: int, high: int) -> list[int]:
    """Whole numbers from `low` to `high`, scattered, the same for ever."""
    return [low + mix(n + 1) % (high - low + 1) for n in range(TABLE)]


def _days(count: int, first: date = FIRST_DAY) -> list[str]:
    return [(first + timedelta(days=n)).isoformat() for n in range(count)]


def _joined(*choices: Sequence[str]) -> list[str]:
    return ["".join(parts) for parts in itertools.product(*choices)]


def _degrees(limit: int, length: int) -> list[str]:
    """Texts of `length` bytes that begin a number between -limit and limit, sign included, at least 1 away from 0."""
    wholes = itertools.product(range(-limit + 1, limit), range(16))
    texts = [f"{n}.{mix(n + 997 * k & 0xFFFF) % 10_000:04}" for n, k in wholes if n]
    return [text[:length] for text in texts if text[length - 1] != "."]


def _tags() -> dict[int, list[str]]:
    """Up to six tags, by the length of their text."""
    tags: dict[int, list[str]] = {0: [""]}
    for count in range(1, 7):
        for chosen in itertools.combinations(words.TAGS, count):
            text = ";".join(chosen)
            tags.setdefault(len(text), []).append(text)
    return tags


@cache
def layout() -> tuple[Piece, ...]:
    """All pieces of a row, in order. Takes about half a second, once."""
    digits2, digits3, digits4 = _numbers(100, 2), _numbers(1000, 3), _numbers(10_000, 4)
    hex3 = [f"{n:03x}" for n in range(TABLE)]
    cents = [f".{text}" for text in digits2]
    places3 = [text for text in digits3 if text[-1] != "0"]  # decimal places that `repr` keeps
    days, minutes = _days(TABLE), [f"{n // 60:02}:{n % 60:02}:" for n in range(24 * 60)]
    moments = ([f"{day}T" for day in days], minutes, [f"{n:02}Z" for n in range(60)])
    names = [name.capitalize() for name in _joined(*[words.SYLLABLES] * 3)]
    letters2 = _joined(*["ABCDEFGHJKLMNPRSTUVWXYZ"] * 2)
    octets = [f"{a}.{b}." for a, b in itertools.product(range(1, 224, 3), range(0, 256, 3))]
    text = [f"{a} {b}, {c} " for a, b, c in itertools.product(words.SUBJECTS, words.VERBS, words.PLACES)]
    texts = of_most_frequent_length(text)
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
        filled(
            "due_date loyalty_points company job_title tags",
            _tags(),
            44,
            with_nulls(days),
            with_nulls([str(n) for n in _spread(0, 99_999)]),
            with_nulls([name + words.COMPANY_FORMS[n % 7] for n, name in enumerate(names)]),
            alone([f"{rank} {trade}" for rank, trade in itertools.product(words.RANKS, words.TRADES)]),
        ),
        alike(
            "is_active is_verified status priority channel payment_method gender language segment",
            alone(("true", "false")),
            alone(("true", "false", "true", "false", "")),
            alone(("new", "paid", "packed", "shipped", "returned", "closed")),
            alone(("1", "2", "3", "4", "5")),
            alone(("web", "store", "phone", "partner", "app")),
            alone(("card", "cash", "invoice", "transfer", "wallet", "voucher")),
            alone(("female", "male", "other", "")),
            alone(("de", "en", "fr", "es", "it", "pt", "sv", "pl")),
            alone(("private", "business", "school", "public", "trade")),
        ),
        composed("unit_price", [str(n) for n in range(100, 1000)], cents),
        single("discount_rate", [f"0.{text}" for text in digits4]),
        entire(
            "tax_rate currency",
            list(
                itertools.product(
                    ("0.00", "0.05", "0.07", "0.19", "0.21"),
                    ("EUR", "USD", "GBP", "JPY", "SEK", "PLN", "CZK", "CAD"),
                )
            ),
        ),
        composed(
            "total_amount", [str(n) for n in range(1000, 10_000)], [f"{t[:2]}.{t[2:]}" for t in digits4]
        ),
        composed(
            "balance", [str(n) for n in range(-999, 10_000) if len(str(n)) == 4], [f".{t}" for t in digits2]
        ),
        alike(
            "first_name city region country user_agent os",
            alone(words.FIRST_NAMES),
            words.CITIES,
            alone(words.AGENTS),
            alone(words.SYSTEMS),
        ),
        composed("last_name", names, words.NAME_ENDINGS),
        composed("email", [name.lower() for name in names], digits4, words.DOMAINS),
        composed("phone", [f"+{a}-{b}-" for a in range(20, 100) for b in range(20, 99, 2)], digits4),
        single("birth_date", _days(24_836, date(1940, 1, 1))),
        composed("street", names, words.STREET_ENDINGS),
        composed("postal_code", letters2, digits4),
        alike(
            "house_number quantity temperature_c humidity",
            alone([str(n) for n in range(1, 1025)]),
            alone([str(n) for n in _spread(1, 9_999)]),
            alone([repr(n / 10) for n in range(-400, 601)]),
            alone([repr(n / 10_000) for n in range(10, 10_001)]),
        ),
        composed("latitude", _degrees(90, 5), places3),
        composed("longitude", _degrees(180, 6), places3),
        composed("score", [f"0.{text}" for text in digits3[1:]], places3),
        composed("device_id", [f"dev-{text}" for text in hex3], [f"{n:02x}" for n in range(256)]),
        composed(
            "ip_address", [t for t in octets if len(t) == 7], _joined(digits2[10:74], ["."], digits2[10:74])
        ),
        single("app_version", [f"v{a}.{b}.{c}" for a in range(1, 6) for b in range(8) for c in range(5)]),
        composed("duration_ms", [str(n) for n in range(100, 1000)], digits3),
        composed("comment", texts, digits4, words.ENDINGS, quoted=True),
        composed("description", texts, digits4, words.ENDINGS, quoted=True),
    ]
    return tuple(itertools.chain.from_iterable(pieces))
