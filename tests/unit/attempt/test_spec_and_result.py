from dataclasses import replace

import pytest

from storebench.attempt.result import AttemptResult
from storebench.attempt.spec import AttemptSpec
from storebench.errors import SpecError

SPEC = AttemptSpec(
    operation="write",
    cell_key="bulk_write_read/mongodb/reference/batch=100/rows=1000/seed=42",
    study="bulk_write_read",
    store="mongodb",
    client="reference",
    target="storebench_mongodb_0",
    bucket="storebench",
    dataset="datasets/v1/rows=1000/seed=42/",
    results="results/storebench_mongodb_0/write-",
    axes={"batch": "100"},
    rows=1000,
    seed=42,
    method_version=2,
    options={"cpu_limit": "False"},
)


def test_a_spec_survives_its_json():
    assert AttemptSpec.from_json(SPEC.to_json()) == SPEC


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        "null",
        SPEC.to_json().replace('"operation"', '"verb"', 1),
        SPEC.to_json().replace('"study":"bulk_write_read",', ""),
    ],
)
def test_a_malformed_spec_is_a_spec_error(text):
    with pytest.raises(SpecError):
        AttemptSpec.from_json(text)


def test_an_image_that_knows_another_protocol_is_to_be_built_anew():
    with pytest.raises(SpecError, match=r"of protocol version 99, and this image knows \d+: build it anew"):
        AttemptSpec.from_json(replace(SPEC, version=99).to_json())


def test_a_result_survives_its_json():
    result = AttemptResult(
        status="verified",
        metrics={"only_s": 1.5},
        phases={"connect": 0.25},
        histograms={"latency_s": {"values": [0.1, 0.2], "counts": [3, 1]}},
        series={"queue": {"at_s": [0.0, 1.0], "values": [1.5, 2.0]}},
    )
    assert AttemptResult.from_json(result.to_json()) == result


def test_a_short_time_keeps_its_digits_and_a_large_size_each_byte():
    figures = {"job_s": 0.00026552220006124114, "bytes": 24883523584123.0}
    assert AttemptResult.from_json(AttemptResult(metrics=figures, total_s=1 / 3).to_json()) == AttemptResult(
        metrics={"job_s": 0.0002655222001, "bytes": 24883523584123.0}, total_s=0.3333333333
    )


@pytest.mark.parametrize("text", ["", "{}", "[1]", "Killed"])
def test_other_text_is_not_a_result(text):
    with pytest.raises(ValueError):
        AttemptResult.from_json(text)
