"""Jobs between the start of a server and the start of dependent servers. Each job is a process of the supervisor."""

import json
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import boto3
import psycopg
from botocore.exceptions import BotoCoreError, ClientError
from psycopg import sql

from local.stack import environment, health, node_images, pki, render, services
from local.stack.databases import POSTGRESQL, SERVER, STORE, ensure, let_pods_in, password_of, superuser
from local.stack.kubectl import kubectl
from local.stack.secrets import write_private
from local.stack.settings import Settings, StackError
from storebench.cli.airflow_api import Airflow
from storebench.planning.node_pools import NodePool

DOCUMENTDB_VERSION = "1.0"


def _wait(what: str, ready: Callable[[], object], *errors: type[Exception], seconds: int = 90) -> None:
    deadline = time.monotonic() + seconds
    while True:
        try:
            ready()
            return
        except errors as error:
            if time.monotonic() > deadline:
                raise StackError(f"{what} was not there after {seconds} s: {error}") from error
        time.sleep(0.1)


def databases(settings: Settings) -> None:
    """Create the databases of Airflow, of the results and of the store postgresql, and let pods reach the databases of stores."""
    port = settings.ports[SERVER]
    _wait("PostgreSQL", lambda: superuser(settings, SERVER, port).close(), psycopg.Error)
    secrets = render.secrets(settings)
    with superuser(settings, SERVER, port) as connection:
        ensure(connection, "airflow", secrets["airflow_db_password"])
        ensure(connection, "storebench", secrets["results_password"])
        ensure(connection, STORE + POSTGRESQL, password_of(secrets, POSTGRESQL))
        # `storebench migrate` grants its permissions.
        ensure(connection, environment.READER, secrets["reader_password"], database=False)
        # The integration tests create databases.
        connection.execute("ALTER ROLE storebench CREATEDB")
        connection.execute((settings.checkout / "deploy" / "postgres" / "2-roles.sql").read_bytes())
        let_pods_in(settings, connection)


def documentdb(settings: Settings) -> None:
    def connect() -> psycopg.Connection:
        return superuser(settings, "documentdb", 5432)

    _wait("PostgreSQL with DocumentDB", lambda: connect().close(), psycopg.Error)
    with connect() as connection:
        connection.execute("CREATE EXTENSION IF NOT EXISTS documentdb CASCADE")
        row = connection.execute("SELECT documentdb_api.binary_version()").fetchone()
        version = str(row[0]) if row else "none"
        if not version.startswith(DOCUMENTDB_VERSION):
            raise StackError(f"DocumentDB is {version}; this FerretDB was tried with {DOCUMENTDB_VERSION}")
        user = environment.MONGODB_USER
        password = render.secrets(settings)["mongodb_password"]
        command = "update" if _has_role(connection, user) else "create"
        document: dict[str, object] = {f"{command}User": user, "pwd": password}
        if command == "create":
            document["roles"] = [
                {"role": "clusterAdmin", "db": "admin"},
                {"role": "readWriteAnyDatabase", "db": "admin"},
            ]
        connection.execute(
            sql.SQL("SELECT documentdb_api.{}({}::documentdb_core.bson)").format(
                sql.Identifier(f"{command}_user"), sql.Literal(json.dumps(document))
            )
        )
    print(f"DocumentDB {version}")


def _has_role(connection: psycopg.Connection, name: str) -> bool:
    return connection.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", [name]).fetchone() is not None


def bucket(settings: Settings) -> None:
    secrets = render.secrets(settings)
    client = boto3.client(
        "s3",
        endpoint_url=settings.url("s3"),
        region_name="us-east-1",
        aws_access_key_id=secrets["s3_access_key"],
        aws_secret_access_key=secrets["s3_secret_key"],
    )
    _wait("The S3 server", client.list_buckets, BotoCoreError, ClientError)
    if environment.BUCKET not in [bucket["Name"] for bucket in client.list_buckets()["Buckets"]]:
        client.create_bucket(Bucket=environment.BUCKET)


def images(settings: Settings) -> None:
    """Give each node the images that it lacks, and remove pod images of earlier builds."""
    references = render.images(settings)
    for node in settings.nodes:
        containerd = node_images.Containerd(settings.run / f"containerd{node.suffix}.sock")
        _wait("containerd", containerd.version, StackError)
        node_images.update(settings, containerd, [node_images.PAUSE, *references.values()])
    services.write_helper(settings, references["python"])


def cluster(settings: Settings) -> None:
    """Create the namespace, and Airflow's account with the permissions that its tasks need there."""

    def ready() -> None:
        with health.api_client(settings) as client:
            health.get(f"{settings.url('kubernetes', 'https')}/readyz", http=client).expected()

    _wait(
        "The Kubernetes API",
        ready,
        OSError,
        ValueError,
        seconds=health.time_limit("kubernetes", settings),
    )

    kubectl(settings, "apply", f"--kustomize={settings.checkout / render.MANIFESTS}")
    account = ("airflow", f"--namespace={environment.NAMESPACE}")
    token = kubectl(settings, "create", "token", *account, "--duration=8760h").strip()
    text = pki.kubeconfig(settings, {"token": token}, environment.NAMESPACE)
    write_private(settings.run / "kubernetes" / "airflow.kubeconfig", text)


def airflow_db(settings: Settings) -> None:
    """Create Airflow's tables, and a pool with one slot for each node. Runs once for each version of Airflow."""
    stamp, wanted = settings.data / "results" / "airflow-version", render.airflow_version()
    wanted += "".join(f" {node.pool}" for node in settings.nodes if node.pool)
    if stamp.exists() and stamp.read_text() == wanted:
        return
    airflow = str(Path(settings.home, "venv", "bin", "airflow"))
    subprocess.run([airflow, "db", "migrate"], check=True)
    for node in settings.nodes:
        slots = NodePool(node.pool).slots
        subprocess.run([airflow, "pools", "set", slots, "1", "One attempt at a time"], check=True)
    stamp.write_text(wanted)


def airflow(settings: Settings) -> Airflow:
    """Return the API of the running Airflow."""
    return Airflow(settings.url("airflow"), "admin", render.secrets(settings)["airflow_password"])


def airflow_variables(settings: Settings) -> None:
    """Set the running Airflow's variables of the newest pod images, which its tasks read at each start."""
    api = airflow(settings)
    for name, image in render.images(settings).items():
        variable = {"key": f"storebench_image_{environment.variable_part(name)}", "value": image}
        api.put("/api/v2/variables", variable["key"], variable)


JOBS: dict[str, Callable[[Settings], None]] = {
    "databases": databases,
    "documentdb": documentdb,
    "bucket": bucket,
    "images": images,
    "cluster": cluster,
    "services": services.begin,
    "airflow-db": airflow_db,
}
