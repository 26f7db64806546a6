"""The answer of the page's API about a run under load, with which the page's own tests draw charts of curves.

The program of this module writes the answer: `python -m tests.unit.answers.test_load_answer`. Format the file with `local/npm run fmt`.
"""

import json
import uuid
from dataclasses import replace
from pathlib import Path

from storebench.answers.artifacts import artifacts_answer
from storebench.answers.attempts import Machine
from storebench.answers.figures import figures_answer, named
from storebench.answers.studies import Study
from storebench.planning.params import cell_values
from storebench.study.parameters import measured_with
from storebench.study.record import StudyRecord
from storebench.study.studies import find
from tests.unit.answers.test_figures import row

PAGE = Path(__file__).parents[3] / "src" / "storebench" / "web" / "page" / "tests"
FILE = PAGE / "load.json"
CELL = "point_operations/mongodb/direct/load=closed/rows=1000/seed=7"
FAULT = {"fault_from_s": 3.0, "fault_to_s": 3.5}
METRICS = ("measured_from_s", *FAULT, "latency_s", "each_second_p99_s", "each_second_users")
CHARTS = ("latency_s", "each_second_p99_s")


def answer():
    """Return the study, the figures and the curves of a cell, reduced to what two charts show."""
    study = find("point_operations")
    record = StudyRecord.of(study)
    reduced = {
        "description": "",
        "operations": [replace(study.operations[1], metrics=METRICS)],
        "metrics": [metric for metric in study.metrics if metric.name in METRICS],
        "tables": [],
        "charts": [chart for chart in study.charts if chart.metric in CHARTS],
        "params": [param for param in record.params if param.name == "slo_ms"],
        "stores": [store for store in record.stores if store.name == "mongodb"],
        "axes": [axis for axis in record.axes if axis.name == "load"],
    }
    attempt = row(
        "read",
        **named(CELL),
        attempt_id=uuid.UUID(int=1),
        metric="p99_s",
        metrics={"measured_from_s": 2.5, **FAULT},
        machine=Machine(cpus=2, cpu_model="Example 9", memory_gib=24),
        parameters=measured_with(study, "mongodb", cell_values(study, {})),
    )
    curves = {
        "latency_s": {"values": [0.002, 0.004, 0.03], "counts": [90, 9, 1]},
        "each_second_p99_s": {"at_s": [0, 1, 2, 3, 4], "values": [0.05, 0.04, 0.03, 0.02, 0.03]},
        "each_second_users": {"at_s": [0, 1, 2, 3, 4], "values": [5, 10, 20, 20, 20]},
    }
    artifacts = [
        {"attempt_id": attempt["attempt_id"], "name": name, "content": content}
        for name, content in curves.items()
    ]
    return {
        "study": Study(**{**dict(record), **reduced}).model_dump(mode="json"),
        "cells": [cell.model_dump(mode="json") for cell in figures_answer([attempt])],
        "artifacts": [cell.model_dump(mode="json") for cell in artifacts_answer([attempt], artifacts)],
    }


def test_the_answer_of_the_pages_tests_is_the_answer_of_the_api():
    assert json.loads(FILE.read_text()) == json.loads(json.dumps(answer()))


if __name__ == "__main__":
    FILE.write_text(json.dumps(answer()))
