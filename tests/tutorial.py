"""The files of docs/studies/README.md, as its reader makes them: `python -m tests.tutorial FOLDER` puts them below a folder."""

import re
import sys
from pathlib import Path

PAGE = Path(__file__).parents[1] / "docs" / "studies" / "README.md"
FILE = re.compile(r'^```python title="([^"]+)"\n(.*?)^```$', re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r"^\$ (.+)$", re.MULTILINE)


def files() -> dict[str, str]:
    """Return the content of each file by its path in the checkout."""
    return dict(FILE.findall(PAGE.read_text()))


def commands() -> list[str]:
    """Return the tutorial's commands in order."""
    return COMMAND.findall(PAGE.read_text())


def put(folder: Path) -> None:
    """Put all of them below a folder."""
    for path, content in files().items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(content)


if __name__ == "__main__":
    put(Path(sys.argv[1]))
