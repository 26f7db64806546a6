"""The study map_formats against the real S3, as its pods run it but for the pods."""

import json
import os

import pytest

from storebench.airflow.outcome.retrieve import discard, full_result
from storebench.attempt.dataset import DatasetSpec
from storebench.attempt.result import AttemptResult
from storebench.attempt.spec import AttemptSpec
from storebench.connection import Connection
from storebench.s3 import client_for
from storebench.stores.map_formats.tables import JOBS, key_of
from storebench.study import studies
from storebench.study.cell import Cell
from storebench.study.dataset import MANIFEST, folder_of
from tests.integration.command import run_command
from tests.integration.conftest import required

SEED = 987_000_000 + os.getpid()  # of no other dataset
ROWS = 1_000
STUDY = studies.find("map_formats")


def started(arguments, name, spec, message):
    told = {name: spec.to_json(), "STOREBENCH_TERMINATION_LOG": str(message)}
    code, said = run_command(arguments, {**os.environ, **told})
    return code, message.read_text() if message.exists() else said


@pytest.fixture(scope="module")
def place():
    """Yield the bucket and its client. The tests share datasets, which are removed at the end."""
    connection = Connection.from_json("s3", required("AIRFLOW_CONN_STOREBENCH_S3"))
    client, bucket = client_for(connection), connection.extra["bucket"]
    yield client, bucket
    pages = client.get_paginator("list_objects_v2").paginate(Bucket=bucket, Prefix="datasets/map_tables/")
    for page in pages:
        for item in page.get("Contents", []):
            if f"/seed={SEED}/" in item["Key"]:
                client.delete_object(Bucket=bucket, Key=item["Key"])


@pytest.fixture
def dataset(place, connections, tmp_path):
    """Make the dataset of a benchmark, and of other axes; returns the exit code and what the pod leaves."""

    def make(benchmark, rows=ROWS, **axes):
        axes = {"benchmark": benchmark, **axes}
        folder = folder_of(STUDY.dataset.id(rows, SEED, axes))
        spec = DatasetSpec(place[1], folder, rows, SEED, axes)
        return started(STUDY.dataset.pod.arguments, "STOREBENCH_DATASET", spec, tmp_path / "dataset")

    return make


@pytest.fixture
def attempt(place, connections, tmp_path):
    """Run an attempt; returns its exit code and its result."""

    def run(store, benchmark, axes=(), client="python", **options):
        cell = Cell("map_formats", store, client, (("benchmark", benchmark), *axes), ROWS, SEED)
        spec = AttemptSpec(
            operation="map",
            cell_key=cell.key,
            study=cell.study,
            store=store,
            client=client,
            axes=dict(cell.axes),
            rows=ROWS,
            seed=SEED,
            target=cell.target("test", 0),
            bucket=place[1],
            dataset=folder_of(STUDY.dataset_of(cell)),
            results="results/test-",
            options={"parallel_jobs": "2", "job_timeout_s": "60", **options},
        )
        code, text = started(["attempt"], "STOREBENCH_ATTEMPT", spec, tmp_path / "attempt")
        found = full_result(AttemptResult.from_json(text), spec, lambda: place[0])
        discard(found, spec, lambda: place[0])
        return code, found

    return run


@pytest.mark.parametrize(
    ("store", "client"), [(store, client) for store in STUDY.stores for client in STUDY.store(store).clients]
)
def test_a_format_is_measured_and_verified(dataset, attempt, store, client):
    code, text = dataset("narrow")
    manifest = json.loads(text)
    assert (code, manifest["rows"], len(text) <= 4096) == (0, ROWS, True)
    code, result = attempt(store, "narrow", client=client)
    assert (code, result.status, result.error) == (0, "verified", None)
    assert result.metrics.keys() | result.series.keys() == set(STUDY.operations[0].metrics)
    sizes, outputs = manifest["format_bytes"], manifest["output_bytes"]["end"]
    if store == "null":
        assert result.metrics["in_bytes"] == min(sizes.values())
        assert result.metrics["out_bytes"] == min(outputs.values())
    else:
        assert result.metrics["in_bytes"] == sizes[STUDY.store(store).encoding]
    each = result.series["each_job_s"]["values"]
    assert len(each) == JOBS
    assert sum(each) / JOBS == pytest.approx(result.metrics["job_s"], rel=1e-3)
    assert result.metrics["rows_per_s"] == pytest.approx(ROWS / sum(each), rel=1e-3)
    assert ("plain definition" in result.verification) == (store != "null")
    encoded = store in ("yson", "skiff")  # what both of their clients write has the same bytes
    assert encoded <= ("the bytes of 10 jobs are those" in result.verification)


def test_the_bytes_of_another_output_are_not_taken_for_verified(dataset, attempt, place):
    assert dataset("complex")[0] == 0
    client, bucket = place
    key = folder_of(STUDY.dataset.id(ROWS, SEED, {"benchmark": "complex"})) + MANIFEST
    manifest = json.loads(client.get_object(Bucket=bucket, Key=key)["Body"].read())
    manifest["output_bytes_digests"]["end"] = dict.fromkeys(manifest["format_bytes"], "0" * 32)
    manifest["output_digests"]["end"][3] = "0" * 32
    client.put_object(Bucket=bucket, Key=key, Body=json.dumps(manifest).encode())
    code, result = attempt("skiff", "complex")
    assert (code, result.error_kind) == (4, "verification_failed") and "job 3" in result.error


def test_axes_shape_the_data_the_job_and_the_network(dataset, attempt):
    assert dataset("extend", values="random")[0] == dataset("extend", values="few")[0] == 0
    plain = (("values", "random"), ("position", "end"), ("interface", "direct"), ("network", "unlimited"))
    other = (("values", "few"), ("position", "middle"), ("interface", "common"), ("network", "10mbit"))
    for store in ("skiff", "arrow"):
        code, result = attempt(store, "extend", plain)
        assert (code, result.status, result.error) == (0, "verified", None)
        code, slow = attempt(store, "extend", other)
        assert (code, slow.status, slow.error) == (0, "verified", None)
        assert slow.metrics["in_bytes"] != result.metrics["in_bytes"]
        passing_s = (slow.metrics["in_bytes"] + slow.metrics["out_bytes"]) / JOBS / 1.25e6
        assert slow.metrics["job_off_cpu_s"] > passing_s / 2


@pytest.mark.parametrize(
    ("axes", "says"),
    [
        ({"benchmark": "wide", "position": "middle"}, "'wide' adds no column"),
        ({"benchmark": "extend", "position": "start"}, "Unknown position 'start'"),
        ({"benchmark": "extend", "network": "1mbit"}, "Unknown network '1mbit'. Did you mean 10mbit?"),
    ],
)
def test_axes_that_mean_nothing_are_refused(attempt, axes, says):
    benchmark, *others = axes.items()
    code, result = attempt("skiff", benchmark[1], others)
    assert (code, result.error_kind) == (2, "bad_spec") and says in result.error


def test_a_dataset_is_made_once(dataset, place):
    assert dataset("wide")[0] == 0
    key = key_of(folder_of(STUDY.dataset.id(ROWS, SEED, {"benchmark": "wide"})), "arrow", 0)
    place[0].put_object(Bucket=place[1], Key=key, Body=b"")
    assert dataset("wide")[0] == 0
    assert place[0].head_object(Bucket=place[1], Key=key)["ContentLength"] == 0


def test_a_table_in_s3_that_is_not_as_it_was_made_is_an_error(dataset, attempt, place):
    assert dataset("modify")[0] == 0
    client, bucket = place
    prefix = folder_of(STUDY.dataset.id(ROWS, SEED, {"benchmark": "modify"}))
    key = key_of(prefix, "protobuf", 6)
    body = client.get_object(Bucket=bucket, Key=key)["Body"].read()
    flipped = body[:100] + bytes([body[100] ^ 1]) + body[101:]
    for wrong in (body[:-1], flipped, None):
        client.delete_object(Bucket=bucket, Key=key)
        if wrong is not None:
            client.put_object(Bucket=bucket, Key=key, Body=wrong)
        code, result = attempt("protobuf-dynamic", "modify")
        assert (code, result.error_kind, result.metrics) == (5, "store_failed", {})
        assert key in result.error and f"remove s3://{bucket}/{prefix}{MANIFEST}" in result.error
    assert attempt("yson", "modify", client="compiled")[0] == 0, "the others go on"
    client.delete_object(Bucket=bucket, Key=prefix + MANIFEST)
    code, result = attempt("protobuf-dynamic", "modify")
    assert code == 5 and "the next run makes the dataset" in result.error
    assert dataset("modify")[0] == 0 and attempt("protobuf-dynamic", "modify", client="compiled")[0] == 0


def test_jobs_that_take_too_long_are_one_failed_attempt(dataset, attempt):
    assert dataset("narrow")[0] == 0
    code, result = attempt("skiff", "narrow", job_timeout_s="0.01")
    assert (code, result.error_kind) == (5, "store_failed")
    assert "has not ended after 0.01 s: it was killed" in result.error


@pytest.mark.parametrize(
    ("benchmark", "rows", "values", "says"),
    [
        ("wide", 999, "random", "Ask for 1,000 or more"),
        ("narow", 1_000, "random", "Did you mean narrow?"),
        ("narrow", 1_000, "fewer", "Unknown values 'fewer'. Did you mean few?"),
        ("write", 1_000, "few", "the benchmark 'write' reads no table"),
    ],
)
def test_a_dataset_that_cannot_be_is_refused(dataset, place, benchmark, rows, values, says):
    code, text = dataset(benchmark, rows, values=values)
    assert code == 2 and says in text
    prefix = folder_of(STUDY.dataset.id(rows, SEED, {"benchmark": benchmark, "values": values}))
    assert "Contents" not in place[0].list_objects_v2(Bucket=place[1], Prefix=prefix + MANIFEST)
