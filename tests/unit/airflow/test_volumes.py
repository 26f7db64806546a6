"""The volume that a cell's pods have in common: made empty by the first operation, removed by the drop."""

import pytest
from airflow.sdk.exceptions import AirflowException, AirflowFailException
from kubernetes.client.exceptions import ApiException

from storebench.airflow.kubernetes import volumes
from storebench.airflow.kubernetes.placement import Placement
from storebench.errors import SpecError
from storebench.stores.base import Pod
from storebench.stores.volume import OPTIONS, SIZE, STORAGE_CLASS, claim_of
from tests.unit.airflow.account import CELL, attempt, context
from tests.unit.airflow.cluster import ended
from tests.unit.airflow.test_cleaning import bucket, make_dataset  # noqa: F401
from tests.unit.example import STUDY

CLAIM = claim_of(CELL.target("s/now", 1))


@pytest.fixture(autouse=True)
def files(monkeypatch):
    """Give the store's pod a volume, as for a store whose data is files."""
    monkeypatch.setattr(STUDY.store(CELL.store), "pod", Pod(volume="/data"))


@pytest.fixture
def pods(cluster):
    """Return the specs of the started pods."""
    found, end = [], cluster.end

    def seen(pod):
        found.append(pod.spec)
        return end(pod)

    cluster.end = seen
    return found


def test_the_pods_of_a_cell_have_one_volume_until_its_drop(cluster, account, pods):
    attempt("write").execute(context("cell.write"))
    attempt("read").execute(context("cell.read", {"cell.write_0": "success"}))
    assert list(cluster.claims) == [CLAIM] and cluster.claims[CLAIM]["accessModes"] == ["ReadWriteOnce"]
    assert cluster.claims[CLAIM]["resources"] == {"requests": {"storage": "4Gi"}}
    assert len(pods) == 2
    for spec in pods:
        assert {"name": volumes.NAME, "persistentVolumeClaim": {"claimName": CLAIM}} in spec["volumes"]
        assert {"name": volumes.NAME, "mountPath": "/data"} in spec["containers"][0]["volumeMounts"]
        assert spec["securityContext"]["fsGroup"] == 1000
    ends = {"cell.write_0": "success", "cell.read_0": "success"}
    attempt("drop").execute(context("cell.drop", ends))
    assert (cluster.claims, account.left, len(pods)) == ({}, {}, 2)


def test_a_store_without_files_has_no_volume(cluster, account, pods, monkeypatch):
    monkeypatch.setattr(STUDY.store(CELL.store), "pod", Pod())
    attempt("write").execute(context("cell.write"))
    assert cluster.claims == {} and "create claim" not in cluster.calls
    assert pods[0]["securityContext"].get("fsGroup") is None


def test_a_second_try_of_the_first_operation_begins_with_an_empty_volume(cluster, account, pods):
    attempt("write").execute(context("cell.write"))
    before = cluster.claims[CLAIM]
    attempt("write").execute(context("cell.write"))
    assert cluster.claims[CLAIM] is not before


def test_a_try_that_picks_up_a_pod_leaves_its_volume_alone(cluster, account, pods, die):
    cluster.runs_for = 6
    die("log", attempt("write"), context("cell.write"))
    before = cluster.claims[CLAIM]
    second = context("cell.write")
    second["ti"].try_number = 2
    attempt("write").execute(second)
    assert cluster.claims[CLAIM] is before and len(pods) == 1


def test_it_waits_for_the_volume_of_an_earlier_try_to_be_gone(cluster, monkeypatch):
    monkeypatch.setattr(volumes, "POLL_INTERVAL_S", 0)
    cluster.claims_stay_for = 2
    asked = []
    volumes.make(cluster, "ns", "c", {SIZE: "1Gi", STORAGE_CLASS: "fast"}, lambda: asked.append(1))
    assert cluster.claims["c"]["storageClassName"] == "fast" and len(asked) == 2
    monkeypatch.setattr(volumes, "GONE_WITHIN_S", 0)
    cluster.claims_stay_for = 9
    with pytest.raises(AirflowException, match="claim c cannot be made: the Kubernetes API answered 409"):
        volumes.make(cluster, "ns", "c", {}, lambda: None)


def test_a_volume_that_cannot_be_made_is_the_reason_of_the_attempt(cluster, account, pods):
    cluster.fails = lambda call, _: ApiException(422, "Invalid") if call == "create claim" else None
    with pytest.raises(AirflowFailException):
        attempt("write").execute(context("cell.write"))
    ((operation, result, _),) = account.attempts
    assert (operation, result.status, pods) == ("write", "failed", [])
    assert "cannot be made: the Kubernetes API answered 422 Invalid" in result.error


def test_what_a_run_that_is_over_has_left_on_a_volume_is_removed_without_a_pod(cluster, account):
    cluster.claims[claim_of(CELL.target("s/stopped", 1))] = {}
    cluster.end = lambda pod: ended(message='{"rows": 1000, "bytes": 1}')
    account.leaves("s/stopped", CELL, 1)
    make_dataset(context("dataset", airflow_states={"stopped": "failed"}))
    assert (cluster.claims, account.left) == ({}, {})
    assert [name for name in cluster.started if "clean" in name] == []


def test_one_that_cannot_be_removed_stays_known(cluster, account):
    cluster.fails = lambda call, _: ApiException(409, "Conflict") if call == "delete claim" else None
    cluster.end = lambda pod: ended(message='{"rows": 1000, "bytes": 1}')
    account.leaves("s/stopped", CELL, 1)
    make_dataset(context("dataset", airflow_states={"stopped": "failed"}))
    assert [run for run, *_ in account.left] == ["s/stopped"]


def test_a_volume_does_not_change_the_pod_of_others():
    pod = Placement().template("a", "base")
    assert volumes.mounted(pod, "c", "/data") != pod == Placement().template("a", "base")


def test_only_pods_that_ask_for_shared_memory_have_it(cluster, account, pods, monkeypatch):
    attempt("write").execute(context("cell.write"))
    monkeypatch.setattr(STUDY.store(CELL.store), "pod", Pod(shared_memory=True))
    attempt("write").execute(context("cell.write"))
    folders = [[one["mountPath"] for one in spec["containers"][0]["volumeMounts"]] for spec in pods]
    assert ["/dev/shm" in one for one in folders] == [False, True]


@pytest.mark.parametrize(("name", "value"), [(SIZE, "4 GB"), (SIZE, ""), (STORAGE_CLASS, "Fast")])
def test_bad_options_are_refused(name, value):
    with pytest.raises(SpecError, match="is not"):
        OPTIONS[name].read(value)
