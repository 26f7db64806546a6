"""Where a server is and how to log in, as the pod gets it: the JSON form of an Airflow Connection.

The JSON reaches a pod in an environment variable filled from a Kubernetes Secret, one for each connection:
``STOREBENCH_CONN_S3``, ``STOREBENCH_CONN_MONGODB`` and so on.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any
from urllib.parse import urlsplit

from storebench import redact
from storebench.connection.forms import normal
from storebench.connection.typed import in_words
from storebench.errors import SpecError


@dataclass(frozen=True)
class Connection:
    """One server's address and login, in its normal form (storebench.connection.forms), whatever was typed.

    `host` and `port` are one server's; of several servers, `host` has all of them, with their ports. `password` never shows in a repr, and no
    error of this process has a secret of the connection in it. Raises SpecError that names the field for a connection that cannot be used.
    """

    name: str
    host: str = ""
    port: int | None = None
    login: str = ""
    password: str = field(default="", repr=False)
    schema: str = ""
    extra: Mapping[str, Any] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        redact.keep_out(
            *redact.logins_in(self.host),
            self.password,
            *([redact.basic(self.login, self.password)] if self.password else []),
            *redact.secrets_in(self.extra),
        )
        fields = asdict(self)
        name = fields.pop("name")
        for one, value in normal(name, fields).items():
            object.__setattr__(self, one, value)

    @classmethod
    def from_json(cls, name: str, text: str) -> Connection:
        """Parse an Airflow Connection's JSON; raises SpecError without repeating the text (it holds secrets)."""
        try:
            data = json.loads(text)
            extra = data.get("extra") or {}
            if isinstance(extra, str):
                extra = json.loads(extra)
            fields: dict[str, Any] = {
                **{one: data.get(one) or "" for one in ("host", "login", "password", "schema")},
                "port": int(data["port"]) if data.get("port") else None,
                "extra": {**extra},
            }
        except (ValueError, AttributeError, TypeError):
            raise SpecError(f"{variable(name)} does not hold an Airflow Connection's JSON") from None
        return cls(name, **fields)

    @classmethod
    def from_environment(cls, name: str) -> Connection:
        """The connection `name` of this pod; raises SpecError where its variable is missing."""
        text = os.environ.get(variable(name))
        if not text:
            raise SpecError(f"{variable(name)} is not set: the pod got no Secret for connection {name!r}")
        return cls.from_json(name, text)

    def to_json(self) -> str:
        """Return the JSON that `from_json` reads."""
        return json.dumps({one: value for one, value in asdict(self).items() if one != "name"})

    def addresses(self, port: int) -> list[tuple[str, int]]:
        """Return the host and the port of each server; `port` is that of a server whose port is not typed."""
        if self.host.startswith("/"):  # a socket's folder
            return [(self.host, self.port or port)]
        if ":" in self.host and "," not in self.host and not self.host.startswith("["):  # IPv6
            return [(self.host, self.port or port)]
        parts = [urlsplit(f"//{one}") for one in self.host.split(",")]
        return [(part.hostname or "", part.port or self.port or port) for part in parts]

    def where(self, port: int) -> str:
        """Return the servers' addresses for people: `HOST:PORT,HOST:PORT`."""
        return in_words(self.addresses(port))

    @property
    def tls(self) -> bool:
        """Return whether the client uses TLS."""
        return self.extra.get("tls") is True or self.extra.get("scheme") == "https"


def variable(name: str) -> str:
    """The environment variable that carries connection `name` into a pod."""
    return f"STOREBENCH_CONN_{name.upper()}"
