"""The stores to measure: a folder for each study, with a module for each of its stores.

Stores are found by name: the store `delta-rs` of the study `bulk_write_read` is the subclass of Store with this name in
`storebench/stores/bulk_write_read/delta_rs.py`. Modules beside the folders, and the folder `counters`, have the common code of several studies.
"""

from __future__ import annotations

import importlib
import sys
from functools import cache
from pathlib import Path

from storebench.declared import mistakes_of_class
from storebench.errors import SpecError, did_you_mean
from storebench.stores.base import Store, split

# Other folders of the Python path may also have stores. Another checkout is excluded: its stores are another package.
_others = (Path(entry, "storebench", "stores") for entry in sys.path)
__path__ += [str(folder) for folder in _others if folder.is_dir() and not (folder / "__init__.py").exists()]


def load(study: str, name: str) -> type[Store]:
    """Return the class of a study's store by its name (`mongodb@v8` is a mongodb). Imports no client library.

    Raises SpecError for an unknown store, and for a class variable whose type or value breaks its annotation."""
    store, _ = split(name)
    return _class_of(study, store)


@cache
def _class_of(study: str, store: str) -> type[Store]:
    module = f"{__name__}.{study}.{store.replace('-', '_')}"
    where = f"{module.replace('.', '/')}.py"
    try:
        loaded = importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name and module.startswith(error.name):
            meant = did_you_mean(store, _modules_of(study))
            raise SpecError(
                f"The study {study!r} has no store {store!r}: there is no module {where}.{meant}".removesuffix(
                    "."
                )
            ) from None
        raise SpecError(f"The store {store!r} cannot be loaded: {where}: {error}") from error
    except Exception as error:  # a user's file may raise any exception
        raise SpecError(
            f"The store {store!r} cannot be loaded: {where}: {type(error).__name__}: {error}"
        ) from error
    classes = [
        member for member in vars(loaded).values() if isinstance(member, type) and issubclass(member, Store)
    ]
    named = [kind for kind in classes if vars(kind).get("name") == store]
    if not named:
        raise SpecError(f"{where} has no subclass of Store whose `name` is {store!r}")
    chosen = min(
        named, key=lambda kind: kind.__module__ != module
    )  # prefer the module's own class to an imported class
    if not getattr(chosen, "operations", ()):
        raise SpecError(f"The store {store!r} in {where} does not name its operations")
    if problems := list(mistakes_of_class(chosen)) or list(chosen.contradictions()):
        raise SpecError(f"The store {store!r} in {where}: {'; '.join(problems)}")
    return chosen


def _modules_of(study: str) -> list[str]:
    """Return the possible names of a study's stores, from the modules of its folder."""
    folders = [Path(folder, study) for folder in __path__]
    return [path.stem.replace("_", "-") for folder in folders for path in folder.glob("[a-z]*.py")]
