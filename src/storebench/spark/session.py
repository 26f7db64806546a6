"""The driver's Spark session, with executor pods of Spark's own Kubernetes scheduler."""

from __future__ import annotations

import base64
import json
import os
import ssl
import time
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from storebench.connection import tls
from storebench.errors import SpecError, StoreRefused, StoreUnreachable
from storebench.redact import redacted
from storebench.spark.executor import CERTIFICATES, CLASS_PATH
from storebench.spark.filesystems.base import FileSystem
from storebench.spark.options import ENCRYPTION

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# The variables that the pod's specification sets (storebench.airflow.pods).
POD_NAME, POD_IP, POD_NAMESPACE = "STOREBENCH_POD_NAME", "STOREBENCH_POD_IP", "STOREBENCH_POD_NAMESPACE"
IMAGE, API = "STOREBENCH_POD_IMAGE", "STOREBENCH_KUBERNETES_API"
EXECUTOR_POD = "STOREBENCH_EXECUTOR_POD"  # the template of the executors' pods, as JSON
EXECUTOR = "spark-kubernetes-executor"  # the name that Spark gives an executor's container
CREDENTIALS = Path("/var/run/secrets/kubernetes.io/serviceaccount")
SCRATCH = Path("/tmp")  # all that a pod can write
TEMPLATE = SCRATCH / "executor-pod.json"
# The key of the pods of Spark, from a Secret (storebench.airflow.connections), in the driver and its executors.
KEY = Path("/var/run/secrets/storebench-spark/key")
DRIVER_OPTIONS = "spark.driver.extraJavaOptions"
DRIVER_PORT, BLOCK_MANAGER_PORT = 7078, 7079
POLL_INTERVAL_S, LOOK_INTERVAL_S = 0.1, 1.0
LOCAL = (
    "local"  # the value of `executors` without any: all work is done in the driver's pod, on all of its cores
)
ADVICE = "Ask for fewer or smaller executors (executors, executor_memory, executor_cpu), or raise startup_timeout_s"


class NoExecutors(StoreUnreachable):
    """Kubernetes did not give the executors in time."""

    kind = "no_executors"


def start_session(
    values: Mapping[str, str], file_systems: Sequence[FileSystem], extra: Mapping[str, str]
) -> tuple[SparkSession, int]:
    """A session on these file systems with all its executors registered; returns it and how many they are: 0 where `executors` is LOCAL.

    `values` has `executors`, OPTIONS and what all pods are told; `extra` are more settings of Spark. Raises NoExecutors with the reason that
    Kubernetes gives where they do not come within `startup_timeout_s`.
    """
    from pyspark.sql import SparkSession

    for one in file_systems:
        one.log_in()
    jars = class_path(file_systems)
    os.environ |= jars  # of the driver's JVM, which this process is about to start
    local = values["executors"] == LOCAL
    if local:
        builder, own = SparkSession.builder.master("local[*]"), local_settings(values, os.environ)
    else:
        TEMPLATE.write_text(os.environ[EXECUTOR_POD])
        builder, own = SparkSession.builder.master(f"k8s://{kubernetes_api()}"), settings(values, os.environ)
    own |= trusting(own, file_systems)
    executors = {f"spark.executorEnv.{name}": value for name, value in jars.items()}
    for found in (own, executors, *(one.settings() for one in file_systems), extra):
        for name, value in found.items():
            builder = builder.config(name, value)
    session: SparkSession = builder.appName("storebench").getOrCreate()
    session.sparkContext.setLogLevel("WARN")
    wanted = 0 if local else int(values["executors"])
    try:
        if not local:
            _wait_for_executors(session, wanted, float(values["startup_timeout_s"]))
    except NoExecutors:
        session.stop()
        raise
    return session, wanted


def class_path(file_systems: Sequence[FileSystem]) -> dict[str, str]:
    """The variable with what these file systems need behind Spark's own class path. Before it, the archive of classes would fit no more."""
    jars = [jar for one in file_systems for jar in one.jars()]
    return {CLASS_PATH: ":".join(jars)} if jars else {}


def trusting(own: Mapping[str, str], file_systems: Sequence[FileSystem]) -> dict[str, str]:
    """Return the settings with which driver and executors trust the CAs that these file systems need, `own` being the others."""
    if not (certificates := "\n".join(found for one in file_systems if (found := one.certificates()))):
        return {}
    options = [own.get(DRIVER_OPTIONS, ""), *tls.java_options(certificates)]
    return {
        DRIVER_OPTIONS: " ".join(filter(None, options)),
        f"spark.executorEnv.{CERTIFICATES}": base64.b64encode(certificates.encode()).decode(),
    }


def kubernetes_api() -> str:
    """The cluster's API as pods reach it: what the deployment says, or else the cluster's own service."""
    if address := os.environ.get(API):
        return address
    try:
        return f"https://{os.environ['KUBERNETES_SERVICE_HOST']}:{os.environ['KUBERNETES_SERVICE_PORT']}"
    except KeyError:
        raise SpecError(
            f"Neither {API} nor KUBERNETES_SERVICE_HOST is set: Spark's executors need a cluster"
        ) from None


def settings(values: Mapping[str, str], environment: Mapping[str, str]) -> dict[str, str]:
    """Spark's settings for a driver in client mode in the pod that `environment` describes."""
    try:
        name, address, _ = environment[POD_NAME], environment[POD_IP], environment[EXECUTOR_POD]
        namespace, image = environment[POD_NAMESPACE], environment[IMAGE]
    except KeyError as error:
        raise SpecError(f"{error} is not set: a Spark driver is started by the DAG, in a pod") from None
    return {
        **_common_settings(values, environment),
        **encryption(values),
        "spark.driver.host": address,
        "spark.driver.bindAddress": "0.0.0.0",
        "spark.driver.port": str(DRIVER_PORT),
        "spark.blockManager.port": str(BLOCK_MANAGER_PORT),
        "spark.executor.instances": values["executors"],
        "spark.executor.cores": values["executor_cores"],
        "spark.executor.memory": values["executor_memory"],
        "spark.executor.memoryOverhead": values["executor_memory_overhead"],
        "spark.kubernetes.executor.request.cores": values["executor_cpu"],
        **(
            {"spark.kubernetes.executor.limit.cores": values["executor_cpu"]}
            if values["cpu_limit"] == str(True)
            else {}
        ),
        "spark.kubernetes.namespace": namespace,
        "spark.kubernetes.container.image": image,
        "spark.kubernetes.container.image.pullPolicy": "IfNotPresent",
        # Owner references: when the driver's pod goes, Kubernetes removes its executors, however it went.
        "spark.kubernetes.driver.pod.name": name,
        "spark.kubernetes.executor.podNamePrefix": name[:50].rstrip("-"),
        "spark.kubernetes.executor.podTemplateFile": str(TEMPLATE),
        "spark.kubernetes.authenticate.caCertFile": str(CREDENTIALS / "ca.crt"),
        "spark.kubernetes.authenticate.oauthTokenFile": str(CREDENTIALS / "token"),
        # Pods are all that the service account may touch.
        "spark.kubernetes.executor.disableConfigMap": "true",
        "spark.kubernetes.driver.service.deleteOnTermination": "false",
        "spark.kubernetes.driver.ownPersistentVolumeClaim": "false",
        "spark.kubernetes.driver.reusePersistentVolumeClaim": "false",
        "spark.kubernetes.allocation.batch.size": values["executors"],
        # The wait for executors is our own: it knows Kubernetes' reason when they do not come.
        "spark.scheduler.maxRegisteredResourcesWaitingTime": "0s",
    }


def local_settings(values: Mapping[str, str], environment: Mapping[str, str]) -> dict[str, str]:
    """Spark's settings for a driver that does all work itself. Nobody else can reach it."""
    here = dict.fromkeys(("spark.driver.host", "spark.driver.bindAddress"), "127.0.0.1")
    return {**_common_settings(values, environment), **here}


def _common_settings(values: Mapping[str, str], environment: Mapping[str, str]) -> dict[str, str]:
    return {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.memory": values["driver_memory"],
        **class_archive(environment),
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.warehouse.dir": str(SCRATCH / "warehouse"),  # made even where no table is in it
    }


def class_archive(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the settings that use the image's archive of JVM classes, if any: driver and executors then start in half the time."""
    archive = environment.get("SPARK_CLASSES")
    options = f"-XX:SharedArchiveFile={archive}"
    return {f"spark.{who}.extraJavaOptions": options for who in ("driver", "executor")} if archive else {}


def encrypted(values: Mapping[str, str]) -> bool:
    """Return whether the run encrypts the traffic between driver and executors."""
    return values.get(ENCRYPTION) == str(True)


def encryption(values: Mapping[str, str]) -> dict[str, str]:
    """Where the run asks for it, driver and executors prove to each other that they have KEY, and encrypt all that they send
    (docs/decisions/0017)."""
    if not encrypted(values):
        return {}
    return {
        "spark.authenticate": "true",
        "spark.authenticate.secret.file": str(KEY),  # or Spark writes one of its own into the executors' pods
        "spark.network.crypto.enabled": "true",
        "spark.network.crypto.authEngineVersion": "2",  # of the two the one that derives its keys properly
        "spark.network.crypto.cipher": "AES/GCM/NoPadding",  # the default (CTR) does not notice changed bytes
        "spark.network.crypto.saslFallback": "false",
    }


def executor_addresses(session: SparkSession) -> dict[str, str]:
    """The living executors: id -> IP address.

    Spark lists one whose connection has ended until Kubernetes says why, which may take half a minute; it gives it no task any more.
    """
    context = session.sparkContext._jsc.sc()
    found, backend = context.statusStore().executorList(True), context.schedulerBackend()
    executors = [found.apply(n) for n in range(found.size())]
    return {
        str(executor.id()): str(executor.hostPort()).rpartition(":")[0]
        for executor in executors
        if executor.id() != "driver" and backend.isExecutorActive(executor.id())
    }


def _wait_for_executors(session: SparkSession, wanted: int, timeout_s: float) -> None:
    began_s, shown, looked_s, why = time.monotonic(), 0, 0.0, ""
    selector = f"spark-app-selector={session.sparkContext.applicationId},spark-role=executor"
    while True:
        try:
            found = len(executor_addresses(session))
        except _gone():  # Spark ends its own JVM when too many executors have failed
            raise NoExecutors(f"No executors: {why or 'the driver has ended'}. {ADVICE}") from None
        elapsed_s = time.monotonic() - began_s
        if found >= wanted:
            print(f"executors: {wanted} after {elapsed_s:.1f} s", flush=True)
            return
        if found > shown:
            print(f"executors: {found} of {wanted}", flush=True)
            shown = found
        if elapsed_s - looked_s > LOOK_INTERVAL_S:
            looked_s, why = elapsed_s, _why(selector, why)
        if elapsed_s > timeout_s:
            raise NoExecutors(f"{found} of {wanted} executors came within {timeout_s:.0f} s: {why}. {ADVICE}")
        time.sleep(POLL_INTERVAL_S)


def _why(selector: str, before: str) -> str:
    """What Kubernetes says of executor pods that do not run; a pod that failed may be gone at the next look."""
    url = f"{kubernetes_api()}/api/v1/namespaces/{os.environ[POD_NAMESPACE]}/pods"
    try:
        request = urllib.request.Request(
            f"{url}?labelSelector={selector.replace(',', '%2C')}",
            headers={"Authorization": f"Bearer {(CREDENTIALS / 'token').read_text()}"},
        )
        context = ssl.create_default_context(cafile=str(CREDENTIALS / "ca.crt"))
        opener = urllib.request.build_opener(
            urllib.request.ProxyHandler({}), urllib.request.HTTPSHandler(context=context)
        )
        with opener.open(request, timeout=10) as answer:
            return (
                reason(json.load(answer)["items"])
                or before
                or "no executor pod is there: see the driver's log"
            )
    except (OSError, ValueError) as error:
        return before or f"Kubernetes does not say why ({error})"


def reason(pods: list[Any]) -> str:
    """Why the first of these pods, as the API describes them, that does not run does not; empty if none is in trouble."""
    for pod in pods:
        status = pod.get("status", {})
        for condition in status.get("conditions", []):
            if condition["type"] == "PodScheduled" and condition["status"] == "False":
                return f"no node can take the pod: {condition.get('message', condition.get('reason', ''))}"
        for container in status.get("containerStatuses", []):
            for state in container.get("state", {}).values():
                if state.get("reason") not in (None, "Completed", "ContainerCreating"):
                    return f"{state['reason']}: {' '.join(state.get('message', '').split())[-300:]}".rstrip(
                        ": "
                    )
    return ""


def _gone() -> tuple[type[Exception], ...]:
    """Return the errors that py4j raises when the JVM has ended."""
    from py4j.protocol import Py4JError

    return (Py4JError, ConnectionError)


@contextmanager
def errors(what: str) -> Iterator[None]:
    """Turn Spark's errors into StoreRefused with the reason of the innermost cause, in one line."""
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    try:
        yield
    except (Py4JError, PySparkException, ConnectionError) as error:
        raise StoreRefused(f"{what} failed: {innermost(error)}") from error


def innermost(error: Exception) -> str:
    """The first line of what lies at the bottom of a Java error, or of the error itself."""
    cause = getattr(error, "java_exception", None) or getattr(error, "_origin", None)
    try:
        while cause is not None and cause.getCause() is not None:
            cause = cause.getCause()
        text = str(cause.toString()) if cause is not None else str(error)
    except Exception:  # noqa: BLE001 - the JVM may be gone
        text = str(error)
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return redacted(lines[0])[:500] if lines else type(error).__name__
