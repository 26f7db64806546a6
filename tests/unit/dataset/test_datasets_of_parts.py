"""A dataset that several processes make together, and the failures of these processes."""

import hashlib
import json
from zlib import crc32

import pytest

from storebench.dataset.generate import header
from storebench.dataset.manifest import Manifest, dataset_key, manifest_key
from storebench.dataset.together import SentRange, read_back
from storebench.dataset.upload import ensure_dataset
from storebench.errors import PartFailed, StoreRefused
from tests import dataset_pods
from tests.dataset_pods import DAMAGED, FOLDER, PART_ROWS, REFUSED, STALL, STALLED, FolderS3

ROWS, SEED = 1000, 42
FAILED = PartFailed.exit_code
ENDLESS_S = 3600  # a leader that waits for its followers hangs
DATA, MANIFEST = dataset_key(ROWS, SEED), manifest_key(ROWS, SEED)


@pytest.fixture
def s3(tmp_path):
    (tmp_path / "s3").mkdir()
    return FolderS3(tmp_path / "s3")


@pytest.fixture
def pods(tmp_path, s3):
    """Return a function that starts the pods of the dataset."""
    started = []

    def start(count, rows=ROWS, part_rows=90, **more):
        given = {FOLDER: s3.folder, PART_ROWS: part_rows, **more}
        running = dataset_pods.start(tmp_path, count, rows, SEED, **given)
        started.extend(running.values())
        return running

    yield start
    for pod in started:
        pod.end()


def all_of(pod):
    """Wait for the end of a pod. Return its exit code, its termination message, and all output."""
    return (*pod.ended(), pod.output.read_text())


@pytest.mark.parametrize(("count", "part_rows"), [(1, 90), (2, 90), (3, 90), (3, 600)])
def test_several_pods_make_the_same_bytes_and_the_same_manifest_as_one(s3, pods, chunk, count, part_rows):
    running = pods(count, part_rows=part_rows)
    code, message, output = all_of(running[0])
    assert code == 0, output
    assert s3.objects()[DATA] == header() + chunk.csv
    manifest = Manifest.from_json(s3.objects()[MANIFEST].decode())
    assert manifest.sha256 == hashlib.sha256(header() + chunk.csv).hexdigest()
    assert chunk.checksums.diff(manifest) == [] and json.loads(message)["sha256"] == manifest.sha256
    assert s3.uploads() == [] and s3.keys() == [DATA, MANIFEST]
    for number in range(1, count):
        code, message, output = all_of(running[number])
        assert (code, message) == (0, ""), output
        assert f"Part {number} has ended" in output
    alone, created = ensure_dataset(s3, "b", ROWS, SEED)
    assert (alone, created) == (manifest, False), "one pod finds the dataset, and would write this manifest"
    s3.delete_object(Key=MANIFEST)
    assert ensure_dataset(s3, "b", ROWS, SEED) == (manifest, True)


def test_each_pod_generates_only_its_share(pods):
    running = pods(3)
    outputs = [all_of(running[number])[2] for number in range(3)]
    assert ["360 of 360 rows" in output for output in outputs] == [True, True, False]
    assert "280 of 280 rows" in outputs[2]


def test_a_complete_dataset_needs_no_other_pods(s3, pods):
    ensure_dataset(s3, "b", ROWS, SEED)
    before = s3.objects()
    code, message, output = all_of(pods(3, missing=[1, 2], wait_s=ENDLESS_S)[0])
    assert code == 0 and "found: it was there already" in output
    assert json.loads(message)["rows"] == ROWS and s3.objects() == before


def test_a_killed_part_leaves_no_dataset_and_is_named(s3, pods):
    running = pods(3, **{STALLED: 2})
    running[2].prints(STALL)
    assert s3.uploads(), "the test would show nothing: no upload is under way"
    running[2].kill()
    code, message, output = all_of(running[0])
    assert (code, message) == (FAILED, "")
    assert "part 2 of 3 (pod pod-2, node node-2) ended without a reason" in output
    code, _, output = all_of(running[1])
    assert code == FAILED and "part 2 of 3 (pod pod-2, node node-2)" in output
    assert s3.uploads() == [] and s3.keys() == []


def test_a_killed_leader_leaves_no_upload(s3, pods):
    running = pods(2, **{STALLED: 0})
    running[0].prints(STALL)
    assert s3.uploads()
    running[0].kill()
    code, _, output = all_of(running[1])
    assert code == FAILED and "the leader of part 1 of 2 (127.0.0.1) ended without a reason" in output
    assert s3.uploads() == [] and s3.keys() == []


def test_a_part_that_s3_refuses_is_named_with_the_reason(s3, pods):
    running = pods(2, **{REFUSED: 1})
    code, _, output = all_of(running[0])
    assert code == FAILED, output
    assert "part 1 of 2 (pod pod-1, node node-1) failed (store_failed): S3 refused s3://b/" in output
    assert "SlowDown" in all_of(running[1])[2]
    assert s3.uploads() == [] and s3.keys() == []


def test_a_part_that_does_not_come_leaves_no_upload(s3, pods):
    code, _, output = all_of(pods(2, missing=[1], wait_s=1)[0])
    assert code == FAILED and "Part 1 of 2 did not come within 1 s" in output
    assert s3.uploads() == [] and s3.keys() == []


def test_bytes_that_s3_does_not_keep_are_found_when_the_whole_is_read_back(s3, pods):
    code, _, output = all_of(pods(2, **{DAMAGED: 1})[0])
    assert code == 5 and "than part 1 of 2 has sent" in output
    assert s3.uploads() == [] and s3.keys() == []


def test_ranges_are_read_back_in_order_and_across_requests(s3, monkeypatch):
    monkeypatch.setattr("storebench.dataset.together.RANGE_BYTES", 7)
    data = bytes(range(100))
    s3.put_object(Key="k", Body=data)
    ranges = [SentRange(33, crc32(data[:33])), SentRange(0, 0), SentRange(67, crc32(data[33:]))]
    assert read_back(s3, "b", "k", ranges) == hashlib.sha256(data).hexdigest()
    with pytest.raises(StoreRefused, match="other bytes from 33 to 100 than part 1 of 2 has sent"):
        read_back(s3, "b", "k", [ranges[0], SentRange(67, 1)])
