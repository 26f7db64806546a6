import os
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
    """The commit that has all that is in the folder."""
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
    """A checkout with one commit, which the code is in."""
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
    assert version.code_version() == f"{__version__}+g{commit[:12]}.dirty", "a tree that was changed"


def test_a_file_that_git_was_never_told_of_is_code_too(checkout):
    folder, commit = checkout
    (folder / "notes").write_text("no code")
    assert version.code_version() == f"{__version__}+g{commit[:12]}"
    version.code_version.cache_clear()
    (folder / "src").mkdir()
    (folder / "src" / "new.py").write_text("code")
    assert version.code_version() == f"{__version__}+g{commit[:12]}.untracked"
    version.code_version.cache_clear()
    (folder / "code").write_text("two")
    assert version.code_version() == f"{__version__}+g{commit[:12]}.dirty.untracked"


IMAGES = Path(version.__file__).parents[2] / "images"
# What the engine is told: `build` writes its arguments down.
ENGINE = '#!/bin/sh\ncase $1 in build) echo "$*" > "$ENGINE_LOG" ;; image) echo sha256:1 ;; esac\n'


@pytest.mark.parametrize(
    ("image", "new", "marked"),
    [
        ("python", "src/storebench/new.py", True),
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
def test_a_build_tells_the_image_of_untracked_files_in_it(checkout, monkeypatch, image, new, marked):
    folder, _ = checkout
    shutil.copytree(IMAGES, folder / "images")
    for name in (".dockerignore", ".gitignore"):
        shutil.copy(IMAGES.parent / name, folder)
    (folder / "src" / "storebench").mkdir(parents=True)
    shutil.copy(IMAGES.parent / "src" / "storebench" / "__init__.py", folder / "src" / "storebench")
    commit = committed(folder)
    (folder / new).parent.mkdir(parents=True, exist_ok=True)
    (folder / new).write_text("new")
    engine = folder.parent / "bin" / "docker"
    engine.parent.mkdir()
    engine.write_text(ENGINE)
    engine.chmod(0o755)
    monkeypatch.setenv("PATH", f"{engine.parent}:{os.environ['PATH']}")
    monkeypatch.setenv("ENGINE_LOG", str(folder.parent / "told"))
    subprocess.run([folder / "images" / "build", image], check=True, capture_output=True)
    told = (folder.parent / "told").read_text()
    assert f"--tag storebench/{image.replace('/', '-')}:" in told
    assert f"REVISION={commit}{'-untracked' if marked else ''} " in told


def test_an_images_version_is_that_of_its_build(checkout, monkeypatch):
    monkeypatch.setenv(version.VARIABLE, f"{COMMIT}-dirty")
    assert version.code_version() == f"{__version__}+g0123456789ab.dirty"
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
