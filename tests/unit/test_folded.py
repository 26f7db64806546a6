"""Stacks in the folded format, and their compression."""

import base64
import gzip
import random

import pytest
from jsonschema import Draft202012Validator

from storebench import protocol
from storebench.protocol import profiles
from storebench.protocol.profiles import folded_of, packed, stacks_of, unpacked

STACKS = {"main (a.py);read (b.py)": 5, "main (a.py)": 2, "main (a.py);write (b.py)": 1}


def test_the_folded_format_has_a_line_for_each_stack():
    folded = "main (a.py) 2\nmain (a.py);read (b.py) 5\nmain (a.py);write (b.py) 1\n"
    assert folded_of(STACKS) == folded
    assert stacks_of(folded) == STACKS
    assert stacks_of("main (a.py) 2\n\nno number\n 7\nmain (a.py) 1.5\nmain (a.py) 3\n") == {"main (a.py)": 5}


def test_packed_stacks_are_the_same_again():
    content, dropped = packed(STACKS)
    assert dropped == 0
    assert stacks_of(unpacked(base64.b64decode(content))) == STACKS


def test_the_rarest_stacks_that_do_not_fit_are_dropped_and_counted():
    drawn = random.Random(1)
    many = {f"f{drawn.getrandbits(64):x} (a.py)": n for n in range(1, 501)}
    content, dropped = packed(many, most_bytes=2_000)
    assert len(base64.b64decode(content)) <= 2_000
    kept = stacks_of(unpacked(base64.b64decode(content)))
    assert kept and sum(kept.values()) + dropped == sum(many.values())
    assert min(kept.values()) == 501 - len(kept), "the most frequent stacks stay"


def test_other_bytes_are_refused_and_a_bomb_is_cut(monkeypatch):
    with pytest.raises(ValueError, match="no compressed stacks"):
        unpacked(b"stacks")
    monkeypatch.setattr(profiles, "FOLDED_BYTES", 100)
    assert len(unpacked(gzip.compress(b"a" * 10**6))) == 100


@pytest.mark.parametrize(
    ("profile", "valid"),
    [
        ({"stacks": packed(STACKS)[0]}, True),
        ({"unknown": "no Python"}, True),
        ({"stacks": "abc"}, False),
        ({"stacks": "main (a.py) 2"}, False),
        ({"stacks": "A" * 400_000}, False),
        ({"hz": 0}, False),
    ],
)
def test_a_result_with_a_profile_that_the_database_cannot_store_is_refused(profile, valid):
    described = protocol.schema("result")
    message = {"version": 1, "status": "failed", "error_kind": "e", "error": "e"}
    message["profiles"] = {"python": {"sampler": "s", "hz": 100, **profile}}
    assert Draft202012Validator(described).is_valid(message) is valid
