"""A server for the agent's tests: it listens, and holds its data's files and some memory. Its argument is JSON. It starts fast: few modules.

port: where it listens; after_s: how long after its start; data: a folder, in which it writes a file of `data_bytes` at its first start and
maps it if `mapped`, and reads half of it at each start if `reads`; GET /read reads all of it; memory_bytes: what it holds; deaf: it does not end at TERM; dies_s: when it ends by itself, with the code `code`;
fails_again: whether it ends so at once when it is started again; orphan: it leaves a process behind that writes its number to this file;
environment: where it writes its variables.
"""

import json
import mmap
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

wishes = json.loads(sys.argv[1])
ready = time.monotonic() + wishes.get("after_s", 0)
signal.signal(signal.SIGTERM, (lambda *_: None) if wishes.get("deaf") else (lambda *_: os._exit(0)))
signal.signal(signal.SIGUSR1, lambda *_: print("got USR1", flush=True))
print("to stdout", flush=True)
print("to stderr", file=sys.stderr, flush=True)
if "environment" in wishes:
    Path(wishes["environment"]).write_text(json.dumps(dict(os.environ)))
if "orphan" in wishes:
    # The shell ends at once: what it has started loses its parent.
    subprocess.run(["sh", "-c", f"sleep 60 & echo $! > {wishes['orphan']}"], check=True)
again = False
if "data" in wishes:
    data = Path(wishes["data"]) / "data"
    again = data.exists()
    if not again:
        data.write_bytes(os.urandom(wishes["data_bytes"]))
    if wishes.get("mapped"):
        with data.open("rb") as file:
            view = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)
        sum(view[:: mmap.PAGESIZE])
    if wishes.get("reads"):
        with data.open("rb") as file:
            file.read(data.stat().st_size // 2)
if again and wishes.get("fails_again"):
    os._exit(wishes["code"])
held = bytearray(os.urandom(wishes.get("memory_bytes", 0)))
if "dies_s" in wishes:
    threading.Timer(wishes["dies_s"], lambda: os._exit(wishes["code"])).start()
if wishes.get("port"):
    listener = socket.create_server(("127.0.0.1", wishes["port"]))
    while True:
        connection, _ = listener.accept()
        if connection.recv(4096).startswith(b"GET /read "):
            data.read_bytes()
        # A database that has opened its port may still be recovering.
        status = "200 OK" if time.monotonic() > ready else "503 Service Unavailable"
        connection.sendall(f"HTTP/1.1 {status}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n".encode())
        connection.close()
time.sleep(600)
