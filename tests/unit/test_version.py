import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner

from storebench import __version__, version
from storebench.attempt.result import AttemptResult
from storebench.cli import main

COMMIT = "0123456789abcdef0123456789abcdef01234567"


def git(folder, *arguments):
    who = ("-c", "user.name=a", "-c", "user.email=a@example.org")
    done = subprocess.run(["git", "-C", folder, *who, *arguments], check=True, capture_output=True, text=True)
    return done.stdout.strip()


def committed(folder):
    """Commit all files in the folder, and return the commit."""
    git(folder, "add", ".")
    git(folder, "commit", "--quiet", "--message", "all")
    return git(folder, "rev-parse", "HEAD")


@pytest.fixture(autouse=True)
def asked_anew(monkeypatch):
    monkeypatch.delenv(version.VARIABLE, raising=False)
    version.code_version.cache_clear()
    yield
    version.code_version.cache_clear()


@pytest.fixture
def checkout(tmp_path, monkeypatch):
    """Return a checkout with one commit that contains the code."""
    folder = tmp_path / "checkout"
    folder.mkdir()
    git(folder, "init", "--quiet")
    (folder / "code").write_text("one")
    monkeypatch.setattr(version, "CHECKOUT", folder)
    return folder, committed(folder)


def test_a_checkouts_version_is_its_commit(checkout):
    folder, commit = checkout
    assert version.code_version() == f"{__version__}+g{commit[:12]}"
    (folder / "code").write_text("two")
    assert version.code_version() == f"{__version__}+g{commit[:12]}", "git is asked once"
    version.code_version.cache_clear()
    changed = version.code_version()
    assert re.fullmatch(rf"{re.escape(__version__)}\+g{commit[:12]}\.dirty\.[0-9a-f]{{8}}", changed)


def anew():
    version.code_version.cache_clear()
    return version.code_version()


def test_two_edits_are_two_versions_and_the_same_edit_is_one(checkout):
    folder, _ = checkout
    seen = []
    for text, new in [("two", None), ("three", None), ("two", "a"), ("two", "b"), ("one", "b")]:
        (folder / "code").write_text(text)
        (folder / "src").mkdir(exist_ok=True)
        (folder / "src" / "gone").unlink(missing_ok=True)
        (folder / "src" / "gone").symlink_to("nowhere") if new else None
        (folder / "src" / "new.py").write_text(new) if new else None
        seen.append(anew())
    assert len(set(seen)) == 5
    (folder / "src" / "gone").unlink()
    (folder / "src" / "new.py").unlink()
    (folder / "code").write_text("two")
    assert anew() == seen[0]


def test_a_file_that_git_was_never_told_of_is_code_too(checkout):
    folder, commit = checkout
    (folder / "notes").write_text("no code")
    assert version.code_version() == f"{__version__}+g{commit[:12]}"
    version.code_version.cache_clear()
    (folder / "src").mkdir()
    (folder / "src" / "new.py").write_text("code")
    assert version.code_version().startswith(f"{__version__}+g{commit[:12]}.untracked.")
    version.code_version.cache_clear()
    (folder / "code").write_text("two")
    assert version.code_version().startswith(f"{__version__}+g{commit[:12]}.dirty.untracked.")


IMAGES = Path(version.__file__).parents[2] / "images"
# A stand-in for the engine: `build` writes its arguments to a file.
ENGINE = '#!/bin/sh\ncase $1 in build) echo "$*" > "$ENGINE_LOG" ;; image) echo sha256:1 ;; esac\n'


@pytest.fixture
def engine(checkout, monkeypatch):
    """Return the file with the arguments of `images/build` for its engine."""
    folder, _ = checkout
    program, log = folder.parent / "bin" / "docker", folder.parent / "told"
    program.parent.mkdir()
    program.write_text(ENGINE)
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
    monkeypatch.setenv("ENGINE_LOG", str(log))
    return log


@pytest.mark.parametrize(
    ("image", "new", "marked"),
    [
        ("python", "src/storebench/new.py", True),
        ("load", "src/storebench/new.py", True),  # its Dockerfile is a link
        ("load", "requirements/pod-load.txt", True),
        ("load", "requirements/pod-python.txt", False),
        ("python", "src/storebench/web/new.py", False),  # .dockerignore
        ("airflow", "src/storebench/web/new.py", True),  # it has a .dockerignore of its own
        ("airflow", "dags/new.py", True),
        ("python", "dags/new.py", False),
        ("jvm", "images/jvm/spark/new.xml", True),
        ("servers/elasticsearch", "local/elasticsearch/New.java", True),
        ("servers/elasticsearch", "images/servers/other/Dockerfile", False),
        ("python", "docs/notes/new", False),
        ("python", "src/storebench/__pycache__/new.pyc", False),  # .gitignore
    ],
)
def test_a_build_tells_the_image_of_untracked_files_in_it(checkout, engine, image, new, marked):
    folder, _ = checkout
    shutil.copytree(IMAGES, folder / "images", symlinks=True)
    for name in (".dockerignore", ".gitignore"):
        shutil.copy(IMAGES.parent / name, folder)
    (folder / "src" / "storebench").mkdir(parents=True)
    shutil.copy(IMAGES.parent / "src" / "storebench" / "__init__.py", folder / "src" / "storebench")
    commit = committed(folder)
    (folder / new).parent.mkdir(parents=True, exist_ok=True)
    (folder / new).write_text("new")
    subprocess.run([folder / "images" / "build", image], check=True, capture_output=True)
    told = engine.read_text()
    assert f"--tag storebench/{image.replace('/', '-')}:" in told
    assert ("--file images/python/Dockerfile " in told) is (image in ("load", "python"))
    assert (f"--build-arg IMAGE={image} " in f"{told} ") is (image in ("jvm", "load", "python"))
    said = re.search(r"REVISION=(\S*)", told)[1]
    assert re.fullmatch(f"{commit}-untracked-[0-9a-f]{{8}}" if marked else commit, said)


def test_an_image_has_the_version_of_its_checkout_also_with_changes(checkout, engine):
    folder, _ = checkout
    shutil.copytree(IMAGES, folder / "images")
    (folder / "src" / "storebench").mkdir(parents=True)
    shutil.copy(IMAGES.parent / "src" / "storebench" / "__init__.py", folder / "src" / "storebench")
    shutil.copy(IMAGES.parent / ".dockerignore", folder)
    committed(folder)
    (folder / "code").write_text("two")
    (folder / "src" / "storebench" / "new.py").write_text("new")
    subprocess.run([folder / "images" / "build", "python"], check=True, capture_output=True)
    revision = re.search(r"REVISION=(\S*)", engine.read_text())[1]
    assert "-dirty-untracked-" in revision
    assert version.version_of(revision) == version.code_version()


def test_an_images_version_is_that_of_its_build(checkout, monkeypatch):
    monkeypatch.setenv(version.VARIABLE, f"{COMMIT}-dirty")
    assert version.code_version() == f"{__version__}+g0123456789ab.dirty"
    version.code_version.cache_clear()
    monkeypatch.setenv(version.VARIABLE, f"{COMMIT}-dirty-0a1b2c3d")
    assert version.code_version() == f"{__version__}+g0123456789ab.dirty.0a1b2c3d"
    version.code_version.cache_clear()
    monkeypatch.setenv(version.VARIABLE, f"{COMMIT}-dirty-untracked")
    assert version.code_version() == f"{__version__}+g0123456789ab.dirty.untracked"
    assert AttemptResult().code_version == version.code_version(), "what the pod ran is what it reports"


@pytest.mark.parametrize("revision", ["unknown", "", "v1.0"])
def test_code_that_nobody_knows_the_version_of_says_so(revision, monkeypatch, tmp_path):
    monkeypatch.setattr(version, "CHECKOUT", tmp_path)
    monkeypatch.setenv(version.VARIABLE, revision)
    assert version.code_version() == f"{__version__}+unknown"


def test_a_machine_without_git_knows_no_version(checkout, monkeypatch):
    monkeypatch.setenv("PATH", "")
    assert version.code_version() == f"{__version__}+unknown"


def test_the_command_line_tells_it(monkeypatch):
    monkeypatch.setenv(version.VARIABLE, COMMIT)
    result = CliRunner().invoke(main, ["--version"])
    assert (result.exit_code, result.output) == (0, f"storebench, version {__version__}+g0123456789ab\n")
