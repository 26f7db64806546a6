"""The texts on Airflow's pages about a study's DAG, and the images of its pods."""

from dataclasses import replace

import pytest

from storebench.airflow import images
from storebench.errors import SpecError
from storebench.planning.doc import cleared, doc_of
from tests.unit.example import BATCH, STUDY

FIVE = tuple(replace(BATCH, name=f"axis_{n}", grid=("1", "2")) for n in range(5))


def test_the_dates_of_a_backfill_are_told_to_the_part_that_differs():
    bare = replace(STUDY, stores=("null",), axes=(), charts=())
    assert "| null | reference | 2001-01-01 00:00 | 2001-01-03 00:00 | 3 |" in doc_of(
        replace(bare, axes=(BATCH,))
    )
    assert "| null | reference | 2001-01-01 00:00 | 2001-01-02 01:01:01.000001 | 32 |" in doc_of(
        replace(bare, axes=FIVE)
    )


def test_the_steps_are_the_studys():
    assert "clear **all its steps** together: write, read, drop." in cleared(STUDY)


def test_a_pods_image_is_a_folders_or_a_reference(monkeypatch):
    known = {
        "storebench_image_python": "registry.example.com/storebench-python:3",
        "storebench_image_a_b": "a/b:1",
    }
    monkeypatch.setattr(images.Variable, "get", lambda name, default=None: known.get(name, default))
    assert images.image("python") == "registry.example.com/storebench-python:3"
    assert images.image("a-b") == "a/b:1"
    with pytest.raises(SpecError, match=r"`images/build jvm --tag .*`, then storebench_image_jvm"):
        images.image("jvm")  # a cluster would look for the name at a public registry
    with pytest.raises(
        SpecError, match=r"servers/a-b. .*`images/build servers/a-b --tag .*storebench_image_servers_a_b"
    ):
        images.check(["python", "servers_a_b"])
    for reference in ("registry.example.com/tool:2", "busybox:1.36", "library/busybox"):
        assert images.image(reference) == images.named(reference) == reference
