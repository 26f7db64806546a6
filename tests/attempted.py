"""Run an attempt on this machine instead of in a pod, and judge its result as the DAG judges a pod's result."""

import json
import os
import subprocess

from storebench import protocol
from storebench.airflow.outcome.result_check import check_result
from storebench.attempt import run
from storebench.attempt.result import AttemptResult
from storebench.attempt.spec import VARIABLE, AttemptSpec
from storebench.attempt.termination import VARIABLE as MESSAGE
from storebench.study import studies
from storebench.study.cell import Cell

ROWS, SEED = 500, 42


def result_of(tried):
    """Run an attempt, and return its result. An error of the attempt has the result as `error.result`."""
    try:
        tried.run()
    except Exception as error:
        error.result = tried.result
        raise
    return tried.result


def attempted(monkeypatch, folder, study, store, operation, axes, program=(), seed=SEED, **environment):
    """Run one attempt at a store that needs no server. Return its exit code and its result.

    `folder` gets the result's file. `program` is the command of a pod in another language; without it, the store's Python runs in this
    process. `axes` and `environment` map names to texts.
    """
    found = studies.find(study)
    cell = Cell(study, store, "reference", tuple(axes.items()), ROWS, seed)
    spec = AttemptSpec(
        operation=operation,
        cell_key=cell.key,
        study=study,
        store=store,
        client="reference",
        axes=axes,
        rows=ROWS,
        seed=seed,
        target="t",
        bucket="b",
        dataset=None,
        results=f"results/t/{operation}-",
        method_version=found.method_version,
    )
    message = folder / "message"
    told = {VARIABLE: spec.to_json(), MESSAGE: str(message), **environment}
    if program:
        code = subprocess.run(program, env={**os.environ, **told}, check=False, timeout=120).returncode
    else:
        for name, value in {**told, "STOREBENCH_CONN_S3": "{}"}.items():
            monkeypatch.setenv(name, value)
        monkeypatch.setattr(run, "client_for", lambda connection: None)  # no S3 is there
        monkeypatch.setattr(run, "raise_on_sigterm", lambda: None)
        code = run.main()
    content = protocol.read(message.read_text())
    assert protocol.problem("result", content) is None
    result = AttemptResult.from_json(json.dumps(content))
    return code, check_result(result, found, found.operation(operation), found.store(store).lacks)
