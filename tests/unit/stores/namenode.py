"""A NameNode's web server in this process, as far as it is asked. It is its own DataNode."""

import json
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlparse

from storebench.connection import Connection


class NameNode:
    """`files`: path -> bytes. `copies` of each are on disk."""

    def __init__(self):
        self.files, self.state, self.living, self.copies, self.asked = {}, "Operational", 3, 3, []
        self.refuses, self.synced, self.breaks_off = None, None, False

    def connection(self, **extra):
        return Connection("hdfs", "127.0.0.1", extra={"http_port": self.port, **extra})

    def answer(self, method, url):
        path, query = (
            urlparse(url).path,
            {name: one[0] for name, one in parse_qs(urlparse(url).query).items()},
        )
        self.asked.append((method, url))
        if self.refuses:
            return 403, {"RemoteException": {"message": self.refuses}}
        if path == "/jmx":
            of_info = "NameNodeInfo" in query["qry"]
            bean = (
                {"SoftwareVersion": "3.5.0"}
                if of_info
                else {"FSState": self.state, "NumLiveDataNodes": self.living}
            )
            return 200, {"beans": [bean]}
        if path == "/conf":
            told = {"dfs.blocksize": "134217728", "x": "y"}
            if self.synced:
                told["dfs.datanode.synconclose"] = self.synced
            return 200, {"properties": [{"key": key, "value": value} for key, value in told.items()]}
        name = path.removeprefix("/webhdfs/v1/")
        below = {one: data for one, data in self.files.items() if one.startswith(f"{name}/")}
        if query["op"] == "DELETE":
            for one in below:
                del self.files[one]
            return 200, {"boolean": bool(below)}
        if query["op"] == "OPEN" and name in self.files:
            return (200, self.files[name]) if "offset" in query else (307, f"{url}&offset=0")
        if not below:
            return 404, {"RemoteException": {"message": "File does not exist"}}
        if query["op"] == "GETCONTENTSUMMARY":
            size = sum(len(data) for data in below.values())
            return 200, {"ContentSummary": {"length": size, "spaceConsumed": self.copies * size}}
        entries = {}
        for one, data in below.items():
            entry, _, rest = one.removeprefix(f"{name}/").partition("/")
            kind = "DIRECTORY" if rest else "FILE"
            entries[entry] = {"pathSuffix": entry, "type": kind, "length": 0 if rest else len(data)}
        return 200, {"FileStatuses": {"FileStatus": list(entries.values())}}


@contextmanager
def served():
    """Yield a NameNode without files."""
    node = NameNode()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            code, body = node.answer(self.command, self.path)
            data = body if isinstance(body, bytes) else json.dumps(body).encode()
            self.send_response(code)
            if code == 307:
                self.send_header("Location", f"http://127.0.0.1:{node.port}{body}")
                data = b""
            self.send_header("Content-Length", str(len(data) + node.breaks_off))
            self.end_headers()
            self.wfile.write(data)

        do_DELETE = do_GET  # noqa: N815

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    node.port = server.server_port
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield node
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
