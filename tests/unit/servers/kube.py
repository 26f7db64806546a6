"""A Kubernetes in memory that creates the pods of StatefulSets. Pods immediately have the state that a test sets."""

import json
from types import SimpleNamespace

from kubernetes.client import models as k8s
from kubernetes.client.exceptions import ApiException

from tests.unit.airflow.cluster import Cluster, matches


def condition(kind, status="True", message=None):
    return k8s.V1PodCondition(type=kind, status=status, message=message)


def container(*, restarts=0, ready=True, waiting=None, ended=None, before=None):
    """Return the state of a server's container. `waiting`: reason and message. `ended`, `before`: its end, now or before."""
    state = k8s.V1ContainerState(
        waiting=k8s.V1ContainerStateWaiting(reason=waiting[0], message=waiting[1]) if waiting else None,
        terminated=ended,
    )
    return k8s.V1ContainerStatus(
        name="elasticsearch",
        image="es:1",
        image_id="",
        ready=ready,
        restart_count=restarts,
        state=state,
        last_state=k8s.V1ContainerState(terminated=before),
    )


def running(name):
    status = k8s.V1PodStatus(
        phase="Running", conditions=[condition("Ready")], container_statuses=[container()], pod_ip="10.0.0.1"
    )
    return status


def starting(**how):
    return k8s.V1PodStatus(
        phase="Pending",
        conditions=[condition("Ready", "False")],
        container_statuses=[container(ready=False, **how)],
    )


def unscheduled(message):
    return k8s.V1PodStatus(phase="Pending", conditions=[condition("PodScheduled", "False", message)])


class Kube(Cluster):
    """A cluster in memory. `status_of(name)`: status of a server's pod. `objects`: the existing objects by kind and name."""

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.objects = {}
        self.status_of = running
        self.made = 0
        self.warnings = []
        self.logs = {}  # by pod, and whether of the container before
        self.refuses = {}  # a status by kind
        self.says = None  # the sentence of a refusal
        self.sticky = set()  # names of what does not go away

    def _put(self, kind, body):
        self._call(f"create {kind}")
        self._refuse(kind)
        if (kind, body["metadata"]["name"]) in self.objects:
            raise ApiException(409, "Conflict")
        self.objects[kind, body["metadata"]["name"]] = body

    def _refuse(self, kind):
        if status := self.refuses.get(kind):
            error = ApiException(status, "No")
            error.body = json.dumps({"message": self.says}) if self.says else None
            raise error

    def create_namespaced_pod(self, namespace, body, *, dry_run=None, **others):
        if dry_run is None:
            return super().create_namespaced_pod(namespace, body, **others)
        self._call("dry run")
        self._refuse("Pod")
        return None

    def create_namespaced_config_map(self, namespace, body):
        self._put("ConfigMap", body)

    def create_namespaced_service(self, namespace, body):
        self._put("Service", body)

    def create_namespaced_stateful_set(self, namespace, body):
        self._put("StatefulSet", body)
        for claim in body["spec"].get("volumeClaimTemplates", []):
            name = f"{claim['metadata']['name']}-{body['metadata']['name']}-0"
            self.objects["PersistentVolumeClaim", name] = {"metadata": {**claim["metadata"], "name": name}}
        for n in range(body["spec"]["replicas"]):
            self.start(f"{body['metadata']['name']}-{n}", body["spec"]["template"])

    def create_namespaced_network_policy(self, namespace, body):
        self._put("NetworkPolicy", body)

    def delete_namespaced_network_policy(self, name, namespace, **_):
        self._gone("NetworkPolicy", name)

    def start(self, name, template):
        self.made += 1
        self.pods[name] = k8s.V1Pod(
            metadata=k8s.V1ObjectMeta(
                name=name,
                labels=template["metadata"]["labels"],
                annotations=template["metadata"].get("annotations"),
                uid=str(self.made),
            ),
            spec=k8s.V1PodSpec(
                node_name="n1",
                containers=[
                    k8s.V1Container(
                        name=one["name"],
                        image=one["image"],
                        resources=k8s.V1ResourceRequirements(**one["resources"]),
                    )
                    for one in template["spec"]["containers"]
                ],
            ),
            status=self.status_of(name),
        )

    def _listed(self, kind, selector):
        found = [
            body["metadata"]
            for (own, _), body in self.objects.items()
            if own == kind and matches(body["metadata"]["labels"], selector)
        ]
        return SimpleNamespace(
            items=[SimpleNamespace(metadata=SimpleNamespace(name=meta["name"])) for meta in found]
        )

    def _gone(self, kind, name):
        self._call(f"delete {kind}")
        if name not in self.sticky and self.objects.pop((kind, name), None) is None:
            raise ApiException(404, "Not Found")

    def list_namespaced_event(self, namespace, field_selector="", **_):
        return SimpleNamespace(items=self.warnings)

    def read_namespaced_pod_log(self, name=None, namespace=None, **how):
        if "tail_lines" not in how:
            return super().read_namespaced_pod_log()
        if (name, how["previous"]) not in self.logs:
            raise ApiException(400, "Bad Request")
        assert how["_preload_content"] is False, "what the client decodes is no text"
        return SimpleNamespace(data=(text := self.logs[name, how["previous"]]) and text.encode())


def _methods(kind, named):
    def listed(self, namespace, label_selector):
        return self._listed(kind, label_selector)

    def delete(self, name, namespace, **_):
        self._gone(kind, name)

    setattr(Kube, f"list_namespaced_{named}", listed)
    setattr(Kube, f"delete_namespaced_{named}", delete)


for _kind, _named in (
    ("ConfigMap", "config_map"),
    ("Service", "service"),
    ("StatefulSet", "stateful_set"),
    ("PersistentVolumeClaim", "persistent_volume_claim"),
):
    _methods(_kind, _named)


def warning(name, message):
    return SimpleNamespace(involved_object=SimpleNamespace(name=name), message=message)
