"""The study of questions about one table."""

from dataclasses import replace

from storebench.airflow.dags.study import study_dag
from storebench.dataset.csv50 import CSV50
from storebench.stores.queries.questions import QUESTIONS, metric_of
from storebench.study.model import CPU_S, MEMORY, Chart, Metric, Operation, Preset, Study

STORES = ("duckdb", "duckdb-parquet", "chdb", "postgresql", "mongodb", "elasticsearch")
OF_QUESTIONS = tuple(Metric(metric_of(name), text) for name, text in QUESTIONS.items())
METRICS = (
    Metric("load_s", "time to load"),
    Metric("rows_per_s", "rows per second while loading", "higher"),
    Metric("geometric_mean_s", "geometric mean of the questions' times"),
    Metric("questions", "number of answered questions", "higher"),
    *OF_QUESTIONS,
    Metric("delete_s", "time to delete 1 % of the rows"),
)
PRESETS = {
    "quick": Preset(
        "each store once, with 20,000 rows, without chosen indexes",
        {"clients": ["reference"], "rows": 20_000},
    ),
    "tuned": Preset(
        "each store and client, with 20,000 rows", {"clients": ["reference", "tuned"], "rows": 20_000}
    ),
}
QUERIES = Study(
    name="queries",
    title="Questions about one table",
    description="""Load the table of 50 fields once, ask ten questions about it, and delete 1 % of its rows.

The questions: count, sum, a range, groups of low and of high cardinality, the ten largest, distinct values, a text that contains another, a
row by its key, a join of the table with itself. Each store answers in its own language, with warm caches: a figure is the median of five
passes after one untimed pass. Every answer is compared with the right answer, which is computed from the dataset's definition without a
store. Stores are ranked by each question, and by the geometric mean of all questions with ClickBench's rules: 10 ms are added to each time,
and a question that a store cannot answer counts as twice its longest time, or as 600 s if that is longer.""",
    stores=STORES,
    operations=(
        Operation("load", ("load_s", "rows_per_s")),
        Operation(
            "ask",
            ("geometric_mean_s", "questions", *(metric.name for metric in OF_QUESTIONS)),
            needs=("load",),
        ),
        Operation("delete", ("delete_s",), needs=("load",)),
    ),
    metrics=METRICS,
    dataset=replace(CSV50, custom_file=None),  # the questions are about its 50 fields
    rows=20_000,
    charts=(
        Chart("geometric_mean_s", colour="store"),
        *(Chart(metric.name, colour="store") for metric in OF_QUESTIONS),
        Chart("load_s", colour="store"),
        Chart("delete_s", colour="store"),
        Chart(CPU_S.name, colour="store"),
        Chart(MEMORY.name, colour="store"),
    ),
    presets=PRESETS,
)

dag = study_dag(QUERIES)
