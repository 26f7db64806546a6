"""The parameters of a run for a Spark driver's pod. With the defaults, four executors fit on a small node."""

from __future__ import annotations

from collections.abc import Mapping

from storebench.fields import CPU, JAVA_SIZE, Field, flag, integer, size

ENCRYPTION = "executor_encryption"
KEY_NAME = "spark_key"  # the Secret with the key that authenticates drivers and executors to each other
SIZES = "Java size, such as **1g** or **768m**."

OPTIONS: Mapping[str, Field] = {
    "executor_cores": integer(
        1, 1, 64, "Executor cores", "Tasks that an executor runs at the same time.", (1, 2, 4)
    ),
    "executor_cpu": size(
        "250m",
        CPU,
        "CPU request of an executor",
        "Kubernetes quantity, such as **250m** or **2**.",
        ("250m", "1", "2"),
    ),
    "executor_memory": size(
        "1g", JAVA_SIZE, "Executor memory", f"Heap of an executor. {SIZES}", ("1g", "2g", "4g")
    ),
    "executor_memory_overhead": size(
        "768m",
        JAVA_SIZE,
        "Executor overhead",
        f"Memory of an executor's pod in addition to its heap, for Python, buffers and class data. {SIZES}",
        ("768m", "1g"),
    ),
    ENCRYPTION: flag(
        "Executor encryption",
        "Spark's driver and executors authenticate each other, and encrypt their traffic (AES-GCM). Off: anyone who reaches their"
        " ports can read the data and the S3 login, and run code in the pods.",
        default=True,
    ),
    "driver_memory": size(
        "2g",
        JAVA_SIZE,
        "Driver memory",
        f"Heap of the driver. It is a part of the memory of the pod. {SIZES}",
        ("2g", "4g"),
    ),
}
