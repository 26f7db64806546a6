"""How the index of Elasticsearch maps a dataset's fields."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from storebench.dataset.schema import FIELDS, Field

FREE_TEXTS = ("comment", "description")
MAX_KEYWORD_CHARACTERS = 8_191  # Lucene takes terms of 32,766 bytes
MAX_COLUMNS = 500


def index_of(client: str, schema: Sequence[Field]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The mappings and settings of the index that `client` writes rows of these fields to; all else is the server's default.

    The study's index has dynamic mapping, which takes a text field for a date if its first value is one. In a field
    that may be null it would then refuse each later empty text, or find no date where the first row has none. That
    those are dates, and that what is no date is only not indexed, is all that the `reference` index is told: so it
    is mapped alike for every dataset. In a file of one's own a text may look like a date at first: there, the dates are those of its schema.
    """
    if client == "reference":
        dates = [field for field in schema if field.type in ("date", "timestamp")]
        if schema is not FIELDS:
            return {
                "date_detection": False,
                "properties": {field.name: _mapping(field) for field in dates},
            }, {}
        return {"properties": {field.name: _mapping(field) for field in dates if field.nullable}}, {}
    return (
        {"dynamic": "strict", "properties": {field.name: _mapping(field) for field in schema}},
        {"refresh_interval": "-1"},
    )


def _mapping(field: Field) -> dict[str, Any]:
    """How a field is indexed once, by what it means. Its value in `_source` stays the text that was sent."""
    match field.type:
        case "date" | "timestamp":
            return {"type": "date", "ignore_malformed": field.nullable}
        case "integer":
            return {"type": "long"}
        case "decimal" | "float":
            return {"type": "double"}
        case "boolean" if not field.nullable:  # an empty text would be false
            return {"type": "boolean"}
    free = field.name in FREE_TEXTS or (field.longest or 0) > MAX_KEYWORD_CHARACTERS
    return {"type": "text" if free else "keyword"}
