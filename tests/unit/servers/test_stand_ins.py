"""Images of servers that the embedded stack builds, and the entry of the one that stands in for mongod."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from storebench.errors import SpecError
from storebench.servers import stand_ins, topology

MONGOD = stand_ins.SERVER_IMAGES / "mongodb" / "mongod"
# Programs that note what they were told and how they ended. A server runs until it gets a signal.
SERVER = """#!{python} -ISu
import os, signal, sys, time
name, notes = os.path.basename(sys.argv[0]), os.environ["NOTES"]
def note(text):
    with open(notes, "a") as file:
        file.write(f"{{name}} {{text}}\\n")
def end(number, _):
    note(f"ended by {{signal.Signals(number).name}}")
    sys.exit()
signal.signal(signal.SIGTERM, end)
signal.signal(signal.SIGINT, end)
note(" ".join(sys.argv[1:]))
while not os.path.exists(f"{{notes}}.{{name}}"):
    time.sleep(0.02)
sys.exit(3)
"""
TOOL = '#!/bin/sh\necho "{name} $*" >> "$NOTES"\n'


@pytest.fixture
def images(monkeypatch, tmp_path):
    monkeypatch.setattr(stand_ins, "SERVER_IMAGES", tmp_path)
    (tmp_path / "whole").mkdir()
    (tmp_path / "part").mkdir()
    (tmp_path / "part" / stand_ins.LISTING).write_text("one\ntwo\n")


def test_an_image_can_be_all_topologies_or_those_that_it_lists(images):
    stand_ins.check("whole", "nine")
    stand_ins.check("part", "two")
    with pytest.raises(
        SpecError, match=r"cannot provision part@nine: its image only .* in part@one and part@two"
    ):
        stand_ins.check("part", "nine")
    with pytest.raises(SpecError, match=r"no image of the server a-b: .* storebench_image_servers_a_b$"):
        stand_ins.check("a-b", "one")


def test_what_images_list_are_topologies():
    listings = list(stand_ins.SERVER_IMAGES.glob(f"*/{stand_ins.LISTING}"))
    assert [path.parent.name for path in listings] == ["mongodb"]
    for path in listings:
        assert set(path.read_text().split()) < set(topology.names(path.parent.name))


class Entry:
    """The entry with fake servers that log their starts and ends."""

    def __init__(self, folder):
        self.folder, self.notes = folder, folder / "notes"
        self.database = folder / "db"
        self.database.mkdir()
        programs = folder / "bin"
        programs.mkdir()
        tools = ("initdb", "pg_isready")
        texts = {name: SERVER.format(python=sys.executable) for name in ("postgres", "ferretdb")}
        texts |= {name: TOOL.format(name=name) for name in tools}
        texts["initdb"] += 'mkdir "${1#--pgdata=}"\n'
        texts["psql"] = (
            TOOL.format(name="psql") + 'case "$*" in *version*) echo "${VERSION:-1.0-1}" ;; esac\n'
        )
        for name, text in texts.items():
            (programs / name).write_text(text)
            (programs / name).chmod(0o755)
        self.environment = {
            **os.environ,
            "NOTES": str(self.notes),
            "PATH": f"{programs}:{os.environ['PATH']}",
        }

    def start(self, *options, **more):
        self.process = subprocess.Popen(
            [MONGOD, "--dbpath", self.database, *options],
            env={**self.environment, **more},
            stderr=subprocess.PIPE,
            text=True,
        )
        return self

    def noted(self, text, seconds=10):
        """Wait until this was noted; all notes."""
        until = time.monotonic() + seconds
        while text not in (found := self.notes.read_text() if self.notes.exists() else ""):
            assert time.monotonic() < until, found
            time.sleep(0.02)
        return found.splitlines()

    def end(self):
        """Return the exit code and the output."""
        said = self.process.communicate(timeout=20)[1]
        return self.process.returncode, said


@pytest.fixture
def entry(tmp_path):
    made = Entry(tmp_path)
    yield made
    if made.process.poll() is None:
        made.process.terminate()
        assert made.end()[0] == 0


def test_the_command_of_the_topology_starts_both_servers(entry):
    (one,) = topology.find("mongodb", "one").sets
    command = one["spec"]["template"]["spec"]["containers"][0]["command"]
    assert command[0] == "mongod" and command[-2:] == ["--dbpath", "/data/db"]
    entry.start(*command[1:-2])
    entry.noted("ferretdb ")
    told = entry.noted("\npostgres ")  # both begin at the same time; other programs are told its name
    (ferretdb,) = (line for line in told if line.startswith("ferretdb "))
    assert "--no-auth" in ferretdb and "--listen-addr=:27017 " in ferretdb
    (postgres,) = (line for line in told if line.startswith("postgres "))
    assert f"-D {entry.database}/cluster " in postgres and "listen_addresses= " in postgres
    assert (entry.database / "cluster").is_dir() and not (entry.database / "cluster.new").exists()


def test_a_stop_ends_what_clients_see_first_and_nothing_runs_after_it(entry):
    entry.start()
    entry.noted("ferretdb ")
    entry.process.send_signal(signal.SIGTERM)
    assert entry.end()[0] == 0
    ends = [line for line in entry.noted("postgres ended") if " ended " in line]
    assert ends == ["ferretdb ended by SIGTERM", "postgres ended by SIGINT"]


def test_a_second_start_keeps_the_data_and_does_not_mind_a_server_that_was_killed(entry):
    (entry.database / "cluster").mkdir()
    (entry.database / "cluster" / "postmaster.pid").write_text("1\n")
    entry.start()
    assert not [line for line in entry.noted("ferretdb ") if line.startswith("initdb")]
    assert not (entry.database / "cluster" / "postmaster.pid").exists()


@pytest.mark.parametrize("dies", ["postgres", "ferretdb"])
def test_it_does_not_outlive_one_of_its_servers(entry, dies):
    entry.start()
    entry.noted("ferretdb ")
    Path(f"{entry.notes}.{dies}").touch()
    code, said = entry.end()
    assert code == 1 and "has ended by itself" in said
    assert [line for line in entry.notes.read_text().splitlines() if " ended " in line], "the other one"


def test_another_documentdb_is_refused(entry):
    code, said = entry.start(VERSION="2.0-0").end()
    assert code == 1 and "DocumentDB is 2.0-0" in said
    assert "postgres ended by SIGINT" in entry.notes.read_text()


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (["--replSet", "a"], "neither replica sets nor shards (--replSet)"),
        (["--shardsvr"], "neither replica sets nor shards (--shardsvr)"),
        (["--auth"], "it does not know --auth"),
        (["--port"], "--port needs a value"),
    ],
)
def test_what_it_cannot_stand_in_for_is_refused_before_anything_starts(entry, options, why):
    code, said = entry.start(*options).end()
    assert code == 2 and why in said and not entry.notes.exists()


@pytest.mark.parametrize(
    ("options", "address"), [(["--port=5"], "127.0.0.1:5"), (["--bind_ip_all", "--port", "6"], ":6")]
)
def test_it_listens_where_it_is_told(entry, options, address):
    entry.start(*options)
    assert any(f"--listen-addr={address} " in line for line in entry.noted("ferretdb "))
