"""Bundles that are signed, and verified before anything of them is loaded; by the real ssh-keygen."""

import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner

from storebench.cli import main
from storebench.errors import SpecError
from storebench.results.export import signature

ANN = "ann@example.org"


def make_key(path, passphrase=""):
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", passphrase, "-f", path], check=True)
    return path


@pytest.fixture
def key(tmp_path):
    return make_key(tmp_path / "key")


@pytest.fixture
def signers(tmp_path, key):
    path = tmp_path / "signers"
    path.write_text(f'{ANN} namespaces="storebench" {Path(f"{key}.pub").read_text()}')
    return path


@pytest.fixture
def bundle(tmp_path):
    path = tmp_path / "run.zip"
    path.write_bytes(b"a run\0\xff")
    return path


@pytest.fixture
def database(monkeypatch):
    """Collect the calls of `storebench export` and `import` to the results database."""
    calls = []

    class Bundles:
        def __init__(self, dsn):
            pass

        def export(self, run_id, path):
            path.write_bytes(run_id.encode())
            return {"attempt": 2}

        def load(self, path, content, more_attempts):
            assert content == path.read_bytes()
            calls.append(path)
            return "run", {"attempt": 2}

    class Queries:
        def __init__(self, dsn):
            pass

        def run_named(self, name, study=None):
            return {"id": name}

    monkeypatch.setenv("AIRFLOW_CONN_STOREBENCH_RESULTS", "postgresql://nowhere")
    monkeypatch.setattr("storebench.results.export.bundle.Bundles", Bundles)
    monkeypatch.setattr("storebench.results.database.queries.Queries", Queries)
    return calls


def storebench(*arguments):
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


def test_who_signed_an_exported_run_is_verified_before_it_is_loaded(database, key, signers, tmp_path):
    path = tmp_path / "run.zip"
    for run in ("first", "second"):  # a signature of what the file was before is replaced
        exported = storebench("export", run, "--out", path, "--sign", key)
        assert exported.exit_code == 0 and "run.zip.sig: its signature" in exported.output, exported.output
    imported = storebench("import", path, "--signer", ANN, "--allowed-signers", signers)
    assert imported.exit_code == 0 and f"is signed by {ANN}" in imported.output, imported.output
    assert database == [path]


def touch(bundle, signers):
    bundle.write_bytes(bundle.read_bytes() + b".")


def let_another_sign(bundle, signers):
    signature.sign(bundle, make_key(bundle.with_name("other")))


def sign_for_another_purpose(bundle, signers):
    made = signature.signature_path(bundle)
    made.unlink()
    subprocess.run(["ssh-keygen", "-q", "-Y", "sign", "-n", "git", "-f", bundle.with_name("key"), bundle], check=True)  # fmt: skip
    assert made.exists()


@pytest.mark.parametrize(
    ("spoil", "signer", "reason"),
    [
        (touch, ANN, "incorrect signature"),
        (let_another_sign, ANN, "Could not verify signature"),
        (sign_for_another_purpose, ANN, "namespace does not match"),
        (lambda bundle, signers: None, "bob@example.org", "Could not verify signature"),
        (lambda bundle, signers: signers.unlink(), ANN, "there is no list of allowed signers"),
        (lambda bundle, signers: signature.signature_path(bundle).unlink(), ANN, "there is no signature"),
        (lambda bundle, signers: signature.signature_path(bundle).write_text("x"), ANN, "missing header"),
    ],
)
def test_nothing_is_loaded_of_what_the_signer_did_not_sign(
    database, bundle, key, signers, spoil, signer, reason
):
    signature.sign(bundle, key)
    spoil(bundle, signers)
    result = storebench("import", bundle, "--signer", signer, "--allowed-signers", signers)
    assert result.exit_code == 2 and reason in result.output, result.output
    assert database == []


@pytest.mark.parametrize("option", ["--signature", "--allowed-signers"])
def test_a_signature_without_a_name_to_verify_is_refused(database, bundle, signers, option):
    result = storebench("import", bundle, option, signers)
    assert result.exit_code == 2 and "Give --signer NAME, too" in result.output
    assert database == []


def test_a_signature_that_nobody_asked_for_is_said_not_to_be_verified(database, bundle, key):
    signature.sign(bundle, key)
    result = storebench("import", bundle)
    assert result.exit_code == 0 and "run.zip.sig was not looked at" in result.output
    assert database == [bundle]


def test_the_default_list_of_signers_is_the_users(database, bundle, key, signers, tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / ".ssh").mkdir()
    signers.rename(tmp_path / ".ssh" / "allowed_signers")
    signed = signature.sign(bundle, key).rename(tmp_path / "elsewhere")
    result = storebench("import", bundle, "--signer", ANN, "--signature", signed)
    assert result.exit_code == 0, result.output


def test_a_key_that_cannot_sign_is_the_reason(bundle, tmp_path, monkeypatch):
    monkeypatch.delenv("SSH_AUTH_SOCK", raising=False)
    monkeypatch.setenv("SSH_ASKPASS", "/bin/false")
    locked = make_key(tmp_path / "locked", "a passphrase")
    with pytest.raises(SpecError, match=r"not signed .*incorrect passphrase"):
        signature.sign(bundle, locked)
    with pytest.raises(SpecError, match=r"not signed .*your ssh-agent"):
        signature.sign(bundle, bundle)
    assert not signature.signature_path(bundle).exists()


def test_a_key_in_an_agent_signs(bundle, key, signers, monkeypatch):
    socket = bundle.with_name("agent")
    agent = subprocess.Popen(["ssh-agent", "-D", "-a", socket], stdout=subprocess.PIPE)
    try:
        agent.stdout.readline()  # it says so when it listens
        monkeypatch.setenv("SSH_AUTH_SOCK", str(socket))
        subprocess.run(["ssh-add", "-q", key], check=True)
        key.unlink()
        signature.verify(
            bundle, bundle.read_bytes(), signature.sign(bundle, Path(f"{key}.pub")), signers, ANN
        )
    finally:
        agent.terminate()
        agent.wait()
        agent.stdout.close()


def test_without_openssh_it_says_what_to_install(bundle, key, signers, monkeypatch, tmp_path):
    signed = signature.sign(bundle, key)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SpecError, match="openssh-client"):
        signature.verify(bundle, bundle.read_bytes(), signed, signers, ANN)
    with pytest.raises(SpecError, match="openssh-client"):
        signature.sign(bundle, key)
