"""A Kubernetes in memory: its pods run until they were looked at `runs_for` times, end in the way that a test says, and its API can
fail.
"""

import copy
import threading
from datetime import UTC, datetime
from types import SimpleNamespace

from kubernetes import client
from kubernetes.client import models as k8s
from kubernetes.client.exceptions import ApiException
from urllib3.exceptions import ProtocolError

START, END = datetime(2026, 1, 1, 12, 0, 5, tzinfo=UTC), datetime(2026, 1, 1, 12, 0, 15, tzinfo=UTC)


def ended(code=0, reason=None, message=None):
    """Return the state of an ended container."""
    return k8s.V1ContainerStateTerminated(
        exit_code=code,
        reason=reason or ("Error" if code else "Completed"),
        message=message,
        started_at=START,
        finished_at=END,
    )


def matches(labels, selector):
    """Match the selectors that the operators use: a, a=b, a!=b, !a, a in (b,c)."""
    rest = selector
    if " in (" in rest:
        rest, _, values = rest.partition(" in (")
        rest, _, name = rest.rpartition(",")
        if labels.get(name) not in values.rstrip(")").split(","):
            return False
    for part in filter(None, rest.split(",")):
        name, _, value = part.partition("=")
        if part.startswith("!"):
            fits = part[1:] not in labels
        elif "=" not in part:
            fits = part in labels
        elif name.endswith("!"):
            fits = labels.get(name[:-1]) != value
        else:
            fits = labels.get(name) == value
        if not fits:
            return False
    return True


class Cluster:
    """CoreV1Api of it. `end(pod)` says how a pod's container ends: `ended(…)`, or that and the pod's reason."""

    def __init__(self, end=lambda pod: ended()):
        self.end = end
        self.pods: dict = {}
        self.looks: dict = {}
        self.runs_for = 2  # as it is created, and as it starts
        self.created_at = START
        self.sidecar = False  # a container before the pod's own, that goes on when this one has ended
        self.phase_is_late = False  # the pod's phase is still Running when its container has succeeded
        self.evicted: dict = {}  # the last states of removed pods
        self.has_evicted = threading.Event()
        self.started: list = []  # the names of all pods there ever were
        self.secrets: dict = {}
        self.claims: dict = {}
        self.claims_stay_for = 0  # calls that make a claim anew, until a removed one is gone
        self.api_client = client.ApiClient()
        self.calls: list = []
        self.fails = lambda call, calls: None  # the error of a call, after those before it

    def _call(self, name):
        error = self.fails(name, self.calls)
        self.calls.append(name)
        if error:
            raise error

    def create_namespaced_pod(self, namespace, body, **_):
        self._call("create")
        name = body["metadata"]["name"]
        found = self.end(SimpleNamespace(name=name, labels=body["metadata"]["labels"], spec=body["spec"]))
        state, reason = found if isinstance(found, tuple) else (found, None)
        good = state.exit_code == 0 and not reason
        runs_on = self.sidecar or (good and self.phase_is_late)
        status = k8s.V1ContainerStatus(
            name="base",
            image="i",
            image_id="sha256:1",
            ready=False,
            restart_count=0,
            state=k8s.V1ContainerState(terminated=state),
        )
        spec = body["spec"]
        self.started.append(name)
        self.pods[name] = k8s.V1Pod(
            metadata=k8s.V1ObjectMeta(
                name=name,
                namespace=namespace,
                labels=body["metadata"]["labels"],
                creation_timestamp=self.created_at,
            ),
            spec=k8s.V1PodSpec(
                node_name="n1",
                active_deadline_seconds=spec.get("activeDeadlineSeconds"),
                containers=[
                    *([k8s.V1Container(name="proxy", image="mesh:1")] if self.sidecar else []),
                    k8s.V1Container(name="base", image=spec["containers"][0]["image"]),
                ],
            ),
            status=k8s.V1PodStatus(
                phase="Running" if runs_on else "Succeeded" if good else "Failed",
                reason=reason,
                container_statuses=[status],
            ),
        )
        return self.pods[name]

    def read_namespaced_pod(self, name, namespace):
        self._call("read")
        if name not in self.pods:
            raise ApiException(404, "Not Found")
        return self._look(name)

    def _look(self, name):
        pod = self.pods[name]
        if name not in self.started:  # put there by a test
            return pod
        self.looks[name] = self.looks.get(name, 0) + 1
        if self.looks[name] > self.runs_for:
            return copy.deepcopy(pod)
        running = copy.deepcopy(pod)
        running.status.phase, running.status.reason = "Running", None
        running.status.container_statuses[0].state = k8s.V1ContainerState(
            running=k8s.V1ContainerStateRunning()
        )
        return running

    def list_namespaced_pod(self, namespace, label_selector=""):
        self._call("list")
        found = [name for name, pod in self.pods.items() if matches(pod.metadata.labels, label_selector)]
        return k8s.V1PodList(items=[self._look(name) for name in found])

    def watched(self, question, namespace, field_selector):
        """Return the events of a pod as soon as the cluster has evicted pods."""
        assert question == self.list_namespaced_pod
        name = field_selector.removeprefix("metadata.name=")
        self.has_evicted.wait(5)
        return [{"type": "DELETED", "object": self.evicted[name]}] if name in self.evicted else []

    def delete_namespaced_pod(self, name, namespace, **_):
        self._call("delete")
        if self.pods.pop(name, None) is None:
            raise ApiException(404, "Not Found")

    def patch_namespaced_pod(self, name, namespace, body):
        self._call("patch")

    def list_namespaced_event(self, namespace, field_selector="", **_):
        self._call("events")
        return SimpleNamespace(items=[])

    def read_namespaced_pod_log(self, **_):
        self._call("log")
        return SimpleNamespace(stream=lambda **_: iter(()), closed=True)

    def replace_namespaced_secret(self, name, namespace, body):
        self._call("replace secret")
        if name not in self.secrets:
            raise ApiException(404, "Not Found")
        self.secrets[name] = body

    def create_namespaced_secret(self, namespace, body):
        self._call("create secret")
        self.secrets[body["metadata"]["name"]] = body

    def delete_namespaced_secret(self, name, namespace, **_):
        self._call("delete secret")
        if self.secrets.pop(name, None) is None:
            raise ApiException(404, "Not Found")

    def create_namespaced_persistent_volume_claim(self, namespace, body):
        self._call("create claim")
        if self.claims_stay_for:
            self.claims_stay_for -= 1
            raise ApiException(409, "AlreadyExists")
        self.claims[body["metadata"]["name"]] = body["spec"]

    def delete_namespaced_persistent_volume_claim(self, name, namespace, **_):
        self._call("delete claim")
        if self.claims.pop(name, None) is None:
            raise ApiException(404, "Not Found")


def away(after, calls):
    """Make the API server fail for `calls` calls from the call `after` on."""
    left = [calls]

    def fails(call, before):
        if after in before and left[0]:
            left[0] -= 1
            return ProtocolError("Connection aborted.")
        return None

    return fails
