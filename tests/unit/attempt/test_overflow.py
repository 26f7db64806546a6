import json
from dataclasses import replace
from types import SimpleNamespace

import pytest
from botocore.exceptions import ClientError, EndpointConnectionError

from storebench import s3
from storebench.airflow.retrieve import whole
from storebench.attempt import overflow, run
from storebench.attempt.overflow import fitting
from storebench.attempt.result import MAX_BYTES, AttemptResult
from storebench.attempt.spec import VARIABLE, AttemptSpec
from storebench.attempt.termination import VARIABLE as MESSAGE
from storebench.errors import StoreUnreachable

SPEC = AttemptSpec(
    operation="write",
    cell_key="bulk_write_read/delta-spark/reference/batch=100/executors=24/rows=1000/seed=42",
    target="storebench_delta_spark_0",
    dataset_bucket="bench",
    dataset_key="data.csv",
    manifest_key="manifest.json",
)
EXECUTOR = {
    "memory_peak_bytes": 1_456_324_608,
    "memory_working_set_peak_bytes": 1_352_482_816,
    "cpu_s": 123.456789,
    "oom_kills": 0,
}
LONG = AttemptResult(
    status="verified",
    rows=1000,
    operation_s=12.345678,
    total_s=30.5,
    memory_peak_bytes=2**31,
    executors=[{"executor": str(n), **EXECUTOR} for n in range(1, 25)],
    phases={f"phase_{n}": 0.333333 for n in range(14)},
    environment={"server_name": "Delta Lake", "server_settings": {f"setting_{n}": "x" * 100 for n in range(50)}},
)  # fmt: skip


class FakeS3:
    """A bucket, in a dictionary."""

    meta = SimpleNamespace(endpoint_url="http://s3")

    def __init__(self):
        self.objects = {}
        self.away = 0  # for so many calls

    def _answer(self):
        if self.away:
            self.away -= 1
            raise EndpointConnectionError(endpoint_url="http://s3")

    def put_object(self, *, Bucket, Key, Body):  # noqa: N803
        self._answer()
        self.objects[Bucket, Key] = Body

    def get_object(self, *, Bucket, Key):  # noqa: N803
        self._answer()
        if (Bucket, Key) not in self.objects:
            raise ClientError({"Error": {"Code": "NoSuchKey"}}, "GetObject")
        return {"Body": SimpleNamespace(read=lambda: self.objects[Bucket, Key])}

    def delete_object(self, *, Bucket, Key):  # noqa: N803
        self._answer()
        del self.objects[Bucket, Key]


@pytest.fixture
def bucket(monkeypatch):
    fake = FakeS3()
    monkeypatch.setenv("STOREBENCH_CONN_S3", "{}")
    monkeypatch.setattr(s3, "client_for", lambda connection: fake)
    return fake


def message(result):
    """The result as it comes out of a termination message."""
    text = result.to_json()
    assert len(text.encode()) <= MAX_BYTES
    return AttemptResult.from_json(text)


def found(bucket, result, spec=SPEC):
    return whole(result, spec, lambda: bucket)


def test_a_result_of_24_executors_arrives_whole(bucket):
    short = message(fitting(LONG, SPEC))
    assert (short.status, short.operation_s, short.executors) == ("verified", 12.345678, [])
    ((name, key),) = bucket.objects
    assert name == "bench" and key.startswith("results/storebench_delta_spark_0/write-")
    assert replace(found(bucket, short), stored=None) == LONG
    assert bucket.objects == {}, "it is not left in S3"


def test_the_same_attempt_twice_has_two_objects(bucket):
    fitting(LONG, SPEC), fitting(LONG, SPEC)
    assert len(bucket.objects) == 2


def test_a_result_that_fits_needs_no_s3():
    short = AttemptResult(status="verified", environment={"server_name": "S"})
    assert fitting(short, None) is short
    assert whole(short, SPEC, None) is short


@pytest.mark.parametrize("character", ["é", "\x01", '"'])
def test_a_long_error_is_not_cut(bucket, character):
    failed = AttemptResult(error_kind="store_failed", error=character * 100_000)
    short = message(fitting(failed, SPEC))
    assert len(short.error) > 100 and failed.error.startswith(short.error)
    assert found(bucket, short).error == failed.error


def test_an_object_that_is_not_there_is_a_clear_row_with_the_figures_that_fit(bucket):
    short = message(fitting(LONG, SPEC))
    bucket.objects.clear()
    row = found(bucket, short)
    assert (row.status, row.error_kind, row.operation_s) == ("failed", "infrastructure", 12.345678)
    assert f"s3://bench/{short.stored['key']} is not there" in row.error


def test_an_object_that_was_changed_is_not_taken(bucket):
    short = message(fitting(LONG, SPEC))
    ((place, content),) = bucket.objects.items()
    bucket.objects[place] = content.replace(b'"operation_s":12', b'"operation_s":1')
    row = found(bucket, short)
    assert (row.status, row.operation_s) == ("failed", 12.345678)
    assert "is not what the pod wrote: its SHA-256 differs" in row.error


@pytest.mark.parametrize(
    "key", ["tables/other/0.parquet", "results/storebench_delta_spark_0/read-1.json", ""]
)
def test_a_pod_cannot_have_anything_else_read_and_removed(bucket, key):
    content = LONG.to_json().encode()
    bucket.objects["bench", key] = content
    sha256 = overflow.hashlib.sha256(content).hexdigest()
    row = found(bucket, AttemptResult(status="verified", stored={"key": key, "sha256": sha256}))
    assert row.status == "failed" and "is not a key of this attempt" in row.error
    assert bucket.objects


def test_a_failure_keeps_its_own_reason_where_the_whole_is_lost(bucket):
    short = message(fitting(AttemptResult(error_kind="store_failed", error="full " * 10_000), SPEC))
    bucket.objects.clear()
    row = found(bucket, short)
    assert row.error_kind == "store_failed" and row.error.startswith("full full")
    assert row.error.endswith(" is not there]")


def test_s3_that_is_away_for_a_moment_is_asked_again(bucket):
    short = message(fitting(LONG, SPEC))
    bucket.away = 1
    assert whole(short, SPEC, lambda: bucket, patience_s=30).status == "verified"
    with pytest.raises(StoreUnreachable):
        bucket.away = 1
        fitting(LONG, SPEC)


@pytest.fixture
def pod(monkeypatch, tmp_path):
    """Run the main program of a pod whose attempt has this result; returns its exit code and its message."""

    def main(result):
        def make(spec, phases):
            return SimpleNamespace(result=replace(result), run=lambda: None)

        monkeypatch.setattr(run, "Attempt", make)
        monkeypatch.setattr(run, "raise_on_sigterm", lambda: None)
        monkeypatch.setattr(run.stores, "load", lambda name: SimpleNamespace(modules=()))
        monkeypatch.setenv(VARIABLE, SPEC.to_json())
        monkeypatch.setenv(MESSAGE, str(tmp_path / "message"))
        code = run.main()
        return code, AttemptResult.from_json((tmp_path / "message").read_text())

    return main


def test_a_pod_points_to_what_did_not_fit(bucket, pod):
    code, short = pod(LONG)
    assert code == 0
    assert found(bucket, short).executors == LONG.executors


def test_a_pod_that_cannot_store_its_result_says_so(bucket, pod):
    bucket.away = 1
    code, short = pod(LONG)
    assert code == StoreUnreachable.exit_code
    assert (short.status, short.error_kind, short.operation_s) == ("failed", "unreachable", 12.345678)
    assert (
        "did not fit into a termination message, and the rest of it is lost: S3 does not answer"
        in short.error
    )
    assert bucket.objects == {} and found(bucket, short) == short
    assert json.loads(short.to_json())["stored"] is None
