"""A user's study: the speed of writing words to S3 in parts, counting them, and sorting them."""

from storebench.airflow.dags.study import study_dag
from storebench.stores.base import Pod
from storebench.study.dataset import Dataset
from storebench.study.model import Axis, Chart, Metric, Operation, Study

PARTS = Axis(
    name="parts",
    title="Parts",
    description="How many objects the words are in; **lines** is one for each line.",
    pattern=r"[1-9][0-9]{0,2}|lines",
    hint="a number of parts from 1 to 999, or 'lines'",
    default=("2", "8"),
    choices=("2", "8", "lines"),
    grid=("2", "8"),
)
WORDS = Study(
    name="words_study",
    title="Words",
    description="Put words into S3 in parts, count them, and sort them.",
    stores=("words",),
    operations=(
        Operation("put", ("puts_per_s", "latency_s", "progress_bytes")),
        Operation("count", ("count_s",), needs=("put",)),
        Operation("sort", ("words_per_s",), needs=("put",)),
    ),
    metrics=(
        Metric("puts_per_s", "parts put a second", "higher"),
        Metric("count_s", "time to count"),
        Metric("words_per_s", "words sorted a second", "higher"),
        Metric("latency_s", "time of one put", kind="histogram"),
        Metric("progress_bytes", "bytes put", "neither", "series"),
    ),
    dataset=Dataset(
        name="words",
        version=1,
        text="A row is a line of three words.",
        row_bytes=16,
        max_rows=100_000,
        pod=Pod(arguments=("dataset", "storebench.stores.words_study.words:make")),
    ),
    rows=400,
    axes=(PARTS,),
    charts=tuple(
        Chart(name, colour="parts") for name in ("puts_per_s", "words_per_s", "latency_s", "progress_bytes")
    ),
)

dag = study_dag(WORDS)
