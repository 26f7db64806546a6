"""The pods that make a dataset together: the task's pod and a Job beside it, and what becomes of both."""

from dataclasses import replace

import pytest
from airflow.sdk.exceptions import AirflowFailException
from kubernetes.client.exceptions import ApiException

from storebench.airflow.operators.dataset import DatasetOperator
from storebench.attempt.parts.environment import KEY, LEADER, PARTS, WAIT_S
from storebench.dataset.csv50 import CSV50
from storebench.errors import SpecError
from storebench.planning.params import fields_of, run_values
from storebench.study.dataset import PODS
from storebench.study.parameters import measured_with
from tests.unit.airflow.account import MANIFEST, context
from tests.unit.airflow.cluster import ended
from tests.unit.airflow.jobs import jobs_of, part
from tests.unit.example import STUDY


@pytest.fixture
def jobs(cluster, account, monkeypatch):
    """Return the Jobs of a cluster on which a dataset is made."""
    return jobs_of(cluster, monkeypatch)


def make(cluster, end=None, study=STUDY, **params):
    """Make the dataset of a run. Returns the pods of the task, as they were created."""
    made = []

    def kept(pod):
        made.append(pod)
        return end or ended(message=MANIFEST)

    cluster.end = kept
    DatasetOperator(task_id="dataset", study=study).execute(context("dataset", **params))
    return made


def names(pod):
    return {variable["name"] for variable in pod.spec["containers"][0]["env"]}


def test_the_leader_starts_the_other_pods_of_the_dataset_and_nothing_of_them_is_left(cluster, account, jobs):
    (pod,) = make(cluster, **{PODS: 3})
    (job,) = jobs.made
    assert job.spec.completions == 2
    env = job.spec.template.spec.containers[0].env
    assert {KEY, PARTS, WAIT_S, LEADER, "STOREBENCH_DATASET", "STOREBENCH_CONN_S3"} <= {v.name for v in env}
    assert {v.name: v.value for v in env}[PARTS] == "3" and env[-1].value == "10.0.0.7"
    assert LEADER not in names(pod)
    assert [made[0] for made in account.datasets_made] == ["v1/rows=1000/seed=42"]
    assert jobs.jobs == {} and cluster.pods == {}
    assert not any("parts" in name for name in cluster.secrets)
    assert any(name.startswith("parts_key_") for _, _, name in account.secret_users), (
        "a killed worker's run removes the Secret"
    )


def test_one_pod_has_no_trace_of_parts(cluster, account, jobs):
    (pod,) = make(cluster)
    assert not [name for name in names(pod) if "PART" in name]
    assert jobs.made == [] and not any("parts" in name for name in cluster.secrets)


def test_each_dataset_of_a_run_has_its_own_pods_and_key(cluster, account, jobs):
    shaped = replace(STUDY, dataset=replace(CSV50, name="wide", axes=("batch",)))
    make(cluster, study=shaped, batch="10,20", **{PODS: 2})
    assert len(account.datasets_made) == 2 and len({job.metadata.name for job in jobs.made}) == 2
    keys = {name for _, _, name in account.secret_users if name.startswith("parts_key_")}
    assert len(keys) == 2 and jobs.jobs == {}


def test_a_lost_part_is_named_with_the_reason_of_kubernetes(cluster, account, jobs):
    jobs.pods = lambda job: [part(1, terminated=ended(137, "OOMKilled"))]
    last = ended(6, message="10 %\nstorebench: part 1 of 2 (pod p, node n) ended without a reason")
    reason = r"The dataset was not made: oom_killed: Part 1 \(pod part-a1-0-x on n2\).*The leader says: part 1 of 2"
    with pytest.raises(AirflowFailException, match=reason):
        make(cluster, last, **{PODS: 2})
    assert account.datasets_made == [] and jobs.jobs == {} and cluster.pods == {}


def test_a_leader_without_a_part_says_so(cluster, account, jobs):
    last = ended(6, message="storebench: Part 1 of 2 did not come within 60 s")
    with pytest.raises(AirflowFailException, match=r"part_failed: Part 1 of 2 did not come within 60 s"):
        make(cluster, last, **{PODS: 2})


def test_a_job_that_is_refused_is_the_reason_and_the_leader_goes(cluster, account, jobs):
    jobs.error = ApiException(403, "Forbidden")
    with pytest.raises(AirflowFailException, match=r"other 1 pods cannot be made: .*deploy/kubernetes has"):
        make(cluster, **{PODS: 2})
    assert cluster.pods == {} and account.datasets_made == []


def test_only_runs_with_a_divided_dataset_have_the_parameter():
    assert PODS in fields_of(STUDY) and CSV50.divides
    whole = replace(STUDY, dataset=replace(CSV50, divides=False))
    assert PODS not in fields_of(whole)
    with pytest.raises(SpecError, match=PODS):
        run_values(whole, {PODS: 2})
    for number in (0, 101, "many"):
        with pytest.raises(SpecError):
            run_values(STUDY, {PODS: number})


def test_the_number_of_pods_changes_no_measurement():
    one, many = (run_values(STUDY, {PODS: number}) for number in (1, 7))
    assert one != many and measured_with(STUDY, "null", one) == measured_with(STUDY, "null", many)
