"""Links that the site's build does not check: in the README and the like, and paths in pages and source files."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
OUTSIDE = sorted(ROOT.glob("*.md"))
SOURCES = ("bench", "dags", "deploy", "images", "local", "plugins", "sql", "src", "tests")
FOLDERS = (*SOURCES, "docs", "requirements")
LINK = re.compile(r"\]\(([^)\s]+)\)")
PATH = re.compile(rf"`((?:{'|'.join(FOLDERS)})/[\w./-]+)`")
# Of files that a reader makes: a word in capitals stands for a name. `deploy/compose/prepare` makes the folder of images.
MADE = re.compile(r"[/-](NAME|STORE|STUDY|TOPOLOGY)\b|first_study|^deploy/compose/images$")
DOCS_PATH = re.compile(r"\bdocs/[\w./-]+\.md|\bdocs/decisions/\d{4}")


def anchors(page: Path) -> set[str]:
    """Return the anchors that GitHub gives to a page's headings."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading).strip().lower().replace(" ", "-") for heading in headings}


def is_there(path: str) -> bool:
    return (ROOT / path).exists() or any(ROOT.glob(f"{path}-*.md"))


@pytest.mark.parametrize("page", OUTSIDE, ids=lambda page: page.name)
def test_links_of_pages_outside_the_site_lead_somewhere(page):
    for link in LINK.findall(page.read_text()):
        target, _, anchor = link.partition("#")
        if not link.startswith("https://"):
            linked = ROOT / target if target else page
            assert linked.exists(), link
            assert not anchor or anchor in anchors(linked), link


@pytest.mark.parametrize("page", sorted(DOCS.rglob("*.md")), ids=lambda page: str(page.relative_to(DOCS)))
def test_files_that_a_page_names_are_there(page):
    named = [path for path in PATH.findall(page.read_text()) if not MADE.search(path)]
    assert [path for path in named if not is_there(path)] == []


def test_pages_that_source_files_name_are_there():
    named = {
        (str(file.relative_to(ROOT)), path)
        for folder in SOURCES
        for file in (ROOT / folder).rglob("*")
        if file.suffix in {"", ".py", ".sh", ".sql", ".yaml", ".java", ".template"}
        and file.is_file()
        and not {"node_modules", "static", "__pycache__"} & set(file.parts)
        for path in DOCS_PATH.findall(file.read_text(errors="ignore"))
    }
    assert named
    assert [(file, path) for file, path in named if not is_there(path)] == []
