"""Compare a whole table with the written entities: no missing, duplicate or unknown entities, and no wrong fields."""

from __future__ import annotations

import zlib
from base64 import b64decode, b64encode
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any
from uuid import UUID

from storebench.errors import VerificationFailed
from storebench.stores.point_operations.entities import entity, number_of

if TYPE_CHECKING:
    import numpy as np

    from storebench.stores.point_operations.requests import Requests

    Mask = np.ndarray[Any, Any]

# From this number on, an entity is a probe: written after a fault to see whether the store answers, and by no load
PROBE = 2**47


@dataclass(frozen=True)
class Written:
    """Numbers of entities that must exist, and of entities that may exist because the outcome of their write is unknown."""

    must: Mask
    may: Mask

    @classmethod
    def of(cls, rows: int, written: Iterable[Requests]) -> Written:
        """Return the entities of a table that was filled with `rows` rows, and then written to by the requests."""
        import numpy as np

        parts = list(written)
        most = max([rows, *(int(part.number.max()) + 1 for part in parts if len(part.number))])
        must, may = np.zeros(most, bool), np.zeros(most, bool)
        must[:rows] = may[:rows] = True
        for part in parts:
            must[part.acknowledged()] = True
            may[part.number] = True
        return cls(must, may)

    def packed(self) -> dict[str, Any]:
        """Return both masks as JSON values. A thousand acknowledged writes take a few bytes."""
        import numpy as np

        masks = {"must": self.must, "may": self.may}
        texts = {
            name: b64encode(zlib.compress(np.packbits(mask).tobytes())).decode()
            for name, mask in masks.items()
        }
        return {"count": len(self.may), **texts}

    @classmethod
    def merged(cls, parts: Sequence[Mapping[str, Any]]) -> Written:
        """Return the entities that any of the parts has written. `parts`: of `packed`."""
        import numpy as np

        most = max(part["count"] for part in parts)
        masks = {name: np.zeros(most, bool) for name in ("must", "may")}
        for part, (name, mask) in product(parts, masks.items()):
            packed = np.frombuffer(zlib.decompress(b64decode(part[name])), np.uint8)
            mask[: part["count"]] |= np.unpackbits(packed, count=part["count"]).astype(bool)
        return cls(**masks)


@dataclass(frozen=True)
class Compared:
    """The comparison of a table with the written entities: numbers of acknowledged, lost, doubled and unacknowledged entities.

    `first_lost`, `first_doubled`: an entity of each kind, if there is one.
    """

    acknowledged: int
    lost: int
    doubled: int
    unsure: int  # in the table, although their write was not acknowledged
    first_lost: UUID | None
    first_doubled: UUID | None

    @property
    def unsure_text(self) -> str:
        """Return the end of a sentence about unacknowledged entities; empty without any."""
        return f"; {self.unsure:,} more are there, whose writes were not acknowledged" if self.unsure else ""


def compare_table(entities: Iterable[tuple[Any, ...]], seed: int, written: Written) -> Compared:
    """Compare the table's entities with the written ones, and count lost and doubled entities.

    `entities`: the fields of each entity of the table. Entities from PROBE on are ignored. Raises VerificationFailed for an entity that
    nobody has written, and for wrong fields.
    """
    import numpy as np

    seen = np.zeros(len(written.may), bool)
    doubled, first_doubled = 0, None
    for fields in entities:
        number = number_of(seed, fields[0])
        if number >= PROBE and tuple(fields) == tuple(entity(seed, number)):
            continue
        if number >= len(seen) or not written.may[number]:
            raise VerificationFailed(f"The table has the entity {fields[0]}, which nobody has written")
        if tuple(fields) != tuple(entity(seed, number)):
            raise VerificationFailed(f"The entity {fields[0]} has other fields than were written: {fields}")
        if seen[number]:
            doubled, first_doubled = doubled + 1, first_doubled or fields[0]
        seen[number] = True
    missing = written.must & ~seen
    lost = int(missing.sum())
    return Compared(
        acknowledged=int(written.must.sum()),
        lost=lost,
        doubled=doubled,
        unsure=int((seen & ~written.must).sum()),
        first_lost=entity(seed, int(missing.argmax())).id if lost else None,
        first_doubled=first_doubled,
    )


def check_table(entities: Iterable[tuple[Any, ...]], seed: int, written: Written) -> str:
    """Compare the table's entities with the written ones, and return a sentence about the comparison.

    `entities`: the fields of each entity of the table. Raises VerificationFailed.
    """
    found = compare_table(entities, seed, written)
    if found.doubled:
        raise VerificationFailed(f"The table has the entity {found.first_doubled} twice")
    if found.lost:
        raise VerificationFailed(
            f"{found.lost:,} of {found.acknowledged:,} acknowledged entities are not in the table, {found.first_lost} among them"
        )
    return f"{found.acknowledged:,} acknowledged entities are there once, with all their fields{found.unsure_text}"
