"""The study of column scans with cold and hot caches."""

from storebench.airflow.dags.study import study_dag
from storebench.fields import Text
from storebench.stores.base import Pod
from storebench.stores.column_scan.claims import CLAIMS
from storebench.stores.column_scan.table import ROW_BYTES, SUMMED
from storebench.study.dataset import Dataset
from storebench.study.model import MEMORY, Axis, Chart, Metric, Operation, Preset, Study

WENDELIN = ("wendelin-numpy", "wendelin-pandas")
STORES = (
    "numpy-memory",
    "numpy-memmap",
    "duckdb",
    "duckdb-parquet",
    "pyarrow-parquet",
    "mariadb",
    *WENDELIN,
)
BLOCK_FORMAT = Axis(
    name="block_format",
    title="Block format",
    description="The objects of an array in wendelin.core's database: **ZBlk0** has an object for every 2 MiB, **ZBlk1** for every 4 KiB."
    " Other stores ignore this axis.",
    pattern="ZBlk[01]",
    hint="ZBlk0 or ZBlk1",
    default=("ZBlk0", "ZBlk1"),
    choices=("ZBlk0", "ZBlk1"),
    grid=("ZBlk0", "ZBlk1"),
    where={"store": WENDELIN},
)
METRICS = (
    Metric("write_s", "time to write"),
    Metric("sum_s", "time to add up the column"),
    Metric("rows_per_s", "rows per second", "higher"),
    Metric("stored_bytes", "size of the table"),
    Metric("disk_read_bytes", "bytes read from disk"),
    Metric("needed_bytes", "bytes that a cold sum has to read", "neither"),
    Metric("resident_before_bytes", "bytes of the table in the page cache before the sum", "neither"),
    Metric("cold_read_mb_per_s", "MB per second from disk with cold caches", "neither"),
    Metric("uncached_mb_per_s", "MB per second at which the disk reads uncached data", "neither"),
    Metric("warm_passes", "passes before a hot sum", "neither"),
)
SUM = ("sum_s", "disk_read_bytes", "rows_per_s")
SUMS = ("cold_sum", "hot_sum")
STUDY_ROWS = 1_430_394
COLUMN = Text(
    title="Column to add up",
    text=f"One of {', '.join(f'**{name}**' for name in SUMMED)}.",
    default=SUMMED[0],
    examples=SUMMED,
    pattern="|".join(SUMMED),
    hint=f"one of {', '.join(SUMMED)}",
)
# The run provisions the servers: only the agents of provisioned servers can prove a cold sum.
PRESET_STORES = [f"{name}@one" if name in ("mariadb", *WENDELIN) else name for name in STORES]
PRESETS = {
    "quick": Preset(
        "each tool with the original study's client and 100,000 rows",
        {"stores": PRESET_STORES, "clients": ["reference"], "rows": 100_000},
    ),
    "study": Preset(
        f"the original study: {STUDY_ROWS:,} rows, and six repeats, as a median's interval needs",
        {"stores": PRESET_STORES, "clients": ["reference"], "rows": STUDY_ROWS, "repeats": 6},
    ),
}
COLUMN_SCAN = Study(
    name="column_scan",
    title="Column scans",
    description="""Add up one column of a table of 23, cold and hot, in MariaDB, NumPy, Wendelin, DuckDB and Parquet.

For each tool one pod writes the table, one adds up the column with cold caches, and one with hot caches. Every sum is compared with the
exact sum. A cold sum is verified only if none of its data was in the page cache before, and if it has read the needed bytes from disk.""",
    stores=STORES,
    operations=(
        Operation("write", ("write_s", "stored_bytes", "rows_per_s")),
        Operation("cold_sum", (*SUM, "needed_bytes", "resident_before_bytes"), needs=("write",)),
        Operation("hot_sum", (*SUM, "warm_passes"), needs=("write",)),
    ),
    metrics=METRICS,
    dataset=Dataset(
        name="stock",
        version=1,
        text=f"A row has {ROW_BYTES} bytes in 23 columns; the original study had {STUDY_ROWS:,} rows.",
        row_bytes=ROW_BYTES,
        max_rows=5_000_000,
        pod=Pod("columns", arguments=("dataset", "storebench.stores.column_scan.dataset:make")),
    ),
    rows=100_000,
    axes=(BLOCK_FORMAT,),
    claims=CLAIMS,
    charts=(
        Chart("sum_s", colour="operation", operations=SUMS, panel=""),
        Chart("write_s", colour="client"),
        Chart("stored_bytes", colour="client"),
        Chart("disk_read_bytes", colour="operation", operations=SUMS, panel=""),
        Chart(MEMORY.name, colour="store"),
    ),
    params={"column": COLUMN},
    presets=PRESETS,
)

dag = study_dag(COLUMN_SCAN)
