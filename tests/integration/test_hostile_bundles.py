"""Bundles made by a stranger, loaded into the real database: each is refused, and no row changes."""

import copy
import io
import json
import random
import uuid
import zipfile
from datetime import timedelta

import psycopg
import pytest

from storebench import s3
from storebench.airflow import connections as airflow_connections
from storebench.airflow.operators import leftovers
from storebench.errors import SpecError
from storebench.results.database.repository import run_id_of
from storebench.results.export import bundle_file
from storebench.results.export.bundle import TABLES, Bundles
from tests.integration.recorded import STUDY

BUNDLES = 1_000
TEXTS = (
    "../../../x",
    "v1",
    "a/b",
    "",
    "x" * 300,
    "\x00",
    None,
    7,
    [],
    {},
    "NaN",
    "'; DROP SCHEMA storebench; --",
)
NAMING = {  # the columns that name something
    "dataset": ("id",),
    "environment": ("hash", "details"),
    "parameters": ("hash", "details"),
    "study": ("name",),
    "cell": ("key", "study", "store", "client", "axes", "rows", "seed"),
    "run": ("id", "study", "dag_id", "airflow_run_id", "started_at", "state"),
    "run_cell": ("run_id", "cell_key", "repeat"),
    "attempt": ("id", "run_id", "cell_key", "repeat", "status", "environment_hash", "parameters_hash"),
    "phase": ("attempt_id", "position"),
}


def packed(members, sums=None):
    """Return the bytes of a zip with these members, and right checksums if none are given."""
    if sums is None:
        sums = bundle_file._checksums(members)
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in {**members, bundle_file.CHECKSUMS: sums}.items():
            archive.writestr(name, content)
    return made.getvalue()


def hostile(members, chance):
    """Return the bytes of a bundle that no export has made: bytes, members, rows or values differ."""
    kind = chance.choice(["bytes", "cut", "member", "no member", "text", "row", "doubled", *["value"] * 12])
    whole = packed(members)
    if kind == "bytes":
        place = chance.randrange(len(whole))
        # flipped bits of a zip's directory may be of no meaning: three places are enough to break each member
        return (
            whole[: place // 2]
            + bytes(255 - byte for byte in whole[place // 2 : place // 2 + 300])
            + whole[place // 2 + 300 :]
        )
    if kind == "cut":
        return whole[: chance.randrange(len(whole))]
    changed = dict(members)
    table = chance.choice(list(NAMING))
    name = f"{table}.json"
    if kind == "member":
        changed[chance.choice(["../../etc/passwd", "undropped.json", "secret_use.json", "/x.json"])] = b"[]"
    elif kind == "no member":
        del changed[
            chance.choice(["run.json", "run_cell.json", "cell.json", "environment.json", bundle_file.ABOUT])
        ]
    elif kind == "text":
        changed[name] = chance.choice([b"", b"{", b"[1]", b"{}", b"null", b"[" * 100_000, b"\xff\xfe"])
    else:
        rows = json.loads(changed[name])
        one = chance.randrange(len(rows))
        if kind == "row":
            rows[one] = {**rows[one], "more": 1}
            rows = rows if len(rows) > 1 or chance.random() < 0.5 else [rows[one]]
        elif kind == "doubled":
            name, rows = "run.json", json.loads(changed["run.json"]) * 2
        else:
            column = chance.choice(NAMING[table])
            # an attempt that never ran has no environment, and no parameters
            others = [one for one in TEXTS if one is not None or not column.endswith("_hash")]
            rows = copy.deepcopy(rows)
            rows[one][column] = chance.choice(others)
        changed[name] = json.dumps(rows).encode()
    return packed(changed)


def content(uri):
    """Return all rows of the results as text."""
    with psycopg.connect(uri) as connection:
        return {
            table: connection.execute(
                psycopg.sql.SQL("SELECT array_agg(t::text ORDER BY t::text) FROM storebench.{} AS t").format(
                    psycopg.sql.Identifier(table)
                )
            ).fetchone()
            for table in TABLES
        }


def test_hostile_bundles_are_refused_and_change_nothing(database, run, cells, tmp_path):
    path = tmp_path / "run.zip"
    Bundles(database).export(run_id_of(STUDY, run(cells)), path)
    with zipfile.ZipFile(path) as bundle:
        members = {name: bundle.read(name) for name in bundle.namelist() if name != bundle_file.CHECKSUMS}
    before, chance, taken = content(database), random.Random(1), []
    for number in range(BUNDLES):
        made = hostile(members, chance)
        try:
            _, new = Bundles(database).load(path, made)
        except SpecError:
            continue
        taken.append((number, new))
    assert taken == []
    assert content(database) == before


def test_attempts_are_added_to_a_run_only_where_that_is_asked_for(database, repository, run, cells, tmp_path):
    name = run(cells)
    path = tmp_path / "run.zip"
    Bundles(database).export(run_id_of(STUDY, name), path)
    with zipfile.ZipFile(path) as bundle:
        members = {one: bundle.read(one) for one in bundle.namelist() if one != bundle_file.CHECKSUMS}
    attempts = json.loads(members["attempt.json"])
    attempts.append({**attempts[0], "id": str(uuid.uuid4()), "try_number": 9, "value": 0.001})
    more = packed({**members, "attempt.json": json.dumps(attempts).encode()})
    with pytest.raises(SpecError, match=r"here already, and the bundle has rows that it lacks \(1 attempt"):
        Bundles(database).load(path, more)
    assert len(repository.results(run=name)) == 20
    assert Bundles(database).load(path, more, more_attempts=True)[1]["attempt"] == 1


def test_only_results_that_attempts_made_are_removed_from_a_shared_bucket(connections, monkeypatch):
    client, bucket = s3.client_for(connections["s3"]), connections["s3"].extra["bucket"]
    mark = uuid.uuid4().hex[:16]
    ours = f"results/storebench_mongodb_{mark}/write-{uuid.uuid4().hex}.json"
    others = [
        f"results/{mark}/write-1.json",
        f"results/storebench_report_{mark}.pdf",
        f"results-{mark}/x.json",
    ]
    monkeypatch.setattr(airflow_connections, "s3", lambda: client)
    monkeypatch.setattr(airflow_connections, "bucket", lambda: bucket)
    try:
        for key in (ours, *others):
            client.put_object(Bucket=bucket, Key=key, Body=b"{}")
        assert leftovers.remove_results() == []
        assert s3.size(client, bucket, ours) == 2, "younger than a day: its attempt may not be recorded yet"
        monkeypatch.setattr(leftovers, "UNREAD_FOR", timedelta(seconds=-60))
        # a result that other tests put there in this second may belong to an attempt that is being recorded
        monkeypatch.setattr(leftovers, "RESULTS", f"results/storebench_mongodb_{mark}")
        assert leftovers.remove_results() == []
        assert s3.size(client, bucket, ours) is None
        monkeypatch.setattr(leftovers, "RESULTS", f"results/{mark}")
        assert leftovers.remove_results() == []
        assert [s3.size(client, bucket, key) for key in others] == [2, 2, 2]
    finally:
        for key in (ours, *others):
            client.delete_object(Bucket=bucket, Key=key)
