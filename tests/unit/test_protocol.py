import json
import re

import pytest
from jsonschema import Draft202012Validator

from storebench import protocol
from storebench.attempt.dataset import DatasetSpec
from storebench.attempt.result import AttemptResult
from storebench.attempt.spec import AttemptSpec

SPEC = AttemptSpec(
    operation="put",
    cell_key="words/words/reference/parts=2/rows=400/seed=42",
    study="words",
    store="words",
    client="reference",
    axes={"parts": "2"},
    rows=400,
    seed=42,
    target="storebench_words_0",
    bucket="b",
    dataset="datasets/words/v1/rows=400/seed=42/",
    results="results/storebench_words_0/put-",
)
VERIFIED = {"version": 1, "status": "verified", "verification": "all of it"}


def nested(depth):
    return [nested(depth - 1)] if depth else []


@pytest.mark.parametrize("name", ["specification", "result", "dataset", "manifest"])
def test_a_schema_is_one(name):
    Draft202012Validator.check_schema(protocol.schema(name))


def test_what_is_sent_and_what_comes_back_is_as_the_schemas_say():
    assert protocol.problem("specification", json.loads(SPEC.to_json())) is None
    assert protocol.problem("dataset", json.loads(DatasetSpec("b", "datasets/x/", 400, 42).to_json())) is None
    verified = AttemptResult(
        status="verified",
        verification="all of it",
        metrics={"only_s": 1.5},
        usage=[{"role": "executor", "name": "1"}],
        histograms={"latency_s": {"values": [0.1], "counts": [2]}},
        series={"rate_per_s": {"at_s": [0], "values": [2]}},
    )
    assert protocol.problem("result", json.loads(verified.to_json())) is None
    failed = AttemptResult(error_kind="unreachable", error="down")
    assert protocol.problem("result", json.loads(failed.to_json())) is None


def test_the_schema_of_the_specification_has_all_that_a_pod_is_told():
    schema = protocol.schema("specification")
    assert schema["properties"].keys() == json.loads(SPEC.to_json()).keys() == {*schema["required"]}


def test_the_schema_of_the_result_has_all_that_is_read_of_one():
    assert protocol.schema("result")["properties"].keys() == AttemptResult.__dataclass_fields__.keys()


def test_what_the_database_takes_is_taken():
    most = {
        **VERIFIED,
        "memory_peak_bytes": 2**53 - 1,
        "metrics": {"only_s": 1.7e308},
        "environment": {"x": nested(98), "text": "\N{GRINNING FACE}\n\x01"},
    }
    assert protocol.problem("result", most) is None


def test_json_that_cannot_be_parsed_is_none():
    for text in ("", "{", "[" * 5000):
        with pytest.raises(ValueError):
            protocol.read(text)
    assert protocol.storable("a\0b\ud800") == "a\ufffdb\ufffd"


def test_the_least_result_is_enough():
    assert protocol.problem("result", VERIFIED) is None
    assert (
        protocol.problem("result", {"version": 1, "status": "failed", "error_kind": "x", "error": "y"})
        is None
    )


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ([], "is not of type 'object'"),
        ({"version": 1}, "'status' is a required property"),
        ({**VERIFIED, "status": "done"}, "status: 'done' is not one of"),
        ({"version": 1, "status": "failed"}, "'error_kind' is a required property"),
        ({"version": 1, "status": "verified"}, "'verification' is a required property"),
        ({**VERIFIED, "metrics": {"only_s": "1.5"}}, "metrics.only_s: '1.5' is not of type 'number'"),
        ({**VERIFIED, "metrics": {"only_s": float("nan")}}, "^metrics.only_s is not a finite number"),
        (
            {**VERIFIED, "series": {"s": {"at_s": [0, float("inf")], "values": []}}},
            r"^series.s.at_s\[1\] is not a finite",
        ),
        ({**VERIFIED, "histograms": {"h": {"values": [1], "counts": [-1]}}}, r"histograms.h.counts\[0\]"),
        ({**VERIFIED, "histograms": {"h": {"values": [0] * 20_001, "counts": []}}}, "histograms.h.values: "),
        ({**VERIFIED, "series": {"s": {"at_s": [1]}}}, "series.s: 'values' is a required"),
        ({**VERIFIED, "phases": {"connect": -1}}, "phases.connect"),
        ({**VERIFIED, "version": 2}, "version: 1 was expected"),
        ({**VERIFIED, "usage": [{"name": "1"}]}, r"usage\[0\]: 'role' is a required"),
        (
            {**VERIFIED, "usage": [{"role": "helper", "name": "1"}]},
            r"usage\[0\].role: 'helper' is not one of",
        ),
        ({**VERIFIED, "usage": [{"role": "server", "name": "n" * 254}]}, r"usage\[0\].name: .* is too long"),
        ({**VERIFIED, "usage": [{"role": "server", "name": "1"}] * 1001}, "usage: .* is too long"),
        ({**VERIFIED, "phases": {"p" * 254: 1}}, "phases: .* is too long"),
        ({**VERIFIED, "memory_peak_bytes": 2**63}, "memory_peak_bytes: .* is greater than the maximum"),
        ({**VERIFIED, "oom_kills": 2**31}, "oom_kills: .* is greater than the maximum"),
        ({**VERIFIED, "total_s": 1e13}, "total_s: .* is greater than the maximum"),
        ({**VERIFIED, "metrics": {"only_s": 10**400}}, "^metrics.only_s is not a finite number"),
        ({**VERIFIED, "node_steal_share": "much"}, "node_steal_share: 'much' is not of type"),
        ({**VERIFIED, "error_kind": "odd"}, "error_kind: 'odd' is not of type 'null'"),
        (
            {"version": 1, "status": "failed", "error_kind": None, "error": "x"},
            "error_kind: None is not of type",
        ),
        ({**VERIFIED, "delivers": "a\0b"}, "^delivers has a character that is in no text: NUL"),
        ({**VERIFIED, "environment": {"disks": ["\ud800"]}}, r"^environment.disks\[0\] has a character"),
        ({**VERIFIED, "phases": {"a\0b": 1}}, r"^phases has the name 'a\\x00b' with a character"),
        ({**VERIFIED, "environment": {"x": nested(100)}}, "is nested too deeply$"),
    ],
)
def test_a_result_that_breaks_the_schema_is_told_where(content, words):
    assert re.search(words, protocol.problem("result", content))
