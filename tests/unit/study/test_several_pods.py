"""The axis `pods`: how many pods do one operation together. A cell with one pod has the key that it had before the axis."""

from dataclasses import replace

import pytest

from storebench.errors import SpecError
from storebench.planning.checks import MANY_TURNS, text_of_length, text_of_several_pods
from storebench.study import grid as grids
from storebench.study.cell import Cell
from storebench.study.model import Axis, Metric, Operation
from storebench.study.partition import cell_of, partitions
from storebench.study.record import StudyRecord
from storebench.study.several_pods import merges_of, pods_of, problems_of_pods, several_pods
from tests.unit.example import BATCH, EXECUTORS, STUDY

MERGES = {"only_s": "span", "rows_per_s": "sum", "source_s": "max"}
METRICS = tuple(replace(metric, merge=MERGES[metric.name]) for metric in STUDY.metrics)
DIVIDED = replace(STUDY, axes=(BATCH, EXECUTORS, several_pods("null", "mongodb")), metrics=METRICS)


@pytest.fixture
def divides(monkeypatch):
    """Make null and mongodb divide their reads, and no other store anything."""
    for name in STUDY.stores:
        monkeypatch.setattr(STUDY.store(name), "divides", ("read",) if name in ("null", "mongodb") else ())


def cells(study=DIVIDED, stores=("null",), pods=("1", "2"), full=True, **axes):
    return grids.grid(
        study,
        stores=stores,
        clients=["reference"],
        axes={"batch": ["10"], "executors": ["1"], "pods": pods, **axes},
        rows=1000,
        seed=42,
        full=full,
    )


def test_a_cell_with_one_pod_has_the_key_that_it_had_before_the_axis():
    found = [cell.key for cell in cells(stores=("null", "delta-rs")).cells]
    before = [cell.key for cell in cells(replace(STUDY, metrics=METRICS), stores=("null", "delta-rs")).cells]
    rest = "rows=1000/seed=42"
    assert before == [f"bulk_write_read/{store}/reference/batch=10/{rest}" for store in ("null", "delta-rs")]
    assert found == [before[0], f"bulk_write_read/null/reference/batch=10/pods=2/{rest}", before[1]]


def test_what_a_store_does_not_divide_is_measured_once_and_the_reason_is_given():
    found = cells(stores=("delta-rs",))
    assert (len(found.cells), found.dropped) == (
        1,
        1,
    ) and "delta-rs has no executors, pods" in found.dropped_because


def test_one_place_at_a_time_varies_from_the_first_number_of_pods():
    found = cells(pods=("2", "1"), batch=["10", "20"], full=False)
    assert [dict(cell.axes) for cell in found.cells] == [
        {"batch": "10", "pods": "2"},
        {"batch": "10"},
        {"batch": "20", "pods": "2"},
    ]


@pytest.mark.parametrize("pods", ["0", "1000", "01", "-1", "1.5", "many", ""])
def test_nonsense_is_refused_before_any_work(pods):
    with pytest.raises(SpecError, match=r"Pods: .* is not a number of pods from 1 to 999"):
        cells(pods=(pods,))


def test_dates_and_keys_of_a_backfill_do_not_change_and_other_numbers_of_pods_are_added():
    before = partitions(STUDY)
    assert partitions(DIVIDED) == before
    more = replace(several_pods("null"), grid=("1", "2"))
    found = partitions(replace(DIVIDED, axes=(BATCH, EXECUTORS, more)))
    assert before.items() <= found.items()
    assert set(found) - set(before) == {
        f"null/reference/batch={batch}/pods=2" for batch in ("10", "20", "all")
    }
    assert cell_of(DIVIDED, "null/reference/batch=10", 1000, 42).value("pods") is None


def test_readers_see_the_value_that_a_key_does_not_name():
    one, two = cells(pods=("1", "2")).cells
    assert [DIVIDED.values_of(cell) for cell in (one, two)] == [
        {"batch": "10", "pods": "1"},
        {"batch": "10", "pods": "2"},
    ]
    other = cells(stores=("delta-rs",)).cells[0]
    assert DIVIDED.values_of(other) == {"batch": "10"}, "delta-rs does not divide"
    old = Cell.from_key("bulk_write_read/null/reference/gone=7/rows=1/seed=1")
    assert DIVIDED.values_of(old) == {"pods": "1", "gone": "7"}
    at_server = replace(one, store="mongodb@v8")
    assert DIVIDED.values_of(at_server)["pods"] == "1"


def test_the_cell_beside_another_one_on_the_axis_is_found_both_ways():
    one, two = cells(pods=("1", "2")).cells
    assert (DIVIDED.at(one, "pods", "2"), DIVIDED.at(two, "pods", "1")) == (two, one)
    assert DIVIDED.at(two, "batch", "20").key == two.key.replace("batch=10", "batch=20")


def test_the_record_of_the_study_keeps_it_and_an_earlier_record_still_loads():
    recorded = StudyRecord.of(DIVIDED).as_json()
    assert recorded["axes"][-1]["implied"] == "1" and recorded["metrics"][0]["merge"] == "span"
    read = StudyRecord.read(recorded)
    assert read.values_of(cells().cells[0])["pods"] == "1"
    for axis in recorded["axes"]:
        del axis["implied"]
    for metric in recorded["metrics"]:
        metric["merge"] = "by a rule of a later version"
    earlier = StudyRecord.read(recorded)
    assert earlier.axes[-1].implied == "" and earlier.metrics[0].merge is None


def test_the_number_of_pods_of_an_operation_follows_its_store(divides):
    null, delta = STUDY.store("null"), STUDY.store("delta-rs")
    assert [pods_of(null, name, {"pods": "4"}) for name in ("read", "write", "drop")] == [4, 1, 1]
    assert pods_of(null, "read", {}) == pods_of(delta, "read", {"pods": "4"}) == 1
    assert merges_of(DIVIDED) == MERGES


def problems(axes=DIVIDED.axes, metrics=METRICS, **changes):
    return list(problems_of_pods(replace(DIVIDED, axes=axes, metrics=metrics, **changes)))


def test_a_study_whose_stores_divide_what_its_metrics_can_merge_is_right(divides):
    assert problems() == []


def test_a_study_that_divides_nothing_needs_no_axis(monkeypatch):
    for name in STUDY.stores:
        monkeypatch.setattr(STUDY.store(name), "divides", ())
    assert list(problems_of_pods(STUDY)) == []


def test_each_mistake_says_what_to_do(divides, monkeypatch):
    assert problems(axes=(BATCH, EXECUTORS)) == []  # such a study divides nothing
    (other,) = problems(axes=(BATCH, EXECUTORS, several_pods("null")))
    assert "must name the stores that divide an operation: several_pods('mongodb', 'null')" in other
    by_hand = Axis("pods", "Pods", "", "[12]", "1 or 2", ("1",), ("1",), ("1",))
    (made,) = problems(axes=(BATCH, EXECUTORS, by_hand))
    assert "is not made by several_pods" in made
    (unmerged,) = problems(metrics=(*METRICS[:2], STUDY.metrics[2]))
    assert "'source_s' of the divided operation 'read' has no merge" in unmerged
    monkeypatch.setattr(STUDY.store("null"), "divides", ("raed",))
    assert "the store 'null': divides has 'raed', which is no operation of the store" in problems()


def test_a_histogram_needs_no_rule_and_an_operation_that_no_store_divides_neither(divides):
    latency = Metric("latency_s", "latency", kind="histogram")
    write, read = STUDY.operations
    with_histogram = replace(read, metrics=(*read.metrics, "latency_s"))
    assert problems(metrics=(*METRICS, latency), operations=(write, with_histogram)) == []
    unmerged = Metric("queue_bytes", "queue")
    own = Operation("write", (*write.metrics, "queue_bytes"))
    assert problems(metrics=(*METRICS, unmerged), operations=(own, read)) == []


def test_an_axis_cannot_imply_a_value_that_it_refuses_or_mean_the_whole_dataset():
    with pytest.raises(SpecError, match=r"implied.*is not a number of pods"):
        replace(STUDY, axes=(replace(several_pods("null"), implied="x"),))
    with pytest.raises(SpecError, match="implied is 'all', which may mean the whole dataset"):
        replace(STUDY, axes=(replace(BATCH, implied="all"),))


def test_the_plan_says_what_the_nodes_need():
    params = {"pod_cpu": "500m", "pod_memory": "2Gi"}
    text = text_of_several_pods(DIVIDED, cells(pods=("1", "2", "4")).cells, params)
    assert text.startswith("2 of 3 cells divide operations among up to 4 pods.")
    assert text.endswith("4 x 500m CPU and 4 x 2Gi memory")
    assert text_of_several_pods(DIVIDED, cells(pods=("1",)).cells, params) == ""


def test_the_plan_warns_of_more_turns_than_airflows_scheduler_can_handle_well():
    assert text_of_length(MANY_TURNS) == ""
    assert text_of_length(10_000).startswith("This run has 10,000 turns, more than 2,000:")
