"""The main program of an executor pod, `storebench executor`: Spark's executor, and figures of its cgroup for the driver.

Spark starts the pod with the argument `executor` and the variables that this module reads. The entry point of Spark's own image reads
the same variables: resource-managers/kubernetes/docker/src/main/dockerfiles/spark/entrypoint.sh.
"""

from __future__ import annotations

import base64
import itertools
import json
import os
import re
import signal
import subprocess
import threading
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from storebench.attempt.cgroup import Cgroup, WorkingSetSampler
from storebench.attempt.usage import boot_id
from storebench.connection import tls
from storebench.errors import SpecError

FIGURES_PORT = 7081
# The CA certificates that the executor trusts in place of Java's own: PEM in Base64, one line.
CERTIFICATES = "STOREBENCH_CA_CERTS"
CLASS_PATH = "SPARK_DIST_CLASSPATH"  # Spark's own variable: the class path after its jars
MAIN_CLASS = "org.apache.spark.scheduler.cluster.k8s.KubernetesExecutorBackend"
ARGUMENTS = {
    "--driver-url": "SPARK_DRIVER_URL",
    "--executor-id": "SPARK_EXECUTOR_ID",
    "--cores": "SPARK_EXECUTOR_CORES",
    "--app-id": "SPARK_APPLICATION_ID",
    "--hostname": "SPARK_EXECUTOR_POD_IP",
    "--resourceProfileId": "SPARK_RESOURCE_PROFILE_ID",
    "--podName": "SPARK_EXECUTOR_POD_NAME",
}


def main() -> int:
    """Run the executor to its end. Returns its exit code: 128 plus the signal's number if a signal has ended the executor."""
    command = java_command(os.environ)
    cgroup = Cgroup()
    sampler = WorkingSetSampler(cgroup)
    sampler.start()
    server = ThreadingHTTPServer(("", FIGURES_PORT), _handler(cgroup, sampler))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    process = subprocess.Popen(command)
    signal.signal(signal.SIGTERM, lambda number, frame: process.terminate())
    code = process.wait()
    return code if code >= 0 else 128 - code


def java_command(environment: Mapping[str, str]) -> list[str]:
    """Return the command line of Spark's executor. Raises SpecError outside an executor's pod."""
    try:
        options = {
            int(match[1]): value
            for name, value in environment.items()
            if (match := re.fullmatch(r"SPARK_JAVA_OPT_(\d+)", name))
        }
        memory = environment["SPARK_EXECUTOR_MEMORY"]
        arguments = {name: environment[variable] for name, variable in ARGUMENTS.items()}
        trust = tls.java_options(base64.b64decode(environment.get(CERTIFICATES, "")).decode())
        command = [
            "java",
            *trust,
            *(options[number] for number in sorted(options)),
            f"-Xms{memory}",
            f"-Xmx{memory}",
        ]
        # Spark reads a key from a file only in Kubernetes, and does not tell an executor that it runs in Kubernetes.
        command += ["-Dspark.master=k8s://executor"]
        path = class_path(Path(environment["SPARK_HOME"]), environment.get(CLASS_PATH, ""))
        command += ["-cp", path, MAIN_CLASS]
        return [*command, *itertools.chain.from_iterable(arguments.items())]
    except KeyError as error:
        raise SpecError(f"{error} is not set: `storebench executor` is started by Spark, in a pod") from None


def class_path(home: Path, more: str = "") -> str:
    """Return the class path that spark-class gives a driver, as the archive of JVM classes requires, followed by `more`."""
    spark_path = [home / "conf", *home.glob("jars/slf4j-api-*.jar"), home / "jars" / "*"]
    return ":".join([*map(str, spark_path), *([more] if more else [])])


def figures(cgroup: Cgroup, peak_bytes: int | None) -> dict[str, int | float | str | None]:
    """Return the container's memory in bytes and CPU seconds since its start, and its machine's boot id."""
    return {
        "memory_peak_bytes": cgroup.memory_peak_bytes(),
        "memory_working_set_peak_bytes": peak_bytes,
        "cpu_s": round(cgroup.cpu().cpu_s, 6),
        "oom_kills": cgroup.oom_kills(),
        "boot_id": boot_id(),
    }


def _handler(cgroup: Cgroup, sampler: WorkingSetSampler) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = json.dumps(figures(cgroup, sampler.peak_bytes)).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            pass

    return Handler
