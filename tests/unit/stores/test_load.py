"""Stores are found by the names of their study and their own."""

import re
import subprocess
import sys

import pytest

from storebench import stores
from storebench.errors import SpecError
from storebench.stores.bulk_write_read.delta_rs import DeltaRs

PAPER = """
from storebench.stores.base import Store

class Base(Store):
    name = "base"
    operations = ("put",)

class Paper(Base):
    name = "blank-paper"
"""


@pytest.fixture
def write(tmp_path, monkeypatch):
    """Put a module of a store into a study of the name `toy`."""
    monkeypatch.setattr(stores, "__path__", [*stores.__path__, str(tmp_path)])
    (tmp_path / "toy").mkdir()
    yield lambda module, text: (tmp_path / "toy" / f"{module}.py").write_text(text)
    for name in [name for name in sys.modules if name.startswith("storebench.stores.toy")]:
        del sys.modules[name]
    stores._class_of.cache_clear()


def test_a_store_is_the_class_of_its_name_in_the_module_of_its_name():
    assert stores.load("bulk_write_read", "delta-rs") is DeltaRs
    assert stores.load("bulk_write_read", "delta-rs@west") is DeltaRs


def test_a_study_may_have_a_store_of_a_name_that_another_study_has(write):
    write("delta_rs", PAPER.replace("blank-paper", "delta-rs"))
    assert stores.load("toy", "delta-rs").__name__ == "Paper"


def test_a_store_of_another_study_may_be_taken_as_it_is_or_changed(write):
    imported = "from storebench.stores.bulk_write_read.delta_rs import DeltaRs\n"
    write("delta_rs", imported)
    assert stores.load("toy", "delta-rs") is DeltaRs
    stores._class_of.cache_clear()
    del sys.modules["storebench.stores.toy.delta_rs"]
    write(
        "delta_rs",
        imported
        + "class Other(DeltaRs):\n    name = 'delta-rs'\n    clients = ('tuned',)\n    delivers = ('rows',)\n",
    )
    assert stores.load("toy", "delta-rs").clients == ("tuned",)


def test_classes_beside_it_are_not_it(write):
    write("blank_paper", PAPER)
    assert stores.load("toy", "blank-paper").__name__ == "Paper"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (None, "The study 'toy' has no store 'x': there is no module storebench/stores/toy/x.py"),
        (
            "import nonesuch",
            "The store 'x' cannot be loaded: storebench/stores/toy/x.py: No module named 'nonesuch'",
        ),
        ("1 / 0", "storebench/stores/toy/x.py: ZeroDivisionError: division by zero"),
        (PAPER, "storebench/stores/toy/x.py has no subclass of Store whose `name` is 'x'"),
        (
            "from storebench.stores.base import Store\nclass X(Store):\n    name = 'x'",
            "The store 'x' in storebench/stores/toy/x.py does not name its operations",
        ),
    ],
)
def test_what_is_no_store_is_named_with_its_file(write, text, words):
    if text:
        write("x", text)
    with pytest.raises(SpecError, match=re.escape(words)):
        stores.load("toy", "x")


def test_another_folder_of_the_python_path_may_have_stores(tmp_path):
    folder = tmp_path / "storebench" / "stores" / "toy"
    folder.mkdir(parents=True)
    (folder / "blank_paper.py").write_text(PAPER)
    program = "from storebench import stores; print(stores.load('toy', 'blank-paper').__name__)"
    other = tmp_path / "checkout" / "storebench" / "stores" / "other"
    other.mkdir(parents=True)
    (other.parent / "__init__.py").touch()
    program += "; import importlib.util; print(importlib.util.find_spec('storebench.stores.other'))"
    path = [*sys.path, str(tmp_path), str(tmp_path / "checkout")]
    found = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path = {path!r}; {program}"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert found.stdout == "Paper\nNone\n", "what another checkout has is not taken"
