"""The study that Storebench grew from."""

from storebench.airflow.dag import study_dag
from storebench.grid import BATCH_SIZE, EXECUTORS, Preset, Study

STORES = (
    "mongodb",
    "elasticsearch",
    "delta-rs",
    "delta-spark",
    "delta-standalone",
    "delta-kernel",
    "null",
)
# In the order in which their parts are built and started: servers, then libraries, then the JVM's.
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
        "each store once, as the study drove it: in batches, and all at once",
        {
            "stores": list(QUICK_STORES),
            "clients": ["reference"],
            "batch_sizes": ["1000", "all"],  # 20 calls or one: 10,000 would be two
            "executors": ["1"],
            "random_order": False,
        },
    ),
    "tour": Preset(
        "every store, client and value of an axis, one change at a time",
        {"full_grid": False},
    ),
    "study": Preset(
        "the original study: 1,000,000 rows, three batch sizes, 1, 2 and 4 executors",
        {
            "stores": ["delta-spark", "delta-standalone", "mongodb", "elasticsearch"],
            "rows": 1_000_000,
            "seed": 42,
            "clients": ["reference"],
            "batch_sizes": ["10000", "100000", "all"],
            "executors": ["1", "2", "4"],
            "executor_cores": 1,
            "executor_memory": "2g",
            "driver_memory": "4g",
            "pod_memory": "12Gi",
        },
        embedded={"executor_memory": "1g", "driver_memory": "2g"},  # on one machine with 24 GB
    ),
}
BULK_WRITE_READ = Study(
    name="bulk_write_read",
    description="""Write a 50-field CSV into a store in batches or all at once, then read it back.

For each combination of store, client, batch size and executors one pod writes the dataset, one reads it, and one
removes it. Every attempt is verified against the dataset's manifest and becomes a row of the table
`storebench.results` in Postgres, with its times in seconds and its memory in bytes.""",
    stores=STORES,
    default_stores=STORES,
    default_rows=20_000,
    axes=(BATCH_SIZE, EXECUTORS),
    presets=PRESETS,
)

dag = study_dag(BULK_WRITE_READ)
