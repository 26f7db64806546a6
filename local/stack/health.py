"""Check that each server works, at the address that its users use."""

import json
import ssl
from collections.abc import Callable

import httpx
import psycopg
import pymongo

from local.stack import environment, parts
from local.stack.render import secrets
from local.stack.settings import Settings

# Seconds after which a server that does not answer is given up; on a busy machine each needs a fraction of it.
TIME_LIMITS = {"airflow": 240, "kubernetes": 180}
TIME_LIMIT = 90
IMPORT_MB_S = 10  # a node imports its images before it is there, after a crash all of them; on a busy machine it is several times as fast


def time_limit(name: str, settings: Settings) -> int:
    """Seconds after which this part is given up."""
    limit = TIME_LIMITS.get(name, TIME_LIMIT)
    if name == "kubernetes":
        archives = sum(archive.stat().st_size for archive in (settings.home / "images").glob("*.tar"))
        limit += round(len(settings.nodes) * archives / (IMPORT_MB_S * 1e6))
    return limit


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
    status = httpx.get(url, timeout=5, trust_env=False).raise_for_status().json()["status"]
    if status == "red":  # yellow is the best that one node can be: copies of its data would be on others
        raise RuntimeError("its data is not all there yet")


def s3(settings: Settings) -> None:
    # Without a signature it refuses: the answer shows that it is there.
    status = httpx.get(settings.url("s3"), timeout=5, trust_env=False).status_code
    if status not in (200, 403):
        raise RuntimeError(f"status {status}")


def api_client(settings: Settings) -> httpx.Client:
    pki = settings.run / "pki"
    context = ssl.create_default_context(cafile=str(pki / "ca.crt"))
    context.load_cert_chain(pki / "admin.crt", pki / "admin.key")
    return httpx.Client(
        base_url=settings.url("kubernetes", "https"), verify=context, timeout=5, trust_env=False
    )


def kubernetes(settings: Settings) -> None:
    with api_client(settings) as client:
        for node in settings.nodes:
            response = client.get(f"/api/v1/nodes/{node.name}")
            if response.status_code == 404:
                raise RuntimeError(
                    f"the kubelet, which waits for its images, has not registered its node {node.name}"
                )
            for condition in response.raise_for_status().json()["status"].get("conditions", []):
                if condition["type"] == "Ready" and condition["status"] != "True":
                    raise RuntimeError(f"the node {node.name} is not ready: {condition['message']}")
        for name in ("controller_manager", "scheduler"):
            url = settings.url(name, "https") + "/healthz"
            httpx.get(
                url, verify=False, timeout=5, trust_env=False
            ).raise_for_status()  # its certificate is its own
        account = client.get(f"/api/v1/namespaces/{environment.NAMESPACE}/serviceaccounts/default")
        if account.status_code == 404:
            raise RuntimeError("the namespace has no service account yet")


def services(settings: Settings) -> None:
    for name, path in (("proxy", "healthz"), ("dns_ready", "ready")):
        url = f"http://127.0.0.1:{settings.ports[name]}/{path}"
        httpx.get(url, timeout=5, trust_env=False).raise_for_status()
    url = settings.url("services_controllers", "https") + "/healthz"
    httpx.get(url, verify=False, timeout=5, trust_env=False).raise_for_status()  # its certificate is its own


def airflow(settings: Settings) -> None:
    response = httpx.get(settings.url("airflow") + "/api/v2/monitor/health", timeout=10, trust_env=False)
    parts = response.raise_for_status().json()
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
    """Why this part is not healthy, or None if it is."""
    try:
        CHECKS[name](settings)
    except (OSError, ValueError, RuntimeError, httpx.HTTPError, psycopg.Error, pymongo.errors.PyMongoError,
            json.JSONDecodeError) as error:  # fmt: skip
        return " ".join(str(error).split())[:200] or type(error).__name__
    return None
