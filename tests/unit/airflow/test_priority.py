from types import SimpleNamespace

from storebench.airflow.priority import STEPS, CellByCell


def test_a_cells_tasks_come_one_after_the_other_then_the_next_cells():
    weights = [
        CellByCell().get_weight(SimpleNamespace(task_id=f"cell.{step}", map_index=index))
        for index in range(3)
        for step in STEPS
    ]
    assert weights == sorted(weights, reverse=True)
    assert len(set(weights)) == len(weights)
