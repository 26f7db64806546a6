"""Write the environment file with the stack's addresses and credentials, for Airflow, the command line and tests."""

import json
import os
import shlex
from pathlib import Path
from urllib.parse import quote

from local.stack import databases
from local.stack.disk import known
from local.stack.nodes import MARK, Node
from local.stack.secrets import write_private
from local.stack.settings import OWN_SERVERS, Settings
from storebench.attempt import disk
from storebench.planning import node_pools
from storebench.planning.node_pools import NodePool
from storebench.stores.base import USAGE_URL

BUCKET = "storebench"
MONGODB_USER = "storebench"
NAMESPACE = "storebench"
READER = "storebench_reader"


def variable_part(image: str) -> str:
    """Return the image's part of the names of its Airflow Variable and environment variable: `servers_mongodb` for `servers-mongodb`."""
    return image.replace("-", "_")


def _kubernetes(kubeconfig: str, node: Node | None) -> str:
    """Return the connection to a cluster. `node`: the embedded cluster's node for the pods; docs/operating.md has connections to other
    nodes.
    """
    extra: dict[str, object] = {"kube_config_path": kubeconfig, "namespace": NAMESPACE}
    if node:
        extra["pods"] = {
            "node_selector": {MARK: node.mark},
            "tolerations": [{"key": MARK, "operator": "Exists", "effect": "NoSchedule"}],
            "priority_class_name": "storebench",
        }
    return json.dumps({"conn_type": "kubernetes", "extra": extra})


def _connections(settings: Settings, secrets: dict[str, str], kubeconfig: str) -> dict[str, str]:
    mongodb_host, mongodb_port = settings.address("mongodb")
    elasticsearch_host, elasticsearch_port = settings.address("elasticsearch")
    connections = {
        "AIRFLOW_CONN_STOREBENCH_RESULTS": (
            f"postgres://storebench:{quote(secrets['results_password'])}"
            f"@127.0.0.1:{settings.ports['results']}/storebench"
        ),
        "AIRFLOW_CONN_STOREBENCH_READER": (
            f"postgres://{READER}:{quote(secrets['reader_password'])}"
            f"@127.0.0.1:{settings.ports['results']}/storebench"
        ),
        "AIRFLOW_CONN_STOREBENCH_S3": json.dumps(
            {
                "conn_type": "aws",
                "login": secrets["s3_access_key"],
                "password": secrets["s3_secret_key"],
                "extra": {
                    "endpoint_url": settings.url("s3"),
                    "region_name": "us-east-1",
                    "bucket": BUCKET,
                    "config_kwargs": {"s3": {"addressing_style": "path"}},
                },
            }
        ),
        "AIRFLOW_CONN_STOREBENCH_MONGODB": json.dumps(
            {
                "conn_type": "mongo",
                "host": mongodb_host,
                "port": mongodb_port,
                "login": MONGODB_USER,
                "password": secrets["mongodb_password"],
                "schema": "storebench",
                "extra": {USAGE_URL: f"{settings.url('usage')}/mongodb"},
            }
        ),
        "AIRFLOW_CONN_STOREBENCH_ELASTICSEARCH": json.dumps(
            {
                "conn_type": "elasticsearch",
                "host": elasticsearch_host,
                "port": elasticsearch_port,
                "extra": {USAGE_URL: f"{settings.url('usage')}/elasticsearch"},
            }
        ),
    }
    connections["AIRFLOW_CONN_STOREBENCH_POSTGRESQL"] = json.dumps(
        databases.connection_of(settings, secrets, databases.POSTGRESQL)
    )
    for part, variable in OWN_SERVERS.items():
        if part in settings.own and variable in connections:
            connections[variable] = os.environ[variable]
    kubernetes = "AIRFLOW_CONN_STOREBENCH_KUBERNETES"
    if (
        "kubernetes" in settings.own
    ):  # a user's cluster may have its own connection, with the placement of its pods
        connections[kubernetes] = os.environ.get(kubernetes) or _kubernetes(kubeconfig, None)
    else:
        for node in settings.nodes:
            name = f"storebench_{NodePool(node.pool).connection}".upper()
            connections[f"AIRFLOW_CONN_{name}"] = _kubernetes(kubeconfig, node)
    return connections


def without_proxy(settings: Settings) -> dict[str, str]:
    """Return the variables that exclude loopback and the embedded cluster from the proxy of HTTP_PROXY.

    The user's own exceptions stay. Programs read either spelling; some accept networks, some only single addresses.
    """
    local_addresses = [
        "localhost",
        "127.0.0.1",
        "::1",
        settings.gateway,
        str(settings.network),
        ".svc",
        ".cluster.local",
    ]
    before = os.environ.get("NO_PROXY") or os.environ.get("no_proxy") or ""
    text = ",".join(dict.fromkeys([*filter(None, map(str.strip, before.split(","))), *local_addresses]))
    return {"NO_PROXY": text, "no_proxy": text}


def build(settings: Settings, secrets: dict[str, str], images: dict[str, str]) -> dict[str, str]:
    own_cluster = "kubernetes" in settings.own
    kubeconfig = (
        os.environ["KUBECONFIG"] if own_cluster else str(settings.run / "kubernetes" / "airflow.kubeconfig")
    )
    database = f"airflow:{secrets['airflow_db_password']}@127.0.0.1:{settings.ports['results']}/airflow"
    airflow_url = settings.url("airflow")
    return {
        **without_proxy(settings),
        "STOREBENCH_HOME": str(settings.home),
        "STOREBENCH_EMBEDDED": " ".join(part for part in OWN_SERVERS if part not in settings.own),
        "STOREBENCH_AIRFLOW_URL": airflow_url,
        "STOREBENCH_AIRFLOW_USER": "admin",
        "STOREBENCH_AIRFLOW_PASSWORD": secrets["airflow_password"],
        # A plan wakes the servers that the stack has stopped. Its tasks run in folders of their own.
        "STOREBENCH_WAKE": shlex.join(
            [
                *("env", "-C", str(settings.checkout)),
                *(str(settings.home / "venv" / "bin" / "python"), "-m", "local.stack", "wake"),
            ]
        ),
        # A plan refuses images that hold other code than this checkout.
        "STOREBENCH_STALE_IMAGES": shlex.join(
            [
                *("env", "-C", str(settings.checkout)),
                *("/usr/bin/python3", "-B", "-m", "local.image_keys", "stale"),
            ]
        ),
        "STOREBENCH_DISK_PATH": str(settings.data),
        **{f"STOREBENCH_IMAGE_{variable_part(name).upper()}": image for name, image in images.items()},
        "STOREBENCH_READER_CLASSPATH": str(settings.home / "reader" / "*"),
        "KUBECONFIG": kubeconfig,
        # The cluster has no service proxy: pods reach the API at its listening address.
        **(
            {}
            if own_cluster
            else {"AIRFLOW_VAR_STOREBENCH_KUBERNETES_API": settings.url("kubernetes", "https")}
        ),
        **({f"AIRFLOW_VAR_{disk.VARIABLE}": f"{rate:g}"} if (rate := known(settings)) else {}),
        **_connections(settings, secrets, kubeconfig),
        node_pools.VARIABLE: ""
        if own_cluster
        else ",".join(node.pool for node in settings.nodes if node.pool),
        "AIRFLOW_HOME": str(settings.run / "airflow"),
        "AIRFLOW__CORE__DAGS_FOLDER": str(settings.checkout / "dags"),
        "AIRFLOW__CORE__PLUGINS_FOLDER": str(settings.checkout / "plugins"),
        "AIRFLOW__CORE__LOAD_EXAMPLES": "False",
        # The scheduler rests without active runs.
        "AIRFLOW__CORE__EXECUTOR": "storebench.airflow.compat.executor.RestingExecutor",
        # A task for each node's pod, and 3 for all other work of a run.
        "AIRFLOW__CORE__PARALLELISM": str(3 + len(settings.nodes)),
        # The most tasks of an expanded run, one for each turn. The default, 1,024, only allows grids with few repeats.
        "AIRFLOW__CORE__MAX_MAP_LENGTH": "10000",
        "AIRFLOW__CORE__DAGS_ARE_PAUSED_AT_CREATION": "False",
        "AIRFLOW__CORE__FERNET_KEY": secrets["fernet_key"],
        "AIRFLOW__CORE__EXECUTION_API_SERVER_URL": f"{airflow_url}/execution/",
        "AIRFLOW__CORE__SIMPLE_AUTH_MANAGER_USERS": "admin:admin",
        "AIRFLOW__CORE__SIMPLE_AUTH_MANAGER_PASSWORDS_FILE": str(settings.run / "airflow" / "passwords.json"),
        "AIRFLOW__DATABASE__SQL_ALCHEMY_CONN": f"postgresql+psycopg2://{database}",
        "AIRFLOW__API__BASE_URL": airflow_url,
        "AIRFLOW__API__SECRET_KEY": secrets["api_secret_key"],
        "AIRFLOW__API_AUTH__JWT_SECRET": secrets["jwt_secret"],
        "AIRFLOW__LOGGING__BASE_LOG_FOLDER": str(settings.log / "airflow"),
        # Seconds between two loops of the idle scheduler. The default of a second is a third of a short attempt;
        # a quarter of a second took 27 % of a core from the measurement, this value 10 to 15 %.
        "AIRFLOW__SCHEDULER__SCHEDULER_IDLE_SLEEP_TIME": "0.5",
        # A task waits PATIENCE_S, 300 s, for the results database. Airflow's database is on the same server, so Airflow must wait
        # as long: 100 times 1 to 5 s. By default it gives up a heartbeat or a task's end after about 10 s.
        "AIRFLOW__WORKERS__EXECUTION_API_RETRIES": "100",
        "AIRFLOW__WORKERS__EXECUTION_API_RETRY_WAIT_MAX": "5",
        # A skipped task ends when its process is noticed to have ended, up to an interval later. The default is 5 s.
        "AIRFLOW__WORKERS__MIN_HEARTBEAT_INTERVAL": "1",
        "AIRFLOW__DAG_PROCESSOR__REFRESH_INTERVAL": "10",
        # Changed DAG files are read at once. Other files are only read again for their imports: 5 minutes are enough.
        "AIRFLOW__DAG_PROCESSOR__MIN_FILE_PROCESS_INTERVAL": "300",
        "AIRFLOW__USAGE_DATA_COLLECTION__ENABLED": "False",
    }


def write(path: Path, variables: dict[str, str]) -> None:
    lines = [f"export {name}={shlex.quote(value)}" for name, value in sorted(variables.items())]
    write_private(path, "\n".join(lines) + "\n")


def read(path: Path) -> dict[str, str]:
    variables = {}
    for line in path.read_text().splitlines():
        name, _, value = line.removeprefix("export ").partition("=")
        variables[name] = "".join(shlex.split(value))
    return variables
