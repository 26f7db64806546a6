"""Send requests to the service before a database: write and read single entities over HTTP."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import quote
from urllib.request import urlopen
from uuid import UUID

from storebench.connection import Connection
from storebench.errors import SpecError, StoreUnreachable
from storebench.stores.point_operations import requests
from storebench.stores.point_operations.entities import FIELDS, Entity

EXTRA = "services"  # key of the connection's extra: the hosts of the services before the database, by client
PORT = 8080
TOLD_S, TOLD_BYTES = 10.0, 4_096
CREATED, FOUND, NOT_FOUND, GATEWAY_TIMEOUT = 201, 200, 404, 504


class Unexpected(Exception):
    """An error that the service answered. `status`: the HTTP status."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(f"{status}: {text}")
        self.status = status


def address_of(server: Connection | None, client: str) -> tuple[str, int]:
    """Return the host and port of a client's service. Raises SpecError if the database has no such service."""
    host = ((server.extra if server else {}).get(EXTRA) or {}).get(client)
    if not host:
        raise SpecError(
            f"The client {client!r} needs a service in front of the database. Ask for a topology that has one, such as"
            f" cassandra@rest, or name its host in the extra of the connection: {json.dumps({EXTRA: {client: 'HOST:PORT'}})}"
        )
    name, _, port = str(host).partition(":")
    return name, int(port or PORT)


def description_of(address: tuple[str, int]) -> Any:
    """Return the service's description of itself. Raises StoreUnreachable if the service does not answer."""
    where = "{}:{}".format(*address)
    # Not urllib3: this module belongs to the measured client.
    try:
        with urlopen(f"http://{where}/health", timeout=TOLD_S) as answer:
            return json.loads(answer.read(TOLD_BYTES))
    except (OSError, ValueError) as error:
        raise StoreUnreachable(f"The service at {where} does not answer: {error}. Is it running?") from error


class Rest:
    """Persistent connections to a service, at most one for each user."""

    def __init__(
        self, address: tuple[str, int], table: str, consistency: str, users: int, timeout_s: float
    ) -> None:
        from geventhttpclient import HTTPClient

        self._address = address
        self._path = f"/tables/{quote(table)}/entities"
        self._query = f"?consistency={consistency}"
        self._client = HTTPClient(
            *address, concurrency=users, connection_timeout=timeout_s, network_timeout=timeout_s
        )
        self._headers = {"Content-Type": "application/json"}

    def connect(self) -> None:
        """Check that the service answers. Raises StoreUnreachable if it does not."""
        description_of(self._address)

    def insert(self, new: Entity) -> None:
        """Write an entity. Raises Unexpected or OSError if the write is not acknowledged."""
        body = json.dumps({**new._asdict(), "id": str(new.id)}, ensure_ascii=False).encode()
        answer = self._client.post(self._path + self._query, body, self._headers)
        text = answer.read()
        if answer.status_code != CREATED:
            raise Unexpected(answer.status_code, text[:300].decode(errors="replace"))

    def get(self, id: UUID) -> tuple[Any, ...] | None:
        """Return the fields of an entity; None if it does not exist."""
        answer = self._client.get(f"{self._path}/{id}{self._query}")
        text = answer.read()
        if answer.status_code == NOT_FOUND:
            return None
        if answer.status_code != FOUND:
            raise Unexpected(answer.status_code, text[:300].decode(errors="replace"))
        entity = json.loads(text)
        return UUID(entity["id"]), *(entity[name] for name in FIELDS[1:])

    def outcome(self, error: Exception) -> int:
        """Return the index in requests.OUTCOMES of an error."""
        from geventhttpclient.response import HTTPParseError

        if isinstance(error, Unexpected):
            return requests.TIMEOUT if error.status == GATEWAY_TIMEOUT else requests.SERVER
        if isinstance(error, TimeoutError):
            return requests.TIMEOUT
        if isinstance(error, OSError | HTTPParseError):
            return requests.CONNECTION
        raise error

    def close(self) -> None:
        """Close the connections."""
        self._client.close()
