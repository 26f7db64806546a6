"""Access HDFS over HTTP (WebHDFS), independently of the measured client."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import quote, urlencode

from storebench import http_client
from storebench.connection import Connection
from storebench.connection.typed import host_list
from storebench.errors import StoreRefused, StoreUnreachable
from storebench.redact import redacted
from storebench.spark.filesystems.hdfs import HADOOP
from storebench.stores.files import Files

PORT = 9870  # the default port of the NameNode's web server
HTTP_PORT = "http_port"  # key of a connection's extra for another port
TIMEOUT_S = 60.0
STATE = "Hadoop:service=NameNode,name=FSNamesystemState"
INFO = "Hadoop:service=NameNode,name=NameNodeInfo"
SYNC_ON_CLOSE = "dfs.datanode.synconclose"
# Settings of the NameNode that affect the cost of a write and its guarantee
SETTINGS = ("dfs.blocksize", "dfs.bytes-per-checksum", SYNC_ON_CLOSE, "dfs.permissions.enabled")
UNTOLD = {SYNC_ON_CLOSE: "false"}  # the values of settings that a NameNode does not report


class WebHdfs(Files):
    """Files of HDFS. The NameNode lists files, and redirects reads to a DataNode, whose own HDFS client gets the blocks."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._address = f"http://{host_list([(connection.host, connection.extra.get(HTTP_PORT) or PORT)])}"

    @property
    def copies(self) -> int:
        """Return the number of copies of each block that clients request."""
        settings = self._connection.extra.get(HADOOP) or {}
        return int(settings.get("dfs.replication", 3))

    def check(self) -> None:
        """Check HDFS. Raises StoreRefused in safe mode, or with fewer DataNodes than requested copies."""
        state = self._bean(STATE)
        if state.get("FSState") != "Operational":
            raise StoreRefused(
                f"HDFS at {self._address} is in its safe mode, in which nothing can be written. Are its DataNodes there?"
                f" It sees {state.get('NumLiveDataNodes')}"
            )
        if (living := int(state.get("NumLiveDataNodes", 0))) < self.copies:
            raise StoreRefused(
                f"HDFS at {self._address} has {living} living DataNodes, and each block is to have {self.copies} copies"
                " (dfs.replication): start more, or ask for fewer copies in the connection's extra"
            )

    def version(self) -> str:
        """Return the version that the NameNode states."""
        return str(self._bean(INFO).get("SoftwareVersion") or "unknown")

    def settings(self) -> dict[str, str]:
        """Return the settings that the NameNode reports."""
        try:
            properties = self._send("GET", f"{self._address}/conf").expected().json()["properties"]
            values = {entry["key"]: entry["value"] for entry in properties}
        except (OSError, ValueError, KeyError, TypeError):
            return {}
        return UNTOLD | {name: str(values[name]) for name in SETTINGS if name in values}

    def entries(self, folder: str) -> dict[str, int] | None:
        answer = self._ask("LISTSTATUS", folder)
        if answer is None:
            return None
        return {
            status["pathSuffix"]: int(status["length"]) if status["type"] == "FILE" else 0
            for status in answer["FileStatuses"]["FileStatus"]
        }

    def read(self, path: str) -> bytes:
        data = self._open("OPEN", path)
        if data is None:
            raise StoreRefused(f"{path} is not in HDFS any more")
        return data

    def disk_bytes(self, folder: str) -> int:
        """Return the bytes of the blocks with all copies, without the files of their checksums."""
        answer = self._ask("GETCONTENTSUMMARY", folder)
        return int(answer["ContentSummary"]["spaceConsumed"]) if answer else 0

    def remove(self, folder: str) -> None:
        self._ask("DELETE", folder, method="DELETE", recursive="true")

    def _bean(self, name: str) -> dict[str, Any]:
        text = self._fetch(f"{self._address}/jmx?qry={name}", "GET")
        try:
            bean: dict[str, Any] = json.loads(text or b"{}")["beans"][0]
        except (ValueError, LookupError):
            raise StoreRefused(
                f"{self._address} does not answer as a NameNode does: is its port right ({HTTP_PORT} in the connection's extra)?"
            ) from None
        return bean

    def _ask(self, operation: str, path: str, method: str = "GET", **more: str) -> Any:
        text = self._open(operation, path, method, **more)
        return None if text is None else json.loads(text)

    def _open(self, operation: str, path: str, method: str = "GET", **more: str) -> bytes | None:
        user = {"user.name": self._connection.login} if self._connection.login else {}
        query = urlencode({"op": operation, **user, **more})
        return self._fetch(f"{self._address}/webhdfs/v1/{quote(path)}?{query}", method)

    def _fetch(self, url: str, method: str) -> bytes | None:
        """Return the answer's body; None if the file does not exist."""
        try:
            answer = self._send(method, url)
        except http_client.BrokenAnswer as error:
            raise StoreRefused(
                f"HDFS at {self._address} broke off its answer ({error}). Is a block damaged on all its DataNodes, or has one ended?"
            ) from None
        except http_client.NoAnswer as error:
            raise StoreUnreachable(
                f"HDFS does not answer at {self._address}: {error}. Is its web server (WebHDFS) reachable?"
            ) from None
        if answer.status == 404:
            return None
        if not answer.ok:
            raise StoreRefused(f"HDFS at {self._address} refused: {_reason(answer)}")
        return answer.body

    def _send(self, method: str, url: str) -> http_client.Answer:
        return http_client.ask(
            method,
            url,
            timeout_s=TIMEOUT_S,
            headers={"Accept": "application/json"},
            redirects=http_client.REDIRECTS,
        )


def _reason(answer: http_client.Answer) -> str:
    try:
        return redacted(str(answer.json()["RemoteException"]["message"])).splitlines()[0][:500]
    except (ValueError, LookupError, TypeError):
        return f"{answer.status} {answer.reason}"
