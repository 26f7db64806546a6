"""The layout of the project."""

from pathlib import Path

import storebench


def test_the_root_holds_packages_and_few_modules_that_everybody_uses():
    (root,) = map(Path, storebench.__path__)
    assert len(list(root.glob("*.py"))) <= 8 + 1, "eight beside __init__.py"
