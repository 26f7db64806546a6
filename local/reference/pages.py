"""Write docs/reference/: `python -m local.reference.pages`. A test compares the pages in git with the code."""

from __future__ import annotations

from pathlib import Path

from local.reference import programs
from local.reference.studies import parameters_page, study_page
from storebench.study import studies

FOLDER = Path(__file__).parents[2] / "docs" / "reference"


def pages() -> dict[str, str]:
    """Return the text of each page by the name of its file."""
    found = [studies.find(name) for name in studies.names()]
    return {
        "commands.md": programs.commands_page(),
        "environment.md": programs.environment_page(),
        "exit-codes.md": programs.exit_codes_page(),
        "make.md": programs.make_page(),
        "parameters.md": parameters_page(found),
        **{f"{study.name}.md": study_page(study) for study in found},
    }


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for file in FOLDER.glob("*.md"):
        file.unlink()
    for name, text in pages().items():
        (FOLDER / name).write_text(text)
