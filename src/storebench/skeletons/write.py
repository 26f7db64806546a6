"""Write the skeleton of a study or of a store into a checkout, and load the new store as a check."""

from __future__ import annotations

import ast
import importlib
import importlib.util
import keyword
import re
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from string import Template

from storebench.errors import SpecError, StorebenchError
from storebench.study import studies
from storebench.study.reserved import SUFFIXES, TABLES

TEMPLATES = Path(__file__).parent / "templates"
# A pod's image has the name of its store, and names of images allow no other characters.
NAME = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*")
MOST = 30  # the longest name in characters: names of pods and tables contain it
MODULES = "src/storebench/stores/{study}"
TEST = "tests/unit/stores/{study}/test_{study}_{store}.py"
# For each template: the path of its file in the checkout.
STUDY_FILES = {"study.py": "dags/{study}.py", "base.py": f"{MODULES}/base.py"}
PYTHON_FILES = {"store.py": f"{MODULES}/{{store}}.py", "test_store.py": TEST}
POD_FILES = {"pod.py": f"{MODULES}/{{store}}.py", "test_pod.py": TEST}
PODS = {
    "go": POD_FILES
    | {
        "go.Dockerfile": "images/{store}/Dockerfile",
        "go.mod": "images/{store}/program/go.mod",
        "main.go": "images/{store}/program/main.go",
    },
    "shell": POD_FILES
    | {"shell.Dockerfile": "images/{store}/Dockerfile", "pod.sh": "images/{store}/{store}.sh"},
    "python": PYTHON_FILES,
}
# For a store in Python with its own packages: the files of the image `python`, and the paths of their copies.
COPIES = {
    "images/python/Dockerfile": "images/{store}/Dockerfile",
    "requirements/pod-python.in": "requirements/pod-{store}.in",
    "requirements/pod-python.txt": "requirements/pod-{store}.txt",
}
# A study whose stores share more code than the skeletons have has its own templates: a folder beside the modules of its stores.
OWN = "skeleton"
OWN_FILES = {
    "store.py": f"{MODULES}/{{store}}.py",
    "test_store.py": "tests/integration/test_{study}_{store}.py",
}
# The command by which a test starts the program of a pod on its own machine.
PROGRAMS = {
    "go": '["go", "run", "-C", IMAGE / "program", "."]',
    "shell": '["sh", IMAGE / f"{STORE}.sh"]',
}


class _Skeleton(Template):
    """A template with placeholders that are no syntax of the templates' languages."""

    delimiter = "@@"


def write_study(root: Path, study: str, store: str) -> list[Path]:
    """Write a study with one store in Python, and a test. Return the written files.

    Raises SpecError, and writes nothing, for a name that is invalid or taken."""
    _check_checkout(root)
    _check_name("study", study)
    if taken := sorted(study + suffix for suffix in SUFFIXES if study + suffix in TABLES):
        raise SpecError(f"The study cannot be named {study!r}: {taken[0]} is a table of the results")
    if study in studies.names():
        raise SpecError(f"The study {study!r} already exists: give another name. Nothing was written")
    if importlib.util.find_spec(study):
        raise SpecError(f"The study cannot be named {study!r}: Python has a module of that name")
    written = _write(root, study, store, STUDY_FILES | PYTHON_FILES)
    _load_or_remove(study, store, written)
    return written


def write_store(root: Path, study: str, store: str, pod: str | None) -> list[Path]:
    """Write a store of a study and its test, and add the store to the study's file. Return the written files.

    `pod`: "go", "python" or "shell", to also write an image for the store's pod; None: a store in Python in the image `python`. Raises
    SpecError, and changes nothing, for a name that is invalid or taken, and for a study that the skeleton does not fit."""
    _check_checkout(root)
    studies.find(study)  # raises SpecError before any file is written
    path = root / "dags" / f"{study}.py"
    before = path.read_text()
    after = with_store(before, store, path)
    own = root / MODULES.format(study=study) / OWN
    if own.is_dir() and pod not in (None, "python"):
        raise SpecError(f"The skeletons of stores of the study {study!r} are in Python: remove --pod {pod}")
    files, folder = (OWN_FILES, own) if own.is_dir() else (PODS[pod] if pod else PYTHON_FILES, TEMPLATES)
    written = _write(root, study, store, files, pod or "", folder)
    path.write_text(after)
    try:
        _load_or_remove(study, store, written)
    except StorebenchError as error:
        path.write_text(before)
        raise SpecError(
            f"The skeleton of a store does not fit the study {study!r}: it is for studies that `storebench new study` has written, as"
            f" long as their operations keep their names. Copy one of the study's stores in {MODULES.format(study=study)}/ instead"
            f" (docs/stores.md). Nothing was written. {error}"
        ) from None
    return written


def with_store(text: str, store: str, path: Path) -> str:
    """Return the text of a study's file with the store at the end of `stores`. Raises SpecError unless `stores` is a list of names."""
    tree = ast.parse(text)
    assigned = {
        target.id: node.value
        for node in tree.body
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    given = [one.value for call in calls for one in call.keywords if one.arg == "stores"]
    found = [assigned.get(one.id) if isinstance(one, ast.Name) else one for one in given]
    names = found[0] if len(found) == 1 else None
    if not isinstance(names, ast.Tuple) or not all(isinstance(one, ast.Constant) for one in names.elts):
        raise SpecError(
            f"{path} names its stores in another way than stores=(…): copy one of its stores instead"
        )
    known = [str(one.value) for one in names.elts if isinstance(one, ast.Constant)]
    quoted = [f'"{one}"' for one in [*known, store]]
    if store in known:
        raise SpecError(f"The store {store!r} is in {path} already: give another name. Nothing was written")
    lines = text.encode().splitlines(keepends=True)

    def place(line: int, column: int) -> int:
        return sum(map(len, lines[: line - 1])) + column

    whole = text.encode()
    if names.lineno == names.end_lineno:
        begin, end = place(names.lineno, names.col_offset), place(names.lineno, names.end_col_offset or 0)
        new = f"({', '.join(quoted)})"
    else:
        last = names.elts[-1]
        begin = end = place(last.end_lineno or 0, last.end_col_offset or 0)
        new = f",\n{' ' * last.col_offset}{quoted[-1]}"
    return (whole[:begin] + new.encode() + whole[end:]).decode()


def _check_checkout(root: Path) -> None:
    if not (root / "images" / "build").is_file():
        raise SpecError(f"{root} is no checkout of Storebench: type this command in the environment of one")
    if studies.folder().resolve() != (root / "dags").resolve():
        raise SpecError(
            f"AIRFLOW__CORE__DAGS_FOLDER is {studies.folder()}, and this command writes into {root / 'dags'}: unset the variable"
        )


def _check_name(what: str, name: str) -> None:
    if not NAME.fullmatch(name) or keyword.iskeyword(name) or len(name) > MOST:
        raise SpecError(
            f"{name!r} is no name of a {what}: lower-case letters, digits and single _ between them, a letter first, no word of Python, at"
            f" most {MOST} characters"
        )


def _write(
    root: Path, study: str, store: str, files: Mapping[str, str], pod: str = "", folder: Path = TEMPLATES
) -> list[Path]:
    """Write the files of these templates of the folder, and return their paths. On an error no file is written."""
    _check_name("store", store)
    names = {"study": study, "store": store}
    paths = {template: root / path.format(**names) for template, path in files.items()}
    copies = {
        root / old: root / new.format(**names) for old, new in (COPIES if pod == "python" else {}).items()
    }
    there = [path for path in (*paths.values(), *copies.values()) if path.exists()]
    # Pytest treats two files of the same name as the same module.
    tests = [path.name for path in paths.values() if path.name.startswith("test_")]
    there += [path for name in tests for path in (root / "tests").rglob(name)]
    if pod:
        there += [path for path in [root / "images" / store] if path.exists()]
        if store in _targets(root):
            raise SpecError(
                f"`make` has a target {store}, and an image would be another one: give another name"
            )
    if there or len({*paths.values()}) < len(paths):
        named = there[0].relative_to(root) if there else f"the module {store}"
        raise SpecError(f"{named} already exists: give another name. Nothing was written")
    texts = {
        path: rendered(folder / f"{template}.template", study, store, pod) for template, path in paths.items()
    }
    texts |= {new: _of_store(old.read_text(), store) for old, new in copies.items()}
    for path, text in texts.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return list(texts)


def _targets(root: Path) -> set[str]:
    """Return the targets of `make`. The name of each image is also a target."""
    files = (root / "Makefile", root / "local" / "setup.mk")
    texts = [path.read_text() for path in files]
    return {name for text in texts for name in re.findall(r"^([\w-]+):", text, re.MULTILINE)}


def rendered(template: Path, study: str, store: str, pod: str = "") -> str:
    """Render a template for a study and a store."""
    own_python = pod == "python"
    values = {
        "study": study,
        "store": store,
        "class": "".join(part.capitalize() for part in store.split("_")),
        "title": study.replace("_", " ").capitalize(),
        "program": PROGRAMS.get(pod, ""),
        "import_pod": "from storebench.stores import base as common\n" if own_python else "",
        "pod_line": f'    pod = common.Pod(image="{store}")\n' if own_python else "",
    }
    return _Skeleton(template.read_text()).substitute(values)


def _of_store(text: str, store: str) -> str:
    """Replace the paths of the image `python` in a file's text by the paths of the store's image."""
    return text.replace("requirements/pod-python.", f"requirements/pod-{store}.")


def _load_or_remove(study: str, store: str, written: list[Path]) -> None:
    """Load the store as a run does. Remove the written files if loading fails."""
    importlib.invalidate_caches()
    try:
        studies.find(study).store(store)
    except StorebenchError:
        for path in written:
            path.unlink()
            with suppress(OSError):  # keep folders with other files
                path.parent.rmdir()
                path.parent.parent.rmdir()
        raise
