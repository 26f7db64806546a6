"""Claims judged from the real database: the command line, the API and the report say the same of the same runs."""

import json
from dataclasses import replace

import pytest
from click.testing import CliRunner
from fastapi.testclient import TestClient

from storebench.airflow.compat.api_server import get_user
from storebench.cli import main
from storebench.errors import SpecError
from storebench.results.comparison.claims import judged_claims, runs_of
from storebench.study import studies
from storebench.study.claim import Claim
from storebench.study.record import StudyRecord
from storebench.web.access import reading
from storebench.web.api import app
from storebench.web.reading import Reading
from storebench.web.report import content_of
from tests.bulk import BULK, bulk_study, cell_at
from tests.integration.recorded import ENVIRONMENT, STUDY

FASTER = Claim(
    "Delta Lake takes half the time of MongoDB",
    "write",
    {"store": "mongodb"},
    {"store": "delta-spark"},
    both={"batch": "10", "client": "reference", "cache": "as_is"},
    at_least=0.4,
    at_most=0.6,
)
OF_MONGODB = replace(FASTER, text="… and of a real MongoDB", servers={"mongodb": "MongoDB"})
MEMORY = Claim(
    "Delta Lake needs more memory in larger batches",
    "write",
    {"batch": "10"},
    {"batch": "20"},
    both={"store": "delta-spark"},
    at_least=1,
    metric="all_memory_working_set_peak_bytes",
)
READS = Claim(
    "Reads take as long as writes",
    a={"operation": "write"},
    b={"operation": "read"},
    both={"store": "mongodb"},
    at_least=0.9,
    at_most=1.1,
    metric="rows_per_s",
)
CLAIMS = (FASTER, OF_MONGODB, MEMORY, READS)
NOISE = (0.98, 1.03, 1.0, 0.97, 1.02, 1.0, 0.99)


@pytest.fixture
def study(monkeypatch, cells):
    """Return the bulk study with claims of the tests' own, of cells that no other test has."""
    rows, seed = cells[0].rows, str(cells[0].seed)
    claims = tuple(replace(one, both={**one.both, "rows": str(rows), "seed": seed}) for one in CLAIMS)
    found = replace(bulk_study(), claims=claims)
    monkeypatch.setattr(studies, "find", lambda name: found)
    return found


@pytest.fixture
def measured(run, study, cells):
    """Return the names of two runs: the older run has six repeats of both stores, the newer run has one."""
    seed = cells[0].seed
    some = [cells[0], *(cell_at("delta-spark", seed, batch=size, executors="1") for size in ("10", "20"))]

    def seconds(cell, turn):
        return (
            (2.0 if cell.store == "mongodb" else 1.0) * NOISE[turn.repeat % 7] * (1 + turn.repeat % 3 / 100)
        )

    def figures(cell, operation):
        return {
            "figures_cover": "engine" if cell.store == "delta-spark" else "client",
            "memory_working_set_peak_bytes": 200 if dict(cell.axes)["batch"] == "20" else 100,
        }

    return run(some, 6, seconds, figures=figures, of=study), run(some, 1, seconds, figures=figures, of=study)


def verdicts(found):
    return {one["text"]: one["verdict"] for one in found["claims"]}


EXPECTED = {
    FASTER.text: "confirmed",
    OF_MONGODB.text: "cannot tell",
    MEMORY.text: "confirmed",
    READS.text: "confirmed",
}


def test_the_newest_run_with_repeats_decides_each_claim(database, study, measured, monkeypatch):
    monkeypatch.setenv("AIRFLOW_CONN_STOREBENCH_RESULTS", database)

    def printed(*arguments):
        result = CliRunner().invoke(main, ["claims", "--study", BULK, *arguments])
        assert result.exit_code == 0, result.output
        return result.output

    found = json.loads(printed("--format", "json"))
    assert verdicts(found) == EXPECTED
    (case,) = found["claims"][0]["cases"]
    assert (case["runs"], case["rows"]) == ([f"{STUDY}/{measured[0]}"], 1000)
    assert (case["units_before"], case["units_after"], case["units"]) == (6, 6, "rounds")
    assert 0.4 < case["ratio_low"] < case["ratio"] < case["ratio_high"] < 0.6
    (other,) = found["claims"][1]["cases"]
    assert other["reason"] == "FerretDB answered for mongodb, and the text is about MongoDB"
    assert (other["ratio"], other["units_before"]) == (case["ratio"], 6)
    table, markdown = printed(), printed("--format", "markdown")
    for text in (FASTER.text, "6 rounds", measured[0], "confirmed"):
        assert text in table
    assert f"| {FASTER.text} | confirmed |" in markdown
    once = json.loads(printed(measured[1], "--format", "json"))
    assert set(verdicts(once).values()) == {"cannot tell"}
    assert once["claims"][0]["cases"][0]["reason"] == "too few rounds: A has 1, B 1; 5 at least"


def test_a_study_whose_file_is_broken_has_the_claims_of_its_last_run(database, study, measured, monkeypatch):
    monkeypatch.setenv("AIRFLOW_CONN_STOREBENCH_RESULTS", database)

    def broken(name):
        raise SpecError(f"dags/{name}.py: it has no store")

    monkeypatch.setattr(studies, "find", broken)
    result = CliRunner().invoke(main, ["claims", "--study", BULK, "--format", "json"])
    assert result.exit_code == 0 and verdicts(json.loads(result.stdout)) == EXPECTED
    assert "its file cannot be used: dags/bulk_write_read.py: it has no store" in result.stderr
    result = CliRunner().invoke(main, ["claims", "--study", "unheard_of"])
    assert result.exit_code == 2 and "dags/unheard_of.py: it has no store" in result.output


def test_a_run_that_is_not_there_is_refused(database, study, measured, monkeypatch):
    monkeypatch.setenv("AIRFLOW_CONN_STOREBENCH_RESULTS", database)
    result = CliRunner().invoke(main, ["claims", "--study", BULK, "nowhere"])
    assert result.exit_code == 2 and "There is no run 'nowhere'" in result.output


def test_the_page_and_a_runs_report_have_the_same_verdicts(database, study, measured):
    app.dependency_overrides = {get_user: lambda: None, reading: lambda: Reading(database, [STUDY])}
    client = TestClient(app)
    try:
        answer = client.get("/api/claims", params={"study": STUDY})
        assert answer.status_code == 200, answer.text
        assert verdicts(answer.json()) == EXPECTED
        one = client.get("/api/claims", params={"study": STUDY, "run": measured[1]}).json()
        assert set(verdicts(one).values()) == {"cannot tell"}
        assert client.get("/api/claims", params={"study": "unheard_of"}).status_code == 404
        assert client.get("/api/claims", params={"study": STUDY, "run": "unheard_of"}).status_code == 404
    finally:
        app.dependency_overrides = {}
    content = content_of(Reading(database, [STUDY]), f"{STUDY}/{measured[0]}")
    assert {one.text: one.verdict for one in content["claims"].claims} == EXPECTED


def test_who_may_not_read_a_dag_judges_nothing_by_its_runs(database, study, measured):
    found = judged_claims(Reading(database, []), StudyRecord.of(study))
    assert {one.label for one in found} == {"cannot tell"}


def test_runs_on_two_machines_are_not_compared(queries, run, study, cells):
    seed = cells[0].seed
    spark = cell_at("delta-spark", seed, batch="10", executors="1")
    apart = [
        run([cell], 6, of=study, environment={**ENVIRONMENT, "cpus": cpus})
        for cell, cpus in ((cells[0], 2), (spark, 64))
    ]
    found, *_ = judged_claims(queries, StudyRecord.of(study))
    assert (found.label, found.cases[0].verdict) == ("cannot tell", None)
    assert found.reason.startswith("A and B were not measured alike")
    run([spark], 6, of=study, environment={**ENVIRONMENT, "cpus": 2})
    found, *_ = judged_claims(queries, StudyRecord.of(study))
    assert (found.label, found.cases[0].units) == ("refuted", "repeats")
    assert any("drift" in remark for remark in found.cases[0].remarks)
    found, *_ = judged_claims(queries, StudyRecord.of(study), runs_of(queries, apart, STUDY))
    assert found.label == "cannot tell"
