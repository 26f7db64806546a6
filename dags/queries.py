"""The study of questions about one table."""

from dataclasses import replace

from storebench.airflow.dags.study import study_dag
from storebench.dataset.csv50 import CSV50
from storebench.fields import integer
from storebench.stores.queries.asking import (
    CACHE,
    COLD,
    CONCURRENCY,
    HOT,
    INGEST,
    OFF,
    ON,
    RATE,
    WINDOW_S,
)
from storebench.stores.queries.questions import QUESTIONS, metric_of, p99_of
from storebench.study.model import CPU_S, MEMORY, Axis, Chart, Metric, Operation, Preset, Study
from storebench.study.several_pods import several_pods

STORES = ("duckdb", "duckdb-parquet", "chdb", "postgresql", "mongodb", "elasticsearch")
DIVIDING = ("postgresql", "mongodb", "elasticsearch")
ON_VOLUMES = ("duckdb", "duckdb-parquet", "chdb")
WRITABLE = tuple(name for name in STORES if name != "duckdb-parquet")  # a Parquet file cannot be changed


def _axis(
    name: str,
    title: str,
    description: str,
    hint: str,
    *choices: str,
    pattern: str = "",
    **where: tuple[str, ...],
) -> Axis:
    """Create an axis of different work. The first choice is the default, and is implied by a cell that does not name the axis."""
    first = choices[:1]
    pattern = pattern or "|".join(choices)
    return Axis(
        name, title, description, pattern, hint, first, choices, first, where, workload=True, implied=first[0]
    )


CONCURRENT = _axis(
    CONCURRENCY,
    "Clients",
    "Clients that ask at once in each pod, each over its own connection and in its own order. **1** asks one question after another.",
    "a number of clients from 1 to 999",
    *("1", "2", "4", "8", "16"),
    pattern="[1-9][0-9]{0,2}",
)
COLD_CACHES = _axis(
    CACHE,
    "Caches",
    "**hot**: each question is asked once untimed before. **cold**: before each answer a new connection, and no page of the table in the page"
    " cache. For one client, and for stores whose data is on the cell's volume.",
    f"{HOT} or {COLD}",
    *(HOT, COLD),
    store=ON_VOLUMES,
    concurrency=("1",),
)
INCOMING = _axis(
    INGEST,
    "Rows come in",
    "**on**: while clients ask, a writer appends rows to the table at a constant rate (`ingest_rate`). A store that cannot append to its table"
    " ignores this axis.",
    f"{OFF} or {ON}",
    *(OFF, ON),
    store=WRITABLE,
)
PARAMS = {
    WINDOW_S: replace(
        integer(
            10,
            1,
            3_600,
            "Window",
            "Seconds that several clients ask at least, or one client while rows come in.",
            (5, 10, 60),
        ),
        earlier=10,
    ),
    RATE: replace(
        integer(
            500,
            1,
            1_000_000,
            "Incoming rows",
            f"Rows per second that a writer appends while clients ask, with {INGEST}={ON}.",
            (100, 500, 5_000),
        ),
        earlier=500,
    ),
}
# `merge` says how the figures of several pods become one. The leader computes them from the times of all pods.
OF_QUESTIONS = tuple(Metric(metric_of(name), text, merge="leader") for name, text in QUESTIONS.items())
METRICS = (
    Metric("load_s", "time to load"),
    Metric("rows_per_s", "rows per second while loading", "higher"),
    Metric("geometric_mean_s", "geometric mean of the questions' times", merge="leader"),
    Metric("questions", "number of answered questions", "higher", merge="leader"),
    Metric("queries_per_h", "queries per hour of all clients", "higher", merge="leader"),
    *OF_QUESTIONS,
    Metric("delete_s", "time to delete 1 % of the rows"),
)
# The further metrics of `ask`, by the cell's axes
OF_CLIENTS = (
    Metric("window_s", "time until the last client ends", "neither", merge="span"),
    Metric("tail_s", "time from the first client's end to the last client's end", "neither", merge="leader"),
    *(Metric(p99_of(name), f"{text}, 99 %", merge="leader") for name, text in QUESTIONS.items()),
)
OF_INCOMING_ROWS = (
    Metric("ingested_rows_per_s", "rows per second that came in", "higher"),
    Metric("ingest_delay_s", "longest time until due rows were acknowledged"),
)
OF_COLD_CACHES = (
    Metric("disk_read_bytes", "bytes read from disk for one answer to each question"),
    Metric("needed_bytes", "bytes that cold answers have to read at least", "neither"),
    Metric("resident_before_bytes", "bytes of the table in the page cache before the answers", "neither"),
    Metric("cold_read_mb_per_s", "MB per second from disk with cold caches", "neither"),
    Metric("uncached_mb_per_s", "MB per second at which the disk reads uncached data", "neither"),
)
QUICK = {"clients": ["reference"], "rows": 20_000}
PRESETS = {
    "quick": Preset("each store once, with 20,000 rows, without chosen indexes", QUICK),
    "tuned": Preset(
        "each store and client, with 20,000 rows", {"clients": ["reference", "tuned"], "rows": 20_000}
    ),
    "concurrent": Preset(
        "each store with one client and with four clients at once, with 20,000 rows",
        {**QUICK, CONCURRENCY: ["1", "4"]},
    ),
    "ingest": Preset(
        "each store that can append rows, with four clients, without and with rows that come in, with 20,000 rows",
        {**QUICK, "stores": list(WRITABLE), CONCURRENCY: ["4"], INGEST: [OFF, ON]},
    ),
    "cold": Preset(
        "each store on the cell's volume, with hot and with cold caches, with 20,000 rows",
        {**QUICK, "stores": list(ON_VOLUMES), CACHE: [HOT, COLD]},
    ),
}
QUERIES = Study(
    name="queries",
    title="Questions about one table",
    description="""Load the table of 50 fields once, ask ten questions about it, and delete 1 % of its rows.

The questions: count, sum, a range, groups of low and of high cardinality, the ten largest, distinct values, a text that contains another, a
row by its key, a join of the table with itself. Each store answers in its own language, with warm caches: a figure is the median of five
passes after one untimed pass. Every answer is compared with the right answer, which is computed from the dataset's definition without a
store. Axes let several clients ask at once, empty the caches before each answer, or let rows come in meanwhile. Stores are ranked by each question, and by the geometric mean of all questions with ClickBench's rules: 10 ms are added to each time,
and a question that a store cannot answer counts as twice its longest time, or as 600 s if that is longer.""",
    stores=STORES,
    operations=(
        Operation("load", ("load_s", "rows_per_s")),
        Operation(
            "ask",
            ("geometric_mean_s", "questions", "queries_per_h", *(metric.name for metric in OF_QUESTIONS)),
            needs=("load",),
        ),
        Operation("delete", ("delete_s",), needs=("load",)),
    ),
    metrics=(*METRICS, *OF_CLIENTS, *OF_INCOMING_ROWS, *OF_COLD_CACHES),
    dataset=replace(CSV50, custom_file=None),  # the questions are about its 50 fields
    rows=20_000,
    axes=(CONCURRENT, COLD_CACHES, INCOMING, several_pods(*DIVIDING)),
    params=PARAMS,
    charts=(
        Chart("geometric_mean_s", colour="store"),
        *(Chart(metric.name, colour="store") for metric in OF_QUESTIONS),
        Chart("queries_per_h", colour="store"),
        Chart("ingested_rows_per_s", colour="store", operations=("ask",)),
        Chart("load_s", colour="store"),
        Chart("delete_s", colour="store"),
        Chart(CPU_S.name, colour="store"),
        Chart(MEMORY.name, colour="store"),
    ),
    presets=PRESETS,
)

dag = study_dag(QUERIES)
