"""The driver's Spark session, with executor pods of Spark's own Kubernetes scheduler."""

from __future__ import annotations

import base64
import os
import re
import ssl
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from urllib3 import PoolManager

from storebench import http_client
from storebench.connection import tls
from storebench.errors import SpecError, StoreRefused, StoreUnreachable
from storebench.redact import redacted
from storebench.spark.executor import CERTIFICATES, CLASS_PATH
from storebench.spark.filesystems.base import FileSystem
from storebench.spark.options import ENCRYPTION

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# The variables that the operator sets in the driver's pod (storebench.airflow.operators.pods).
POD_NAME, POD_IP, POD_NAMESPACE = "STOREBENCH_POD_NAME", "STOREBENCH_POD_IP", "STOREBENCH_POD_NAMESPACE"
IMAGE, API = "STOREBENCH_POD_IMAGE", "STOREBENCH_KUBERNETES_API"
EXECUTOR_POD = "STOREBENCH_EXECUTOR_POD"  # the template of the executors' pods, as JSON
EXECUTOR = "spark-kubernetes-executor"  # the name that Spark gives an executor's container
CREDENTIALS = Path("/var/run/secrets/kubernetes.io/serviceaccount")
SCRATCH = Path("/tmp")  # the only folder that a pod can write
TEMPLATE = SCRATCH / "executor-pod.json"
# The key that Spark's pods share, as a file from a Secret, in the driver and its executors.
KEY = Path("/var/run/secrets/storebench-spark/key")
DRIVER_OPTIONS = "spark.driver.extraJavaOptions"
# Spark asks for a refused pod a few times, logs each refusal, and ends its own JVM. A file keeps the refusals after the JVM's end.
REFUSALS = SCRATCH / "executor-pods.log"
SPARK_LOGGING = "classpath:org/apache/spark/log4j2-defaults.properties"
LOGGING = SCRATCH / "log4j2.properties"
LOGGED = f"""\
rootLogger.level = warn
appender.pods.type = File
appender.pods.name = pods
appender.pods.fileName = {REFUSALS}
appender.pods.layout.type = PatternLayout
appender.pods.layout.pattern = %ex{{short.message}}%n
logger.pods.name = org.apache.spark.scheduler.cluster.k8s
logger.pods.level = warn
logger.pods.appenderRef.pods.ref = pods
"""
REFUSED = re.compile(
    r"Failure executing: POST at: \S+/pods\S*\. (?:Message: )?(.*?)\.?(?: Received status: .*)?$",
    re.MULTILINE,
)
REFUSAL_CHARACTERS = 1_000  # of a sentence of the API server: an admission webhook's can have any length
DRIVER_PORT, BLOCK_MANAGER_PORT = 7078, 7079
POLL_INTERVAL_S, LOOK_INTERVAL_S = 0.1, 1.0
LOCAL = "local"  # the value of `executors` for no executors: the driver does all work, on all its cores
ADVICE = "Ask for fewer or smaller executors (executors, executor_memory, executor_cpu), or raise startup_timeout_s"


class NoExecutors(StoreUnreachable):
    """A Spark driver did not get its executors within `startup_timeout_s`. The error has the reason that Kubernetes states."""

    kind = "no_executors"


def start_session(
    values: Mapping[str, str], file_systems: Sequence[FileSystem], extra: Mapping[str, str]
) -> tuple[SparkSession, int]:
    """Start a session on these file systems, with all its executors registered. Returns the session and the number of executors.

    The number is 0 where `executors` is LOCAL. `values` has `executors`, OPTIONS and the parameters of all pods; `extra`: more settings of
    Spark. Raises NoExecutors with Kubernetes' reason if the executors do not register within `startup_timeout_s` seconds.
    """
    from pyspark.sql import SparkSession

    for file_system in file_systems:
        file_system.log_in()
    jars = class_path(file_systems)
    os.environ |= jars  # for the driver's JVM, which this process is about to start
    local = values["executors"] == LOCAL
    if local:
        master, base = "local[*]", local_settings(values, os.environ)
    else:
        TEMPLATE.write_text(os.environ[EXECUTOR_POD])
        LOGGING.write_text(LOGGED)
        master, base = f"k8s://{kubernetes_api()}", settings(values, os.environ)
    builder = SparkSession.builder.master(master)
    base |= trusting(base, file_systems)
    executors = {f"spark.executorEnv.{name}": value for name, value in jars.items()}
    for group in (base, executors, *(file_system.settings() for file_system in file_systems), extra):
        for name, value in group.items():
            builder = builder.config(name, value)
    try:
        session: SparkSession = builder.appName("storebench").getOrCreate()
        session.sparkContext.setLogLevel("WARN")
    except _gone():
        if local or not (why := last_refusal()):
            raise
        raise NoExecutors(f"No executors: {why}. {ADVICE}") from None
    wanted = 0 if local else int(values["executors"])
    try:
        if not local:
            _wait_for_executors(session, wanted, float(values["startup_timeout_s"]))
    except NoExecutors:
        with suppress(*_gone()):  # the JVM may have ended: the reason above is the one to tell
            session.stop()
        raise
    return session, wanted


def class_path(file_systems: Sequence[FileSystem]) -> dict[str, str]:
    """Return the variable with the jars of these file systems, which follow Spark's class path. Jars before it would invalidate the archive
    of JVM classes.
    """
    jars = [jar for file_system in file_systems for jar in file_system.jars()]
    return {CLASS_PATH: ":".join(jars)} if jars else {}


def trusting(base: Mapping[str, str], file_systems: Sequence[FileSystem]) -> dict[str, str]:
    """Return the settings with which driver and executors trust the CAs of these file systems; `base`: the session's other settings."""
    texts = [file_system.certificates() for file_system in file_systems]
    if not (certificates := "\n".join(filter(None, texts))):
        return {}
    options = [base.get(DRIVER_OPTIONS, ""), *tls.java_options(certificates)]
    return {
        DRIVER_OPTIONS: " ".join(filter(None, options)),
        f"spark.executorEnv.{CERTIFICATES}": base64.b64encode(certificates.encode()).decode(),
    }


def kubernetes_api() -> str:
    """Return the address of the cluster's API for pods: the deployment's, or else the address of the cluster's own service."""
    if address := os.environ.get(API):
        return address
    try:
        return f"https://{os.environ['KUBERNETES_SERVICE_HOST']}:{os.environ['KUBERNETES_SERVICE_PORT']}"
    except KeyError:
        raise SpecError(
            f"Neither {API} nor KUBERNETES_SERVICE_HOST is set: Spark's executors need a cluster"
        ) from None


def settings(values: Mapping[str, str], environment: Mapping[str, str]) -> dict[str, str]:
    """Return Spark's settings for a driver in client mode, in the pod that `environment` describes."""
    try:
        name, address, _ = environment[POD_NAME], environment[POD_IP], environment[EXECUTOR_POD]
        namespace, image = environment[POD_NAMESPACE], environment[IMAGE]
    except KeyError as error:
        raise SpecError(f"{error} is not set: a Spark driver is started by the DAG, in a pod") from None
    common = _common_settings(values, environment)
    return {
        **common,
        DRIVER_OPTIONS: f"{common.get(DRIVER_OPTIONS, '')} -Dlog4j2.configurationFile={SPARK_LOGGING},{LOGGING}".strip(),
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
        # For owner references: when the driver's pod is gone for any reason, Kubernetes removes its executors.
        "spark.kubernetes.driver.pod.name": name,
        "spark.kubernetes.executor.podNamePrefix": name[:50].rstrip("-"),
        "spark.kubernetes.executor.podTemplateFile": str(TEMPLATE),
        "spark.kubernetes.authenticate.caCertFile": str(CREDENTIALS / "ca.crt"),
        "spark.kubernetes.authenticate.oauthTokenFile": str(CREDENTIALS / "token"),
        # The service account has rights on pods only.
        "spark.kubernetes.executor.disableConfigMap": "true",
        "spark.kubernetes.driver.service.deleteOnTermination": "false",
        "spark.kubernetes.driver.ownPersistentVolumeClaim": "false",
        "spark.kubernetes.driver.reusePersistentVolumeClaim": "false",
        "spark.kubernetes.allocation.batch.size": values["executors"],
        # `_wait_for_executors` waits instead of Spark: it knows Kubernetes' reason if executors do not start.
        "spark.scheduler.maxRegisteredResourcesWaitingTime": "0s",
    }


def local_settings(values: Mapping[str, str], environment: Mapping[str, str]) -> dict[str, str]:
    """Return Spark's settings for a driver that does all work itself, and that other pods cannot reach."""
    here = dict.fromkeys(("spark.driver.host", "spark.driver.bindAddress"), "127.0.0.1")
    return {**_common_settings(values, environment), **here}


def _common_settings(values: Mapping[str, str], environment: Mapping[str, str]) -> dict[str, str]:
    return {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.memory": values["driver_memory"],
        **class_archive(environment),
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.warehouse.dir": str(SCRATCH / "warehouse"),  # Spark makes the folder even without tables
    }


def class_archive(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the settings that use the image's archive of JVM classes, if any: with it, driver and executors start in half the time."""
    archive = environment.get("SPARK_CLASSES")
    options = f"-XX:SharedArchiveFile={archive}"
    return {f"spark.{who}.extraJavaOptions": options for who in ("driver", "executor")} if archive else {}


def encrypted(values: Mapping[str, str]) -> bool:
    """Return whether the run encrypts the traffic between driver and executors."""
    return values.get(ENCRYPTION) == str(True)


def encryption(values: Mapping[str, str]) -> dict[str, str]:
    """Return the settings with which driver and executors authenticate each other by KEY and encrypt their traffic, if the run asks for it
    (docs/decisions/0017).
    """
    if not encrypted(values):
        return {}
    return {
        "spark.authenticate": "true",
        # Without this file, Spark would write its own key into the executors' pods.
        "spark.authenticate.secret.file": str(KEY),
        "spark.network.crypto.enabled": "true",
        "spark.network.crypto.authEngineVersion": "2",  # only version 2 derives its keys properly
        "spark.network.crypto.cipher": "AES/GCM/NoPadding",  # the default (CTR) does not notice changed bytes
        "spark.network.crypto.saslFallback": "false",
    }


def executor_addresses(session: SparkSession) -> dict[str, str]:
    """Return the living executors: id -> IP address.

    Spark itself lists an executor whose connection has ended for up to half a minute, until Kubernetes says why, and gives it no tasks.
    """
    context = session.sparkContext._jsc.sc()
    listed, backend = context.statusStore().executorList(True), context.schedulerBackend()
    executors = [listed.apply(n) for n in range(listed.size())]
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
            registered = len(executor_addresses(session))
        except _gone():  # Spark ends its own JVM when too many executors have failed
            why = last_refusal() or why or "the driver has ended"
            raise NoExecutors(f"No executors: {why}. {ADVICE}") from None
        elapsed_s = time.monotonic() - began_s
        if registered >= wanted:
            print(f"executors: {wanted} after {elapsed_s:.1f} s", flush=True)
            return
        if registered > shown:
            print(f"executors: {registered} of {wanted}", flush=True)
            shown = registered
        if elapsed_s - looked_s > LOOK_INTERVAL_S:
            looked_s, why = elapsed_s, _why(selector, why)
        if elapsed_s > timeout_s:
            raise NoExecutors(
                f"{registered} of {wanted} executors came within {timeout_s:.0f} s: {why}. {ADVICE}"
            )
        time.sleep(POLL_INTERVAL_S)


def _why(selector: str, before: str) -> str:
    """Return Kubernetes' reason for executor pods that do not run, else the reason `before`: a failed pod may be gone at the next look."""
    url = f"{kubernetes_api()}/api/v1/namespaces/{os.environ[POD_NAMESPACE]}/pods"
    try:
        context = ssl.create_default_context(cafile=str(CREDENTIALS / "ca.crt"))
        with PoolManager(ssl_context=context) as http:
            answer = http_client.ask(
                "GET",
                f"{url}?labelSelector={selector.replace(',', '%2C')}",
                timeout_s=10,
                headers={"Authorization": f"Bearer {(CREDENTIALS / 'token').read_text()}"},
                http=http,
            )
        return (
            reason(answer.expected().json()["items"])
            or last_refusal()
            or before
            or "no executor pod is there: see the driver's log"
        )
    except (OSError, ValueError) as error:
        return last_refusal() or before or f"Kubernetes does not say why ({error})"


def reason(pods: list[Any]) -> str:
    """Return why the first pod in trouble does not run; empty if no pod is in trouble. `pods`: objects of the Kubernetes API."""
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


def last_refusal() -> str:
    """Return Kubernetes' own sentence on the last refused executor pod (quota, LimitRange, admission); empty if it has refused no pod."""
    try:
        return refusal(REFUSALS.read_text(errors="replace"))
    except FileNotFoundError:
        return ""


def refusal(logged: str) -> str:
    """Return the last refusal in the messages of Spark's Kubernetes client; empty without a refusal."""
    sentences = REFUSED.findall(logged)
    return f"Kubernetes refuses their pods: {sentences[-1][:REFUSAL_CHARACTERS]}" if sentences else ""


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
    """Return the first line of a Java error's innermost cause, or of the error itself, without secrets."""
    cause = getattr(error, "java_exception", None) or getattr(error, "_origin", None)
    try:
        while cause is not None and cause.getCause() is not None:
            cause = cause.getCause()
        text = str(cause.toString()) if cause is not None else str(error)
    except Exception:  # noqa: BLE001 - the JVM may be gone
        text = str(error)
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return redacted(lines[0])[:500] if lines else type(error).__name__
