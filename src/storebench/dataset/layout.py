"""How the dataset's rows are put together from tables of ready-made pieces.

A row is a sequence of pieces, each picked from a table by some bits of a hash of (seed, row number). A piece is one
field, several neighbouring fields that go together (an address), or a part of one field, which gives high
cardinality from small tables. Quotes and separators are in the tables, so that no row is quoted on its own.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from functools import cache

import numpy as np
import numpy.typing as npt

from storebench.dataset import words
from storebench.dataset.checksum import BASE, FIELD_NAMES, MASK, MULTIPLIERS, U64, mix, polynomial, text_hash

NULL_BITS = 4  # one row in 16 has a null in a nullable field of several pieces
ROW_ID_BASE = 1_000_000_000  # ids have ten digits up to a billion rows
FIRST_DAY = date(2015, 1, 1)


@dataclass(frozen=True)
class Piece:
    """A table of texts. Entry `2**bits` is the null where a field of several pieces has one."""

    bits: int
    csv: npt.NDArray[np.bytes_]  # the bytes of each entry, with quotes and separators
    divisor: int = 0  # of the row's number, for the id; 0: picked by the hash


@dataclass(frozen=True)
class Whole(Piece):
    """Whole fields, one or more."""

    fields: tuple[int, ...] = ()
    hashes: U64 | None = None  # shape (fields, entries): H of each field's text
    combined: U64 | None = None  # shape (entries,): their sum, each times its multiplier


@dataclass(frozen=True)
class Part(Piece):
    """A part of the field `field`: P of each entry, and BASE to the power of its length."""

    field: int = -1
    polynomials: U64 | None = None
    powers: U64 | None = None
    lengths: U64 | None = None
    first: bool = False
    last: bool = False
    nullable: bool = False


def _index(name: str) -> int:
    return FIELD_NAMES.index(name)


def _quoted(text: str) -> str:
    return '"' + text.replace('"', '""') + '"' if any(c in text for c in ',"\n') else text


def _bits(count: int) -> int:
    return max(1, (count - 1).bit_length())


def _fill(values: Sequence[object], bits: int) -> list[int]:
    """Which value each of the 2**bits entries takes: all as often as they can, in a scattered order."""
    size = 1 << bits
    return [(mix(n) if size > 4 * len(values) else n) % len(values) for n in range(size)]


def _array(values: Iterable[int]) -> U64:
    return np.array(list(values), dtype=np.uint64)


def _whole(names: str, rows: Sequence[tuple[str, ...]], bits: int | None = None, divisor: int = 0) -> Whole:
    """Whole fields `names` (separated by spaces), their values given together."""
    fields = tuple(_index(name) for name in names.split())
    bits = _bits(len(rows)) if bits is None else bits
    entries = [rows[n] for n in _fill(rows, bits)] if not divisor else list(rows)
    separator = "\n" if fields[-1] == len(FIELD_NAMES) - 1 else ","
    csv = [(",".join(map(_quoted, entry)) + separator).encode() for entry in entries]
    hashes = np.array([[text_hash(entry[n]) for entry in entries] for n in range(len(fields))], dtype=np.uint64)
    combined = (hashes * MULTIPLIERS[list(fields)][:, None]).sum(axis=0, dtype=np.uint64)
    return Whole(bits=bits, csv=np.array(csv), divisor=divisor, fields=fields, hashes=hashes, combined=combined)


def _single(name: str, values: Iterable[str], bits: int | None = None) -> list[Piece]:
    return [_whole(name, [(value,) for value in values], bits)]


def _parts(
    name: str,
    *tables: Sequence[str],
    nullable: bool = False,
    quoted: bool = False,
    divisors: Sequence[int] = (),
) -> list[Piece]:
    """One field whose text is an entry of each table, one after the other."""
    field = _index(name)
    separator = "\n" if field == len(FIELD_NAMES) - 1 else ","
    pieces: list[Piece] = []
    for n, table in enumerate(tables):
        first, last = n == 0, n == len(tables) - 1
        bits = _bits(len(table))
        divisor = divisors[n] if divisors else 0
        texts = list(table) if divisor else [table[k] for k in _fill(table, bits)]
        opening = '"' if quoted and first else ""
        closing = ('"' if quoted else "") + separator if last else ""
        csv = [(opening + (text.replace('"', '""') if quoted else text) + closing).encode() for text in texts]
        if nullable:
            texts.append("")
            csv.append((separator if last else "").encode())
        data = [text.encode() for text in texts]
        pieces.append(
            Part(
                bits=bits,
                csv=np.array(csv),
                divisor=divisor,
                field=field,
                polynomials=_array(map(polynomial, data)),
                powers=_array(pow(BASE, len(text), MASK + 1) for text in data),
                lengths=_array(map(len, data)),
                first=first,
                last=last,
                nullable=nullable,
            )
        )
    return pieces


def _numbers(count: int, digits: int) -> list[str]:
    return [f"{n:0{digits}}" for n in range(count)]


def _spread(count: int, low: int, high: int) -> list[int]:
    """`count` whole numbers from `low` to `high`, scattered, the same for ever."""
    return [low + mix(n + 1) % (high - low + 1) for n in range(count)]


def _days(count: int, first: date = FIRST_DAY) -> list[str]:
    return [(first + timedelta(days=n)).isoformat() for n in range(count)]


def _clock_times() -> list[str]:
    seconds = [n * 86_400 >> 16 for n in range(1 << 16)]
    return [f"T{s // 3600:02}:{s // 60 % 60:02}:{s % 60:02}Z" for s in seconds]


def _with_nulls(values: Sequence[str], every: int) -> list[str]:
    """The values, with a null in place of each `every`th."""
    return ["" if n % every == every - 1 else value for n, value in enumerate(values)]


def _some(count: int, *choices: Sequence[str]) -> list[tuple[str, ...]]:
    """`count` combinations of the choices, each choice scattered on its own."""
    return [
        tuple(choice[mix(n * len(choices) + k) % len(choice)] for k, choice in enumerate(choices)) for n in range(count)
    ]


@cache
def layout() -> tuple[Piece, ...]:
    """All pieces of a row, in order. Takes about half a second, once."""
    cents, hex4 = _numbers(100, 2), [f"{n:04x}" for n in range(1 << 16)]
    thousandths = _numbers(1000, 3)
    # six decimal places that `repr` keeps: the first three are not 000, the last is not 0
    decimals_high = thousandths[1:]
    decimals_low = [text for text in thousandths if text[-1] != "0"]
    names = ["".join(parts).capitalize() for parts in itertools.product(words.SYLLABLES, repeat=3)][:: 3][:4096]
    addresses = [
        (street, city, region, code, country)
        for (street,), (city, region, country), code in zip(
            _some(4096, words.STREETS),
            (words.CITIES[mix(n + 77) % len(words.CITIES)] for n in range(4096)),
            (f"{chr(65 + a % 26)}{chr(65 + a // 26 % 26)}{a % 90 + 10} {a % 9 + 1}X" for a in _spread(4096, 0, 99_999)),
            strict=True,
        )
    ]
    companies = [
        f"{a} {b}, {form}" if n % 3 else f'{a} "{b}" {form}'
        for n, (a, b, form) in enumerate(_some(4096, words.COMPANIES, names, words.COMPANY_FORMS))
    ]
    sentences = [f"{a} {b} {c}" for a, b, c in itertools.product(words.SUBJECTS, words.VERBS, words.TAILS)]
    flags = _some(
        4096,
        ("true", "false"),
        ("true", "false", "true", "false", ""),
        ("new", "paid", "packed", "shipped", "returned", "closed"),
        ("1", "2", "3", "4", "5"),
        ("web", "store", "phone", "partner", "app"),
    )
    money = _some(
        4096,
        ("0.00", "0.05", "0.07", "0.19", "0.21"),
        ("EUR", "USD", "GBP", "JPY", "SEK", "PLN", "CZK", "CAD"),
        ("card", "cash", "invoice", "transfer", "wallet", "voucher"),
    )
    person = _some(
        4096,
        ("female", "male", "other", ""),
        ("de", "en", "fr", "es", "it", "pt", "sv", "pl"),
        ("private", "business", "school", "public", "trade"),
    )
    tags = [";".join(dict.fromkeys(triple[: 1 + n % 3])) for n, triple in enumerate(_some(4096, *[words.TAGS] * 3))]
    versions = [f"v{a}.{b}.{c}" for a in range(1, 6) for b in range(8) for c in range(5)]
    octets = [f"{a}.{b}." for a, b in itertools.product(range(1, 224), range(0, 256, 16))]
    dates, times = _days(4096), _clock_times()
    jobs = [f"{rank} {trade} {place}" for rank, trade, place in itertools.product(words.RANKS, words.TRADES, words.PLACES)]
    pieces = [
        _parts(
            "id",
            [str(ROW_ID_BASE // 1_000_000 + n) for n in range(1000)],
            thousandths,
            thousandths,
            divisors=(1_000_000, 1000, 1),
        ),
        _parts("event_key", ["K" + text for text in hex4], hex4, hex4),
        _parts("created_at", dates, times),
        _parts("updated_at", dates, times),
        _single("event_date", dates),
        _single("due_date", _with_nulls(dates, 10)),
        [_whole("is_active is_verified status priority channel", flags)],
        _single("quantity", map(str, _spread(4096, 1, 9_999))),
        _parts("unit_price", [f"{n}." for n in _spread(4096, 0, 9_999)], cents),
        _single("discount_rate", [f"0.{text}" for text in _numbers(10_000, 4)]),
        [_whole("tax_rate currency payment_method", money)],
        _parts("total_amount", [str(n) for n in range(1, 1000)], [f"{text}." for text in thousandths], cents),
        _parts("balance", [f"{n}." for n in _spread(4096, -9_999, 9_999) if n], cents, nullable=True),
        _single("loyalty_points", _with_nulls([str(n) for n in _spread(4096, 0, 99_999)], 16)),
        _single("first_name", words.FIRST_NAMES),
        _single("last_name", names),
        _parts("email", [n.lower() for n in names], _numbers(10_000, 4), [f"@{d}" for d in words.DOMAINS]),
        _parts(
            "phone", [f"+{a}-{b}-" for a in range(20, 100, 7) for b in range(20, 99)], thousandths, _numbers(10_000, 4)
        ),
        _single("birth_date", _days(24_836, date(1940, 1, 1)), bits=14),
        [_whole("gender language segment", person)],
        _single("company", _with_nulls(companies, 8)),
        _single("job_title", jobs),
        _single("house_number", map(str, range(1, 1025))),
        [_whole("street city region postal_code country", addresses)],
        _parts("latitude", [f"{n}." for n in range(-89, 90) if n], decimals_high, decimals_low),
        _parts("longitude", [f"{n}." for n in range(-179, 180) if n], decimals_high, decimals_low),
        _single("temperature_c", [repr(n / 10) for n in range(-400, 601) if n]),
        _single("humidity", [repr(n / 10_000) for n in _spread(4096, 10, 10_000)]),
        _parts("score", ["0."], decimals_high, decimals_low, nullable=True),
        _single("device_id", [f"dev-{text}" for text in hex4]),
        _parts("ip_address", octets, [f"{a}.{b}" for a, b in itertools.product(range(0, 256, 4), range(1, 255, 4))]),
        [_whole("user_agent os app_version", _some(4096, words.AGENTS, words.OSES, versions))],
        _parts("duration_ms", [str(n) for n in range(1, 1000)], thousandths),
        _single("tags", _with_nulls(tags, 16)),
        _parts("comment", sentences, [f"; {text}" for text in words.TAILS], nullable=True, quoted=True),
        _parts("description", sentences, [f". {text}" for text in sentences], quoted=True),
    ]
    return tuple(itertools.chain.from_iterable(pieces))
