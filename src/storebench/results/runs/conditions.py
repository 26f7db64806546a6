"""Conditions that must be equal before two attempts are compared, beside delivery and durability: the column `conditions` of
the view `latest`, in Python.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from storebench.servers.sizes import FIELDS
from storebench.study.record import StudyRecord
from storebench.study.reserved import POD

MACHINE = ("kernel", "cpu_model", "cpus", "memory_gib")


def conditions_of(
    study: StudyRecord, row: Mapping[str, Any], environment: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the conditions of an attempt, a row of `results`, in an environment. A test compares them with the view."""
    parameters = row["parameters"] or {}
    of_stores = {name for store in study.stores for name in store.options}
    settings = {param.name for param in study.params} - of_stores | FIELDS.keys()
    chosen = {name: value for name, value in parameters.items() if name in settings and value is not None}
    return {
        "method_version": row["method_version"],
        **{name: parameters.get(name) for name in POD},
        **{name: environment.get(name) for name in MACHINE},
        **({"parameters": chosen} if chosen else {}),
    }


def id_of(conditions: Mapping[str, Any]) -> str:
    """Return a short id of conditions. Equal conditions have equal ids."""
    return hashlib.sha256(json.dumps(conditions, sort_keys=True).encode()).hexdigest()[:8]


def describe_conditions(conditions: Mapping[str, Any]) -> str:
    """Return the known conditions as a line of text."""
    cpus, model, memory = (conditions[name] for name in ("cpus", "cpu_model", "memory_gib"))
    limit = " at most" if conditions["cpu_limit"] else ""
    parts = [
        f"{cpus} CPUs" + (f" ({model})" if model else "") if cpus is not None else "",
        f"{memory:g} GiB" if memory is not None else "",
        f"kernel {conditions['kernel']}" if conditions["kernel"] else "",
        f"pod CPU {conditions['pod_cpu']}{limit}" if conditions["pod_cpu"] else "",
        f"pod memory {conditions['pod_memory']}" if conditions["pod_memory"] else "",
        *(f"{name} {value}" for name, value in conditions.get("parameters", {}).items()),
        f"method {conditions['method_version']}",
    ]
    return ", ".join(text for text in parts if text)
