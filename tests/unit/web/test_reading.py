import pytest

from storebench.study.record import StudyRecord
from storebench.study.several_pods import several_pods
from storebench.web.reading import AXIS, METRIC, Sort, _by
from tests.unit.example import STUDY


@pytest.mark.parametrize("name", Sort)
def test_attempts_are_sorted_by_known_columns(name):
    assert _by(name).as_string(None) == f'v."{name}"'


@pytest.mark.parametrize("name", ["storage", "value; DROP TABLE storebench.run", "axis"])
def test_what_is_no_column_never_becomes_sql(name):
    with pytest.raises(ValueError, match="is not a valid Sort"):
        _by(name)


@pytest.mark.parametrize(("kind", "column"), [(AXIS, "v.axes ->> "), (METRIC, "v.metrics -> ")])
def test_the_name_of_an_axis_or_a_metric_is_a_text_in_sql_whatever_it_is(kind, column):
    text = _by(f"{kind}it's").as_string(None)
    assert f"({column}'it''s')" in text and "it's" not in text.replace("it''s", "")


def test_attempts_are_sorted_by_a_value_that_their_cells_do_not_name():
    plain = StudyRecord.of(STUDY)
    divided = plain.model_copy(update={"name": "other", "axes": (*plain.axes, several_pods("null"))})
    text = _by(f"{AXIS}pods", [plain, divided]).as_string(None)
    assert "CASE v.study WHEN 'other' THEN coalesce((v.axes ->> 'pods'), CASE WHEN" in text
    assert "'null'" in text and f"WHEN '{plain.name}'" not in text
    assert "CASE v.study" not in _by(f"{AXIS}batch", [plain, divided]).as_string(None)
