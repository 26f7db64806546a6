import hashlib
import threading
from collections import Counter

import pytest
from botocore.exceptions import ClientError, EndpointConnectionError

from storebench.dataset import upload as module
from storebench.dataset.generate import generate_chunk, header
from storebench.dataset.manifest import Manifest, dataset_key, manifest_key
from storebench.dataset.multipart import upload
from storebench.dataset.upload import ensure_dataset
from storebench.errors import SpecError, StoreRefused, StoreUnreachable


class FakeS3:
    """The part of an S3 client that the uploader uses, in memory; `fail` raises for the call of that name."""

    class meta:  # noqa: N801 - as boto3 has it
        endpoint_url = "http://s3.test"

    def __init__(self):
        self.objects, self.uploads, self.calls, self.fail = {}, {}, Counter(), {}
        self.lock = threading.Lock()

    def _call(self, name):
        with self.lock:
            self.calls[name] += 1
        if error := self.fail.get((name, self.calls[name])) or self.fail.get(name):
            raise error

    def create_multipart_upload(self, **_):
        self._call("create_multipart_upload")
        self.uploads["u"] = {}
        return {"UploadId": "u"}

    def upload_part(self, *, PartNumber, Body, **_):  # noqa: N803
        self._call("upload_part")
        self.uploads["u"][PartNumber] = bytes(Body)
        return {"ETag": f"e{PartNumber}"}

    def complete_multipart_upload(self, *, Key, MultipartUpload, **_):  # noqa: N803
        self._call("complete_multipart_upload")
        numbers = [part["PartNumber"] for part in MultipartUpload["Parts"]]
        assert numbers == list(range(1, len(numbers) + 1))
        parts = self.uploads.pop("u")
        self.objects[Key] = b"".join(parts[number] for number in numbers)

    def abort_multipart_upload(self, **_):
        self._call("abort_multipart_upload")
        self.uploads.pop("u")

    def put_object(self, *, Key, Body, **_):  # noqa: N803
        self._call("put_object")
        self.objects[Key] = Body

    def delete_object(self, *, Key, **_):  # noqa: N803
        self.objects.pop(Key, None)

    def head_object(self, *, Key, **_):  # noqa: N803
        return {"ContentLength": len(self._get(Key))}

    def get_object(self, *, Key, **_):  # noqa: N803
        self._call("get_object")
        data = self._get(Key)
        return {"Body": type("Body", (), {"read": lambda _: data})()}

    def _get(self, key):
        if key not in self.objects:
            raise ClientError({"Error": {"Code": "NoSuchKey"}}, "GetObject")
        return self.objects[key]


ROWS, SEED = 1000, 42
DATA, MANIFEST = dataset_key(ROWS, SEED), manifest_key(ROWS, SEED)


@pytest.fixture
def s3(monkeypatch):
    monkeypatch.setattr(module, "PART_ROWS", 90)
    return FakeS3()


@pytest.mark.parametrize("workers", [1, 2, 7])
def test_the_object_is_the_csv_and_the_manifest_describes_it(s3, chunk, workers):
    manifest, created = ensure_dataset(s3, "b", ROWS, SEED, workers=workers)
    assert created
    assert s3.calls["upload_part"] == 12
    assert s3.objects[DATA] == header() + chunk.csv
    assert manifest.sha256 == hashlib.sha256(s3.objects[DATA]).hexdigest()
    assert manifest.bytes == len(s3.objects[DATA])
    assert chunk.checksums.diff(manifest) == []
    assert Manifest.from_json(s3.objects[MANIFEST].decode()) == manifest


def test_a_complete_dataset_is_not_made_again(s3):
    first, _ = ensure_dataset(s3, "b", ROWS, SEED)
    s3.fail["create_multipart_upload"] = AssertionError("not again")
    assert ensure_dataset(s3, "b", ROWS, SEED) == (first, False)


@pytest.mark.parametrize(
    "damage",
    [
        lambda s3: s3.objects.pop(MANIFEST),
        lambda s3: s3.objects.pop(DATA),
        lambda s3: s3.objects.update({MANIFEST: b"{"}),
        lambda s3: s3.objects.update({MANIFEST: b"\xff"}),
        lambda s3: s3.objects.update({DATA: s3.objects[DATA][:-1]}),
    ],
    ids=["no manifest", "no data", "half a manifest", "no text", "short data"],
)
def test_an_incomplete_dataset_is_made_again(s3, damage):
    first, _ = ensure_dataset(s3, "b", ROWS, SEED)
    damage(s3)
    assert ensure_dataset(s3, "b", ROWS, SEED) == (first, True)
    assert len(s3.objects) == 2


@pytest.mark.parametrize(
    "call", [("upload_part", 1), ("upload_part", 5), ("upload_part", 12), "complete_multipart_upload"]
)
@pytest.mark.parametrize(
    ("error", "raised"),
    [
        (ClientError({"Error": {"Code": "SlowDown", "Message": "later"}}, "UploadPart"), StoreRefused),
        (EndpointConnectionError(endpoint_url="http://s3.test"), StoreUnreachable),
        (KeyboardInterrupt(), KeyboardInterrupt),
        (MemoryError(), MemoryError),
    ],
    ids=["refused", "unreachable", "interrupt", "memory"],
)
def test_a_failure_leaves_nothing_behind(s3, call, error, raised):
    s3.fail[call] = error
    with pytest.raises(raised):
        ensure_dataset(s3, "b", ROWS, SEED)
    assert not s3.uploads and not s3.objects
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("upload")]


def test_an_interrupt_of_the_waiting_thread_leaves_nothing_behind(s3, monkeypatch):
    def interrupted(future, timeout=None):
        raise KeyboardInterrupt

    monkeypatch.setattr("concurrent.futures.Future.result", interrupted)
    with pytest.raises(KeyboardInterrupt):
        ensure_dataset(s3, "b", 100_000, SEED)
    assert not s3.uploads and not s3.objects
    assert s3.calls["upload_part"] < 100


def test_an_old_manifest_does_not_outlive_a_failure(s3):
    ensure_dataset(s3, "b", ROWS, SEED)
    s3.objects[DATA] = b"short"
    s3.fail["upload_part"] = EndpointConnectionError(endpoint_url="http://s3.test")
    with pytest.raises(StoreUnreachable):
        ensure_dataset(s3, "b", ROWS, SEED)
    assert MANIFEST not in s3.objects


def test_the_first_error_is_raised_also_where_aborting_fails(s3):
    s3.fail["upload_part"] = EndpointConnectionError(endpoint_url="http://s3.test")
    s3.fail["abort_multipart_upload"] = RuntimeError("no")
    with pytest.raises(StoreUnreachable, match=r"s3\.test"):
        ensure_dataset(s3, "b", ROWS, SEED)


def test_parts_are_only_made_when_they_can_be_sent(s3):
    """At most one for each thread and one in the making are alive at any time."""

    gone = []  # one entry for each part that is no longer alive

    class Part(bytes):
        def __del__(self):
            gone.append(None)

    most = 0

    def parts():
        nonlocal most
        for made in range(60):
            most = max(most, made - len(gone))
            yield Part(b"x")

    upload(s3, "b", "k", parts(), workers=3)
    assert s3.objects["k"] == b"x" * 60
    assert most <= 4


def test_parts_grow_before_there_are_too_many(s3, monkeypatch):
    monkeypatch.setattr(module, "MAX_PARTS", 5)
    ensure_dataset(s3, "b", ROWS, SEED)
    assert s3.calls["upload_part"] == 5


def test_progress_comes_about_ten_times_and_ends_with_all(s3):
    lines = []
    ensure_dataset(s3, "b", ROWS, SEED, workers=1, progress=lines.append)
    assert 5 <= len(lines) <= 11
    assert lines[-1].startswith("1,000 of 1,000 rows")


@pytest.mark.parametrize(("rows", "seed"), [(0, 1), (1, -1)])
def test_bad_input_is_refused_before_any_request(s3, rows, seed):
    with pytest.raises(SpecError):
        ensure_dataset(s3, "b", rows, seed)
    assert not s3.calls


def test_one_row():
    s3 = FakeS3()
    manifest, _ = ensure_dataset(s3, "b", 1, 0)
    assert s3.objects[manifest.key] == header() + generate_chunk(0, 0, 1).csv
