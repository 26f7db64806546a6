"""Make a dataset by several processes of this machine, as its pods in a cluster do."""

import os
import shutil
import time
from pathlib import Path
from urllib.parse import quote

from botocore.exceptions import ClientError

from storebench.attempt import dataset
from storebench.attempt.dataset import DatasetSpec
from storebench.attempt.parts.environment import INDEX, KEY, LEADER, PARTS, PORT, WAIT_S
from storebench.cli import main
from storebench.dataset import upload
from storebench.dataset.csv50 import CSV50
from storebench.study.dataset import folder_of
from tests.forks import MOST_S, ForkedPod, redirect
from tests.ports import free_port

FOLDER, PART_ROWS, STALLED, REFUSED, DAMAGED = (
    f"PLANTED_{name}" for name in ("FOLDER", "PART_ROWS", "STALLED", "REFUSED", "DAMAGED")
)
STALL = "stalled"  # what a part prints before it stalls


class FolderS3:
    """The part of an S3 client that makes datasets, for several processes: objects and uploads are files of a folder."""

    class meta:  # noqa: N801 - as boto3 has it
        endpoint_url = "http://s3.test"

    def __init__(self, folder):
        self.folder = Path(folder)

    def create_multipart_upload(self, **_):
        path = self.folder / "uploads" / str(time.monotonic_ns())
        path.mkdir(parents=True)
        return {"UploadId": path.name}

    def upload_part(self, *, UploadId, PartNumber, Body, **_):  # noqa: N803
        if own_part() == os.environ.get(REFUSED):
            raise ClientError({"Error": {"Code": "SlowDown", "Message": "later"}}, "UploadPart")
        part = self.folder / "uploads" / UploadId / f"{PartNumber:05}"
        if not part.parent.exists():
            raise ClientError({"Error": {"Code": "NoSuchUpload"}}, "UploadPart")
        part.write_bytes(Body)
        return {"ETag": f"e{PartNumber}"}

    def complete_multipart_upload(self, *, Key, UploadId, MultipartUpload, **_):  # noqa: N803
        place = self.folder / "uploads" / UploadId
        names = [f"{part['PartNumber']:05}" for part in MultipartUpload["Parts"]]
        assert names == sorted(path.name for path in place.iterdir()), "each sent part, once and in order"
        data = bytearray(b"".join((place / name).read_bytes() for name in names))
        if DAMAGED in os.environ:
            data[-2] ^= 1
        self._path(Key).write_bytes(data)
        shutil.rmtree(place)

    def abort_multipart_upload(self, *, UploadId, **_):  # noqa: N803
        shutil.rmtree(self.folder / "uploads" / UploadId)

    def put_object(self, *, Key, Body, **_):  # noqa: N803
        self._path(Key).write_bytes(Body)

    def delete_object(self, *, Key, **_):  # noqa: N803
        self._path(Key).unlink(missing_ok=True)

    def head_object(self, *, Key, **_):  # noqa: N803
        return {"ContentLength": len(self._read(Key))}

    def get_object(self, *, Key, Range="bytes=0-", **_):  # noqa: N803
        first, _, last = Range.removeprefix("bytes=").partition("-")
        data = self._read(Key)[int(first) : int(last) + 1 if last else None]
        return {"Body": type("Body", (), {"read": lambda _: data})()}

    def objects(self):
        """Return the bytes of all objects by key."""
        return {key: self._read(key) for key in self.keys()}

    def keys(self):
        return sorted(path.name.replace("%2F", "/") for path in self.folder.iterdir() if path.is_file())

    def uploads(self):
        """Return the ids of the uploads that are not complete."""
        place = self.folder / "uploads"
        return [path.name for path in place.iterdir()] if place.exists() else []

    def _path(self, key):
        return self.folder / quote(key, safe="=")

    def _read(self, key):
        if not self._path(key).exists():
            raise ClientError({"Error": {"Code": "NoSuchKey"}}, "GetObject")
        return self._path(key).read_bytes()


def start(folder, count, rows, seed, bucket="b", missing=(), wait_s=20, **more):
    """Start the pods that make a dataset together, without the `missing` numbers. Return the pods by number."""
    spec = DatasetSpec(bucket, folder_of(CSV50.id(rows, seed)), rows, seed)
    common = {dataset.VARIABLE: spec.to_json(), **{name: str(value) for name, value in more.items()}}
    if count > 1:
        common |= {PARTS: str(count), KEY: "secret", WAIT_S: str(wait_s), PORT: str(free_port())}
    running = {0: ForkedPod(folder, 0, common, pod)}
    for number in set(range(1, count)) - set(missing):
        follower = {LEADER: "127.0.0.1", INDEX: str(number - 1)}
        running[number] = ForkedPod(folder, number, {**common, **follower}, pod)
    return running


def pod(environment, output):
    """Run the main program of a dataset's pod with this environment, and end this process."""
    os.environ.update(environment)
    redirect(output)
    if FOLDER in environment:
        os.environ["STOREBENCH_CONN_S3"] = "{}"
        dataset.client_for = lambda connection: FolderS3(environment[FOLDER])
    upload.PART_ROWS = int(environment.get(PART_ROWS, upload.PART_ROWS))
    generate, made = upload.generate_chunk, []

    def stalling(seed, begin, end):
        made.append(begin)
        if len(made) > 1 and own_part() == environment.get(STALLED):
            print(STALL, flush=True)
            time.sleep(MOST_S)
        return generate(seed, begin, end)

    upload.generate_chunk = stalling
    try:
        main(["dataset", CSV50.pod.arguments[1]])
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 1
    os._exit(code)


def own_part():
    """Return the number of this process' part as a text."""
    return str(int(os.environ.get(INDEX, "-1")) + 1)
