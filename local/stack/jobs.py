"""Jobs between the start of a server and the start of the servers that depend on it. Each job is a process of the supervisor."""

import json
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import boto3
import httpx
import psycopg
from botocore.exceptions import BotoCoreError, ClientError
from psycopg import sql

from local.stack import environment, health, pki, render, services
from local.stack.kubectl import kubectl
from local.stack.nodes import Node
from local.stack.secrets import write_private
from local.stack.settings import Settings, StackError
from storebench.airflow.node_pools import NodePool

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


def _superuser(settings: Settings, name: str, port: int, database: str = "postgres") -> psycopg.Connection:
    """A connection over the socket, whose folder only root and the server may enter."""
    folder = settings.data / name
    return psycopg.connect(host=str(folder), port=port, user="postgres", dbname=database, autocommit=True)


def databases(settings: Settings) -> None:
    port = settings.ports["results"]
    _wait("PostgreSQL", lambda: _superuser(settings, "results", port).close(), psycopg.Error)
    secrets = render.secrets(settings)
    with _superuser(settings, "results", port) as connection:
        for name, password in (
            ("airflow", "airflow_db_password"),
            ("storebench", "results_password"),
            (environment.READER, "reader_password"),
        ):
            role = sql.Identifier(name)
            if not connection.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", [name]).fetchone():
                connection.execute(sql.SQL("CREATE ROLE {} LOGIN").format(role))
            connection.execute(
                sql.SQL("ALTER ROLE {} PASSWORD {}").format(role, sql.Literal(secrets[password]))
            )
            if name == environment.READER:
                continue  # it has no database of its own, and may read what `storebench migrate` says
            if not connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", [name]).fetchone():
                connection.execute(sql.SQL("CREATE DATABASE {} OWNER {}").format(role, role))
        # The integration tests make databases of their own.
        connection.execute("ALTER ROLE storebench CREATEDB")
        connection.execute((settings.checkout / "deploy" / "postgres" / "2-roles.sql").read_bytes())


def documentdb(settings: Settings) -> None:
    def connect() -> psycopg.Connection:
        return _superuser(settings, "documentdb", 5432)

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


def _ctr(settings: Settings, node: Node, *arguments: str) -> str:
    socket = settings.run / f"containerd{node.suffix}.sock"
    command = ["ctr", "--address", str(socket), "--namespace", "k8s.io", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise StackError(f"{' '.join(command)} ended with exit code {done.returncode}: {done.stderr.strip()}")
    return done.stdout


def images(settings: Settings) -> None:
    """Imports the images that a node's containerd does not have, and removes pod images of earlier builds."""
    archives = {"localhost/storebench/pause:1": "pause.tar"}
    found = render.images(settings)
    archives |= {image: f"{name}.tar" for name, image in found.items()}
    for node in settings.nodes:
        _import(settings, node, archives)
    services.write_helper(settings, found["python"])


def _import(settings: Settings, node: Node, archives: dict[str, str]) -> None:
    _wait("containerd", lambda: _ctr(settings, node, "version"), StackError)
    whole = _ctr(
        settings, node, "images", "check", "--quiet"
    ).split()  # unpacked: an interrupted import is not
    for image, archive in archives.items():
        if image not in whole:
            # Its name is in the archive. With --index-name, too, the two records of that name compete, and containerd
            # may remove what the import is still to unpack.
            _ctr(settings, node, "images", "import", str(settings.home / "images" / archive))
            print(f"{node.name}: imported {image}")
    for image in _ctr(settings, node, "images", "list", "--quiet").split():
        if image.startswith("localhost/storebench/") and image not in archives:
            _ctr(settings, node, "images", "remove", image)


def cluster(settings: Settings) -> None:
    """The namespace, and an identity for Airflow that may do there what its tasks need."""

    def ready() -> None:
        with health.api_client(settings) as client:
            client.get("/readyz").raise_for_status()

    _wait(
        "The Kubernetes API",
        ready,
        httpx.HTTPError,
        OSError,
        seconds=health.time_limit("kubernetes", settings),
    )

    kubectl(settings, "apply", f"--kustomize={settings.checkout / render.MANIFESTS}")
    account = ("airflow", f"--namespace={environment.NAMESPACE}")
    token = kubectl(settings, "create", "token", *account, "--duration=8760h").strip()
    text = pki.kubeconfig(settings, {"token": token}, environment.NAMESPACE)
    write_private(settings.run / "kubernetes" / "airflow.kubeconfig", text)


def airflow_db(settings: Settings) -> None:
    """Airflow's tables, and a pool for each node that lets one attempt run at a time; done once for each version of Airflow."""
    done, wanted = settings.data / "results" / "airflow-version", render.airflow_version()
    wanted += "".join(f" {node.pool}" for node in settings.nodes if node.pool)
    if done.exists() and done.read_text() == wanted:
        return
    airflow = str(Path(settings.home, "venv", "bin", "airflow"))
    subprocess.run([airflow, "db", "migrate"], check=True)
    for node in settings.nodes:
        slots = NodePool(node.pool).slots
        subprocess.run([airflow, "pools", "set", slots, "1", "One attempt at a time"], check=True)
    done.write_text(wanted)


def airflow_variables(settings: Settings) -> None:
    """Tell the running Airflow which pod images are the newest: its tasks read these variables at each start."""
    login = {"username": "admin", "password": render.secrets(settings)["airflow_password"]}
    with httpx.Client(base_url=settings.url("airflow"), timeout=30) as client:
        token = client.post("/auth/token", json=login).raise_for_status().json()["access_token"]
        client.headers["Authorization"] = f"Bearer {token}"
        for name, image in render.images(settings).items():
            variable = {"key": f"storebench_image_{environment.variable_part(name)}", "value": image}
            answer = client.patch(f"/api/v2/variables/{variable['key']}", json=variable)
            if answer.status_code == httpx.codes.NOT_FOUND:
                answer = client.post("/api/v2/variables", json=variable)
            answer.raise_for_status()


JOBS: dict[str, Callable[[Settings], None]] = {
    "databases": databases,
    "documentdb": documentdb,
    "bucket": bucket,
    "images": images,
    "cluster": cluster,
    "services": services.begin,
    "airflow-db": airflow_db,
}
