"""A stranger in the pods' network who asks Spark for a block."""

import socket
import struct

from storebench.spark.session import BLOCK_MANAGER_PORT, DRIVER_PORT
from tests.e2e.harness import NAMESPACE, driver_with_executors, soon


def answers_of_spark(cluster):
    """Return the answers of the driver's two ports and the executor's port to a client without the key, once a driver has an executor."""
    name, (executor,) = soon(lambda: driver_with_executors(cluster), 300)
    driver = cluster.read_namespaced_pod(name, NAMESPACE)
    ports = [
        (driver.status.pod_ip, DRIVER_PORT),
        (driver.status.pod_ip, BLOCK_MANAGER_PORT),
        (executor.status.pod_ip, BLOCK_MANAGER_PORT),
    ]
    return [soon(lambda port=port: _answer(*port)) for port in ports]


def _answer(address, port):
    """Return Spark's answer to a request for a block without the key; empty while Spark does not listen yet."""
    texts = b"".join(struct.pack(">i", len(text)) + text for text in (b"application", b"executor"))
    block = b"broadcast_0_piece0"
    asked = b"\0" + texts + struct.pack(">ii", 1, len(block)) + block  # OpenBlocks
    request = struct.pack(">bqi", 3, 1, len(asked)) + asked  # an RpcRequest with the number 1
    try:
        with socket.create_connection((address, port), timeout=10) as connection:
            connection.sendall(struct.pack(">q", 8 + len(request)) + request)
            replies = connection.makefile("rb")
            (length,) = struct.unpack(">q", replies.read(8))
            return replies.read(length - 8)
    except OSError:
        return b""
