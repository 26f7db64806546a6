import subprocess

import pytest
from click.testing import CliRunner

from storebench import __version__, version
from storebench.attempt.result import AttemptResult
from storebench.cli import main

COMMIT = "0123456789abcdef0123456789abcdef01234567"


@pytest.fixture(autouse=True)
def asked_anew(monkeypatch):
    monkeypatch.delenv(version.VARIABLE, raising=False)
    version.code_version.cache_clear()
    yield
    version.code_version.cache_clear()


@pytest.fixture
def checkout(tmp_path, monkeypatch):
    """A checkout with one commit, which the code is in."""

    def git(*arguments):
        who = ("-c", "user.name=a", "-c", "user.email=a@example.org")
        done = subprocess.run(
            ["git", "-C", tmp_path, *who, *arguments], check=True, capture_output=True, text=True
        )
        return done.stdout.strip()  # fmt: skip

    git("init", "--quiet")
    (tmp_path / "code").write_text("one")
    git("add", ".")
    git("commit", "--quiet", "--message", "one")
    monkeypatch.setattr(version, "CHECKOUT", tmp_path)
    return tmp_path, git("rev-parse", "HEAD")


def test_a_checkouts_version_is_its_commit(checkout):
    folder, commit = checkout
    assert version.code_version() == f"{__version__}+g{commit[:12]}"
    (folder / "code").write_text("two")
    assert version.code_version() == f"{__version__}+g{commit[:12]}", "git is asked once"
    version.code_version.cache_clear()
    assert version.code_version() == f"{__version__}+g{commit[:12]}.dirty", "a tree that was changed"


def test_an_images_version_is_that_of_its_build(checkout, monkeypatch):
    monkeypatch.setenv(version.VARIABLE, f"{COMMIT}-dirty")
    assert version.code_version() == f"{__version__}+g0123456789ab.dirty"
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
