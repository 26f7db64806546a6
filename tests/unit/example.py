"""A study for tests that need no Airflow: bulk writes and reads, with grids that tests can count."""

from storebench.dataset.csv50 import CSV50
from storebench.study.cell import Cell
from storebench.study.model import Axis, Chart, Metric, Operation, Study

NAME = "bulk_write_read"  # by which its stores are found
BATCH = Axis(
    name="batch",
    title="Batch",
    description="",
    pattern=r"[1-9][0-9]{0,9}|all",
    hint="a number of rows from 1, or 'all'",
    default=("10000", "100000", "all"),
    choices=("1000", "all"),
    grid=("10", "20", "all"),
    whole="all",
)
EXECUTORS = Axis(
    name="executors",
    title="Executors",
    description="",
    pattern=r"[1-9][0-9]{0,2}",
    hint="a number of executors from 1 to 999",
    default=("1", "2"),
    choices=("1", "2", "4"),
    grid=("1", "2"),
    where={"store": ("delta-spark",)},
)
STORES = (
    "mongodb",
    "null",
    "delta-spark",
    "elasticsearch",
    "delta-rs",
    "delta-standalone",
    "delta-kernel",
)
FIGURES = ("only_s", "rows_per_s", "source_s")
# An axis of some stores, which a test may add to the study.
STOP = Axis(
    name="stop",
    title="Stop",
    description="",
    pattern="none|short",
    hint="none or short",
    default=("none",),
    choices=("none", "short"),
    grid=("none",),
    where={"store": ("mongodb", "delta-rs", "elasticsearch")},
    implied="none",
)
STUDY = Study(
    name=NAME,
    title="Example",
    description="",
    stores=STORES,
    operations=(Operation("write", FIGURES), Operation("read", FIGURES, needs=("write",))),
    metrics=(
        Metric("only_s", "time in the store's client"),
        Metric("rows_per_s", "dataset rows a second", "higher"),
        Metric("source_s", "reading the CSV", "neither"),
    ),
    dataset=CSV50,
    rows=1000,
    axes=(BATCH, EXECUTORS),
    charts=(Chart("only_s", colour="batch"),),
)


def cell(store="mongodb", client="reference", *, study=NAME, rows=1000, seed=42, **axes):
    """Return a cell. The default axes are a batch of 10 rows."""
    values = axes or {"batch": "10"}
    return Cell(study, store, client, tuple((name, str(value)) for name, value in values.items()), rows, seed)
