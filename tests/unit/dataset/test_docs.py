from pathlib import Path

from storebench.dataset.checksum import BASE, GOLDEN
from storebench.dataset.schema import FIELDS

TEXT = (Path(__file__).parents[3] / "docs" / "dataset.md").read_text()


def test_the_documented_schema_is_the_schema():
    rows = [
        f"| {n} | `{field.name}` | {field.type}{f'({field.scale})' if field.scale else ''}"
        f" | {'yes' if field.nullable else ''} | {field.description} |"
        for n, field in enumerate(FIELDS, 1)
    ]
    assert "\n".join(["| # | field | type | null | values |", "|---|---|---|---|---|", *rows]) in TEXT


def test_the_documented_constants_are_those_of_the_checksum():
    assert f"{BASE:X}" in TEXT and f"{GOLDEN:X}" in TEXT
