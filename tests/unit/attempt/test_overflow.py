import json
from dataclasses import replace
from types import SimpleNamespace

import pytest
from botocore.exceptions import ClientError, EndpointConnectionError

from storebench import protocol, s3
from storebench.airflow.outcome.retrieve import discard, full_result
from storebench.attempt import overflow, run
from storebench.attempt.overflow import fitting
from storebench.attempt.result import AttemptResult
from storebench.attempt.spec import VARIABLE, AttemptSpec
from storebench.attempt.termination import VARIABLE as MESSAGE
from storebench.errors import BadResult, StoreUnreachable

SPEC = AttemptSpec(
    operation="write",
    cell_key="bulk_write_read/delta-spark/reference/batch=100/executors=24/rows=1000/seed=42",
    study="bulk_write_read",
    store="delta-spark",
    client="reference",
    target="storebench_delta_spark_0",
    bucket="bench",
    dataset="datasets/v1/rows=1000/seed=42/",
    results="results/storebench_delta_spark_0/write-",
    axes={"batch": "100", "executors": "24"},
    rows=1000,
    seed=42,
    method_version=2,
)
EXECUTOR = {
    "memory_peak_bytes": 1_456_324_608,
    "memory_working_set_peak_bytes": 1_352_482_816,
    "cpu_s": 123.456789,
    "oom_kills": 0,
}
LONG = AttemptResult(
    status="verified",
    verification="all of it",
    metrics={"only_s": 12.345678, "rows_per_s": 81.0, "source_s": 0.5},
    total_s=30.5,
    memory_peak_bytes=2**31,
    usage=[{"role": "executor", "name": str(n), **EXECUTOR} for n in range(1, 25)],
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

    def head_object(self, *, Bucket, Key):  # noqa: N803
        self._answer()
        if (Bucket, Key) not in self.objects:
            raise ClientError({"Error": {"Code": "404"}}, "HeadObject")
        return {"ContentLength": len(self.objects[Bucket, Key])}

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
    """Return the result as read from a termination message."""
    text = result.to_json()
    assert len(text.encode()) <= protocol.MESSAGE_BYTES
    return AttemptResult.from_json(text)


def found(bucket, result, spec=SPEC):
    return full_result(result, spec, lambda: bucket)


def test_a_result_of_24_executors_arrives_whole(bucket):
    short = message(fitting(LONG, SPEC))
    assert (short.status, short.metrics, short.usage) == ("verified", LONG.metrics, [])
    ((name, key),) = bucket.objects
    assert name == "bench" and key.startswith("results/storebench_delta_spark_0/write-")
    arrived = found(bucket, short)
    assert replace(arrived, stored=None) == LONG
    assert len(bucket.objects) == 1, "it can be read again until its row is recorded"
    discard(arrived, SPEC, lambda: bucket)
    assert bucket.objects == {}, "it is not left in S3"


def test_the_same_attempt_twice_has_two_objects(bucket):
    fitting(LONG, SPEC), fitting(LONG, SPEC)
    assert len(bucket.objects) == 2


def test_a_result_that_fits_needs_no_s3():
    short = AttemptResult(status="verified", environment={"server_name": "S"})
    assert fitting(short, None) is short
    assert full_result(short, SPEC, None) is short


@pytest.mark.parametrize("character", ["é", "\x01", '"'])
def test_a_long_error_is_not_cut(bucket, character):
    failed = AttemptResult(error_kind="store_failed", error=character * 100_000)
    short = message(fitting(failed, SPEC))
    assert len(short.error) > 100 and failed.error.startswith(short.error)
    assert found(bucket, short).error == failed.error


def test_the_reasons_of_64_parts_are_not_cut(bucket):
    reasons = "; ".join(
        f"part {n} (pod part-abcdef012345-{n}-xyz12): others kept 1.1 cores busy" for n in range(1, 64)
    )
    disturbed = replace(LONG, disturbed=reasons, perhaps_disturbed=reasons)
    short = message(fitting(disturbed, SPEC))
    assert reasons.startswith(short.disturbed) and len(short.disturbed) > 100
    assert replace(found(bucket, short), stored=None) == disturbed


def test_an_object_that_is_not_there_is_a_clear_row_with_the_figures_that_fit(bucket):
    short = message(fitting(LONG, SPEC))
    bucket.objects.clear()
    row = found(bucket, short)
    assert (row.status, row.error_kind, row.metrics) == ("failed", "infrastructure", LONG.metrics)
    assert f"s3://bench/{short.stored['key']} is not there" in row.error


def test_an_object_that_was_changed_is_not_taken(bucket):
    short = message(fitting(LONG, SPEC))
    ((place, content),) = bucket.objects.items()
    bucket.objects[place] = content.replace(b'"only_s":12', b'"only_s":1')
    row = found(bucket, short)
    assert (row.status, row.metrics) == ("failed", LONG.metrics)
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


def test_a_result_is_not_read_that_is_too_large(bucket, monkeypatch):
    short = message(fitting(LONG, SPEC))
    monkeypatch.setattr(protocol, "RESULT_BYTES", 5_000)
    monkeypatch.setattr(bucket, "get_object", lambda **_: pytest.fail("it was read"))
    row = found(bucket, short)
    assert (row.status, row.error_kind) == ("failed", "bad_result")
    assert "bytes, and may have 5,000" in row.error


def test_a_pod_does_not_store_what_is_too_large(bucket):
    points = {"values": [n / 7 for n in range(300_000)], "counts": [1] * 300_000}
    with pytest.raises(BadResult, match="and may have 4,194,304: fewer points"):
        fitting(replace(LONG, histograms={"latency_s": points}), SPEC)
    assert bucket.objects == {}


def test_a_whole_that_breaks_the_schema_is_a_row_that_names_the_field(bucket):
    broken = replace(LONG, metrics={**LONG.metrics, "only_s": float("nan")})
    row = found(bucket, fitting(broken, SPEC))
    assert (row.status, row.error_kind) == ("failed", "bad_result")
    assert "metrics.only_s is not a finite number" in row.error


@pytest.mark.parametrize("content", [b"\xff\xfe", b"[" * 5000, b"done"])
def test_a_whole_that_is_no_json_is_a_bad_result(bucket, content):
    key = f"{SPEC.results}1.json"
    bucket.objects["bench", key] = content
    stored = {"key": key, "sha256": overflow.hashlib.sha256(content).hexdigest()}
    row = found(bucket, AttemptResult(status="verified", metrics={"only_s": 1.0}, stored=stored))
    assert (row.error_kind, row.metrics) == ("bad_result", {"only_s": 1.0})
    assert "it is no JSON: " in row.error


def test_a_failure_keeps_its_own_reason_where_the_whole_is_lost(bucket):
    short = message(fitting(AttemptResult(error_kind="store_failed", error="full " * 10_000), SPEC))
    bucket.objects.clear()
    row = found(bucket, short)
    assert row.error_kind == "store_failed" and row.error.startswith("full full")
    assert row.error.endswith(" is not there]")


def test_s3_that_is_away_for_a_moment_is_asked_again(bucket):
    short = message(fitting(LONG, SPEC))
    bucket.away = 1
    assert full_result(short, SPEC, lambda: bucket, patience_s=30).status == "verified"
    with pytest.raises(StoreUnreachable):
        bucket.away = 1
        fitting(LONG, SPEC)


@pytest.fixture
def pod(monkeypatch, tmp_path):
    """Run the main program of a pod whose attempt has this result; returns its exit code and its message."""

    def main(result):
        def make(spec, store_class, phases, stuck):
            return SimpleNamespace(result=replace(result), run=lambda: None)

        monkeypatch.setattr(run, "Attempt", make)
        monkeypatch.setattr(run, "raise_on_sigterm", lambda: None)
        monkeypatch.setenv(VARIABLE, replace(SPEC, store="null").to_json())
        monkeypatch.setenv(MESSAGE, str(tmp_path / "message"))
        code = run.main()
        return code, AttemptResult.from_json((tmp_path / "message").read_text())

    return main


def test_a_pod_points_to_what_did_not_fit(bucket, pod):
    code, short = pod(LONG)
    assert code == 0
    assert found(bucket, short).usage == LONG.usage


def test_a_pod_that_cannot_store_its_result_says_so(bucket, pod):
    bucket.away = 1
    code, short = pod(LONG)
    assert code == StoreUnreachable.exit_code
    assert (short.status, short.error_kind, short.metrics) == ("failed", "unreachable", LONG.metrics)
    assert (
        "did not fit into a termination message, and the rest of it is lost: S3 does not answer"
        in short.error
    )
    assert bucket.objects == {} and found(bucket, short) == short
    assert json.loads(short.to_json())["stored"] is None
