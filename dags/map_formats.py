"""The study of serialization formats in map jobs."""

from storebench.airflow.dags.study import study_dag
from storebench.fields import integer
from storebench.stores.base import Pod
from storebench.stores.map_formats.claims import CLAIMS
from storebench.study.dataset import Dataset
from storebench.study.model import Axis, Chart, Metric, Operation, Preset, Study

BENCHMARKS = ("wide", "narrow", "modify", "extend", "complex", "write")
BENCHMARK = Axis(
    name="benchmark",
    title="Benchmarks",
    description="The work of a job: **wide** counts zeros in 1,000 columns, **narrow** adds up lengths in two, **modify** increments one of"
    " ten columns, **extend** adds a column, **complex** changes a list beside a struct and a dict, **write** makes rows and reads none.",
    pattern="|".join(BENCHMARKS),
    hint=f"one of {', '.join(BENCHMARKS)}",
    default=BENCHMARKS,
    choices=BENCHMARKS,
    grid=BENCHMARKS,
    workload=True,
)
FORMATS = ("yson", "skiff", "protobuf-static", "protobuf-dynamic", "arrow")


def _axis(
    title: str, description: str, *values: str, workload: bool = True, **where: tuple[str, ...]
) -> Axis:
    """Create an axis whose default, and the only value that a backfill fills, is its first value."""
    name, first = title.lower(), values[:1]
    pattern, hint = "|".join(values), " or ".join(values)
    return Axis(name, title, description, pattern, hint, first, values, first, where, workload=workload)


AXES = (
    BENCHMARK,
    _axis(
        "Values",
        "**few**: each column of the table has at most 16 distinct values, and Arrow has dictionaries.",
        "random",
        "few",
        benchmark=BENCHMARKS[:-1],
    ),
    _axis(
        "Position", "Where **extend** adds its column.", "end", "middle", store=FORMATS, benchmark=("extend",)
    ),
    _axis(
        *(
            "Interface",
            "**direct**: a job uses the interface of the format. **common**: one job for all formats, on a common interface.",
            "direct",
            "common",
        ),
        workload=False,
        store=FORMATS,
        client=("python", "compiled"),
    ),
    _axis("Network", "The bandwidth to each job, and from each job.", "unlimited", "10mbit"),
)
METRICS = (
    Metric("job_s", "mean time of a job"),
    Metric("rows_per_s", "rows per second of a job", "higher"),
    Metric("mb_per_s", "MB in and out per second of a job", "higher"),
    Metric("job_cpu_s", "mean CPU time of a job"),
    Metric("job_off_cpu_s", "mean time of a job off the CPU: waiting for input, output or a core"),
    Metric("job_memory_peak_bytes", "highest memory of a job"),
    Metric("in_bytes", "bytes read by all jobs"),
    Metric("out_bytes", "bytes written by all jobs"),
    Metric("job_start_s", "mean time until a job is ready", "neither"),
    Metric("each_job_s", "time of each job", "neither", "series"),
)
PARAMS = {
    "parallel_jobs": integer(
        1, 1, 10, "Parallel jobs", "How many of the ten jobs of an attempt run at once.", (1, 2, 5, 10)
    ),
    "job_timeout_s": integer(
        600, 1, 86_400, "Job timeout", "A job that takes longer, in seconds, is killed.", (60, 600, 3_600)
    ),
}
PRESETS = {
    "quick": Preset("each format in each benchmark, by both clients", {}),
    "study": Preset(
        "the original study: ten jobs at once, and tables so large that fixed costs have little weight",
        {
            "clients": ["compiled", "compiled-columns"],
            "rows": 20_000_000,
            "parallel_jobs": 10,
            "repeats": 6,
            "pod_memory": "32Gi",
            "job_timeout_s": 3_600,
            "attempt_timeout_s": 14_400,
        },
        embedded={"rows": 500_000, "pod_memory": "8Gi"},
    ),
}
MAP_FORMATS = Study(
    name="map_formats",
    title="Formats in map jobs",
    description="""Run six map benchmarks over tables in YSON, Skiff, Protobuf and Arrow.

For each combination of format, client and benchmark one pod runs ten jobs. Each is a process that has a tenth of the table on its
standard input. Every output is decoded by another implementation and compared with the benchmark's plain definition.""",
    stores=(*FORMATS, "null"),
    operations=(Operation("map", tuple(metric.name for metric in METRICS)),),
    metrics=METRICS,
    dataset=Dataset(
        name="map_tables",
        version=3,
        text="100,000 rows are a table of 3 to 18 MB for a benchmark and format; the table of 1,000 columns has 1,000 rows.",
        row_bytes=2_500,  # the bytes of a row in all six benchmarks and all formats together
        max_rows=20_000_000,
        pod=Pod("formats", arguments=("dataset", "storebench.stores.map_formats.dataset:make")),
        axes=("benchmark", "values"),
    ),
    rows=100_000,
    axes=AXES,
    claims=CLAIMS,
    charts=(
        Chart("job_s", colour="store", panel="benchmark"),
        Chart("rows_per_s", colour="store", panel="benchmark"),
        Chart("job_cpu_s", colour="store", panel="benchmark"),
        Chart("job_off_cpu_s", colour="store", panel="benchmark"),
        Chart("in_bytes", colour="store", panel="benchmark"),
        Chart("out_bytes", colour="store", panel="benchmark"),
        Chart("job_memory_peak_bytes", colour="store", panel="benchmark"),
    ),
    params=PARAMS,
    presets=PRESETS,
    method_version=2,
)

dag = study_dag(MAP_FORMATS)
