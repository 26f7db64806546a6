"""Connections: addresses and logins of servers, which pods get as the JSON of an Airflow Connection.

Each connection is an environment variable of the pod, filled from a Kubernetes Secret: ``STOREBENCH_CONN_S3``,
``STOREBENCH_CONN_MONGODB`` and so on.
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
from storebench.connection.typed import host_list
from storebench.errors import SpecError


@dataclass(frozen=True)
class Connection:
    """The address and login of a server or a cluster, in normal form (storebench.connection.forms).

    `host` and `port` belong to a single server; for several servers `host` lists all servers with their ports. `password` is never in a
    repr, and no error of this process shows a secret of the connection. Raises SpecError with the field's name for an unusable connection.
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
        for attribute, value in normal(name, fields).items():
            object.__setattr__(self, attribute, value)

    @classmethod
    def from_json(cls, name: str, text: str) -> Connection:
        """Parse an Airflow Connection's JSON. Raises SpecError without the text, which has secrets."""
        try:
            data = json.loads(text)
            extra = data.get("extra") or {}
            if isinstance(extra, str):
                extra = json.loads(extra)
            fields: dict[str, Any] = {
                **{
                    attribute: data.get(attribute) or ""
                    for attribute in ("host", "login", "password", "schema")
                },
                "port": int(data["port"]) if data.get("port") else None,
                "extra": {**extra},
            }
        except (ValueError, AttributeError, TypeError, RecursionError):
            raise SpecError(f"{variable(name)} does not hold an Airflow Connection's JSON") from None
        return cls(name, **fields)

    @classmethod
    def from_environment(cls, name: str) -> Connection:
        """Return the connection `name` of this pod. Raises SpecError if its variable is not set."""
        text = os.environ.get(variable(name))
        if not text:
            raise SpecError(f"{variable(name)} is not set: the pod got no Secret for connection {name!r}")
        return cls.from_json(name, text)

    def to_json(self) -> str:
        """Return the JSON that `from_json` reads."""
        return json.dumps(
            {attribute: value for attribute, value in asdict(self).items() if attribute != "name"}
        )

    def addresses(self, port: int) -> list[tuple[str, int]]:
        """Return the host and the port of each server. `port`: the default port."""
        if self.host.startswith("/"):  # the folder of a Unix socket
            return [(self.host, self.port or port)]
        if ":" in self.host and "," not in self.host and not self.host.startswith("["):  # IPv6
            return [(self.host, self.port or port)]
        parts = [urlsplit(f"//{address}") for address in self.host.split(",")]
        return [(part.hostname or "", part.port or self.port or port) for part in parts]

    def where(self, port: int) -> str:
        """Return the servers' addresses as readable text: `HOST:PORT,HOST:PORT`."""
        return host_list(self.addresses(port))

    @property
    def tls(self) -> bool:
        """Return whether the client uses TLS."""
        return self.extra.get("tls") is True or self.extra.get("scheme") == "https"


def variable(name: str) -> str:
    """Return the name of the environment variable that holds the connection `name` in a pod."""
    return f"STOREBENCH_CONN_{name.upper()}"
