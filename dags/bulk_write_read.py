"""The study of bulk writes and reads, from which Storebench grew."""

from storebench.airflow.dags.study import study_dag
from storebench.dataset.csv50 import CSV50
from storebench.fields import Text
from storebench.servers.fault import NO_FAULT
from storebench.servers.fault import PARAMS as FAULT_PARAMS
from storebench.stores.bulk_write_read.cached import AS_IS, CACHE, STATES
from storebench.stores.bulk_write_read.claims import CLAIMS
from storebench.study.dataset import FILE, FILE_FIELD
from storebench.study.faults import axis_of_faults, metrics_of_faults
from storebench.study.model import MEMORY, WORK_TOTAL_S, Axis, Chart, Metric, Operation, Preset, Study, Table
from storebench.study.several_pods import several_pods

STORES = (
    "mongodb",
    "elasticsearch",
    "delta-rs",
    "delta-spark",
    "delta-standalone",
    "delta-kernel",
    "null",
    "parquet",
    "duckdb",
    "postgresql",
    "pyiceberg",
    "chdb",
    "iceberg-spark",
)
# The stores of a run that names none: the stores of the original study, their successors, and the floor.
DEFAULT_STORES = STORES[: STORES.index("null") + 1]
BATCH = Axis(
    name="batch",
    title="Batch",
    description="Rows in one write call; **all** writes the whole dataset in one call. A batch that is as large as the dataset, or larger,"
    " is excluded beside **all**.",
    pattern=r"[1-9][0-9]{0,9}|all",
    hint="a number of rows from 1, or 'all'",
    default=("10000", "100000", "all"),
    choices=("100", "1000", "10000", "100000", "all"),
    grid=("10000", "100000", "all"),
    whole="all",
)
EXECUTORS = Axis(
    name="executors",
    title="Executors",
    description="Spark executor pods. Stores without executors ignore this axis.",
    pattern=r"[1-9][0-9]{0,2}",
    hint="a number of executors from 1 to 999",
    default=("1", "2"),
    choices=("1", "2", "4", "8"),
    grid=("1", "2", "4"),
    where={"store": ("delta-spark", "iceberg-spark")},
)
MAINTENANCE = Axis(
    name="maintenance",
    title="Maintenance",
    description="**on** maintains the table between the write and the read, as the store's documentation advises after a bulk load: files or"
    " segments are merged, or statistics written. The operation `maintain` has the cost, and the read the gain. Stores without maintenance"
    " ignore this axis.",
    pattern="off|on",
    hint="off or on",
    default=("off",),
    choices=("off", "on"),
    grid=("off",),
    where={
        "store": (
            "mongodb",
            "elasticsearch",
            "delta-rs",
            "delta-spark",
            "postgresql",
            "chdb",
            "iceberg-spark",
        )
    },
    implied="off",
)
PODS = several_pods("mongodb", "elasticsearch", "delta-rs", "null")
FAULTS = axis_of_faults(
    *("mongodb", "elasticsearch", "postgresql"),
    kinds=("kill", "pause", "restart", "partition", "compact", "backup"),
)
METRICS = (
    Metric("write_s", "time until the write is durable and visible", merge="leader"),
    Metric("only_s", "time in the store's client", merge="span"),
    Metric("rows_per_s", "dataset rows per second", "higher", merge="leader"),
    Metric("source_s", "reading and parsing the CSV", "neither", merge="max"),
    Metric("barrier_s", "making the data durable and visible", merge="leader"),
    Metric("maintain_s", "time of the maintenance until the next read benefits from it"),
    Metric("files_before", "files, segments or parts before the maintenance", "neither"),
    Metric("files_after", "files, segments or parts after the maintenance"),
)
# The sum of write and barrier ranks a write, since a client may move work, such as replication, from the write into the barrier.
OF_A_WRITE = ("write_s", "rows_per_s", "only_s", "source_s", "barrier_s")
OF_A_READ = ("only_s", "rows_per_s", "source_s", "barrier_s")
OF_MAINTENANCE = ("maintain_s", "files_after", "files_before")
# The further metrics of a read in a run that sets the caches of reads.
CACHE_METRICS = (
    Metric("disk_read_bytes", "bytes read from disk"),
    Metric("needed_bytes", "bytes that a cold read has to read", "neither"),
    Metric("resident_before_bytes", "bytes of the data in the page cache before the read", "neither"),
    Metric("cold_read_mb_per_s", "MB per second from disk with cold caches", "neither"),
    Metric("uncached_mb_per_s", "MB per second at which the disk reads uncached data", "neither"),
    Metric("warm_passes", "passes before a hot read", "neither"),
)
# The further metrics of a write under a fault. A load of few batches has no rate and no percentiles, so it has no time of recovery.
FAULT_METRICS = (
    *metrics_of_faults("unavailable_s", "unavailable_sum_s", "caught_up_s", "command_s"),
    Metric("retried_batches", "batches that were sent again"),
)
TABLE_OF_FAULTS = (
    *(
        "lost_acknowledged",
        "doubled",
        "unavailable_s",
        "unavailable_sum_s",
        "caught_up_s",
        "command_s",
        "retried_batches",
    ),
    *("write_s", "rows_per_s"),
)
WITHOUT_FAULT = {
    FAULTS.name: (NO_FAULT,)
}  # after a fault the table may lack rows, and a read would be measured twice
CACHES = Text(
    title="Caches of reads",
    text="**as_is**: the caches stay as they are after the write. **cold**: the servers are stopped, their data is dropped from the page"
    " cache, and the servers are started again. **lukewarm**: the data is dropped while the servers run. **hot**: the read is repeated"
    " until two reads in a row take the same time; the next read counts. **cold** and **lukewarm** need servers that the run provisions.",
    default=AS_IS,
    earlier=AS_IS,
    examples=STATES,
    pattern="|".join(STATES),
    hint=f"one of {', '.join(STATES)}",
)
CHARTS = (
    Chart("write_s", colour="batch", operations=("write",)),
    Chart("only_s", colour="batch", operations=("read",)),
    Chart("maintain_s", colour="batch", operations=("maintain",)),
    Chart("unavailable_s", colour=FAULTS.name, operations=("write",)),
    *(Chart(name, colour="batch") for name in ("rows_per_s", WORK_TOTAL_S.name, MEMORY.name)),
)
# In the order in which the embedded stack builds and starts their parts: stores with servers, then Python libraries, then the JVM's stores.
QUICK_STORES = (
    "mongodb",
    "elasticsearch",
    "delta-rs",
    "null",
    "delta-standalone",
    "delta-kernel",
    "delta-spark",
)
PRESETS = {
    "quick": Preset(
        "each default store once, with the original study's client: in batches, and all at once",
        {
            "stores": list(QUICK_STORES),
            "clients": ["reference"],
            "batch": ["1000", "all"],  # 20 calls, or one call: a batch of 10,000 would be two calls
            "executors": ["1"],
        },
        # A fixed order gives the first results soon. A run with repeats is for comparisons, which need a random order.
        once={"random_order": False},
    ),
    "tour": Preset(
        "every default store, client and value of an axis, one change at a time",
        {"full_grid": False},
    ),
    "study": Preset(
        "the original study: 1,000,000 rows, three batches, 1, 2 and 4 executors, a sharded MongoDB, three nodes of Elasticsearch",
        {
            "stores": ["delta-spark", "delta-standalone", "mongodb@sharded", "elasticsearch@three"],
            "rows": 1_000_000,
            "seed": 42,
            "clients": ["reference"],
            "batch": ["10000", "100000", "all"],
            "executors": ["1", "2", "4"],
            "executor_cores": 1,
            "executor_memory": "4g",
            "driver_memory": "2g",
            "pod_memory": "12Gi",
        },
        # For one machine with 24 GB: the embedded stack cannot run a sharded MongoDB.
        embedded={
            "stores": ["delta-spark", "delta-standalone", "mongodb", "elasticsearch"],
            "executor_memory": "1g",
        },
    ),
    "maintenance": Preset(
        "what compaction, merging and vacuum cost, and what the next read gains: small batches, without and with maintenance",
        {
            "stores": ["delta-rs", "delta-spark", "iceberg-spark", "elasticsearch", "postgresql", "chdb"],
            "clients": ["reference"],
            "batch": ["1000"],  # 20 write calls: as many files or parts
            "executors": ["1"],
            "maintenance": ["off", "on"],
        },
    ),
    "faults": Preset(
        "the losses and the longest delay of a bulk load if a server is killed or paused; each cell three times",
        {
            "stores": ["mongodb@one", "elasticsearch@three", "postgresql@one"],
            "clients": ["reference"],
            "batch": ["1000"],
            "executors": ["1"],
            "fault": ["none", "kill", "pause"],
            "repeats": 3,
            "rows": 200_000,
            "fault_after_s": 2,
            "fault_for_s": 3,
        },
        embedded={"stores": ["mongodb@one", "elasticsearch@one", "postgresql@one"]},
    ),
}
BULK_WRITE_READ = Study(
    name="bulk_write_read",
    title="Bulk write and read",
    description="""Write a 50-field CSV into a store in batches or all at once, then read it back.

For each combination of store, client, batch and executors one pod writes the dataset, one reads it, and one
removes it. With maintenance, one pod maintains the table before the read. With `fault`, a server is killed, paused, restarted, cut off or maintained on purpose while the
table is written, and every acknowledged row is looked for afterwards. Every attempt is verified against the dataset's manifest and becomes a row of the table
`storebench.results` in Postgres, with its times in seconds and its memory in bytes.""",
    stores=STORES,
    default_stores=DEFAULT_STORES,
    operations=(
        Operation("write", OF_A_WRITE),
        Operation(
            "maintain", OF_MAINTENANCE, needs=("write",), where={"maintenance": ("on",), **WITHOUT_FAULT}
        ),
        Operation("read", OF_A_READ, needs=("write", "maintain"), where=WITHOUT_FAULT),
    ),
    metrics=(*METRICS, *CACHE_METRICS, *FAULT_METRICS),
    dataset=CSV50,
    rows=20_000,
    axes=(BATCH, EXECUTORS, MAINTENANCE, PODS, FAULTS),
    claims=CLAIMS,
    charts=CHARTS,
    tables=(Table("Faults", FAULTS.name, TABLE_OF_FAULTS, ("write",)),),
    params={CACHE: CACHES, FILE: FILE_FIELD, **FAULT_PARAMS},
    presets=PRESETS,
    method_version=3,
)

dag = study_dag(BULK_WRITE_READ)
