"""The dataset against a real S3 server: `make integration` starts one and sets its connection."""

import hashlib
import json
import os
import uuid
from dataclasses import replace

import pytest

from storebench.connection import Connection, variable
from storebench.dataset import upload as module
from storebench.dataset.generate import MAX_SEED
from storebench.dataset.manifest import Manifest, dataset_key, manifest_key
from storebench.dataset.upload import ensure_dataset
from storebench.errors import PartFailed, StoreRefused, StoreUnreachable
from storebench.s3 import check_bucket, client_for
from tests import dataset_pods
from tests.dataset_pods import PART_ROWS, STALL, STALLED

ROWS = 60_000  # of three parts and a bit, each over S3's least size


@pytest.fixture(scope="module")
def connection():
    text = os.environ.get("AIRFLOW_CONN_STOREBENCH_S3")
    if not text:
        pytest.fail("AIRFLOW_CONN_STOREBENCH_S3 is not set: run these tests with `make integration`")
    return Connection.from_json("s3", text)


@pytest.fixture(scope="module")
def s3(connection):
    return client_for(connection)


@pytest.fixture(scope="module")
def bucket(connection):
    return connection.extra.get("bucket", "storebench")


@pytest.fixture
def seed(s3, bucket):
    """Yield a seed of this test's own, whose objects are removed after it."""
    own = MAX_SEED - uuid.uuid4().int % 2**40
    yield own
    for key in keys(s3, bucket, own):
        s3.delete_object(Bucket=bucket, Key=key)


def keys(s3, bucket, seed):
    listed = s3.list_objects_v2(Bucket=bucket, Prefix="datasets/").get("Contents", [])
    return sorted(entry["Key"] for entry in listed if f"/seed={seed}/" in entry["Key"])


def unfinished(s3, bucket, seed):
    listed = s3.list_multipart_uploads(Bucket=bucket).get("Uploads", [])
    return [entry["Key"] for entry in listed if f"/seed={seed}/" in entry["Key"]]


def test_several_parts_become_the_object_that_the_manifest_describes(s3, bucket, seed):
    manifest, created = ensure_dataset(s3, bucket, ROWS, seed)
    assert created
    data = s3.get_object(Bucket=bucket, Key=manifest.key)["Body"].read()
    assert (len(data), hashlib.sha256(data).hexdigest()) == (manifest.bytes, manifest.sha256)
    assert data.count(b"\n1") >= ROWS
    assert Manifest.load(s3, bucket, manifest_key(ROWS, seed)) == manifest
    assert keys(s3, bucket, seed) == [dataset_key(ROWS, seed), manifest_key(ROWS, seed)]
    assert unfinished(s3, bucket, seed) == []


@pytest.fixture
def pods(connection, bucket, seed, tmp_path):
    """Return a function that starts the pods which make the dataset together, as processes."""
    started = []

    def start(count, **more):
        given = {variable("s3"): connection.to_json(), **more}
        running = dataset_pods.start(tmp_path, count, ROWS, seed, bucket, **given)
        started.extend(running.values())
        return running

    yield start
    for pod in started:
        pod.end()


@pytest.mark.parametrize("count", [2, 3, 5])
def test_several_pods_write_what_one_pod_writes(s3, bucket, seed, pods, count):
    ended = [pod.ended() for pod in pods(count).values()]
    assert [code for code, _ in ended] == [0] * count
    together = Manifest.load(s3, bucket, manifest_key(ROWS, seed))
    assert json.loads(ended[0][1]) == json.loads(together.to_json())
    assert unfinished(s3, bucket, seed) == []
    assert ensure_dataset(s3, bucket, ROWS, seed) == (together, False)
    data = s3.get_object(Bucket=bucket, Key=together.key)["Body"].read()
    s3.delete_object(Bucket=bucket, Key=manifest_key(ROWS, seed))
    assert ensure_dataset(s3, bucket, ROWS, seed) == (together, True)
    assert s3.get_object(Bucket=bucket, Key=together.key)["Body"].read() == data


@pytest.mark.parametrize("killed", [0, 1])
def test_a_killed_pod_leaves_no_object_and_no_upload(s3, bucket, seed, pods, killed):
    running = pods(2, **{PART_ROWS: 12_000, STALLED: killed})
    running[killed].prints(STALL)
    assert unfinished(s3, bucket, seed), "the test would show nothing: no upload is under way"
    running[killed].kill()
    code, message = running[1 - killed].ended()
    assert (code, message) == (PartFailed.exit_code, "")
    assert keys(s3, bucket, seed) == []
    assert unfinished(s3, bucket, seed) == []


def test_a_dataset_that_is_there_is_found_and_not_written(s3, bucket, seed):
    first, _ = ensure_dataset(s3, bucket, ROWS, seed)
    before = s3.head_object(Bucket=bucket, Key=first.key)["LastModified"]
    assert ensure_dataset(s3, bucket, ROWS, seed) == (first, False)
    assert s3.head_object(Bucket=bucket, Key=first.key)["LastModified"] == before


def test_an_object_of_another_size_is_written_anew(s3, bucket, seed):
    first, _ = ensure_dataset(s3, bucket, 1000, seed)
    s3.put_object(Bucket=bucket, Key=first.key, Body=b"short")
    assert ensure_dataset(s3, bucket, 1000, seed) == (first, True)


@pytest.mark.parametrize("error", [RuntimeError("broken"), KeyboardInterrupt()])
def test_a_failure_leaves_no_object_and_no_upload(s3, bucket, seed, monkeypatch, error):
    generate = module.generate_chunk

    def failing(seed, start, stop):
        if start >= 2 * module.PART_ROWS:
            assert unfinished(s3, bucket, seed), "the test would show nothing: no upload is under way"
            raise error
        return generate(seed, start, stop)

    monkeypatch.setattr(module, "generate_chunk", failing)
    with pytest.raises(type(error)):
        ensure_dataset(s3, bucket, ROWS, seed)
    assert keys(s3, bucket, seed) == []
    assert unfinished(s3, bucket, seed) == []


def test_one_more_try_after_a_failure_works(s3, bucket, seed, monkeypatch):
    monkeypatch.setattr(module, "generate_chunk", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        ensure_dataset(s3, bucket, 1000, seed)
    monkeypatch.undo()
    assert ensure_dataset(s3, bucket, 1000, seed)[1]


def test_a_wrong_secret_is_refused_and_not_repeated(connection, bucket):
    client = client_for(replace(connection, password="hunter2-hunter2"))
    with pytest.raises(StoreRefused, match="check the connection's password") as raised:
        ensure_dataset(client, bucket, 1000, 1)
    assert "hunter2" not in str(raised.value)


def test_an_unknown_login_is_refused(connection, bucket):
    client = client_for(replace(connection, login="nobody"))
    with pytest.raises(StoreRefused, match="check the connection's login"):
        ensure_dataset(client, bucket, 1000, 1)


def test_a_missing_bucket_is_named(s3):
    with pytest.raises(StoreRefused, match=r"no-such-bucket.*create the bucket"):
        ensure_dataset(s3, "no-such-bucket", 1000, 1)


def test_a_server_that_does_not_answer_is_told_from_one_that_refuses(connection, bucket):
    extra = {**connection.extra, "endpoint_url": "http://127.0.0.1:9"}
    with pytest.raises(StoreUnreachable, match=r"127\.0\.0\.1:9"):
        ensure_dataset(client_for(replace(connection, extra=extra)), bucket, 1000, 1)


def test_the_check_before_a_run(connection, s3, bucket):
    check_bucket(s3, bucket)
    with pytest.raises(StoreRefused):
        check_bucket(s3, "no-such-bucket")
    with pytest.raises(StoreRefused):
        check_bucket(client_for(replace(connection, password="wrong")), bucket)


def test_a_manifest_that_is_damaged_is_named(s3, bucket, seed):
    place = manifest_key(1000, seed)
    s3.put_object(Bucket=bucket, Key=place, Body=json.dumps({"schema_version": 99}).encode())
    with pytest.raises(StoreRefused, match="schema version 99"):
        Manifest.load(s3, bucket, place)
    with pytest.raises(StoreRefused, match="NoSuchKey"):
        Manifest.load(s3, bucket, manifest_key(1001, seed))
