"""Deaths of servers that a run started, and stops of the run while the servers start or work."""

import pytest

from storebench.results.leftovers.tracking import Left
from storebench.servers.render import LABEL
from tests.drills.drill import STUDY
from tests.e2e import harness
from tests.e2e.harness import NAMESPACE, delete, soon
from tests.e2e.test_servers import SIZE, check_figures, left_over

STORE = "elasticsearch@one"


def servers(run):
    return run.cluster.list_namespaced_pod(NAMESPACE, label_selector=LABEL).items


def nothing_is_left(run):
    """Check that the cluster and the records have no leftovers. The records are deleted last."""
    soon(lambda: not left_over(run.cluster) and not Left(run.database).runs_with_servers(), 300)


def test_server_dies_in_a_cell(drill, say):
    run = drill(STORE)
    run.measured("write")
    (server,) = servers(run)
    delete(run.cluster, server.metadata.name)
    assert run.end() == "failed"
    rows = run.rows()
    died = [row for row in rows if row["error_kind"] == "server_died"]
    assert [row["operation"] for row in died] == ["write"] and "the server" in died[0]["error"].lower()
    others = {row["status"] for row in rows if row["cell_key"] != died[0]["cell_key"]}
    assert others == {"verified"}, "the next cell has new servers"
    nothing_is_left(run)
    say(f"a server that died in a write: its row says {died[0]['error']!r}; the next cell was verified")


@pytest.mark.parametrize("when", ["they start", "a cell is measured"])
def test_run_stopped(drill, say, when):
    run = drill(STORE)
    if when == "they start":
        soon(lambda: servers(run), 300)
    else:
        run.measured("write")
    run.airflow.call("PATCH", f"/api/v2/dags/{STUDY}/dagRuns/{run.run}", json={"state": "failed"})
    soon(lambda: run.airflow.run_state(STUDY, run.run) == "failed", 300)
    nothing_is_left(run)
    say(f"a run that was stopped while {when}: its servers and their volumes are gone")


def test_three_nodes_are_one_server(cluster, say):
    code, text, rows = harness.run("--stores", "elasticsearch@three", "--axis", "batch=1000", *SIZE)
    assert code == 0, text
    for row in rows:
        assert (row["status"], row["server_name"]) == ("verified", "Elasticsearch")
        check_figures(row, pods=3)
    assert left_over(cluster) == []
    say(f"three nodes of Elasticsearch: CPU {[row['servers_cpu_s'] for row in rows]} s in write and read")
