import pytest

from storebench.attempt.result import AttemptResult
from storebench.attempt.spec import AttemptSpec
from storebench.errors import SpecError

SPEC = AttemptSpec(
    operation="write",
    cell_key="bulk_write_read/mongodb/reference/batch=100/rows=1000/seed=42",
    target="storebench_mongodb_0",
    dataset_bucket="storebench",
    dataset_key="data.csv",
    manifest_key="manifest.json",
)


def test_a_spec_survives_its_json():
    assert AttemptSpec.from_json(SPEC.to_json()) == SPEC
    assert SPEC.batch_rows == 100


def test_all_at_once_has_no_batch_rows():
    key = SPEC.cell_key.replace("batch=100", "batch=all")
    assert AttemptSpec.from_json(SPEC.to_json().replace(SPEC.cell_key, key)).batch_rows is None


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        "null",
        SPEC.to_json().replace("write", "erase", 1),
        SPEC.to_json().replace("seed=42", "seed"),
    ],
)
def test_a_malformed_spec_is_a_spec_error(text):
    with pytest.raises(SpecError):
        AttemptSpec.from_json(text)


def test_a_result_survives_its_json():
    result = AttemptResult(status="verified", rows=10, operation_s=1.5, phases={"connect": 0.25})
    assert AttemptResult.from_json(result.to_json()) == result


@pytest.mark.parametrize("text", ["", "{}", "[1]", "Killed"])
def test_other_text_is_not_a_result(text):
    with pytest.raises(ValueError):
        AttemptResult.from_json(text)
