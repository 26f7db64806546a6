"""The skeletons of `storebench new` load, their tests pass, and the project's tools accept them."""

import importlib
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from storebench import stores
from storebench.cli import main, new
from storebench.errors import SpecError
from storebench.planning.params import grid_of, run_values
from storebench.skeletons.write import COPIES, PODS, PROGRAMS, with_store, write_store, write_study
from storebench.study import studies
from tests.attempted import attempted

ROOT = Path(__file__).parents[3]
# Pages with modules that take the place of a skeleton's, and the image of each.
PAGES = {"docs/tutorials/your-own-store.md": None, "docs/how-to/server-for-a-store.md": "python"}
BLOCK = re.compile(
    r'^```python title="(src/storebench/stores/(\w+)/(\w+)\.py)"\n(.*?)^```$', re.MULTILINE | re.DOTALL
)
PARTS = ("Makefile", "local/setup.mk", "images/build", *COPIES)  # of a checkout, which the command reads
BULK = "bulk_write_read"  # which has a skeleton of its own
SKELETON = f"src/storebench/stores/{BULK}/skeleton"
STUDY, FIRST = "hour_study", "memory"
STORES = {FIRST: None, "own_engine": None, **{f"{pod}_engine": pod for pod in PODS}}


def prepare(folder, monkeypatch):
    """Make the folder a checkout without studies, whose studies and stores are found."""
    for path in ("dags", "images", "tests/unit/stores", "src/storebench/stores"):
        (folder / path).mkdir(parents=True, exist_ok=True)
    for path in PARTS:
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / path, folder / path)
    monkeypatch.setenv("AIRFLOW__CORE__DAGS_FOLDER", str(folder / "dags"))
    monkeypatch.setattr(sys, "path", list(sys.path))
    path = [*stores.__path__, str(folder / "src" / "storebench" / "stores")]
    monkeypatch.setattr(stores, "__path__", path)
    return folder


@pytest.fixture
def checkout(tmp_path, monkeypatch):
    return prepare(tmp_path / "checkout", monkeypatch)


def forget():
    """Forget the stores that were loaded: a module may have changed, and the next test has others of the same names."""
    stores._class_of.cache_clear()
    for name in [*sys.modules]:
        if re.match(r"storebench\.stores\.(hour_study|first_study|\w+\.my_table)", name):
            del sys.modules[name]


@pytest.fixture(autouse=True)
def forgotten():
    yield
    forget()


def content(folder):
    """Return the text of each file below the folder, by its path."""
    files = (path for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    return {str(path.relative_to(folder)): path.read_text() for path in files}


def write_pages(folder):
    """Write the stores of the pages as their reader does. Return the name of the study, and those of the stores."""
    found = {page: BLOCK.findall((ROOT / page).read_text()) for page in PAGES}
    (study,) = {study for blocks in found.values() for _, study, _, _ in blocks}
    write_study(folder, study, FIRST)
    for page, blocks in found.items():
        for path, _, store, text in blocks:
            write_store(folder, study, store, PAGES[page])
            (folder / path).write_text(text)
    forget()
    return study, [store for blocks in found.values() for _, _, store, _ in blocks]


def write_bulk(folder, monkeypatch, pod=None):
    """Write a store of the bulk study into a copy of that study's file."""
    package = importlib.import_module(f"storebench.stores.{BULK}")
    path = [*package.__path__, str(folder / "src" / "storebench" / "stores" / BULK)]
    monkeypatch.setattr(package, "__path__", path)
    shutil.copy(ROOT / "dags" / f"{BULK}.py", folder / "dags")
    shutil.copytree(ROOT / SKELETON, folder / SKELETON, dirs_exist_ok=True)
    return write_store(folder, BULK, "my_table", pod)


def write_all(folder):
    """Write a study, and a store of each kind."""
    write_study(folder, STUDY, FIRST)
    for store, pod in STORES.items():
        if store != FIRST:
            write_store(folder, STUDY, store, pod)


def tool(*arguments, cwd, **environment):
    done = subprocess.run(
        [str(one) for one in arguments],
        cwd=cwd,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture
def typed(checkout, monkeypatch):
    monkeypatch.setattr(new, "CHECKOUT", checkout)
    return lambda line: CliRunner().invoke(main, ["new", *line.split()])


def test_a_study_is_loaded_by_the_project_s_own_loader(checkout, typed):
    done = typed(f"study {STUDY}")
    assert done.exit_code == 0, done.output
    written = set(content(checkout)) - {*PARTS}
    assert written == {
        f"dags/{STUDY}.py",
        f"src/storebench/stores/{STUDY}/base.py",
        f"src/storebench/stores/{STUDY}/memory.py",
        f"tests/unit/stores/{STUDY}/test_{STUDY}_memory.py",
    }
    assert all(f"wrote {path}\n" in done.output for path in written)
    assert done.output.endswith(f"measure it: make run STUDY={STUDY}\n")
    found = studies.find(STUDY)
    assert STUDY in studies.names() and found.stores == (FIRST,) and found.title == "Hour study"
    assert len(grid_of(found, run_values(found, {})).cells) == 1
    assert all("@@" not in text for text in content(checkout).values()), "a placeholder was left"


@pytest.mark.parametrize("pod", [None, *PODS])
def test_a_store_joins_its_study(checkout, typed, pod):
    typed(f"study {STUDY}")
    done = typed(f"store my_engine --study {STUDY}" + (f" --pod {pod}" if pod else ""))
    assert done.exit_code == 0, done.output
    assert f"added my_engine to dags/{STUDY}.py" in done.output
    assert done.output.endswith(f"measure it: make run STUDY={STUDY} STORES=my_engine\n")
    found = studies.find(STUDY)
    assert found.stores == (FIRST, "my_engine")
    store = found.store("my_engine")
    assert store.__name__ == "MyEngine" and store.pod_of("put").image == ("my_engine" if pod else "python")


@pytest.mark.parametrize("pod", [None, "python"])
def test_a_study_with_a_skeleton_of_its_own_gets_that(checkout, monkeypatch, pod):
    module, test, *image = write_bulk(checkout, monkeypatch, pod)
    assert test == checkout / "tests" / "integration" / f"test_{BULK}_my_table.py"
    assert len(image) == (3 if pod else 0)
    found = studies.find(BULK)
    assert found.stores[-1] == "my_table" and found.stores[0] == "mongodb"
    store = found.store("my_table")
    assert store.__name__ == "MyTable" and store.connection == "s3"
    assert store.pod_of("write").image == ("my_table" if pod else "python")
    assert "@@" not in module.read_text() + test.read_text()


def test_a_skeleton_in_python_alone_refuses_other_languages(checkout):
    write_study(checkout, STUDY, FIRST)
    before = content(checkout)
    shutil.copytree(ROOT / SKELETON, checkout / "src" / "storebench" / "stores" / STUDY / "skeleton")
    with pytest.raises(SpecError, match="are in Python: remove --pod go"):
        write_store(checkout, STUDY, "engine", "go")
    assert {path: text for path, text in content(checkout).items() if "/skeleton/" not in path} == before


def pytest_in(checkout, *tests):
    """Run tests of the checkout with the project's code. Return pytest's output."""
    path = os.pathsep.join(map(str, (ROOT / "src", checkout / "src", ROOT)))
    options = ("-q", "-p", "no:cacheprovider", "--rootdir", checkout)
    return tool(sys.executable, "-m", "pytest", *options, *tests, cwd=checkout, PYTHONPATH=path)


def test_the_tests_of_all_kinds_pass(checkout):
    write_all(checkout)
    in_python = sum(pod not in PROGRAMS for pod in STORES.values())
    wanted = 4 * in_python + 2 * (len(STORES) - in_python)
    assert f"{wanted} passed" in pytest_in(checkout, "tests")


def test_the_stores_of_the_pages_are_loaded_and_their_engine_is_verified(checkout):
    study, names = write_pages(checkout)
    assert names == ["sqlite", "postgresql"]
    found = studies.find(study)
    assert found.stores == (FIRST, *names)
    assert found.store("postgresql").connection == "postgresql"
    tests = [f"tests/unit/stores/{study}/test_{study}_{name}.py" for name in (FIRST, "sqlite")]
    assert "8 passed" in pytest_in(checkout, *tests)


def test_a_program_that_loses_data_is_found(checkout, monkeypatch, tmp_path):
    write_all(checkout)
    fake = tmp_path / "bin" / "cat"
    fake.parent.mkdir()
    fake.write_text("#!/bin/sh\necho x\n")
    fake.chmod(0o755)
    program = ["sh", checkout / "images" / "shell_engine" / "shell_engine.sh"]
    path = f"{fake.parent}:{os.environ['PATH']}"
    code, found = attempted(
        monkeypatch, tmp_path, STUDY, "shell_engine", "get", {"value_bytes": "10"}, program, PATH=path
    )
    assert (code, found.status, found.error_kind) == (4, "failed", "verification_failed")


def test_all_languages_have_the_same_entries(checkout, monkeypatch, tmp_path):
    """The Go program and the shell script print nothing of them, so their makers' sources are run by themselves."""
    write_all(checkout)
    base = sys.modules[f"storebench.stores.{STUDY}.base"]
    entries = base.entries_of(20, 2**53 - 1, 25)
    assert all(len(value) == 25 for _, value in entries) and len({*entries}) == 20
    script = (checkout / "images" / "shell_engine" / "shell_engine.sh").read_text()
    (maker,) = re.findall(r"^awk .*?\n\}' > entries$", script, re.MULTILINE | re.DOTALL)
    lines = tool(
        "sh",
        "-c",
        f"rows=20 seed={2**53 - 1} value_bytes=25; {maker.removesuffix(' > entries')}",
        cwd=tmp_path,
    )
    assert [tuple(line.split()) for line in lines.splitlines()] == entries
    program = shutil.copytree(checkout / "images" / "go_engine" / "program", tmp_path / "program")
    shown = "".join(f'\t\t{{"{key}", "{value}"}},\n' for key, value in entries)
    (program / "main_test.go").write_text(
        'package main\n\nimport (\n\t"reflect"\n\t"testing"\n)\n\nfunc TestEntries(t *testing.T) {\n'
        f"\twanted := []entry{{\n{shown}\t}}\n"
        f"\tif found := entriesOf(20, {2**53 - 1}, 25); !reflect.DeepEqual(found, wanted) {{\n\t\tt.Fatal(found)\n\t}}\n}}\n"
    )
    tool("go", "test", ".", cwd=program)


def test_the_project_s_style_is_kept(checkout, monkeypatch):
    write_all(checkout)
    ruff, config = Path(sys.executable).with_name("ruff"), ROOT / "pyproject.toml"
    write_pages(checkout)
    write_bulk(checkout, monkeypatch, "python")
    tool(ruff, "format", "--no-cache", "--config", config, "--check", ".", cwd=checkout)
    ours = "lint.isort.known-first-party = ['storebench', 'tests']"  # of which the checkout has only some modules
    tool(ruff, "check", "--no-cache", "--config", config, "--config", ours, ".", cwd=checkout)


def test_its_types_are_right(tmp_path, monkeypatch):
    """Check types in a copy of the project with the same strictness, without Airflow's own types, which take a minute."""
    copy = tmp_path / "copy"
    shutil.copytree(ROOT / "src", copy / "src", ignore=shutil.ignore_patterns("page", "__pycache__"))
    write_all(prepare(copy, monkeypatch))
    study, _ = write_pages(copy)
    table, *_ = write_bulk(copy, monkeypatch)
    config = (ROOT / "pyproject.toml").read_text()
    config += (
        '\n[[tool.mypy.overrides]]\nmodule = ["airflow.*", "storebench.airflow.*"]\nfollow_imports = "skip"\n'
    )
    (copy / "pyproject.toml").write_text(config)
    home = os.environ.get("STOREBENCH_HOME")  # `make lint` has filled its cache with the modules of the copy
    cache = ("--cache-dir", f"{home}/mypy") if home else ("--no-incremental",)
    folders = [f"src/storebench/stores/{name}" for name in (STUDY, study)]
    tool(sys.executable, "-m", "mypy", *cache, f"dags/{STUDY}.py", *folders, table, cwd=copy)


def test_the_go_program_compiles_and_is_formatted(checkout):
    write_all(checkout)
    program = checkout / "images" / "go_engine" / "program"
    tool("go", "vet", ".", cwd=program)
    assert tool("gofmt", "-l", ".", cwd=program) == ""


@pytest.mark.parametrize("pod", PODS)
def test_a_dockerfile_copies_what_is_there(checkout, pod):
    write_all(checkout)
    lines = (checkout / "images" / f"{pod}_engine" / "Dockerfile").read_text().splitlines()
    copied = [line.split()[1] for line in lines if line.startswith("COPY ") and "--from" not in line]
    copied = [path.replace("$IMAGE", f"{pod}_engine") for path in copied]
    assert copied and all((checkout / path).exists() or (ROOT / path).exists() for path in copied)
    assert "USER 1000" in lines and any(line.startswith("ENTRYPOINT ") for line in lines)
    names = [path for path in copied if "engine" in path]
    assert len(names) == 1, "what the store has for itself"


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("study My_Study", "'My_Study' is no name of a study: lower-case letters"),
        ("study my-study", "is no name of a study"),
        ("study class", "is no name of a study"),
        ("study x_", "is no name of a study"),
        (f"study {'a' * 31}", "at most 30 characters"),
        ("study zlib", "Python has a module of that name"),
        ("study results", "results is a table of the results"),
        (f"study {STUDY}", f"The study '{STUDY}' already exists: give another name"),
        ("study other --store 7up", "'7up' is no name of a store"),
        ("study other --store base", "the module base already exists"),
        ("store memory --study hour_study", "The store 'memory' is in "),
        ("store base --study hour_study", "base.py already exists"),
        ("store my.engine --study hour_study", "is no name of a store"),
        ("store taken --study hour_study --pod go", "images/taken already exists"),
        ("store status --study hour_study --pod shell", "`make` has a target status"),
        ("store mongodb --study hour_study --pod go", "`make` has a target mongodb"),
        ("store engine --study hour_studi", "Unknown study 'hour_studi'. Did you mean hour_study?"),
    ],
)
def test_a_name_that_cannot_be_used_is_refused_before_anything_is_written(checkout, typed, line, words):
    typed(f"study {STUDY}")
    (checkout / "images" / "taken").mkdir()
    before = content(checkout)
    done = typed(line)
    assert done.exit_code == 2 and words in done.output, done.output
    assert content(checkout) == before


@pytest.mark.parametrize("pod", [None, *PODS])
def test_a_study_that_the_skeleton_does_not_fit_is_left_as_it_was(checkout, typed, pod):
    typed(f"study {STUDY}")
    path = checkout / "dags" / f"{STUDY}.py"
    module = checkout / "src" / "storebench" / "stores" / STUDY / "base.py"
    path.write_text(path.read_text().replace('"put"', '"load"'))
    module.write_text(
        module.read_text().replace('("put", "get")', '("load", "get")').replace("Entries", "Own")
    )
    memory = module.with_name("memory.py")
    memory.write_text(memory.read_text().replace("Entries", "Own"))
    forget()
    before = content(checkout)
    done = typed(f"store engine --study {STUDY}" + (f" --pod {pod}" if pod else ""))
    assert done.exit_code == 2 and f"does not fit the study '{STUDY}'" in done.output, done.output
    assert content(checkout) == before


def test_outside_a_checkout_it_says_so(tmp_path):
    with pytest.raises(SpecError, match="is no checkout of Storebench"):
        write_study(tmp_path, STUDY, FIRST)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('Study(stores=("a",))', 'Study(stores=("a", "b"))'),
        ('Study(stores=("é", "a"), rows=1)', 'Study(stores=("é", "a", "b"), rows=1)'),
        ('STORES = ("a", "c")\nStudy(stores=STORES)', 'STORES = ("a", "c", "b")\nStudy(stores=STORES)'),
        (
            'Study(\n    stores=(\n        "a",\n        "c",\n    ),\n)',
            'Study(\n    stores=(\n        "a",\n        "c",\n        "b",\n    ),\n)',
        ),
    ],
)
def test_a_store_is_added_at_the_end(before, after):
    assert with_store(before, "b", Path("study.py")) == after


@pytest.mark.parametrize("text", ["Study(stores=names())", 'Study(stores=(*OLD, "a"))', "Study()"])
def test_stores_that_are_no_list_of_names_are_left_alone(text):
    with pytest.raises(SpecError, match=r"study\.py names its stores in another way"):
        with_store(text, "b", Path("study.py"))
