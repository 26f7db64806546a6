"""The commands for maintenance that the shipped topologies declare, and the stand-ins of the embedded stack that run these commands."""

import os
import subprocess

import pytest

from storebench.servers.fault import MAINTENANCE
from storebench.servers.stand_ins import SERVER_IMAGES
from storebench.servers.topology import FOLDER, find, names, provisioned_for
from storebench.stores.base import split
from storebench.study.studies import find as find_study

SERVER = {"cassandra": "cassandra-0", "mongodb": "mongodb-0", "postgresql": "postgresql-0"}


@pytest.fixture(autouse=True)
def shipped(monkeypatch):
    monkeypatch.delenv(FOLDER, raising=False)


@pytest.mark.parametrize("study", ["point_operations", "bulk_write_read"])
def test_each_maintenance_that_a_store_lists_is_declared_by_a_topology(study):
    study = find_study(study)
    for store in {split(name)[0] for name in provisioned_for(study)}:
        listed = {*study.faults_of(store)} & {*MAINTENANCE}
        kind = study.store(store).connection
        declared = {
            name
            for topology in names(kind)
            for one in find(kind, topology).sets
            for name in find(kind, topology).commands_of(f"{one['metadata']['name']}-0")
        }
        assert listed <= declared, store


def ran(command, stubs, folder):
    """Run a command with the stand-ins' programs and with stubs, which print their arguments and their input. Return the output."""
    for stub in stubs:
        (folder / stub).write_text('#!/bin/sh\necho "$0 $*" >&2\ncat >&2\n')
        (folder / stub).chmod(0o755)
    images = [str(SERVER_IMAGES / name) for name in SERVER]
    path = ":".join([str(folder), *images, os.environ["PATH"]])
    environment = {**os.environ, "PATH": path, "CASSANDRA_HOME": str(folder)}
    done = subprocess.run(
        ["sh", "-c", command], check=False, env=environment, capture_output=True, text=True, input=""
    )
    assert done.returncode == 0, done.stderr
    return done.stderr


@pytest.mark.parametrize(
    ("server", "topology", "maintenance", "stub", "says"),
    [
        ("cassandra", "one", "compact", "java", "NodeTool compact"),
        ("cassandra", "one", "backup", "java", "NodeTool snapshot"),
        ("cassandra", "three", "repair", "java", "NodeTool repair --full"),
        ("mongodb", "one", "compact", "psql", "VACUUM FULL documentdb_data"),
        ("mongodb", "one", "backup", "pg_basebackup", "--pgdata=- --format=tar"),
        ("postgresql", "one", "compact", "vacuumdb", "--dbname=storebench --analyze"),
        ("postgresql", "one", "backup", "pg_basebackup", "--pgdata=- --format=tar"),
    ],
)
def test_a_stand_in_runs_the_commands_of_its_topologies(server, topology, maintenance, stub, says, tmp_path):
    (tmp_path / "conf").mkdir()
    (tmp_path / "conf/jvm.options").write_bytes((SERVER_IMAGES / "cassandra/jvm.options").read_bytes())
    command = find(server, topology).commands_of(SERVER[server])[maintenance]
    said = ran(command, [stub], tmp_path)
    assert says in said
    assert server != "cassandra" or "--add-exports=java.base/jdk.internal.misc=ALL-UNNAMED" in said


@pytest.mark.parametrize("program", ["mongosh --quiet --eval 'db.dropDatabase()'", "mongodump --archive"])
def test_a_stand_in_refuses_another_use(program, tmp_path):
    with pytest.raises(AssertionError, match="The publisher's image can do more"):
        ran(program, ["psql", "pg_basebackup"], tmp_path)
