"""The manifest of a custom file says where its rows begin, so that several pods can share them."""

import csv
import io
import json
from dataclasses import replace

import pytest

from storebench import protocol
from storebench.dataset import custom_file, offsets
from storebench.dataset.checksum import TableChecksum
from storebench.dataset.manifest import Manifest
from storebench.dataset.offsets import RowOffsets, header_bytes
from tests import example_file
from tests.unit.dataset.test_custom_dataset import made, s3

__all__ = ["s3"]


@pytest.fixture(autouse=True)
def small_steps(monkeypatch):
    monkeypatch.setattr(offsets, "STEP_ROWS", 100)


def first_text(data):
    return next(csv.reader(io.StringIO(data.decode(), newline="")))[0]


@pytest.mark.parametrize("part_bytes", [5_000, 8 << 20])
def test_a_copy_has_the_offset_of_each_step(s3, monkeypatch, part_bytes):
    monkeypatch.setattr(custom_file, "PART_BYTES", part_bytes)
    manifest, message = made(s3, example_file.as_csv())
    copy, rows = s3.objects[manifest.key], list(map(example_file.texts, example_file.rows()))
    assert len(manifest.offsets) == example_file.ROWS // 100
    for number, offset in enumerate(manifest.offsets):
        assert first_text(copy[offset:]) == rows[100 * number]["order_no"]
    assert "offsets" not in message, "a termination message is short"
    assert protocol.problem("manifest", json.loads(manifest.to_json())) is None


def test_a_copy_of_an_earlier_version_gets_its_offsets_and_stays_as_it_is(s3, monkeypatch):
    manifest, message = made(s3, example_file.as_csv())
    copy, key = s3.objects[manifest.key], manifest.key.replace("data.csv", "manifest.json")
    earlier = json.loads(s3.objects[key])
    del earlier["offsets"]
    s3.objects[key] = json.dumps(earlier).encode()
    assert Manifest.load(s3, "bucket", key) == replace(manifest, offsets=None), "other versions still load"
    monkeypatch.setattr(custom_file, "PART_BYTES", 1_000)
    uploads = s3.calls["upload_part"]
    assert made(s3, example_file.as_csv()) == (manifest, message)
    assert (s3.calls["upload_part"], s3.objects[manifest.key]) == (uploads, copy)


@pytest.mark.parametrize("block", [1, 7, 1_000])
def test_it_does_not_matter_where_the_bytes_are_cut(s3, monkeypatch, block):
    monkeypatch.setattr(offsets, "STEP_ROWS", 3)
    text = "a,b\n" + "".join(f'{n},"x\n""{n}"",\n\n"\n' for n in range(20))
    found = RowOffsets()
    for first in range(0, len(text), block):
        found.update(text[first : first + block].encode())
    assert [first_text(text[offset:].encode()) for offset in found.offsets()] == [*map(str, range(0, 20, 3))]


def test_the_header_of_a_generated_dataset_is_known(manifest):
    from storebench.dataset.generate import header

    assert header_bytes([field.name for field in manifest.schema]) == header()


@pytest.mark.parametrize("wrong", [None, "5", [3, 2], [1, 1], [-1, 2], [1.5], [True]])
def test_damaged_offsets_are_refused(manifest, wrong):
    text = replace(manifest, offsets=(7, 12)).to_json()
    assert Manifest.from_json(text).offsets == (7, 12)
    with pytest.raises(ValueError, match="offsets"):
        Manifest.from_json(json.dumps({**json.loads(text), "offsets": wrong}))


def test_a_generated_dataset_needs_none(manifest):
    assert "offsets" not in json.loads(manifest.to_json())
    assert Manifest.from_json(manifest.to_json()).offsets is None


def test_a_checksum_goes_to_another_pod_and_is_the_same(chunk):
    sent = json.loads(json.dumps(chunk.checksums.to_json()))
    assert vars(TableChecksum.from_json(sent)) == vars(chunk.checksums)
