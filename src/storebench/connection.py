"""Where a server is and how to log in, as the pod gets it: the JSON form of an Airflow Connection.

The JSON reaches a pod in an environment variable filled from a Kubernetes Secret, one for each connection:
``STOREBENCH_CONN_S3``, ``STOREBENCH_CONN_MONGODB`` and so on.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from storebench.errors import SpecError


@dataclass(frozen=True)
class Connection:
    """One server's address and login. `password` never shows in a repr."""

    name: str
    host: str = ""
    port: int | None = None
    login: str = ""
    password: str = field(default="", repr=False)
    schema: str = ""
    extra: Mapping[str, Any] = field(default_factory=dict, repr=False)

    @classmethod
    def from_json(cls, name: str, text: str) -> Connection:
        """Parse an Airflow Connection's JSON; raises SpecError without repeating the text (it holds secrets)."""
        try:
            data = json.loads(text)
            extra = data.get("extra") or {}
            if isinstance(extra, str):
                extra = json.loads(extra)
            return cls(
                name=name,
                host=data.get("host") or "",
                port=int(data["port"]) if data.get("port") else None,
                login=data.get("login") or "",
                password=data.get("password") or "",
                schema=data.get("schema") or "",
                extra=extra,
            )
        except (ValueError, AttributeError, TypeError):
            raise SpecError(f"{variable(name)} does not hold an Airflow Connection's JSON") from None

    @classmethod
    def from_environment(cls, name: str) -> Connection:
        """The connection `name` of this pod; raises SpecError where its variable is missing."""
        text = os.environ.get(variable(name))
        if not text:
            raise SpecError(f"{variable(name)} is not set: the pod got no Secret for connection {name!r}")
        return cls.from_json(name, text)


def variable(name: str) -> str:
    """The environment variable that carries connection `name` into a pod."""
    return f"STOREBENCH_CONN_{name.upper()}"
