"""Declare each figure of an attempt once: its name, type, unit and meaning.

The declarations define the figures in the schema of a result, the columns that are recorded and shown, the names that a study cannot use,
the model of the page's API, and the table of docs/results.md. `python -m storebench.attempt.schema` writes the schema and the table.
"""

# No `from __future__ import annotations`: `fields()` then returns types, not texts that a pod would have to evaluate.

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Annotated, Any, Literal, get_args

# The scope of a pod's memory and CPU figures: a client with a server elsewhere, or the engine inside the pod.
Cover = Literal["client", "engine"]
# The guarantee of an acknowledged write (storebench.stores.base.Durability).
Guarantee = Literal["disk", "memory", "none", "s3", "unknown"]

# The JSON Schema of a figure by its unit. `$defs` are in storebench.attempt.schema.
SCHEMAS: Mapping[str, Mapping[str, Any]] = {
    "seconds": {"$ref": "#/$defs/seconds"},
    "bytes": {"$ref": "#/$defs/bytes"},
    "count": {"$ref": "#/$defs/count"},
    "cores": {"type": ["number", "null"], "minimum": 0},
    "ratio": {"type": ["number", "null"]},
    "text": {"type": ["string", "null"]},
}


@dataclass(frozen=True)
class Figure:
    """Describe a figure of an attempt.

    `unit`: a key of SCHEMAS. `text`: the meaning, in Markdown without links. `link`: a heading below docs/ that explains the figure.
    `by_agent`: `storebench-agent pod` (agent/pod.go) adds the figure to the message of a program that does not report it.
    """

    unit: str
    text: str
    link: str = ""
    by_agent: bool = False

    def __get_pydantic_json_schema__(self, core_schema: Any, handler: Any) -> dict[str, Any]:
        """Describe the figure in the page's API. Pydantic calls this method."""
        return {**handler(core_schema), "description": self.text}


@dataclass
class PodFigures:
    """Figures of an attempt and its pod."""

    delivers: Annotated[
        str | None,
        Figure(
            "text",
            "form of the data that a read hands to the program; null for other operations, and if not recorded",
            "stores.md#what-a-read-delivers",
        ),
    ] = None
    disturbed: Annotated[
        str | None,
        Figure(
            "text",
            "reason why all statistics exclude the attempt's time although its data is right; null if no disturbance is known, see also"
            " `not_judged`",
            "method.md#disturbed-attempts",
        ),
    ] = None
    perhaps_disturbed: Annotated[
        str | None,
        Figure(
            "text",
            "possibly disturbed: foreign work, or work of the store's own server, may have slowed the operation, or a cold read was faster"
            " than the disk. The attempt's time counts",
            "method.md#disturbed-attempts",
        ),
    ] = None
    not_judged: Annotated[
        str | None,
        Figure(
            "text",
            "reason why a disturbance by other work on the node can be neither shown nor ruled out; null if the attempt was judged, and for"
            " attempts that do not count. For operations between 0.1 and 1 s in rows older than this column, null has no meaning",
            "method.md#disturbed-attempts",
        ),
    ] = None
    durability: Annotated[
        Guarantee | None,
        Figure(
            "text",
            "for an operation that writes, the guarantee of its acknowledgement: `disk`, `memory`, `none`, `s3` or `unknown`; null for"
            " others",
            "method.md#durability",
        ),
    ] = None
    durability_stated: Annotated[
        str | None,
        Figure("text", "the settings of the server and the connection that state the guarantee"),
    ] = None
    total_s: Annotated[
        float | None, Figure("seconds", "the container's life on its own clock", "method.md#times")
    ] = None
    start_skew_s: Annotated[
        float | None,
        Figure(
            "seconds",
            "for an operation that several pods did together, the largest possible difference between the begins of two pods, with the error"
            " of their clocks; null for an operation of one pod",
            "method.md#several-pods",
        ),
    ] = None
    figures_cover: Annotated[
        Cover | None,
        Figure(
            "text",
            "scope of the columns of memory and CPU: `client`, without the server that did the work, or `engine`. An engine runs in the pod"
            " (and its executors), or in servers that the run provisioned: the columns `all_…` then include these servers. Compare clients"
            " with clients, and engines with engines",
        ),
    ] = None
    memory_peak_bytes: Annotated[
        int | None, Figure("bytes", "the cgroup's peak, page cache included", by_agent=True)
    ] = None
    memory_working_set_peak_bytes: Annotated[
        int | None,
        Figure("bytes", "peak without inactive page cache, sampled every 100 ms", by_agent=True),
    ] = None
    memory_limit_bytes: Annotated[int | None, Figure("bytes", "the pod's limit", by_agent=True)] = None
    cpu_s: Annotated[
        float | None,
        Figure("seconds", "CPU time of the container until the barrier's end", by_agent=True),
    ] = None
    throttled_s: Annotated[
        float | None,
        Figure("seconds", "time in which a CPU limit stopped the container", by_agent=True),
    ] = None
    throttled_periods: Annotated[
        int | None,
        Figure("count", "periods in which a CPU limit stopped the container", by_agent=True),
    ] = None
    oom_kills: Annotated[
        int | None,
        Figure("count", "processes that the kernel killed because of too little memory", by_agent=True),
    ] = None
    client_cpu_share: Annotated[
        float | None,
        Figure(
            "cores",
            "cores that the client kept busy: its CPU time divided by the operation's time",
        ),
    ] = None
    client_cores_usable: Annotated[
        float | None,
        Figure(
            "cores",
            "cores that the client could have kept busy: 1 for a client that runs in one Python thread at a time, at most the pod's cores;"
            " null if the engine is in the pod",
        ),
    ] = None
    service_cpu_share: Annotated[
        float | None,
        Figure(
            "cores",
            "cores that a service in front of the store kept busy; of several services, the service nearest to its limit. Null without a"
            " service that the run provisioned and an agent watches",
        ),
    ] = None
    service_cores_usable: Annotated[
        float | None,
        Figure(
            "cores",
            "cores that this service could have kept busy: the cores that its program can use, at most the cores of its node and its CPU"
            " limit",
        ),
    ] = None


@dataclass
class NodeFigures:
    """Figures of the node during an operation. A figure is None if the node's kernel does not report it.

    Pressure is the share of the time in which some task had to wait (`some`), or all tasks that were not idle had to wait at once (`full`).
    """

    node_cpu_some_share: Annotated[
        float | None,
        Figure(
            "ratio",
            "on the node, during the operation: share of the time in which some task waited for a CPU",
        ),
    ] = None
    node_memory_some_share: Annotated[
        float | None, Figure("ratio", "share of the time in which some task waited for memory")
    ] = None
    node_memory_full_share: Annotated[
        float | None,
        Figure("ratio", "share of the time in which all tasks that were not idle waited for memory at once"),
    ] = None
    node_io_some_share: Annotated[
        float | None, Figure("ratio", "share of the time in which some task waited for a disk")
    ] = None
    node_io_full_share: Annotated[
        float | None,
        Figure("ratio", "share of the time in which all tasks that were not idle waited for a disk at once"),
    ] = None
    node_steal_share: Annotated[
        float | None,
        Figure("ratio", "share of the node's CPU time that its hypervisor gave to other machines"),
    ] = None
    node_others_cores: Annotated[
        float | None,
        Figure(
            "cores",
            "cores of the node kept busy by everything except this pod: other work, and the store's server or executors if they share the"
            " node",
        ),
    ] = None
    node_strangers_cores: Annotated[
        float | None,
        Figure(
            "cores",
            "`node_others_cores` without the cores of the store's server and executors; null if unknown",
        ),
    ] = None


@dataclass
class Figures(NodeFigures, PodFigures):
    """All figures of an attempt: columns of the table `attempt` and of the view `results`. A figure that was not measured is None, never 0.

    A dataclass puts the fields of its last base first: the pod's figures precede the node's.
    """


@dataclass
class UsageFigures:
    """Figures of each other pod of an attempt: pods that did parts of its operation, executors that the attempt started, and servers that
    its run provisioned. Columns of the table `usage`. The last six figures are of parts.
    """

    memory_peak_bytes: Annotated[int | None, Figure("bytes", "peak, page cache included")] = None
    memory_working_set_peak_bytes: Annotated[
        int | None, Figure("bytes", "peak without inactive page cache")
    ] = None
    cpu_s: Annotated[float | None, Figure("seconds", "CPU time")] = None
    oom_kills: Annotated[
        int | None, Figure("count", "processes that the kernel killed because of too little memory")
    ] = None
    throttled_s: Annotated[float | None, Figure("seconds", "time in which a CPU limit stopped the pod")] = (
        None
    )
    throttled_periods: Annotated[
        int | None, Figure("count", "periods in which a CPU limit stopped the pod")
    ] = None
    read_bytes: Annotated[int | None, Figure("bytes", "bytes read from disk")] = None
    written_bytes: Annotated[int | None, Figure("bytes", "bytes written to disk")] = None
    data_bytes: Annotated[int | None, Figure("bytes", "size of the pod's data on disk")] = None
    restarts: Annotated[int | None, Figure("count", "restarts of the pod's process")] = None
    part: Annotated[
        int | None, Figure("count", "number of the part that the pod did; part 0 is the attempt's own pod")
    ] = None
    node: Annotated[str | None, Figure("text", "node of the pod that did a part")] = None
    client_cpu_share: Annotated[float | None, Figure("cores", "cores that the client kept busy")] = None
    client_cores_usable: Annotated[
        float | None, Figure("cores", "cores that the client could have kept busy")
    ] = None
    start_delay_s: Annotated[
        float | None, Figure("seconds", "time from the common begin of all parts to the begin of this part")
    ] = None
    waited_s: Annotated[
        float | None,
        Figure("seconds", "time from the end of this part to the end of the last part; 0 for the last part"),
    ] = None


def declared(holder: type[PodFigures | NodeFigures | UsageFigures]) -> dict[str, Figure]:
    """Return the figures that a class declares, by name."""
    return {field.name: field.type.__metadata__[0] for field in fields(holder)}  # type: ignore[union-attr]


def choices(holder: type[PodFigures | NodeFigures | UsageFigures], name: str) -> list[str]:
    """Return the permitted texts of a figure; an empty list for a figure with any text, and for a number."""
    (field,) = (field for field in fields(holder) if field.name == name)
    return [text for kind in get_args(get_args(field.type)[0]) for text in get_args(kind)]


def schema_of(figure: Figure, choices: Sequence[str] = ()) -> dict[str, Any]:
    """Return the JSON Schema of a figure. `choices`: the permitted texts; empty for a figure with any text, and for a number."""
    kind = {"enum": [*choices, None]} if choices else SCHEMAS[figure.unit]
    return {**kind, "description": figure.text}


FIGURES = declared(Figures)
USAGE = declared(UsageFigures)
