"""Names that a study cannot use, because the results use them.

Each study has a view in the schema of the results. The view has the study's axes and metrics beside the columns of the view `results`.
"""

from storebench.protocol.figures import FIGURES

DROP = "drop"  # the step after a cell's operations, which removes the cell's data
STORE, CLIENT, OPERATION = (
    "store",
    "client",
    "operation",
)  # places of a chart's colours and panels, beside the axes
PODS = (
    "pods"  # the axis that only storebench.study.several_pods makes: how many pods do one operation together
)
FAULT = "fault"  # the axis that only storebench.study.faults makes: what is done to a server on purpose
POD = ("pod_cpu", "cpu_limit", "pod_memory")  # parameters of each attempt's pod, for every store

TABLES = frozenset(
    [
        "artifact",
        "attempt",
        "baseline",
        "cell",
        "counter",
        "dataset",
        "environment",
        "parameters",
        "phase",
        "profile",
        "run",
        "run_cell",
        "secret_use",
        "server_use",
        "statistic",
        "study",
        "undropped",
        "usage",
        "results",
        "counters",
        "latest",
        "newest",
        "summary",
    ]
)
SUFFIXES = ("", "_latest", "_newest", "_summary")  # suffixes of the names of a study's views
COLUMNS = frozenset(
    [
        *FIGURES,
        "run",
        "tags",
        "study",
        "store",
        "client",
        "axes",
        "rows",
        "seed",
        "repeat",
        "warm_up",
        "arm",
        "operation",
        "status",
        "error_kind",
        "error",
        "verification",
        "metric",
        "value",
        "unit",
        "metrics",
        "work_total_s",
        "pod_total_s",
        "client_bound",
        "service_bound",
        "server_name",
        "server_version",
        "dataset_id",
        "dataset_bytes",
        "client_pods",
        "executor_pods",
        "executors_memory_peak_bytes",
        "executors_memory_working_set_peak_bytes",
        "executors_cpu_s",
        "server_pods",
        "servers_memory_working_set_peak_bytes",
        "servers_cpu_s",
        "servers_throttled_s",
        "servers_read_bytes",
        "servers_written_bytes",
        "servers_data_bytes",
        "servers_restarts",
        "all_memory_peak_bytes",
        "all_memory_working_set_peak_bytes",
        "all_cpu_s",
        "environment_hash",
        "parameters_hash",
        "parameters",
        "method_version",
        "code_version",
        "exit_code",
        "node",
        "pod",
        "target",
        "started_at",
        "finished_at",
        "recorded_at",
        "cell_key",
        "try_number",
        "run_id",
        "attempt_id",
        "n",
        "median",
        "min",
        "max",
        "first_quartile",
        "third_quartile",
        "interquartile_range",
        "interval_low",
        "interval_high",
        "interval_coverage",
        "conditions",
    ]
)
