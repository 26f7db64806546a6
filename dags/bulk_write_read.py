"""The study that Storebench grew from."""

from storebench.airflow.dag import study_dag
from storebench.grid import BATCH_SIZE, EXECUTORS, Study

STORES = (
    "mongodb",
    "elasticsearch",
    "delta-rs",
    "delta-spark",
    "delta-standalone",
    "delta-kernel",
    "null",
)
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
)

dag = study_dag(BULK_WRITE_READ)
