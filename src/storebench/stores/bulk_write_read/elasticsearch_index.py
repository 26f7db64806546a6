"""Define the mappings of a dataset's fields in Elasticsearch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from storebench.dataset.schema import FIELDS, Field

FREE_TEXTS = ("comment", "description")
MAX_KEYWORD_CHARACTERS = 8_191  # Lucene's limit is 32,766 bytes per term
MAX_COLUMNS = 500


def index_of(client: str, schema: Sequence[Field]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the mappings and settings of a client's index for rows of these fields. All other settings are the server's defaults.

    The study's index has dynamic mapping, which maps a text field as a date if its first value looks like a date. A nullable field would
    then refuse later empty texts, or would not become a date if the first row has none. So the `reference` index only defines which fields
    are dates, and that invalid dates are stored without indexing. This gives every dataset the same mapping. In a user's file a text may
    look like a date, so the dates are the dates of its schema.
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
    """Return the mapping of a field by its type, indexed once. The value in `_source` stays the sent text."""
    match field.type:
        case "date" | "timestamp":
            return {"type": "date", "ignore_malformed": field.nullable}
        case "integer":
            return {"type": "long"}
        case "decimal" | "float":
            return {"type": "double"}
        case "boolean" if not field.nullable:  # Elasticsearch would index an empty text as false
            return {"type": "boolean"}
    free = field.name in FREE_TEXTS or (field.longest or 0) > MAX_KEYWORD_CHARACTERS
    return {"type": "text" if free else "keyword"}
