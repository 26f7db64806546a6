"""The parameters of a study's DAG: the form in Airflow's user interface and the checks behind it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from airflow.sdk import Param

from storebench.dataset.generate import MAX_ROWS
from storebench.errors import SpecError
from storebench.grid import MAX_SEED, Grid, Study
from storebench.partition import cell_of
from storebench.results.statistics import MIN_VALUES
from storebench.spark.session import ENCRYPTION
from storebench.stores import SERVER
from storebench.stores import load as load_store

MAX_REPEATS = 100
MAX_BUDGET_MIN = 10_080  # a week
JAVA_SIZE = r"^[1-9][0-9]*[mg]$"
QUANTITY = r"^[1-9][0-9]*(\.[0-9]+)?(m|k|M|G|T|Ki|Mi|Gi|Ti)?$"  # of Kubernetes


def params_of(study: Study) -> dict[str, Param]:
    """The form's fields, in order: what to measure, then how."""
    axes = {
        axis.param: Param(
            list(axis.default),
            type="array",
            items={"type": "string", "pattern": f"^({axis.pattern})$"},
            examples=list(axis.choices),
            minItems=1,
            uniqueItems=True,
            title=axis.title,
            description_md=f"{axis.description} Each value is {axis.hint}; one that is not"
            " in the list goes into the JSON under Advanced Options.",
        )
        for axis in study.axes
    }
    return {
        "stores": _choice(
            study.default_stores,
            study.stores,
            "Stores",
            "The storage engines to measure. `mongodb@NAME` is MongoDB at the Airflow Connection `storebench_mongodb_NAME`, so"
            " that several servers are compared in one grid: add it to the JSON under Advanced Options.",
            suffix=f"(@{SERVER})?",
        ),
        "clients": _choice(
            study.clients,
            study.clients,
            "Clients",
            "How the stores are driven: `reference` does exactly what the original study did.",
        ),
        **axes,
        "full_grid": _flag(
            "Full grid",
            "Every combination. Off: at each store one thing at a time differs from the first of its values, the client or the"
            " place on one axis, which shows each value in far fewer cells.",
            default=True,
        ),
        "rows": _integer(
            study.default_rows,
            1,
            MAX_ROWS,
            "Rows",
            "Rows of the dataset; 1,000,000 rows are a CSV of 484 MB.",
        ),
        "seed": _integer(
            42, 0, MAX_SEED, "Seed", "The same rows and seed give the same dataset, byte for byte."
        ),
        "repeats": _integer(
            1,
            1,
            MAX_REPEATS,
            "Repeats",
            "How often each cell is measured; with a precision or a budget, at most. Interleaved in a random order.",
        ),
        **_repeat_params(),
        "keep_data": _flag(
            "Keep data", "Leave in the stores what was written; the column `target` of the results names it."
        ),
        "pod_cpu": _text(
            "500m",
            QUANTITY,
            "CPU request of a pod",
            "Kubernetes quantity, such as `500m` or `2`.",
        ),
        "cpu_limit": _flag(
            "CPU limit",
            "Limit the CPU of pods and executors to their request: their QoS class is Guaranteed, and with whole CPUs and the"
            " kubelet's static policy each has cores of its own. Off: they use what their node has.",
        ),
        "pod_memory": _text(
            "8Gi",
            QUANTITY,
            "Memory of a pod",
            "Kubernetes quantity, such as `8Gi`: request and limit. All at once needs about"
            " 6 GiB for each million rows.",
        ),
        "startup_timeout_s": _integer(
            120,
            1,
            3600,
            "Start limit, s",
            "Seconds a pod may wait for a node, and again for its image and start.",
        ),
        "attempt_timeout_s": _integer(
            3600,
            1,
            86_400,
            "Attempt limit, s",
            "Seconds after which an attempt is ended and recorded as failed.",
        ),
        **{name: param for name, param in _executor_params().items() if name in _options(study)},
    }


def defaults_of(study: Study, asked: Mapping[str, Any]) -> dict[str, Any]:
    """The values of a run's parameters where only these are asked for; raises SpecError for one that the study has not."""
    defaults = {name: param.value for name, param in params_of(study).items()}
    if unknown := asked.keys() - defaults:
        raise SpecError(
            f"There is no parameter {', '.join(sorted(unknown))}: there are {', '.join(defaults)}"
        )
    return defaults | dict(asked)


def _repeat_params() -> dict[str, Param]:
    return {
        "skip_done": _optional(
            "boolean",
            "Skip what is done",
            "Leave out the repeats that are verified already and were not disturbed, of the same dataset, by the same code, in the same"
            " environment, with the same sizes of pods and executors. Empty: yes in a backfill, no in a run by hand.",
        ),
        "warm_up": _flag(
            "Warm up",
            "Begin with one attempt at each store that does not count; the column `warm_up` marks it.",
        ),
        "a_a": _flag(
            "A/A",
            "Measure each cell twice as often, as two arms that differ in nothing: `storebench compare RUN --a-a` then tells"
            " the noise.",
        ),
        "precision_percent": _optional(
            "number",
            "Precision, %",
            "Stop repeating a cell once the 95 % confidence interval of its median is within this distance of the median, in"
            f" write and read, {MIN_VALUES} repeats at least. Empty: all repeats.",
            exclusiveMinimum=0,
            maximum=100,
        ),
        "budget_min": _optional(
            "number",
            "Budget, minutes",
            "Begin no further repeat after so many minutes. Each cell is measured once all the same.",
            exclusiveMinimum=0,
            maximum=MAX_BUDGET_MIN,
        ),
        "order_seed": _optional(
            "integer",
            "Seed of the order",
            "The same seed gives the same order of the cells. Empty: drawn, and recorded with the run.",
            minimum=0,
            maximum=MAX_SEED,
        ),
    }


def _options(study: Study) -> set[str]:
    return {name for store in study.stores for name in load_store(store).options}


def _executor_params() -> dict[str, Param]:
    """For stores whose pod starts executors of its own. The defaults let four of them fit on a small node."""
    sizes = "Java size, such as `1g` or `768m`."
    return {
        "executor_cores": _integer(1, 1, 64, "Executor cores", "Tasks that an executor runs at a time."),
        "executor_cpu": _text(
            "250m", QUANTITY, "CPU request of an executor", "Kubernetes quantity, such as `250m` or `2`."
        ),
        "executor_memory": _text("1g", JAVA_SIZE, "Executor memory", f"Heap of an executor. {sizes}"),
        "executor_memory_overhead": _text(
            "768m",
            JAVA_SIZE,
            "Executor overhead",
            f"What an executor's pod gets beside its heap: Python, buffers, class data. {sizes}",
        ),
        ENCRYPTION: _flag(
            "Executor encryption",
            "Spark's driver and executors prove to each other who they are, and encrypt what they send (AES-GCM). Off: whoever"
            " reaches their ports can read the data and the S3 login, and run code in the pods.",
            default=True,
        ),
        "driver_memory": _text(
            "2g", JAVA_SIZE, "Driver memory", f"Heap of the driver, within the memory of a pod. {sizes}"
        ),
    }


def grid_of(study: Study, params: Mapping[str, Any], partition: str | None = None) -> Grid:
    """The grid that a run's parameters ask for, or the one cell of its partition; raises SpecError for a bad one."""
    if partition is not None:
        return Grid((cell_of(study, partition, params["rows"], params["seed"]),), 0)
    return study.grid(
        stores=params["stores"],
        clients=params["clients"],
        axes={axis.param: params[axis.param] for axis in study.axes},
        rows=params["rows"],
        seed=params["seed"],
        full=params["full_grid"],
    )


def _choice(
    default: tuple[str, ...], choices: tuple[str, ...], title: str, text: str, suffix: str = ""
) -> Param:
    return Param(
        list(default),
        type="array",
        items={"type": "string", "pattern": f"^({'|'.join(choices)}){suffix}$"},
        examples=list(choices),
        minItems=1,
        uniqueItems=True,
        title=title,
        description_md=text,
    )


def _text(default: str, pattern: str, title: str, text: str) -> Param:
    return Param(default, type="string", pattern=pattern, title=title, description_md=text)


def _integer(default: int, minimum: int, maximum: int, title: str, text: str) -> Param:
    return Param(
        default,
        type="integer",
        minimum=minimum,
        maximum=maximum,
        title=title,
        description_md=f"{text} From {minimum:,} to {maximum:,}.",
    )


def _flag(title: str, text: str, *, default: bool = False) -> Param:
    return Param(default, type="boolean", title=title, description_md=text)


def _optional(kind: str, title: str, text: str, **limits: Any) -> Param:
    return Param(None, type=["null", kind], title=title, description_md=text, **limits)
