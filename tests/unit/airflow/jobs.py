"""The Jobs of a Kubernetes in memory, and their pods."""

from kubernetes.client import models as k8s
from kubernetes.client.exceptions import ApiException

from storebench.airflow.kubernetes import parts
from storebench.airflow.kubernetes.placement import LABEL
from storebench.airflow.operators import divided


def part(number=1, *, terminated=None, waiting=None, reason=None, condition=None, node="n2"):
    """Return the pod of a part as Kubernetes has it."""
    state = k8s.V1ContainerState(
        terminated=terminated, waiting=waiting and k8s.V1ContainerStateWaiting(reason=waiting, message="why")
    )
    status = k8s.V1ContainerStatus(
        name="base", image="i", image_id="", ready=False, restart_count=0, state=state
    )
    conditions = condition and [k8s.V1PodCondition(type="PodScheduled", status="False", message=condition)]
    return k8s.V1Pod(
        metadata=k8s.V1ObjectMeta(
            name=f"part-a1-{number - 1}-x",
            labels={parts.JOB_OF_POD: "part-a1", LABEL: "a1"},
            annotations={parts.INDEX: str(number - 1)},
        ),
        spec=k8s.V1PodSpec(node_name=node, containers=[k8s.V1Container(name="base", image="i")]),
        status=k8s.V1PodStatus(
            phase="Failed",
            reason=reason,
            container_statuses=None if condition else [status],
            conditions=conditions,
        ),
    )


class Jobs:
    """BatchV1Api of a cluster in memory. It makes the pods of a Job, as `pods` says."""

    def __init__(self, cluster):
        self.cluster, self.jobs, self.made, self.removed = cluster, {}, [], []
        self.pods = lambda job: []
        self.error = None

    def create_namespaced_job(self, namespace, job):
        if self.error:
            raise self.error
        name = job.metadata.name
        if name in self.jobs:
            raise ApiException(409, "AlreadyExists")
        self.jobs[name] = job
        self.made.append(job)
        for pod in self.pods(job):
            pod.metadata.labels = {**job.spec.template.metadata.labels, parts.JOB_OF_POD: name}
            pod.metadata.namespace = namespace
            self.cluster.pods[pod.metadata.name] = pod

    def delete_namespaced_job(self, name, namespace, propagation_policy):
        self.removed.append((name, propagation_policy))
        if self.jobs.pop(name, None) is None:
            raise ApiException(404, "Not Found")
        for pod in [
            pod for pod in self.cluster.pods.values() if pod.metadata.labels.get(parts.JOB_OF_POD) == name
        ]:
            del self.cluster.pods[pod.metadata.name]


def jobs_of(cluster, monkeypatch):
    """Return the Jobs of a cluster whose pods have addresses, and run until their other pods are made."""
    found = Jobs(cluster)
    monkeypatch.setattr(parts.k8s_client, "BatchV1Api", lambda api_client: found)
    monkeypatch.setattr(divided, "REASON_WITHIN_S", 0.5)
    look = cluster._look

    def with_address(name):
        pod = look(name)
        pod.status.pod_ip, pod.metadata.uid = "10.0.0.7", "u-1"
        return pod

    cluster._look = with_address
    cluster.runs_for = 8  # the leader waits for the others
    return found
