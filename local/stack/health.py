"""Check that each server works at the address that its clients use."""

import ssl
import warnings
from collections.abc import Callable

import psycopg
import pymongo
import urllib3

from local.stack import environment, parts
from local.stack.render import secrets
from local.stack.settings import Settings
from storebench import http_client

# Time limits of servers in seconds; each needs a fraction of its limit even on a busy machine.
TIME_LIMITS = {"airflow": 240, "kubernetes": 180}
TIME_LIMIT = 90
IMAGE_S = (
    10  # for an image of a node: the node is there when it has its images, after a crash all of them anew
)


def time_limit(name: str, settings: Settings) -> int:
    """Return the time limit of a part in seconds."""
    limit = TIME_LIMITS.get(name, TIME_LIMIT)
    if name == "kubernetes":
        limit += IMAGE_S * len(settings.nodes) * len(list((settings.home / "images").glob("*.txt")))
    return limit


def get(url: str, *, timeout_s: float = 5, http: urllib3.PoolManager | None = None) -> http_client.Answer:
    """Return the answer of a part of the stack."""
    return http_client.ask("GET", url, timeout_s=timeout_s, http=http)


def _answers_with_its_own_certificate(url: str) -> None:
    """Check that a part with a self-signed certificate is healthy."""
    with urllib3.PoolManager(cert_reqs="CERT_NONE") as http, warnings.catch_warnings():
        warnings.simplefilter("ignore", urllib3.exceptions.InsecureRequestWarning)
        get(url, http=http).expected()


def results(settings: Settings) -> None:
    variables = environment.read(settings.env_file)
    psycopg.connect(variables["AIRFLOW_CONN_STOREBENCH_RESULTS"], connect_timeout=5).close()


def mongodb(settings: Settings) -> None:
    host, port = settings.address("mongodb")
    with pymongo.MongoClient[dict[str, object]](
        host,
        port,
        username=environment.MONGODB_USER,
        password=secrets(settings)["mongodb_password"],
        serverSelectionTimeoutMS=3000,
    ) as client:
        client["admin"].command("ping")


def elasticsearch(settings: Settings) -> None:
    url = settings.url("elasticsearch") + "/_cluster/health"
    status = get(url).expected().json()["status"]
    if status == "red":  # yellow is the best status of a single node, which cannot have copies of its data
        raise RuntimeError("its data is not all there yet")


def s3(settings: Settings) -> None:
    # S3 refuses a request without a signature: any answer shows that it works.
    status = get(settings.url("s3")).status
    if status not in (200, 403):
        raise RuntimeError(f"status {status}")


def api_client(settings: Settings) -> urllib3.PoolManager:
    """Return connections to Kubernetes' API as its administrator."""
    pki = settings.run / "pki"
    context = ssl.create_default_context(cafile=str(pki / "ca.crt"))
    context.load_cert_chain(pki / "admin.crt", pki / "admin.key")
    return urllib3.PoolManager(ssl_context=context)


def kubernetes(settings: Settings) -> None:
    api = settings.url("kubernetes", "https") + "/api/v1"
    with api_client(settings) as client:
        for node in settings.nodes:
            response = get(f"{api}/nodes/{node.name}", http=client)
            if response.status == 404:
                raise RuntimeError(
                    f"the kubelet, which waits for its images, has not registered its node {node.name}"
                )
            for condition in response.expected().json()["status"].get("conditions", []):
                if condition["type"] == "Ready" and condition["status"] != "True":
                    raise RuntimeError(f"the node {node.name} is not ready: {condition['message']}")
        for name in ("controller_manager", "scheduler"):
            _answers_with_its_own_certificate(settings.url(name, "https") + "/healthz")
        account = get(f"{api}/namespaces/{environment.NAMESPACE}/serviceaccounts/default", http=client)
        if account.status == 404:
            raise RuntimeError("the namespace has no service account yet")


def services(settings: Settings) -> None:
    for name, path in (("proxy", "healthz"), ("dns_ready", "ready")):
        url = f"http://127.0.0.1:{settings.ports[name]}/{path}"
        get(url).expected()
    _answers_with_its_own_certificate(settings.url("services_controllers", "https") + "/healthz")


def airflow(settings: Settings) -> None:
    response = get(settings.url("airflow") + "/api/v2/monitor/health", timeout_s=10)
    parts = response.expected().json()
    sick = [name for name in ("metadatabase", "scheduler", "dag_processor")
            if parts.get(name, {}).get("status") != "healthy"]  # fmt: skip
    if sick:
        raise RuntimeError(f"not healthy: {', '.join(sick)}")


CHECKS: dict[str, Callable[[Settings], None]] = {
    "results": results,
    "mongodb": mongodb,
    "elasticsearch": elasticsearch,
    "s3": s3,
    "kubernetes": kubernetes,
    "services": services,
    "airflow": airflow,
}


def checks(settings: Settings) -> dict[str, Callable[[Settings], None]]:
    """Return the checks of the parts that run."""
    left_out = parts.left_out(settings) | (parts.ON_DEMAND - parts.started(settings))
    return {name: check for name, check in CHECKS.items() if name not in left_out}


def complaint(name: str, settings: Settings) -> str | None:
    """Return why a part is not healthy; None if it is."""
    try:
        CHECKS[name](settings)
    except (OSError, ValueError, RuntimeError, psycopg.Error, pymongo.errors.PyMongoError) as error:
        return " ".join(str(error).split())[:200] or type(error).__name__
    return None
