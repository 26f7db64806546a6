"""The bulk study in tests: cells, and specifications of its attempts."""

from functools import cache
from pathlib import Path

from storebench.attempt.spec import AttemptSpec
from storebench.study import studies
from storebench.study.cell import Cell
from storebench.study.dataset import folder_of

BULK = "bulk_write_read"
RANKED_BY = {"write": "write_s", "read": "only_s"}
# A run that an earlier version exported
EARLIER_BUNDLE = Path(__file__).parent / "data" / "bulk_write_read-0.1.0.zip"


@cache
def bulk_study():
    return studies.find(BULK)


def cell_at(store, seed, rows=1000, study=BULK, client="reference", **axes):
    """Return a cell of this dataset, with these values on the axes."""
    return Cell(study, store, client, tuple((name, str(value)) for name, value in axes.items()), rows, seed)


def spec_for(operation, cell, target, bucket, **options):
    """Return the specification of a cell's attempt, as the DAG makes it."""
    study = bulk_study()
    return AttemptSpec(
        operation=operation,
        cell_key=cell.key,
        study=cell.study,
        store=cell.store,
        client=cell.client,
        axes=dict(cell.axes),
        rows=cell.rows,
        seed=cell.seed,
        target=target,
        bucket=bucket,
        dataset=folder_of(study.dataset_of(cell)),
        results=f"results/{target}/{operation}-",
        method_version=study.method_version,
        options=options,
    )
