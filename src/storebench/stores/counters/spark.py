"""Spark: the ended stages of the driver's session, over all executors.

Spark keeps a limited number of stages (`spark.ui.retainedStages`). If the session may have had more stages, the counters are unknown.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from storebench.protocol.counters import Counter

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

RETAINED, RETAINED_DEFAULT = "spark.ui.retainedStages", "1000"
WAIT_MS = 5_000
MILLI = 1 / 1_000
# The getter of each counter in Spark's StageData, and the factor to the counter's unit.
GETTERS: Mapping[Counter, tuple[str, float]] = {
    Counter("tasks", "", "counter", "tasks that succeeded"): ("numCompleteTasks", 1),
    Counter("failed_tasks", "", "counter", "tasks that failed, and were tried again"): ("numFailedTasks", 1),
    Counter("task_s", "s", "counter", "time of all tasks, in executors"): ("executorRunTime", MILLI),
    Counter("task_cpu_s", "s", "counter", "CPU time of all tasks, without processes of Python"): (
        "executorCpuTime",
        1e-9,
    ),
    Counter("task_gc_s", "s", "counter", "time of garbage collections during the tasks"): (
        "jvmGcTime",
        MILLI,
    ),
    Counter("input_bytes", "bytes", "counter", "bytes that tasks read from file systems"): ("inputBytes", 1),
    Counter("output_bytes", "bytes", "counter", "bytes that tasks wrote to file systems"): ("outputBytes", 1),
    Counter("shuffle_read_bytes", "bytes", "counter", "bytes that tasks read from shuffles"): (
        "shuffleReadBytes",
        1,
    ),
    Counter("shuffle_written_bytes", "bytes", "counter", "bytes that tasks wrote to shuffles"): (
        "shuffleWriteBytes",
        1,
    ),
    Counter("spilled_memory_bytes", "bytes", "counter", "bytes of spilled data, measured in memory"): (
        "memoryBytesSpilled",
        1,
    ),
    Counter("spilled_disk_bytes", "bytes", "counter", "bytes of spilled data, measured on disk"): (
        "diskBytesSpilled",
        1,
    ),
}
STAGES = Counter("stages", "", "counter", "stages that have ended")
COUNTERS = (STAGES, *GETTERS)


def read(session: SparkSession) -> dict[str, float | str]:
    """Return the sums over all stages, when Spark has recorded all that has ended."""
    context = session.sparkContext
    context._jsc.sc().listenerBus().waitUntilEmpty(WAIT_MS)
    stages = list(_stages(session))
    retained = context.getConf().get(RETAINED, RETAINED_DEFAULT)
    if len(stages) >= int(str(retained)):
        reason = f"Spark keeps the last {retained} stages, and forgot others"
        return {counter.name: reason for counter in COUNTERS}
    ended = [stage for stage in stages if str(stage.status()) in ("COMPLETE", "FAILED")]
    return {
        STAGES.name: len(ended),
        **{
            counter.name: sum(getattr(stage, getter)() for stage in ended) * factor
            for counter, (getter, factor) in GETTERS.items()
        },
    }


def _stages(session: SparkSession) -> Iterator[Any]:
    """Yield Spark's StageData of each stage that Spark still keeps."""
    context = session.sparkContext
    gateway, store = context._gateway, context._jsc.sc().statusStore()
    nothing = gateway.jvm.java.util.ArrayList()
    listed = store.stageList(nothing, False, False, gateway.new_array(gateway.jvm.double, 0), nothing)
    for n in range(listed.size()):
        yield listed.apply(n)
