"""The study of point operations under load."""

from storebench.airflow.dags.study import study_dag
from storebench.servers.fault import MAINTENANCE
from storebench.servers.fault import PARAMS as FAULT_PARAMS
from storebench.stores.point_operations.claims import CLAIMS
from storebench.stores.point_operations.load_plan import LOADS, PARAMS
from storebench.study.faults import METRICS as OF_FAULTS
from storebench.study.faults import axis_of_faults
from storebench.study.model import (
    CPU_S,
    MEMORY,
    Axis,
    Band,
    Better,
    Chart,
    Merge,
    Metric,
    Operation,
    Preset,
    Study,
    Table,
)
from storebench.study.reserved import FAULT
from storebench.study.several_pods import several_pods

STORES = ("mongodb", "cassandra")
PERCENTILES = {"50": "50 %", "90": "90 %", "95": "95 %", "99": "99 %", "999": "99.9 %", "100": "maximum"}
# Latencies of all requests, in which a failed request has the time that its user waited, and of successful requests alone.
LATENCIES = {
    "": "latency",
    "service_": "service time",
    "successful_": "latency of successful requests",
    "successful_service_": "service time of successful requests",
}
HISTOGRAMS = {
    "latency_s": "",
    "service_s": "service_",
    "successful_latency_s": "successful_",
    "successful_service_s": "successful_service_",
}


def _axis(
    name: str, title: str, description: str, *values: str, grid: tuple[str, ...], of_copies: bool = False
) -> Axis:
    """Create an axis whose default is its first value."""
    pattern, hint = "|".join(values), " or ".join(values)
    return Axis(name, title, description, pattern, hint, values[:1], values, grid, of_copies=of_copies)


def _series(name: str, title: str, better: Better = "lower", merge: Merge = "leader") -> Metric:
    return Metric(name, title, better, "series", merge=merge)


AXES = (
    _axis(
        "consistency",
        "Consistency",
        "Number of copies that must answer a request: **one**, as studied, or a **quorum**."
        " Servers with one copy have **one** only.",
        *("one", "quorum"),
        grid=("one", "quorum"),
        of_copies=True,
    ),
    _axis(
        "key_distribution",
        "Keys of reads",
        "Entities that reads request. **uniform**: all equally often; **zipf**: few entities very often.",
        *("uniform", "zipf"),
        grid=("uniform",),
    ),
    _axis(
        "load",
        "Load",
        "**closed**: a user waits for the answer before it asks again, as studied; **open**: requests begin at a constant rate;"
        " **ramp**: the rate rises until the latency breaks its limit, and the last rate within the limit is the result;"
        " **capacity**: a search finds the highest rate within the limit, and confirms it twice.",
        *LOADS,
        grid=("closed",),
    ),
    several_pods(*STORES),
    axis_of_faults(*STORES, kinds=("kill", "pause", "restart", "partition", *MAINTENANCE)),
)
# `merge` says how the figures of several pods become one. The leader computes shares and percentiles from the added counts of all pods.
METRICS = (
    Metric("fill_s", "time to fill the table", merge="span"),
    Metric("entities_per_s", "entities per second while the table is filled", "higher", merge="leader"),
    Metric("operations_per_s", "successful operations per second", "higher", merge="sum"),
    Metric("max_operations_per_s", "most successful operations in one second", "higher", merge="leader"),
    *(
        Metric(f"{prefix}p{name}_s", f"{title}, {text}", merge="leader")
        for prefix, title in LATENCIES.items()
        for name, text in PERCENTILES.items()
    ),
    Metric(
        "not_begun_share",
        "share of the scheduled requests of an open load that did not begin",
        merge="leader",
    ),
    Metric("error_share", "requests that have failed", merge="leader"),
    Metric("timeouts", "requests without an answer in time", merge="sum"),
    Metric("connection_errors", "requests without a connection", merge="sum"),
    Metric("server_errors", "requests that the server refused", merge="sum"),
    Metric(
        *("entity_s", "CPU time of the load generator to make and compare an entity", "neither"), merge="max"
    ),
    Metric("measured_from_s", "end of the warm-up", "neither", merge="leader"),
    *(Metric(name, LATENCIES[prefix], kind="histogram") for name, prefix in HISTOGRAMS.items()),
    _series("each_second_operations_per_s", "successful operations in each second", "higher", "sum"),
    _series("each_second_p50_s", "latency in each second, 50 %"),
    _series("each_second_p95_s", "latency in each second, 95 %"),
    _series("each_second_p99_s", "latency in each second, 99 %"),
    _series("each_second_errors", "failed requests in each second", "lower", "sum"),
    _series("each_second_users", "users in each second", "neither", "sum"),
)
LOADED = tuple(metric.name for metric in METRICS[2:])
OF_STEPS = (
    Metric(
        *("capacity_per_s", "highest rate at which 99 % are answered within the limit", "higher"),
        merge="leader",
    ),
    Metric("broken_operations_per_s", "lowest rate that broke the limit", "neither", merge="leader"),
    _series("each_step_operations_per_s", "rate of each step", "neither"),
    _series("each_step_p99_s", "latency in each step, 99 %"),
)
OF_MIXES = tuple(
    metric
    for kind in ("read", "write")
    for metric in (
        Metric(f"{kind}_error_share", f"{kind}s of a mix that have failed", merge="leader"),
        Metric(f"{kind}_p50_s", f"latency of the {kind}s of a mix, 50 %", merge="leader"),
        Metric(f"{kind}_p99_s", f"latency of the {kind}s of a mix, 99 %", merge="leader"),
        Metric(f"{kind}_latency_s", f"latency of the {kind}s of a mix", kind="histogram"),
    )
)
# The metrics of the table of faults. Charts show two of them.
TABLE_OF_FAULTS = (
    *("lost_acknowledged", "doubled", "unavailable_s", "unavailable_sum_s", "recover_s"),
    *("p99_before_s", "p99_during_s", "p99_after_s", "command_s"),
)
CHARTS_OF_FAULTS = ("unavailable_s", "recover_s")
FAULT_BAND = Band("fault_from_s", "fault_to_s", "fault")
# Of charts: the metric with the end of the warm-up, the series of users, and the parameter with the limit of a ramp's latency.
BEGIN, USERS, SLO = "measured_from_s", "each_second_users", "slo_ms"
PROVISIONED = {"stores": ["mongodb@rest", "cassandra@rest"], "consistency": ["one"], "clients": ["rest"]}
DRIVEN = {"clients": ["direct", "rest", "rest-tuned"], "load": list(LOADS), "full_grid": False}
SHORT = {"users": 20, "spawn_rate": 20, "warmup_s": 5, "duration_s": 10, "first_rate": 200, "slo_ms": 200}
PRESETS = {
    "quick": Preset(
        "each store, client and load, one change at a time, with 20 users for 10 seconds",
        {**PROVISIONED, **DRIVEN, **SHORT, "rows": 10_000, "rate_factor": 1.5, "capacity_tolerance": 0.1},
    ),
    "faults": Preset(
        "the losses and the slow time of a server that is killed, paused or restarted; each cell three times",
        {
            "stores": ["mongodb@one"],
            "clients": ["direct"],
            "consistency": ["one"],
            "fault": ["none", "kill", "pause", "restart"],
            "repeats": 3,
            "rows": 10_000,
            "users": 20,
            "spawn_rate": 20,
            "warmup_s": 10,
            "duration_s": 40,
        },
    ),
    "study": Preset(
        "as studied, except that the service is in Python: 100 users, of which one begins each second; then two minutes are measured."
        " A sharded MongoDB and three nodes of Cassandra, with 2 CPUs and 4 GB each",
        {
            **PROVISIONED,
            "stores": ["mongodb@rest_sharded", "cassandra@rest_three"],
            "server_cpu": "2",
            "server_memory": "4Gi",
            "rows": 100_000,
            "users": 100,
            "spawn_rate": 1,
        },
        embedded={"stores": PROVISIONED["stores"], "server_cpu": None, "server_memory": "2Gi"},
    ),
}
POINT_OPERATIONS = Study(
    name="point_operations",
    title="Point operations under load",
    description="""Write and read entities by their ids, one at a time, by many users at once, in MongoDB and Cassandra.

For each combination one pod fills a table, one reads from it, and one writes new entities. Every read is compared with the entity of its
id, and after the writes the whole table is compared with the acknowledged writes. With `read_share`, reads are mixed with the writes.
With `fault`, a server is killed, paused, restarted, cut off or maintained on purpose, and the table is compared with the acknowledged writes afterwards.
Operations per second count successful requests. Latencies are of all requests: a failed request has the time that its user waited. A table
on the study's page in the documentation lists the differences from the original study.""",
    stores=STORES,
    operations=(
        Operation("fill", ("fill_s", "entities_per_s")),
        Operation("read", LOADED, needs=("fill",)),
        Operation("write", LOADED, needs=("fill",)),
    ),
    metrics=(*METRICS, *OF_STEPS, *OF_MIXES, *OF_FAULTS),
    rows=100_000,
    axes=AXES,
    claims=CLAIMS,
    charts=(
        Chart("operations_per_s", colour="store"),
        Chart("max_operations_per_s", colour="store"),
        Chart("each_second_operations_per_s", "store", since=BEGIN, beside=USERS, band=FAULT_BAND),
        Chart("latency_s", colour="store", limit=SLO),
        Chart("p95_s", colour="store"),
        Chart("p99_s", colour="store"),
        Chart("each_second_p95_s", "store", since=BEGIN, beside=USERS, band=FAULT_BAND),
        Chart("each_second_p99_s", "store", limit=SLO, since=BEGIN, beside=USERS, band=FAULT_BAND),
        Chart("each_second_errors", "store", since=BEGIN, beside=USERS, band=FAULT_BAND),
        Chart("capacity_per_s", "store", ("read", "write")),
        Chart("each_step_p99_s", "store", ("read", "write"), over="each_step_operations_per_s", limit=SLO),
        *(Chart(name, "fault", ("read", "write")) for name in CHARTS_OF_FAULTS),
        Chart(CPU_S.name, colour="store"),
        Chart(MEMORY.name, colour="store"),
    ),
    tables=(Table("Faults", FAULT, TABLE_OF_FAULTS, ("read", "write")),),
    params={**PARAMS, **FAULT_PARAMS},
    presets=PRESETS,
    method_version=2,
)

dag = study_dag(POINT_OPERATIONS)
