"""The views of each study. tests/integration checks their answers in Postgres."""

import re
from dataclasses import replace

import pytest

from storebench.errors import SpecError
from storebench.results.database.study_views import WHOLE_NUMBER, make
from storebench.study.model import Metric
from storebench.study.record import StudyRecord
from storebench.study.reserved import TABLES
from storebench.study.several_pods import several_pods
from tests.unit.example import STUDY


class Cursor:
    """A cursor that keeps its statements."""

    def __init__(self):
        self.statements = []

    def execute(self, statement):
        self.statements.append(statement.as_string(None))


def made(study):
    cursor = Cursor()
    make(cursor, StudyRecord.of(study))
    return {
        re.search(r'"storebench"\."(\w+)"', text)[1]: text
        for text in cursor.statements
        if text.startswith("CREATE")
    }


def test_they_have_the_axes_and_the_scalars_as_columns_behind_those_of_all():
    queue = Metric("queue_bytes", "queue", "neither", "series")
    write, read = STUDY.operations
    write = replace(write, metrics=(*write.metrics, queue.name))
    found = made(replace(STUDY, metrics=(*STUDY.metrics, queue), operations=(write, read)))
    assert list(found) == [STUDY.name, *(f"{STUDY.name}_{one}" for one in ("latest", "newest", "summary"))]
    of_all = found[STUDY.name]
    assert re.findall(r' AS "(\w+)"', of_all) == ["batch", "executors", "only_s", "rows_per_s", "source_s"]
    assert of_all.startswith(f'CREATE VIEW "storebench"."{STUDY.name}" AS SELECT r.*, ')
    assert of_all.endswith(f"""FROM "storebench"."results" AS r WHERE r.study = '{STUDY.name}'""")
    assert "(r.axes ->> 'batch') AS" in of_all, "a batch may be a word"
    assert re.findall(r' AS "(\w+)"', found[f"{STUDY.name}_summary"]) == ["batch", "executors"]


@pytest.mark.parametrize("name", sorted(TABLES))
def test_a_study_that_is_called_as_a_table_has_none(name):
    cursor = Cursor()
    with pytest.raises(SpecError, match=f"{name} is a table of the results"):
        make(cursor, StudyRecord.of(STUDY).model_copy(update={"name": name}))
    assert not cursor.statements


def test_a_cell_that_does_not_name_an_axis_has_the_implied_value_where_the_axis_applies():
    pods = several_pods("null", "mongodb")
    later = replace(pods, name="ranges", where={"pods": ("2",), "client": ("tuned",)})
    found = made(replace(STUDY, axes=(*STUDY.axes, pods, later)))
    at_null = "split_part(r.store, '@', 1) IN ('null', 'mongodb')"
    value = f"coalesce((r.axes ->> 'pods'), CASE WHEN {at_null} THEN '1' END)"
    number = f"CASE WHEN {value} ~ '{WHOLE_NUMBER}' THEN {value}::integer END AS \"pods\""
    for text in found.values():
        assert number in text
        assert f"CASE WHEN {value} IN ('2') AND r.client IN ('tuned') THEN '1' END" in text
