import re
import subprocess

import pytest

from storebench.errors import SpecError
from storebench.planning.topologies import topology_of
from storebench.servers.sizes import FIELDS
from storebench.servers.topology import CHECKOUT_SERVERS, FOLDER, find, names, provisioned_for
from storebench.study import studies

LISTING = "kind: Kustomization\nresources: [all.yaml]\n"
SERVICE = """
apiVersion: v1
kind: Service
metadata: {name: db, labels: {storebench/entry: "true"}}
spec: {selector: {app: db}, ports: [{port: 1234}]}
"""
SET = """
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db}
spec:
  serviceName: db
  selector: {matchLabels: {app: db}}
  template:
    metadata: {labels: {app: db}}
    spec:
      containers: [{name: db, image: db:1, command: [db], resources: {requests: {cpu: "1", memory: 1Gi}}}]
"""
WITH_SECRET = SET.replace(
    "command: [db], ", "command: [db], env: [{name: P, valueFrom: {secretKeyRef: {name: x, key: user}}}], "
)
SECURITY = CHECKOUT_SERVERS.parents[1] / "SECURITY.md"
ALL_SHIPPED = sorted(path.parent for path in CHECKOUT_SERVERS.glob("*/*/kustomization.yaml"))


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv(FOLDER, str(tmp_path))

    def put(content=f"{SERVICE}---{SET}", listing=LISTING):
        path = tmp_path / "db" / "one"
        path.mkdir(parents=True)
        (path / "kustomization.yaml").write_text(listing)
        (path / "all.yaml").write_text(content)

    return put


def test_a_topology_is_what_its_folder_lists(folder):
    folder()
    found = find("db", "one")
    assert str(found) == "db/one" and names("db") == ["one"]
    assert [one["kind"] for one in found.objects] == ["Service", "StatefulSet"]
    assert found.connection("h") == {"host": "h", "port": 1234}


def test_the_entry_can_say_more_of_the_connection(folder):
    more = """metadata: {name: db, annotations: {storebench/connection: '{"schema": "s"}'}, labels"""
    folder(f"{SERVICE.replace('metadata: {name: db, labels', more)}---{SET}")
    assert find("db", "one").connection("h") == {"host": "h", "port": 1234, "schema": "s"}


def test_what_the_entry_says_of_other_objects_follows_their_names(folder):
    told = '{"extra": {"services": {"rest": "db-api"}, "other": "x"}}'
    entry = SERVICE.replace(
        "metadata: {name: db, labels",
        f"metadata: {{name: db, annotations: {{storebench/connection: '{told}'}}, labels",
    )
    more = SERVICE.replace('{name: db, labels: {storebench/entry: "true"}}', "{name: db-api}")
    folder(f"{entry}---{more}---{SET}")
    assert find("db", "one").connection("db-x1")["extra"] == {"services": {"rest": "db-api-x1"}, "other": "x"}


def test_a_topology_that_is_not_there_is_refused_with_those_that_are(folder):
    folder()
    with pytest.raises(SpecError, match=r"no topology db/three in .*\. Of db there are: one$"):
        find("db", "three")
    with pytest.raises(SpecError, match="Of other there are: none"):
        find("other", "one")


@pytest.mark.parametrize(
    ("listing", "why"),
    [
        (f"{LISTING}nameSuffix: -x\n", "has nameSuffix. A run reads only a part of kustomize"),
        ("resources: [away.yaml]", "lists away.yaml, which is not there"),
        ("resources: [", "cannot be read"),
        ("just a text", "is not a manifest"),
    ],
)
def test_a_listing_that_only_kustomize_understands_is_refused(folder, listing, why):
    folder(listing=listing)
    with pytest.raises(SpecError, match=why):
        find("db", "one")


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (SERVICE, "there is no StatefulSet"),
        (SET, "one Service must have the label storebench/entry, and 0 have it"),
        (f"{SERVICE}---{SERVICE}---{SET}", "and 2 have it"),
        (f"{SERVICE}---{SET}---{SET}", "StatefulSet db is listed 2 times"),
        (f"{SERVICE}---\nkind: Job\nmetadata: {{name: x}}\n---{SET}", "'Job' is no kind that a run makes"),
        (f"{SERVICE}---{SET.replace('command: [db], ', '')}", "db has no command"),
        (f"{SERVICE}---{SET.replace(', memory: 1Gi', '')}", "db does not request cpu and memory"),
        (
            f"{SERVICE}---{SET.replace('metadata: {name: db}', 'metadata: {name: db, labels: {storebench/sized: x}}')}",
            "have no annotation storebench/data",
        ),
        (
            f"{SERVICE.replace('{name: db, labels', '{name: db, annotations: {storebench/connection: x}, labels')}---{SET}",
            "is not JSON",
        ),
        (
            f"{SERVICE}---{WITH_SECRET}",
            "db takes user from a Secret: a run makes one with the key password and no other",
        ),
        *(
            (
                f"{SERVICE}---{SET.replace('metadata: {labels', f'metadata: {{annotations: {{storebench/service-cores: {cores}}}, labels')}",
                "storebench/service-cores of the pods of db must be a text with a number of cores, or 'all'",
            )
            for cores in ('"0"', '"many"', '"nan"', "[1]")
        ),
    ],
)
def test_what_a_run_cannot_make_is_refused(folder, content, why):
    folder(content)
    with pytest.raises(SpecError, match=f"The topology db/one in .* cannot be used: .*{why}"):
        find("db", "one")


WRITABLE = {"cassandra", "elasticsearch", "ozone"}  # containers whose image writes beside its data


def check_root(pod, container):
    """Check that the container's root file system is read-only and its temporary folder is writable, unless SECURITY.md names it."""
    assert container["securityContext"].get("readOnlyRootFilesystem", False) is (
        container["name"] not in WRITABLE
    )
    mounts = {one["mountPath"]: one["name"] for one in container.get("volumeMounts", [])}
    if container["name"] not in WRITABLE:
        assert {"name": mounts["/tmp"], "emptyDir": {}} in pod["volumes"]


def test_the_page_of_security_names_the_servers_that_can_write_their_root():
    (said,) = re.findall(
        r"If a run provisions ([\w, ]+), the root file system of the container is writable",
        SECURITY.read_text(),
    )
    assert {name.lower() for name in re.findall(r"[A-Z]\w+", said)} == WRITABLE


@pytest.mark.parametrize("path", ALL_SHIPPED, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_each_that_is_shipped_can_be_used_and_its_pods_pass_the_restricted_standard(path, monkeypatch):
    monkeypatch.delenv(FOLDER, raising=False)
    found = find(path.parent.name, path.name)
    for one in found.sets:
        pod = one["spec"]["template"]["spec"]
        assert pod["securityContext"]["runAsNonRoot"] is True
        assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
        assert pod["automountServiceAccountToken"] is False
        for container in [*pod["containers"], *pod.get("initContainers", [])]:
            assert container["securityContext"]["allowPrivilegeEscalation"] is False
            assert container["securityContext"]["capabilities"] == {"drop": ["ALL"]}
            assert ":" in container["image"].rpartition("/")[2], "pinned"
            check_root(pod, container)
        if "volumeClaimTemplates" in one["spec"]:
            assert one["spec"]["persistentVolumeClaimRetentionPolicy"]["whenDeleted"] == "Delete"
    services = {one["metadata"]["name"] for one in found.objects if one["kind"] == "Service"}
    assert {one["spec"]["serviceName"] for one in found.sets} <= services


def test_the_first_topologies_are_there(monkeypatch):
    monkeypatch.delenv(FOLDER, raising=False)
    assert {"one", "three"} <= set(names("elasticsearch"))
    assert [one["spec"]["replicas"] for one in find("elasticsearch", "three").sets] == [3]
    assert [one["spec"]["replicas"] for one in find("elasticsearch", "one").sets] == [1]
    assert {"one", "sharded"} <= set(names("mongodb"))


def test_a_sharded_mongodb_is_that_of_the_bulk_study(monkeypatch):
    monkeypatch.delenv(FOLDER, raising=False)
    found = find("mongodb", "sharded")
    counts = {one["metadata"]["name"]: one["spec"]["replicas"] for one in found.sets}
    shards = {f"mongodb-shard-{n}": 1 for n in (1, 2, 3)}
    assert counts == {"mongodb-config": 3, **shards, "mongodb-router": 2}
    assert found.connection("h") == {"host": "h", "port": 27017, "extra": {"shard_key": "hashed"}}


@pytest.mark.parametrize("script", ["member.sh", "router.sh"])
def test_its_scripts_are_bash(script, monkeypatch):
    monkeypatch.delenv(FOLDER, raising=False)
    (scripts,) = (one for one in find("mongodb", "sharded").objects if one["kind"] == "ConfigMap")
    done = subprocess.run(
        ["bash", "-n"], check=False, input=scripts["data"][script], text=True, capture_output=True
    )
    assert done.stderr == ""


def test_the_documentation_lists_each_topology_and_each_size():
    docs = CHECKOUT_SERVERS.parents[1] / "docs"
    text, reference = ((docs / page).read_text() for page in ("servers.md", "reference/parameters.md"))
    shown = {store for study in map(studies.find, studies.names()) for store in provisioned_for(study)}
    assert len(shown) >= len(ALL_SHIPPED)
    for name in shown:
        assert re.search(rf"^\|.*`{name}`.*\|", text, re.MULTILINE), name
    assert all(f"| `{name}` |" in reference and f"`{name}`" in text for name in FIELDS)


def test_no_servers_are_provisioned_for_a_store_whose_data_is_not_on_its_server():
    def no_connection(name):
        return False

    for study in map(studies.find, ("bulk_write_read", "queries")):
        assert str(topology_of(study, "postgresql@one", no_connection)) == "postgresql/one"
        assert "postgresql@one" in provisioned_for(study) and "pyiceberg@one" not in provisioned_for(study)
    with pytest.raises(SpecError, match=r"'storebench_postgresql_one', and a run provisions no servers for"):
        topology_of(studies.find("bulk_write_read"), "pyiceberg@one", no_connection)


@pytest.mark.parametrize("name", ["one", "three"])
def test_a_nearly_full_disk_does_not_stop_elasticsearch_while_gigabytes_are_free(name):
    """The server's default limits are shares of the disk, which a laptop's disk often exceeds."""
    (nodes,) = find("elasticsearch", name).sets
    (container,) = nodes["spec"]["template"]["spec"]["containers"]
    found = {one["name"]: one.get("value") for one in container["env"]}
    text = (CHECKOUT_SERVERS.parents[1] / "local/stack/templates/process-compose.yaml").read_text()
    for level in ("low", "high", "flood_stage"):
        setting = f"cluster.routing.allocation.disk.watermark.{level}"
        assert f"{setting}={found[setting]}" in text
