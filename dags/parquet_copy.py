"""The study of file systems under Spark: Parquet files generated and copied, with checksums and without."""

from storebench.airflow.dags.study import study_dag
from storebench.servers.fault import PARAMS as FAULT_PARAMS
from storebench.stores.parquet_copy.claims import CLAIMS
from storebench.study.faults import axis_of_faults, metrics_of_faults
from storebench.study.model import MEMORY, Axis, Chart, Metric, Operation, Preset, Study, Table

CHECKSUM = Axis(
    name="checksum",
    title="Checksums",
    description="Checksums of the file system: **on**, or **off** (HDFS: `dfs.checksum.type` CRC32C or NULL, Ozone:"
    " `ozone.client.checksum.type` CRC32 or NONE). The checksums of Spark and Parquet do not change.",
    pattern="on|off",
    hint="on or off",
    default=("on", "off"),
    choices=("on", "off"),
    grid=("on", "off"),
    where={"store": ("hdfs", "ozone", "local")},
)
EXECUTORS = Axis(
    name="executors",
    title="Executors",
    description="Spark executor pods. **local**: none, the driver does all work on its own cores, as in the original study.",
    pattern=r"local|[1-9][0-9]{0,2}",
    hint="local, or a number of executors from 1 to 999",
    default=("local",),
    choices=("local", "1", "2", "4"),
    grid=("local", "1", "2", "4"),
    where={"store": ("hdfs", "ozone", "s3", "null")},
)
ITERATIONS = Axis(
    name="iterations",
    title="Iterations",
    description="Number of times that **rows** rows are generated, with different rows each time.",
    pattern=r"[1-9][0-9]{0,4}",
    hint="a number from 1 to 99999",
    default=("3",),
    choices=("1", "3", "10", "200"),
    grid=("3",),
)
RECORD_BYTES = Axis(
    name="record_bytes",
    title="Bytes of a row",
    description="Printable characters of a row, without the row's number.",
    pattern=r"[1-9][0-9]{0,5}|1000000",
    hint="a number of bytes from 1 to 1000000",
    default=("1000",),
    choices=("100", "1000", "10000"),
    grid=("1000",),
)
FAULTS = axis_of_faults("hdfs", "ozone", kinds=("kill", "pause"))
METRICS = (
    Metric("time_s", "time"),
    Metric("mb_per_s", "MB of rows per second", "higher"),
    Metric("disk_bytes", "bytes on disk, with all copies"),
    Metric("file_bytes", "size of the files, without copies"),
    Metric("files", "files", "neither"),
    Metric("received_bytes", "bytes that the driver's pod received", "neither"),
    Metric("sent_bytes", "bytes that the driver's pod sent", "neither"),
    Metric("read_mb_per_s", "MB per second read from the disk", "higher"),
    Metric("write_mb_per_s", "MB per second written to the disk", "higher"),
    *metrics_of_faults("caught_up_s"),
)
FIGURES = ("time_s", "mb_per_s")
# The run provisions the servers of HDFS and Ozone. The floor comes first: the speed of the disk itself.
QUICK = ("disk", "local", "null", "s3", "hdfs@three", "ozone@three")
STUDY_STORES = ("disk", "null", "hdfs@three", "ozone@three")
PRESETS = {
    "quick": Preset(
        "each file system with the original study's client and 30 MB",
        {"stores": list(QUICK), "clients": ["reference"]},
    ),
    "study": Preset(
        "the original study: 200 times 100 MB, three DataNodes, one local executor",
        {
            "stores": list(STUDY_STORES),
            "clients": ["reference"],
            "rows": 100_000,
            "iterations": ["200"],
            "volume_size": "100Gi",
            "server_disk": "50Gi",
            "attempt_timeout_s": 14_400,
        },
        embedded={"iterations": ["5"], "volume_size": "4Gi", "server_disk": "10Gi"},
    ),
}
PARQUET_COPY = Study(
    name="parquet_copy",
    title="Parquet on file systems",
    description="""Spark generates Parquet files of random rows in HDFS, Ozone, S3 or on a volume, and copies them, with checksums and without.

For each file system one pod generates the files, and one copies them. All rows are read back by another reader than Spark, and compared
with the expected rows. With `fault`, a DataNode is killed or paused on purpose while files are copied. The stores **null** (it discards the rows) and **disk** (it writes their bytes sequentially) show the other limits.""",
    stores=("hdfs", "ozone", "s3", "local", "null", "disk"),
    operations=(Operation("generate", FIGURES), Operation("copy", FIGURES, needs=("generate",))),
    metrics=METRICS,
    rows=10_000,
    axes=(CHECKSUM, EXECUTORS, ITERATIONS, RECORD_BYTES, FAULTS),
    params=dict(FAULT_PARAMS),
    tables=(
        Table("Faults", FAULTS.name, ("lost_acknowledged", "doubled", "caught_up_s", *FIGURES), ("copy",)),
    ),
    claims=CLAIMS,
    charts=(
        Chart("time_s", colour="checksum"),
        Chart("mb_per_s", colour="checksum"),
        Chart("time_s", colour=FAULTS.name, operations=("copy",)),
        Chart("disk_bytes", colour="store", operations=("generate", "copy")),
        Chart(MEMORY.name, colour="checksum"),
    ),
    presets=PRESETS,
)

dag = study_dag(PARQUET_COPY)
