"""Divide the documents of a collection into ranges of `_id`, one range for each part of a read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pymongo.collection import Collection

NOTHING: Mapping[str, Any] = {"_id": {"$in": []}}


def bounds(collection: Collection[dict[str, Any]], parts: int) -> list[str]:
    """Return the values of `_id` at which the ranges after the first begin, in MongoDB's Extended JSON.

    The ranges have the same number of documents, or one more. The server finds a bound in its index of `_id`, from the bound before. A
    collection without documents has no bounds.
    """
    from bson import json_util

    count = collection.count_documents({})
    found: list[str] = []
    after: dict[str, Any] = {}
    position = 0
    for number in range(1, parts):
        begin = count * number // parts
        documents = collection.find(after, {"_id": True}, sort=[("_id", 1)], skip=begin - position, limit=1)
        document = next(documents, None)
        if document is None:
            break
        found.append(json_util.dumps(document["_id"]))
        after, position = {"_id": {"$gte": document["_id"]}}, begin
    return found


def range_of(bounds: Sequence[str], number: int) -> Mapping[str, Any]:
    """Return the query for the documents of the part `number`. `bounds`: as of the function `bounds`.

    The first range has no lower bound and the last range has no upper bound. If there are fewer bounds than expected, the parts behind them
    read nothing.
    """
    from bson import json_util

    if number > len(bounds):
        return NOTHING
    limits: dict[str, Any] = {}
    if number > 0:
        limits["$gte"] = json_util.loads(bounds[number - 1])
    if number < len(bounds):
        limits["$lt"] = json_util.loads(bounds[number])
    return {"_id": limits} if limits else {}
