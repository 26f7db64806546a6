"""Compare a whole table with the written entities: no missing, duplicate or unknown entities, and no wrong fields."""

from __future__ import annotations

import zlib
from base64 import b64decode, b64encode
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any

from storebench.errors import VerificationFailed
from storebench.stores.point_operations.entities import entity, number_of

if TYPE_CHECKING:
    import numpy as np

    from storebench.stores.point_operations.requests import Requests

    Mask = np.ndarray[Any, Any]


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


def check_table(entities: Iterable[tuple[Any, ...]], seed: int, written: Written) -> str:
    """Compare the table's entities with the written ones, and return a sentence about the comparison.

    `entities`: the fields of each entity of the table. Raises VerificationFailed.
    """
    import numpy as np

    seen = np.zeros(len(written.may), bool)
    for fields in entities:
        number = number_of(seed, fields[0])
        if number >= len(seen) or not written.may[number]:
            raise VerificationFailed(f"The table has the entity {fields[0]}, which nobody has written")
        if seen[number]:
            raise VerificationFailed(f"The table has the entity {fields[0]} twice")
        if tuple(fields) != tuple(entity(seed, number)):
            raise VerificationFailed(f"The entity {fields[0]} has other fields than were written: {fields}")
        seen[number] = True
    missing = written.must & ~seen
    if lost := int(missing.sum()):
        first = entity(seed, int(missing.argmax())).id
        raise VerificationFailed(
            f"{lost:,} of {int(written.must.sum()):,} acknowledged entities are not in the table, {first} among them"
        )
    unsure = int((seen & ~written.must).sum())
    more = f"; {unsure:,} more are there, whose writes were not acknowledged" if unsure else ""
    return f"{int(written.must.sum()):,} acknowledged entities are there once, with all their fields{more}"
