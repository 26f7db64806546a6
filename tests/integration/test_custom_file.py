"""A user's file in a real S3: the pod's program makes a dataset of it, and the stores with servers here return its rows."""

import gzip
import io
import json
import os
import uuid
from dataclasses import replace

import pyarrow as pa
import pytest
from pyarrow import parquet as pq

from storebench import s3
from storebench.airflow.outcome.retrieve import discard, full_result
from storebench.attempt.dataset import DatasetSpec
from storebench.attempt.result import AttemptResult
from storebench.dataset.csv50 import CUSTOM_FILE
from storebench.stores import load
from storebench.study import custom_files
from storebench.study.dataset import folder_of, seed_of
from tests import example_file, int96
from tests.bulk import BULK, bulk_study, cell_at, spec_for
from tests.integration.command import run_command
from tests.parts import run_parts

FILES = {"csv": example_file.as_csv, "parquet": example_file.as_parquet}
CASES = [
    (store, client, batch)
    for store, clients in (
        ("mongodb", ("reference", "tuned")),
        ("elasticsearch", ("reference", "tuned")),
        ("delta-rs", ("reference", "tuned")),
        ("null", ("reference",)),
        ("postgresql", ("reference", "tuned")),
        ("pyiceberg", ("reference", "tuned")),
    )
    for client in clients
    for batch in ("700", "all")
]


@pytest.fixture
def place(connections):
    client, bucket = s3.client_for(connections["s3"]), connections["s3"].extra["bucket"]
    key = f"own-files-test/{uuid.uuid4().hex}"
    made = []
    yield client, bucket, key, made
    for prefix in (key, *made):
        for item in client.list_objects_v2(Bucket=bucket, Prefix=prefix).get("Contents", []):
            client.delete_object(Bucket=bucket, Key=item["Key"])


def started(arguments, variable, spec, message):
    """Start the command line as a pod does; returns its exit code, what it has left, and what it has said."""
    told = {variable: spec.to_json(), "STOREBENCH_TERMINATION_LOG": str(message)}
    code, said = run_command(arguments, {**os.environ, **told})
    return code, message.read_text() if message.exists() else "", said


@pytest.fixture
def dataset(place, tmp_path):
    """Make the dataset of a file with these bytes, or of a folder with these files. Return the exit code, the manifest or the output, and
    the dataset's folder."""
    client, bucket, key, made = place

    def make(kind, data):
        for name, part in data.items() if kind == "folder" else [(kind, data)]:
            client.put_object(Bucket=bucket, Key=f"{key}{'/' if kind == 'folder' else '.'}{name}", Body=part)
        file = f"s3://{bucket}/{key}{'/' if kind == 'folder' else '.' + kind}"
        files = custom_files.find(client, file)
        seed = seed_of(file, files.version, files.size)
        made.append(folder := folder_of(CUSTOM_FILE.id(seed)))
        spec = DatasetSpec(bucket, folder, CUSTOM_FILE.max_rows, seed, file=file)
        code, text, said = started(
            CUSTOM_FILE.pod.arguments, "STOREBENCH_DATASET", spec, tmp_path / "dataset"
        )
        return code, json.loads(text) if code == 0 else said, folder

    return make


@pytest.fixture
def attempt(place, target, tmp_path):
    """Run an attempt on the dataset in this folder; returns its exit code and its result. What it keeps is removed."""
    client, bucket, *_ = place
    used = {}

    def run(operation, store, folder, client_name="reference", batch="700"):
        used.setdefault(store, folder)
        cell = cell_at(store, 1, example_file.ROWS, client=client_name, batch=batch)
        spec = replace(spec_for(operation, cell, target, bucket), dataset=folder)
        code, text, _ = started(["attempt"], "STOREBENCH_ATTEMPT", spec, tmp_path / "attempt")
        found = full_result(AttemptResult.from_json(text), spec, lambda: client)
        discard(found, spec, lambda: client)
        return code, found

    yield run
    for store, folder in used.items():
        assert run("drop", store, folder)[0] == 0, "what a test wrote is left"


@pytest.mark.parametrize("kind", FILES)
@pytest.mark.parametrize(("store", "client", "batch"), CASES)
def test_it_is_written_and_read_and_both_are_verified(dataset, attempt, kind, store, client, batch):
    code, manifest, folder = dataset(kind, FILES[kind]())
    assert (code, manifest["rows"]) == (0, example_file.ROWS), manifest
    for operation in ("write", "read"):
        code, result = attempt(operation, store, folder, client, batch)
        assert (code, result.status, result.error) == (0, "verified", None)
        assert "2,500 rows handled and counted; all 12 fields by" in result.verification


@pytest.mark.parametrize("store", ["mongodb", "elasticsearch", "null"])
def test_parts_share_its_rows(dataset, attempt, place, target, store):
    _, bucket, *_ = place
    code, _, folder = dataset("csv", FILES["csv"]())
    assert code == 0
    for operation in ("write", "read"):
        cell = cell_at(store, 1, example_file.ROWS, batch="700")
        spec = replace(spec_for(operation, cell, target, bucket), dataset=folder)
        attempts, errors = run_parts(spec, load(BULK, store), 3)
        assert errors == {}
        assert attempts[0].result.verification.startswith("2,500 rows handled by 3 pods and counted; all 12")
    assert attempt("read", store, folder)[0] == 0, "one pod reads what three have written"


TIMES = {
    "end of time": int96.END_OF_TIME,
    "before 1582": ["1500-01-01T00:00:00Z", "1582-10-10T00:00:00Z"],
    "milliseconds": ["9999-12-31T23:59:59.999Z", "0001-01-01T00:00:00.000Z"],
    "microseconds": ["9999-12-31T23:59:59.999999Z", "1500-01-01T00:00:00.000001Z"],
    "nanoseconds": ["2024-05-06T07:08:09.123456789Z"],
}
PLACES = {"milliseconds": 3, "microseconds": 6, "nanoseconds": 9}  # of a second
KEPT = {
    "elasticsearch": 3,
    "delta-rs": 6,
    "postgresql": 6,
    "pyiceberg": 6,
}  # what other stores keep has no end


@pytest.mark.parametrize("case", TIMES)
def test_dates_far_from_today_are_the_same_ones_in_every_store_that_keeps_them(dataset, place, attempt, case):
    client, bucket, *_ = place
    moments = list(map(int96.moment, TIMES[case]))
    code, manifest, folder = dataset("parquet", int96.as_parquet(valid_to=moments))
    assert (code, manifest["rows"]) == (0, len(moments)), manifest
    copy = client.get_object(Bucket=bucket, Key=folder + "data.csv")["Body"].read().decode()
    assert copy.splitlines() == ["id,valid_to", *(f"{n},{at}" for n, at in enumerate(TIMES[case], start=1))]
    places = PLACES.get(case, 0)
    for store, name, batch in CASES:
        reason = bulk_study().store(store).cannot_hold(manifest)
        assert bool(reason) == (places > KEPT.get(store, 9)), (store, reason)
        if reason:
            continue
        for operation in ("write", "read"):
            code, result = attempt(operation, store, folder, name, batch)
            assert (code, result.status, result.error) == (0, "verified", None), (store, name, batch)


def test_both_kinds_of_file_are_the_same_dataset(dataset):
    found = [dataset(kind, data())[1] for kind, data in FILES.items()]
    same = ("rows", "bytes", "sha256", "fields", "row_sum", "schema")
    assert [found[0][name] for name in same] == [found[1][name] for name in same]


def test_what_is_no_table_is_refused_and_nothing_is_left(dataset, place):
    client, bucket, *_ = place
    code, said, folder = dataset("csv", b"a,b\n1,2\n3\n")
    assert code == 2 and "cannot be the dataset: line 3: a row has 1 values, the header 2" in said
    assert client.list_objects_v2(Bucket=bucket, Prefix=folder)["KeyCount"] == 0
    unfinished = client.list_multipart_uploads(Bucket=bucket).get("Uploads", [])
    assert [entry for entry in unfinished if entry["Key"].startswith(folder)] == []


def parts():
    """Return a folder as Spark writes it."""
    table = pq.read_table(io.BytesIO(example_file.as_parquet()))
    found = {"_SUCCESS": b"", ".part-0.crc": b"x"}
    for n in range(3):
        out = io.BytesIO()
        pq.write_table(table.slice(n * 1_000, 1_000), out)
        found[f"part-{n:05d}-c000.snappy.parquet"] = out.getvalue()
    return found


def test_a_folder_of_parts_and_compressed_files_are_the_dataset_of_one_file(dataset):
    data = example_file.as_csv()
    expected = dataset("csv", data)[1]["sha256"]
    for kind, content in (("folder", parts()), ("csv.gz", gzip.compress(data))):
        code, manifest, _ = dataset(kind, content)
        assert code == 0 and manifest["sha256"] == expected, manifest


@pytest.mark.parametrize(("store", "client"), sorted({case[:2] for case in CASES}))
def test_line_ends_within_values_and_the_longest_text_come_back(dataset, attempt, store, client):
    text = 'a,b,c\n"x\ry\u2028\x85",' + "y" * 131_000 + ",1\nplain\u2028text,q,2\n"
    code, manifest, folder = dataset("csv", text.encode())
    assert code == 0, manifest
    for operation in ("write", "read"):
        code, result = attempt(operation, store, folder, client, "all")
        assert (code, result.status, result.error) == (0, "verified", None)


def damaged():
    """Return a Parquet file with an invalid page of the column `note`."""
    out = io.BytesIO()
    pq.write_table(pa.table({"id": range(9_000), "note": [f"note {n}" for n in range(9_000)]}), out)
    data = bytearray(out.getvalue())
    start = pq.read_metadata(out).row_group(0).column(1).dictionary_page_offset
    data[start : start + 2_000] = b"\xff" * 2_000
    return bytes(data)


@pytest.mark.parametrize(
    ("kind", "data", "why"),
    [
        ("csv", b"", "it has no columns"),
        ("csv", b"id;name\n1;Anna\n", "the header has 1 semicolons and 0 commas"),
        ("csv", "id,name\n1,Köln\n".encode("latin-1"), "line 2: it is not UTF-8"),
        ("csv.gz", gzip.compress(b"a\n" * 99, mtime=0)[:-9], "its gzip is damaged"),
        ("parquet", damaged(), "the column 'note' cannot be read"),
        (
            "folder",
            {"1.csv": b"a\n1\n", "2.csv": b"b\n1\n"},
            "2.csv: the column 'b' is not in 1",
        ),
    ],
)
def test_what_is_no_table_is_refused_in_words_and_leaves_nothing(dataset, place, kind, data, why):
    client, bucket, *_ = place
    code, said, folder = dataset(kind, data)
    assert code == 2 and why in said and "Traceback" not in said
    assert client.list_objects_v2(Bucket=bucket, Prefix=folder)["KeyCount"] == 0
    unfinished = client.list_multipart_uploads(Bucket=bucket).get("Uploads", [])
    assert [entry for entry in unfinished if entry["Key"].startswith(folder)] == []
