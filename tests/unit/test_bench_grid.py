from datetime import UTC, datetime, timedelta

from bench.grid import overlaps, spans
from storebench.study.order import Turn
from tests.unit.example import cell

BEGIN = datetime(2026, 1, 1, tzinfo=UTC)
ONE, TWO, OTHER = (
    Turn(cell(store, batch=size), 1, None, pool)
    for store, size, pool in (("null", "1", ""), ("null", "2", ""), ("null@b", "1", "b"))
)
AGAIN = Turn(ONE.cell, 2)


def at(seconds):
    return BEGIN + timedelta(seconds=seconds)


def task(name, index, start_s, end_s):
    times = {"start_date": at(start_s).isoformat(), "end_date": at(end_s).isoformat()}
    return {"task_id": name, "map_index": index, **times}


def test_a_cell_lasts_until_the_next_one_of_its_nodes_begins_and_the_last_until_its_drop_has_ended():
    tasks = [
        *(task("cell.write", 0, 0, 3), task("cell.drop", 0, 6, 7)),
        *(task("cell.write", 1, 8, 10), task("cell.drop", 1, 17, 18)),
        *(task("cell_b.write", 0, 4, 5), task("cell_b.drop", 0, 8, 9)),
        *(task("cell.write", 2, 20, 22), task("cell.drop", 2, 24, 25)),
        {"task_id": "cell.write", "map_index": 3, "start_date": None, "end_date": None},
    ]
    rows = [
        {"cell_key": turn.cell.key, "repeat": turn.repeat, "total_s": 1.0}
        for turn in (ONE, ONE, TWO, OTHER, AGAIN)
    ]
    found = spans(tasks, rows, [ONE, OTHER, TWO, AGAIN, Turn(TWO.cell, 2)])
    assert [(span.started_at, span.whole_s, span.outside_s) for span in found] == [
        (at(0), 8, 6),
        (at(4), 5, 4),
        (at(8), 12, 11),
        (at(20), 5, 4),
    ]


def test_attempts_overlap_on_one_node_only():
    def row(node, start_s, end_s):
        return {"node": node, "started_at": at(start_s), "finished_at": at(end_s)}

    assert overlaps([row("a", 0, 2), row("a", 2, 4), row("b", 1, 3)]) == 0
    assert overlaps([row("a", 0, 2), row("a", 1, 4), row("b", 1, 3)]) == 1
