"""Read an Ozone Manager's state from its web server."""

from __future__ import annotations

import json
from typing import Any

from storebench import http_client
from storebench.connection import Connection
from storebench.connection.typed import host_list
from storebench.errors import StoreRefused, StoreUnreachable
from storebench.spark.filesystems.hdfs import HADOOP

PORT = 9874
HTTP_PORT = "http_port"  # key of a connection's extra for another port
TIMEOUT_S = 60.0
INFO = "Hadoop:service=OzoneManager,name=OzoneManagerInfo,*"
REPLICATION = "ozone.replication"
CLIENTS_REPLICATION = "3"  # the default of the Hadoop client, regardless of the OM's default
WRITE_SYNC = "hdds.container.chunk.write.sync"
# Settings that affect the cost of a write and its guarantee, if all servers have the same configuration
SETTINGS = ("ozone.scm.block.size", "ozone.scm.container.size", WRITE_SYNC)


class OzoneManager:
    """The Ozone Manager (OM) of a connection."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._address = f"http://{host_list([(connection.host, connection.extra.get(HTTP_PORT) or PORT)])}"

    def version(self) -> str:
        """Return the version of the OM. Raises a StorebenchError if no OM answers."""
        try:
            bean = json.loads(self._fetch(f"/jmx?qry={INFO}"))["beans"][0]
            return str(bean.get("SoftwareVersion") or "unknown")
        except (ValueError, LookupError):
            raise StoreRefused(
                f"{self._address} does not answer as an OM does: is its port right ({HTTP_PORT} in the connection's extra)?"
            ) from None

    def settings(self) -> dict[str, str]:
        """Return the settings that the Ozone Manager states, or none."""
        try:
            properties = json.loads(self._fetch("/conf"))["properties"]
            values = {entry["key"]: entry["value"] for entry in properties}
        except (StoreRefused, StoreUnreachable, ValueError, LookupError, TypeError):
            return {}
        return {name: str(values[name]) for name in SETTINGS if name in values}

    @property
    def replication(self) -> str:
        """Return the number of copies of each block that the client requests."""
        settings: dict[str, Any] = self._connection.extra.get(HADOOP) or {}
        return str(settings.get(REPLICATION) or CLIENTS_REPLICATION)

    def _fetch(self, path: str) -> bytes:
        try:
            answer = http_client.ask(
                "GET",
                f"{self._address}{path}",
                timeout_s=TIMEOUT_S,
                headers={"Accept": "application/json"},
                redirects=http_client.REDIRECTS,
            )
        except http_client.NoAnswer as error:
            raise StoreUnreachable(
                f"Ozone's OM does not answer at {self._address}: {error}. Is its web server reachable?"
            ) from None
        if not answer.ok:
            raise StoreRefused(f"The OM at {self._address} refused: {answer.status} {answer.reason}")
        return answer.body
