"""How the sharded topologies of MongoDB start their servers, with programs that know the options of the real ones."""

import os
import subprocess
import sys
import time

import pytest

from storebench.servers.render import Place, rendered
from storebench.servers.sizes import Sizes
from storebench.servers.topology import FOLDER, find

SHARDED = ("sharded", "rest_sharded")
# Options of the manual's reference pages of mongod and mongos 8.0, with what each takes; the programs end with 2 at any other one.
PROGRAM = """#!{python} -ISu
import argparse, os, sys
options = argparse.ArgumentParser(allow_abbrev=False)
for name in {values}:
    options.add_argument(name)
for name in {flags}:
    options.add_argument(name, action="store_true")
told = options.parse_args()
assert not (getattr(told, "shardsvr", False) and getattr(told, "configsvr", False))
with open(os.environ["NOTES"], "a") as notes:
    notes.write(" ".join([os.path.basename(sys.argv[0]), *sys.argv[1:]]) + "\\n")
"""
COMMON_VALUES = (
    "--port",
    "--bind_ip",
    "--config",
    "--keyFile",
    "--logpath",
    "--setParameter",
    "--pidfilepath",
)
VALUES = {
    "mongod": (*COMMON_VALUES, "--dbpath", "--replSet", "--oplogSize", "--wiredTigerCacheSizeGB"),
    "mongos": (*COMMON_VALUES, "--configdb", "--localThreshold"),
}
FLAGS = {
    "mongod": ("--bind_ip_all", "--auth", "--quiet", "--shardsvr", "--configsvr", "--directoryperdb"),
    "mongos": ("--bind_ip_all", "--quiet"),
}
SHELL = """#!{python} -ISu
import argparse, os, sys
options = argparse.ArgumentParser(allow_abbrev=False)
for name in ("--host", "--port", "--eval"):
    options.add_argument(name)
for name in ("--quiet", "--norc"):
    options.add_argument(name, action="store_true")
told = options.parse_args()
with open(os.environ["NOTES"], "a") as notes:
    notes.write(f"mongosh at {{told.host}}: {{told.eval}}\\n")
"""


@pytest.fixture(autouse=True)
def shipped(monkeypatch):
    monkeypatch.delenv(FOLDER, raising=False)


def sets_of(topology, **sizes):
    objects = rendered(find("mongodb", topology), "x1", Sizes(**sizes), Place())
    return {one["metadata"]["name"]: one["spec"] for one in objects if one["kind"] == "StatefulSet"}


@pytest.fixture
def started(tmp_path):
    """Run a pod's command. Return the arguments of MongoDB's programs, one line each."""
    programs, notes = tmp_path / "bin", tmp_path / "notes"
    programs.mkdir()
    for name, values in VALUES.items():
        text = PROGRAM.format(python=sys.executable, values=values, flags=FLAGS[name])
        (programs / name).write_text(text)
    (programs / "mongosh").write_text(SHELL.format(python=sys.executable))
    for path in programs.iterdir():
        path.chmod(0o755)

    def started(topology, name, lines, pod=0):
        (scripts,) = (one for one in find("mongodb", topology).objects if one["kind"] == "ConfigMap")
        for script, text in scripts["data"].items():
            (tmp_path / script).write_text(text.replace("/tmp/ready", str(tmp_path / "ready")))
        (container,) = sets_of(topology)[name]["template"]["spec"]["containers"]
        environment = {one["name"]: one["value"] for one in container["env"]}
        notes.write_text("")
        done = subprocess.run(
            [part.replace("/scripts", str(tmp_path)) for part in container["command"]],
            env={
                **environment,
                "PATH": f"{programs}:{os.environ['PATH']}",
                "NOTES": str(notes),
                "HOSTNAME": f"{name}-{pod}",
            },
            capture_output=True,
            text=True,
            check=False,
            timeout=20,
        )
        assert (done.returncode, done.stderr) == (0, "")
        until = time.monotonic() + 10
        while len(found := notes.read_text().splitlines()) < lines:
            assert time.monotonic() < until, found
            time.sleep(0.02)
        return sorted(found)

    return started


@pytest.mark.parametrize("topology", SHARDED)
@pytest.mark.parametrize(
    ("name", "service", "role"),
    [
        ("mongodb-config-x1", "mongodb-config-x1", "--configsvr"),
        ("mongodb-shard-2-x1", "mongodb-shards-x1", "--shardsvr"),
    ],
)
def test_members_start_as_what_they_are_and_the_first_begins_the_replica_set(
    started, topology, name, service, role
):
    server, shell = started(topology, name, 2)
    assert server == f"mongod --replSet {name} --bind_ip_all --port 27017 --dbpath /data/db {role}"
    assert shell.startswith("mongosh at localhost: ") and f"host: '{name}-0.{service}:27017'" in shell
    _, shell = started(topology, name, 2, pod=1)
    assert shell.startswith(f"mongosh at {name}-0.{service}: ")
    assert f"rs.add('{name}-1.{service}:27017')" in shell


@pytest.mark.parametrize("topology", SHARDED)
def test_a_mongos_knows_the_config_servers_and_learns_all_shards(started, topology):
    server, *asked = started(topology, "mongodb-router-x1", 4)
    config = "mongodb-config-x1"
    assert server == f"mongos --configdb {config}/{config}-0.{config}:27017 --bind_ip_all --port 27017"
    shards = [f"mongodb-shard-{n}-x1" for n in (1, 2, 3)]
    for one, shard in zip(asked, shards, strict=True):
        assert f"sh.addShard('{shard}/{shard}-0.mongodb-shards-x1:27017')" in one


def test_the_sharded_database_behind_services_is_the_sharded_database():
    alone, behind = (find("mongodb", name) for name in SHARDED)
    parts = [
        [one for one in topology.objects if "-api" not in one["metadata"]["name"]]
        for topology in (alone, behind)
    ]
    told = [topology.connection("mongodb-x1")["extra"] for topology in (alone, behind)]
    for topology in parts:
        (entry,) = (one for one in topology if "storebench/entry" in one["metadata"]["labels"])
        del entry["metadata"]["annotations"]
    assert parts[0] == parts[1]
    services = {"rest": "mongodb-api-x1", "rest-tuned": "mongodb-api-tuned-x1"}
    assert told == [{"shard_key": "hashed"}, {"shard_key": "hashed", "services": services}]


def test_the_shards_behind_services_take_the_sizes_of_a_run():
    found = sets_of("rest_sharded", cpu="2", memory="4Gi")
    sized = {
        name
        for name, spec in found.items()
        if spec["template"]["spec"]["containers"][0]["resources"]["limits"] == {"cpu": "2", "memory": "4Gi"}
    }
    assert sized == {f"mongodb-shard-{n}-x1" for n in (1, 2, 3)}
