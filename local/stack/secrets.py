"""Generate passwords and keys once per STOREBENCH_HOME. They are kept over restarts, and only the owner can read them."""

import base64
import json
import os
import secrets
from pathlib import Path

NAMES = (
    "airflow_password",
    "airflow_db_password",
    "results_password",
    "reader_password",
    "mongodb_password",
    "s3_access_key",
    "s3_secret_key",
    "jwt_secret",
    "api_secret_key",
)


def write_private(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(path.name + ".new")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w") as file:
        file.write(text)
    temporary.replace(path)


def load(path: Path) -> dict[str, str]:
    known: dict[str, str] = json.loads(path.read_text()) if path.exists() else {}
    complete = {name: known.get(name) or secrets.token_hex(16) for name in NAMES}
    complete["fernet_key"] = (
        known.get("fernet_key") or base64.urlsafe_b64encode(secrets.token_bytes(32)).decode()
    )
    if complete != known:
        write_private(path, json.dumps(complete, indent=1))
    return complete
