"""The commands of the documentation, as its readers type them."""

import re
import shlex
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGES = sorted([ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")])
# A line of a console block with the lines that continue it: they are indented, or follow a backslash.
BLOCK = re.compile(r"^( *)```(console|bash)\n(.*?)^\1```", re.MULTILINE | re.DOTALL)
TYPED = re.compile(r"^\$ (.+(?:\n(?!\$ )(?: {2,}|\t).*)*)", re.MULTILINE)
SPAN = re.compile(r"(?<!`)`((?:storebench|make) [^`]+)`(?!`)")
IN_POD = re.compile(r"^(\$airflow_pod|docker compose run --rm (--no-deps )?bench) ")
ASSIGNED = re.compile(r"[A-Z_]+=")
BEFORE = {"do", "!", "time", "exec"}  # words of the shell before a command
OPERATORS = (
    "();<>|&"  # each ends a command: the name of a redirection's file is then a command without meaning
)


@dataclass(frozen=True)
class Typed:
    """A command of a page. `page`: its path from the root of the checkout. `words`: the program and its arguments."""

    page: str
    words: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.page}: {shlex.join(self.words)}"


def commands() -> list[Typed]:
    """Return the commands of all console blocks, in order."""
    return [
        Typed(str(page.relative_to(ROOT)), words)
        for page in PAGES
        for _, kind, block in BLOCK.findall(page.read_text())
        for line in (TYPED.findall if kind == "console" else str.splitlines)(block.replace("\\\n", " "))
        for words in _commands_of(line)
    ]


def spans() -> list[Typed]:
    """Return the commands of `storebench` and of make that sentences name. The generated reference is excluded."""
    found = []
    for page in PAGES:
        for text in SPAN.findall(page.read_text()) if page.parent.name != "reference" else ():
            with suppress(ValueError):  # an ellipsis within quotes
                found.append(Typed(str(page.relative_to(ROOT)), tuple(shlex.split(text))))
    return found


def _commands_of(line: str) -> Iterator[tuple[str, ...]]:
    """Yield the commands of a line of the shell, without redirections, assignments and words before a command."""
    line = IN_POD.sub(lambda found: "" if "$" in found[1] else "storebench ", line)
    reader = shlex.shlex(line, posix=True, punctuation_chars=OPERATORS)
    reader.whitespace_split, reader.commenters = True, "#"
    words: list[str] = []
    with suppress(ValueError):  # a program within quotes, on several lines
        for word in (*reader, ";"):
            if not set(word) <= set(OPERATORS):
                words.append(word)
                continue
            while words and (words[0] in BEFORE or ASSIGNED.match(words[0])):
                words.pop(0)
            if words:
                yield tuple(words)
            words = []
