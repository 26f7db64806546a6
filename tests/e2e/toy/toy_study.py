"""A study to begin with: one store, one axis."""

from storebench.airflow.dags.study import study_dag
from storebench.dataset.csv50 import CSV50
from storebench.study.model import Axis, Chart, Metric, Operation, Study

BATCH = Axis(
    name="batch",
    title="Batch",
    description="Rows in one object; **all** is one object for all.",
    pattern=r"[1-9][0-9]{0,9}|all",
    hint="a number of rows from 1, or 'all'",
    default=("500", "all"),
    choices=("100", "500", "1000", "all"),
    grid=("500", "all"),
    whole="all",
)
FIGURES = ("only_s", "rows_per_s", "source_s", "barrier_s")
TOY_STUDY = Study(
    name="toy_study",
    title="Toy",
    description="""Write a 50-field CSV into S3 as lines of JSON, then read it back.

Each batch is one object. Every attempt is verified, and a row of the table `storebench.results` in Postgres.""",
    stores=("toy",),  # storebench/stores/toy_study/toy.py
    operations=(Operation("write", ("write_s", *FIGURES)), Operation("read", FIGURES, needs=("write",))),
    metrics=(
        Metric("write_s", "time until a write is durable and visible"),
        Metric("only_s", "time in the store's client"),
        Metric("rows_per_s", "dataset rows a second", "higher"),
        Metric("source_s", "reading and parsing the CSV", "neither"),
        Metric("barrier_s", "making the data durable and visible"),
    ),
    dataset=CSV50,
    rows=2_000,
    axes=(BATCH,),
    charts=(
        Chart("write_s", colour="batch"),
        Chart("only_s", colour="batch"),
        Chart("rows_per_s", colour="batch"),
    ),
)

dag = study_dag(TOY_STUDY)
