"""A module that one can read at once: one subject, and not much of it."""

from pathlib import Path

SOURCE = Path(__file__).parents[2] / "src" / "storebench"
MOST = 400  # lines
GENERATED = {"types.ts"}


def test_no_module_is_long():
    modules = [path for end in ("py", "ts", "tsx") for path in SOURCE.rglob(f"*.{end}")]
    assert len(modules) > 200
    lengths = {
        str(path.relative_to(SOURCE)): len(path.read_text().splitlines())
        for path in modules
        if path.name not in GENERATED and "node_modules" not in path.parts
    }
    assert {name: lines for name, lines in lengths.items() if lines > MOST} == {}
