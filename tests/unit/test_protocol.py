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
    ],
)
def test_a_result_that_breaks_the_schema_is_told_where(content, words):
    assert re.search(words, protocol.problem("result", content))
