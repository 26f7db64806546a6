"""Make the study's entities. An entity depends only on the seed and its number, and its id encodes the number.

The first six bytes of an id are a permutation of the number, so ids are distinct and look random. All other bytes come from a SHA-512 of
seed and number. So a table can be compared while it is read, in any order, and without a list of its ids.
"""

from __future__ import annotations

import time
from functools import cache
from hashlib import sha512
from itertools import product
from typing import NamedTuple
from uuid import UUID

BITS = 48  # bits of a number
_MASK = (1 << BITS) - 1
_FACTOR = 0x5BD1E995D1B5  # odd, so that it has an inverse
_INVERSE = pow(_FACTOR, -1, 1 << BITS)
_FIXED = 0xF000_C000_0000_0000_0000  # the bits that RFC 9562 fixes in a random UUID: version and variant
_VERSION = 0x4000_8000_0000_0000_0000


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


_FIRST = _words(
    "Aaron Alice Anna Boris Carla Clara David Diana Elena Emil Erik Fatima Felix Greta Hana Hugo Ines Ivan Jana Jonas Karin Leon Lucia"
    " Marta Milan Nadia Noah Olga Oscar Paula Rosa Zoë"
)
_LAST = _words(
    "Andersson Bauer Berg Costa Dubois Dvořák Ferrari Fischer García Hansen Ivanova Jansen Kaya Kowalski Larsen Lopez Martin Meyer"
    " Moreau Müller Nagy Novák Olsen Petrov Popa Rossi Santos Silva Smith Suzuki Walker Wójcik"
)
_STREETS = tuple(
    f"{name} {kind}"
    for name, kind in product(
        (
            "Birch",
            "Castle",
            "Church",
            "Garden",
            "Harbour",
            "High",
            "Lake",
            "Linden",
            "Market",
            "Mill",
            "Oak",
            "Park",
        ),
        ("Street", "Road", "Lane", "Avenue"),
    )
)
_CITIES = _words(
    "Aarhus Antwerp Basel Bergen Bologna Brno Cork Gdańsk Ghent Graz Haarlem Leipzig Liège Lyon Malmö Porto Riga Sevilla Turku Zürich"
)
_SUBJECTS = (
    "The customer",
    "Our partner",
    "The new office",
    "A former colleague",
    "The team",
    "This account",
    "The supplier",
    "An agent",
)
_VERBS = (
    "asks for",
    "has ordered",
    "sends back",
    "pays for",
    "likes",
    "compares",
    "wants to change",
    "waits for",
)
_OBJECTS = (
    "a red bicycle",
    "two tickets",
    "the last invoice",
    "an old contract",
    "some books",
    "the blue chairs",
    "a call",
    "more time",
)
_SENTENCES = tuple(f"{' '.join(words)}." for words in product(_SUBJECTS, _VERBS, _OBJECTS))
TIMED = 2_000  # entities to time


class Entity(NamedTuple):
    """An entity with the fields of the original study."""

    id: UUID
    name: str
    age: int
    description: str
    address: str
    phone: str
    email: str


FIELDS = Entity._fields


@cache
def _key(seed: int) -> tuple[bytes, int]:
    """Return the prefix of each hash, and the summand of the permutation, of a seed."""
    text = seed.to_bytes(8, "big", signed=True)
    return text, int.from_bytes(sha512(text).digest()[:6], "big")


def entity(seed: int, number: int) -> Entity:
    """Return the entity of a number below 2**48."""
    text, added = _key(seed)
    mixed = ((number ^ (number >> 24)) * _FACTOR + added) & _MASK
    mixed ^= mixed >> 24
    d = sha512(text + number.to_bytes(8, "big")).digest()
    random = int.from_bytes(d[:10], "big") & ~_FIXED | _VERSION
    first, last = _FIRST[d[10] & 31], _LAST[d[11] & 31]
    numbers = int.from_bytes(d[12:24], "big")
    number_of_house, phone, suffix = numbers % 300 + 1, (numbers >> 16) % 10**9, (numbers >> 48) % 10**4
    sentences = [
        _SENTENCES[(d[place] << 8 | d[place + 1]) & 511] for place in range(24, 28 + d[28] % 3 * 2, 2)
    ]
    return Entity(
        UUID(int=mixed << 80 | random),
        f"{first} {last}",
        18 + d[32] % 80,
        " ".join(sentences),
        f"{number_of_house} {_STREETS[d[33] % 48]}, {10_000 + d[34] * 251} {_CITIES[d[35] % 20]}",
        f"+{d[36] % 90 + 10} {phone:09}",
        f"{first}.{last}{suffix}@example.com".lower(),
    )


def number_of(seed: int, id: UUID) -> int:
    """Return the number of the entity with this id. Any UUID gives a number, also the id of no entity."""
    mixed = id.int >> 80
    mixed ^= mixed >> 24
    number = (mixed - _key(seed)[1]) * _INVERSE & _MASK
    return number ^ (number >> 24)


def entity_s(seed: int) -> float:
    """Measure the CPU seconds to make an entity and compare it with a read entity on this machine."""
    read = [entity(seed, number) for number in range(TIMED)]
    began_s = time.process_time()
    for number, fields in enumerate(read):
        if tuple(fields) != tuple(entity(seed, number)):
            raise AssertionError("an entity is not the same each time")
    return (time.process_time() - began_s) / TIMED
