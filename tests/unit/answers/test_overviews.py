"""The overview's sentences say what the verdicts and intervals of the ranking say, and no more."""

from datetime import UTC, datetime

import pytest

from storebench.answers.overviews import study_overview
from storebench.answers.runs import Run
from storebench.errors import SpecError
from tests.unit.example import NAME, cell
from tests.unit.results.test_ranking import DELTA, ELASTIC, MONGODB, Recorded, repeated, row

KERNEL = cell("delta-kernel")


def run(**changes):
    return Run.model_validate(
        {
            **dict.fromkeys(Run.model_fields),
            "id": f"{NAME}/r1",
            "study": NAME,
            "dag_id": NAME,
            "airflow_run_id": "r1",
            "state": "success",
            "started_at": datetime(2026, 1, 1, tzinfo=UTC),
            "rested_s": 0,
            "method_version": 2,
            "code_version": "c",
            "params": {},
            "stores": ["mongodb", "elasticsearch"],
            "rows": 1000,
            "to_close": False,
            **dict.fromkeys(("cells", "planned", "verified", "disturbed", "failed", "not_run"), 0),
            **changes,
        }
    )


def overview(*rows, runs=(), tried=()):
    return study_overview(Recorded(*rows, tried=tried), NAME, runs)


def write(*rows, **more):
    return next(standing for standing in overview(*rows, **more).standings if standing.operation == "write")


def test_the_best_of_several_is_named_with_its_interval_and_its_distance_to_the_next():
    found = write(repeated(MONGODB, 2.0), repeated(ELASTIC, 3.0), repeated(DELTA, 9.0))
    assert found.sentence == (
        "mongodb is the fastest of 3: median 2.00 s (95 % interval 1.98 to 2.02 s, n = 6)."
        " Next is elasticsearch, slower by a factor of 1.50 (95 % interval 1.50 to 1.50)."
    )
    assert (found.state, found.scope) == ("decided", "1,000 rows, seed 42, batch 10, guarantee disk")
    (best,) = found.best
    assert (best.label, best.verdict, best.spread.n) == ("mongodb", "the best", 6)
    assert (found.ranked, found.excluded, found.metric) == (3, 0, "only_s")


def test_a_single_measurement_decides_nothing_and_says_what_is_missing():
    found = overview(row(MONGODB, 2.0), row(ELASTIC, 9.0), repeated(DELTA, 1.0, durability="s3"))
    standing = found.standings[0]
    assert standing.state == "undecided"
    assert standing.sentence == (
        "The fastest median is that of mongodb: 2.00 s (n = 1, too few for an interval)."
        " Not told apart from it: elasticsearch. A = mongodb, B = elasticsearch: too few rounds (A has 1, B 1; 5 at least):"
        " the noise is not known. Not ranked: 1 with another guarantee."
    )
    assert (found.next.kind, found.next.operation, found.next.by) == (
        "repeat",
        "write",
        "store=mongodb,elasticsearch",
    )
    assert found.next.run == "r1"
    assert found.next.params == {
        "stores": ["mongodb", "elasticsearch"],
        "clients": ["reference"],
        "batch": ["10"],
        "rows": 1000,
        "seed": 42,
        "repeats": 6,
    }


def test_cells_that_do_not_differ_share_the_first_place_also_where_a_third_cell_is_open():
    tied = write(repeated(MONGODB, 2.0), repeated(ELASTIC, 2.02), repeated(DELTA, 4.0))
    assert tied.state == "tied"
    assert tied.sentence.startswith("The fastest median is that of mongodb: 2.00 s")
    assert "The same within 5 %: elasticsearch. Next is delta-rs, slower by a factor of 2 " in tied.sentence
    assert [best.label for best in tied.best] == ["mongodb", "elasticsearch"]
    rows = repeated(MONGODB, 2.0), repeated(ELASTIC, 2.02), row(KERNEL, 9.0), repeated(DELTA, 4.0)
    undecided = write(*rows)
    assert undecided.state == "undecided"
    for text in (
        "The same within 5 %: elasticsearch.",
        "Not told apart from it: delta-kernel.",
        "Next is delta-rs",
    ):
        assert text in undecided.sentence


def test_the_labels_name_the_places_in_which_the_ranked_cells_differ():
    spark = [cell("delta-spark", "tuned", batch=10, executors=n) for n in (1, 2)]
    found = write(repeated(MONGODB, 4.0), repeated(spark[0], 2.0), repeated(spark[1], 2.0))
    assert [best.label for best in found.best] == [
        "delta-spark (tuned, executors 1)",
        "delta-spark (tuned, executors 2)",
    ]
    assert "Next is mongodb (reference), slower" in found.sentence


def test_a_store_alone_and_a_study_without_a_figure_are_no_best():
    alone = overview(repeated(MONGODB, 2.0), repeated(cell("null"), 0.1))
    assert alone.standings[0].sentence.startswith("Only mongodb is ranked: median 2.00 s")
    assert "Not ranked" not in alone.standings[0].sentence, "the floor is no competitor"
    assert (alone.next.kind, alone.next.text) == ("start", "Measure another store: only mongodb is ranked.")
    failed = overview(row(MONGODB, None, status="failed", metrics={}, environment_hash=None), runs=[run()])
    assert [standing.sentence for standing in failed.standings] == [
        "No cell can be ranked. Not ranked: 1 without a verified attempt.",
        "No run has measured it.",
    ]
    assert (
        failed.next.text
        == "Start a run: there is nothing to rank. The newest run has no attempt that counts."
    )
    assert overview().next.kind == "start"


def test_the_next_step_watches_a_run_and_compares_when_all_is_decided():
    rows = repeated(MONGODB, 2.0), repeated(ELASTIC, 3.0)
    watch = overview(*rows, runs=[run(id="b", state="running"), run()]).next
    assert (watch.kind, watch.run) == ("watch", "b")
    step = overview(*rows, runs=[run()]).next
    assert (step.kind, step.run, step.by) == ("compare", "r1", "store=mongodb,elasticsearch")
    apart = overview(repeated(MONGODB, 2.0, run="a"), repeated(ELASTIC, 3.0, run="b")).next
    assert (apart.kind, apart.by) == ("fill", None)


def test_a_record_that_cannot_be_read_keeps_the_runs():
    class Broken(Recorded):
        def study(self, name):
            raise SpecError("recorded by another version")

    found = study_overview(Broken(), NAME, [run()])
    assert (found.problem, found.standings, len(found.runs)) == ("recorded by another version", [], 1)


@pytest.mark.parametrize(
    ("changes", "label"),
    [
        ({}, "mongodb, elasticsearch, 1,000 rows"),
        ({"stores": list("abcde")}, "a, b, c and 2 more, 1,000 rows"),
        ({"stores": ["mongodb"], "cell_key": MONGODB.key}, "mongodb reference batch=10, 1,000 rows"),
        ({"stores": [], "rows": None}, "nothing planned"),
    ],
)
def test_a_run_has_a_label_that_says_what_it_measures(changes, label):
    assert run(**changes).model_dump()["label"] == label
