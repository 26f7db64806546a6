"""Generate files from the declared fields of a result: `python -m storebench.attempt.schema`.

The command writes the JSON Schema of a result, and replaces the table of figures in docs/results.md and the tables of counters in
docs/counters.md.
"""

from __future__ import annotations

import importlib
import json
import pkgutil
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

from storebench import protocol
from storebench.attempt.result import AttemptResult
from storebench.protocol.figures import FIGURES, Figures, choices, schema_of
from storebench.stores import counters

SCHEMA_FILE = protocol.FOLDER / f"result.v{protocol.VERSION}.json"
RESULTS_PAGE = Path(__file__).parents[3] / "docs" / "results.md"
COUNTERS_PAGE = RESULTS_PAGE.with_name("counters.md")
BEGIN_COUNTERS, END_COUNTERS = "<!-- counters -->\n", "<!-- end of counters -->\n"
BEGIN, END = "<!-- figures -->\n", "<!-- end of figures -->\n"  # the lines around the table
WIDTH = 140  # the maximum length of a line of JSON, in characters
FRAME: dict[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "title": "Result of an attempt",
    "description": (
        f"The JSON that a pod writes to /dev/termination-log: at most {protocol.MESSAGE_BYTES} bytes. A longer result, of at most 4 MiB, is in"
        " S3; the message then has the parts that fit, and `stored`. A figure that was not measured is omitted, or null."
    ),
    "type": "object",
    "required": ["version", "status"],
    "allOf": [
        {
            "if": {"required": ["status"], "properties": {"status": {"const": "failed"}}},
            "then": {
                "required": ["error_kind", "error"],
                "properties": {"error_kind": {"type": "string"}, "error": {"type": "string"}},
            },
        },
        {
            "if": {"required": ["status"], "properties": {"status": {"const": "verified"}}},
            "then": {
                "required": ["verification"],
                "properties": {"verification": {"type": "string"}, "error_kind": {"type": "null"}},
            },
        },
    ],
    # With these maxima, the sum of several figures still fits into a column of the database.
    "$defs": {
        "bytes": {"type": ["integer", "null"], "minimum": 0, "maximum": 2**53 - 1},
        "count": {"type": ["integer", "null"], "minimum": 0, "maximum": 2**31 - 1},
        "seconds": {"type": ["number", "null"], "minimum": 0, "maximum": 10**12},
    },
}


def schema() -> dict[str, Any]:
    """Return the JSON Schema of a result."""
    properties = {
        field.name: field.type.__metadata__[0]  # type: ignore[union-attr]
        for field in fields(AttemptResult)
        if field.name not in FIGURES
    }
    figures = {name: schema_of(figure, choices(Figures, name)) for name, figure in FIGURES.items()}
    return {**FRAME, "properties": {**properties, **figures}}


def table() -> str:
    """Return the table of figures in Markdown. The links are relative to docs/."""
    lines = ["| column | unit | meaning |", "|---|---|---|"]
    for name, figure in FIGURES.items():
        link = f" ([{figure.link.partition('#')[0]}]({figure.link}))" if figure.link else ""
        lines.append(f"| `{name}` | {figure.unit} | {figure.text}{link} |")
    return "\n".join(lines) + "\n"


def page(text: str) -> str:
    """Replace the table of figures in the text of docs/results.md."""
    return _replaced(text, BEGIN, table(), END)


def counters_page(text: str) -> str:
    """Replace the tables of counters in the text of docs/counters.md."""
    return _replaced(text, BEGIN_COUNTERS, "\n".join(counter_sections()), END_COUNTERS)


def counter_sections() -> Iterator[str]:
    """Yield the section of each module that declares counters: the module's docstring, and a table."""
    for found in pkgutil.iter_modules(counters.__path__):
        module = importlib.import_module(f"{counters.__name__}.{found.name}")
        if declared := getattr(module, "COUNTERS", ()):
            first, *more = str(module.__doc__).strip().split("\n\n")
            title, _, about = first.partition(": ")
            texts = [f"{about[0].upper()}{about[1:]}", *more]
            lines = [f"### {title}", "", *(f"{' '.join(text.split())}\n" for text in texts)]
            lines += ["| counter | unit | kind | meaning |", "|---|---|---|---|"]
            lines += [
                f"| `{one.name}` | {one.unit or 'number'} | {one.kind} | {one.text} |" for one in declared
            ]
            yield "\n".join(lines) + "\n"


def _replaced(text: str, begin: str, content: str, end: str) -> str:
    before, _, rest = text.partition(begin)
    _, _, after = rest.partition(end)
    return f"{before}{begin}\n{content}\n{end}{after}"


def json_text(value: Any, indent: int = 0) -> str:
    """Return JSON with one line for each value that fits into WIDTH. `indent`: number of characters before the value."""
    line = json.dumps(value, ensure_ascii=False)
    if not isinstance(value, dict | list) or indent + len(line) <= WIDTH:
        return line
    inner = indent + 2
    if isinstance(value, dict):
        items = [f"{json.dumps(name)}: {json_text(item, inner)}" for name, item in value.items()]
    else:
        items = [json_text(item, inner) for item in value]
    opening, closing = line[0], line[-1]
    lines = f",\n{' ' * inner}".join(items)
    return f"{opening}\n{' ' * inner}{lines}\n{' ' * indent}{closing}"


if __name__ == "__main__":
    SCHEMA_FILE.write_text(json_text(schema()) + "\n")
    RESULTS_PAGE.write_text(page(RESULTS_PAGE.read_text()))
    COUNTERS_PAGE.write_text(counters_page(COUNTERS_PAGE.read_text()))
