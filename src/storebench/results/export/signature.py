"""Sign files and verify signatures with OpenSSH's `ssh-keygen -Y`."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from storebench.errors import SpecError

NAMESPACE = "storebench"  # ssh-keygen's namespace: signatures for other purposes are refused
SUFFIX = ".sig"
TOOL = "ssh-keygen"


def signature_path(path: Path) -> Path:
    """Return the default path of a file's signature."""
    return path.with_name(path.name + SUFFIX)


def sign(path: Path, key: Path) -> Path:
    """Sign the file with the SSH key. Return the path of the signature beside the file. An existing signature is replaced.

    `key`: a private key, whose passphrase ssh-keygen asks for in the terminal, or the public key of a key in an SSH agent.
    Raises SpecError with ssh-keygen's reason.
    """
    made = signature_path(path)
    made.unlink(missing_ok=True)  # otherwise ssh-keygen asks whether to overwrite it
    process = _ssh_keygen("-Y", "sign", "-n", NAMESPACE, "-f", str(key), "--", str(path))
    if process.returncode or not made.exists():
        raise SpecError(
            f"{path} is written, but not signed with {key}: {_reason(process)}."
            " The key of --sign is a private SSH key, or the public key of one in your ssh-agent"
        )
    return made


def verify(path: Path, content: bytes, signature: Path, allowed_signers: Path, signer: str) -> None:
    """Check that `signer` signed `content`, the bytes of the file at `path`, with a key of that name in `allowed_signers` (ssh-keygen(1),
    ALLOWED SIGNERS). The caller must load the same bytes, since the file may change after this check.

    Raises SpecError with the reason.
    """
    for what, needed in (("signature", signature), ("list of allowed signers", allowed_signers)):
        if not needed.is_file():
            raise SpecError(f"{path} is not verified: there is no {what} {needed}")
    process = _ssh_keygen(
        *("-Y", "verify", "-n", NAMESPACE, "-f", str(allowed_signers), "-I", signer, "-s", str(signature)),
        content=content,
    )
    if process.returncode:
        raise SpecError(
            f"{path} is not verified as signed by {signer!r}: {_reason(process)}."
            f" {signature} was made for another file or with a key that {allowed_signers} does not have for that name"
        )


def _ssh_keygen(*arguments: str, content: bytes | None = None) -> subprocess.CompletedProcess[bytes]:
    """Run ssh-keygen. `content`: its standard input; None: the caller's standard input, so that it can ask for a passphrase."""
    try:
        return subprocess.run(
            [TOOL, *arguments],
            env={**os.environ, "LC_ALL": "C"},
            check=False,
            input=content,
            capture_output=True,
        )
    except FileNotFoundError:
        raise SpecError(
            f"Signatures need {TOOL} (Debian: the package openssh-client), which is not on the PATH"
        ) from None


def _reason(process: subprocess.CompletedProcess[bytes]) -> str:
    """Return the tool's error message, without its progress messages."""
    lines = (process.stdout + process.stderr).decode(errors="replace").splitlines()
    said = [line.strip().rstrip(".") for line in lines if line.strip() and not line.startswith("Signing ")]
    return "; ".join(said)[-500:] or f"{TOOL} ended with {process.returncode}"
