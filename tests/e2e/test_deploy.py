"""The manifests of deploy/kubernetes in the stack allow exactly the actions that a run needs.

test_secrets.py shows that a run passes with these accounts.
"""

import copy
import os
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest
from kubernetes import client, config
from kubernetes.client.exceptions import ApiException

from local.stack.settings import Settings
from storebench.airflow.kubernetes.placement import LABEL, Placement
from tests.e2e.harness import NAMESPACE, PLACEMENT, delete, soon

HOME = Path(os.environ.get("STOREBENCH_HOME", ""), "run")
CHECKOUT = Path(__file__).parents[2]
AIRFLOW, SPARK = (f"system:serviceaccount:{NAMESPACE}:{name}" for name in ("airflow", "storebench-spark"))
EVERYWHERE = (NAMESPACE, "default", "kube-system")
HERE = "198.51.100.1"  # this machine's address, for another one

# What neither account can do, in its own namespace or another: (verb, API group, resource).
FORBIDDEN = [
    *(("get", "", kind) for kind in ("secrets", "configmaps", "nodes", "namespaces", "persistentvolumes")),
    *(("list", "", kind) for kind in ("secrets", "namespaces", "serviceaccounts", "persistentvolumes")),
    *(("create", "", kind) for kind in ("serviceaccounts", "namespaces", "nodes", "persistentvolumes")),
    *(("create", "", kind) for kind in ("pods/exec", "pods/attach", "pods/portforward", "pods/eviction")),
    *(("create", "", kind) for kind in ("pods/ephemeralcontainers", "serviceaccounts/token", "pods/binding")),
    *(("delete", "", kind) for kind in ("namespaces", "nodes", "persistentvolumes", "serviceaccounts")),
    # Servers are made and removed, and never changed or looked into.
    *((verb, "", "services") for verb in ("get", "patch", "update", "proxy")),
    *((verb, "", "configmaps") for verb in ("patch", "update", "watch")),
    *((verb, "", "persistentvolumeclaims") for verb in ("get", "patch", "update")),
    *((verb, "apps", "statefulsets") for verb in ("get", "patch", "update", "deletecollection")),
    *(("update", "apps", f"statefulsets/{kind}") for kind in ("scale", "status")),
    *((verb, "", "nodes") for verb in ("watch", "update")),
    ("get", "", "nodes/proxy"),
    *((verb, "storage.k8s.io", "storageclasses") for verb in ("create", "delete", "get", "patch")),
    ("deletecollection", "", "secrets"),
    ("patch", "", "namespaces"),  # its Pod Security labels
    ("patch", "", "nodes"),  # its taints
    ("impersonate", "", "users"),
    *(("create", "apps", kind) for kind in ("deployments", "daemonsets", "replicasets")),
    # The pods of a divided operation are made and removed as a Job, and never changed or looked into.
    *((verb, "batch", "jobs") for verb in ("get", "list", "patch", "update", "deletecollection")),
    ("create", "batch", "cronjobs"),
    *(
        (verb, "rbac.authorization.k8s.io", kind)
        for verb in ("create", "patch", "bind", "escalate")
        for kind in ("roles", "rolebindings", "clusterroles", "clusterrolebindings")
    ),
    *(
        (verb, "networking.k8s.io", "networkpolicies")
        for verb in ("get", "list", "patch", "update", "deletecollection")
    ),
    ("create", "scheduling.k8s.io", "priorityclasses"),
    ("create", "admissionregistration.k8s.io", "mutatingwebhookconfigurations"),
    # The policy that keeps a Spark driver from the account of Airflow.
    *(
        (verb, "admissionregistration.k8s.io", kind)
        for verb in ("create", "patch", "update", "delete")
        for kind in ("validatingadmissionpolicies", "validatingadmissionpolicybindings")
    ),
]
ALLOWED = {
    AIRFLOW: [
        *((verb, "pods") for verb in ("create", "get", "list", "watch", "patch", "delete")),
        ("get", "pods/log"),
        ("list", "events"),
        ("create", "secrets"),
        ("update", "secrets"),
        ("delete", "secrets"),
        *((verb, "apps/statefulsets") for verb in ("create", "list", "delete")),
        *((verb, "networking.k8s.io/networkpolicies") for verb in ("create", "delete")),
        *((verb, "batch/jobs") for verb in ("create", "delete")),
        *(
            (verb, kind)
            for verb in ("create", "list", "delete")
            for kind in ("services", "configmaps", "persistentvolumeclaims")
        ),
    ],
    SPARK: [(verb, "pods") for verb in ("create", "get", "list", "watch", "delete", "deletecollection")],
}


@pytest.fixture(scope="module", autouse=True)
def embedded():
    if "kubernetes" not in os.environ["STOREBENCH_EMBEDDED"].split():
        pytest.skip("asks the embedded cluster as its administrator")


def kubectl(*arguments):
    command = [HOME / "bin" / "kubectl", f"--kubeconfig={HOME / 'kubernetes' / 'admin.kubeconfig'}"]
    options = [f"--cache-dir={HOME / 'kubectl'}"]
    return subprocess.run(
        [*command, *options, *arguments], check=False, capture_output=True, text=True, timeout=60
    )


@pytest.fixture(scope="module")
def admin():
    return config.new_client_from_config(str(HOME / "kubernetes" / "admin.kubeconfig"))


@pytest.fixture(scope="module")
def account(admin):
    """Yield the API as a service account of the namespace, with its own token."""
    clients = []

    def api(name):
        made = kubectl("create", "token", name, f"--namespace={NAMESPACE}", "--duration=10m")
        assert made.returncode == 0, made.stderr
        configuration = copy.copy(admin.configuration)
        configuration.cert_file = configuration.key_file = None
        configuration.api_key = {"authorization": f"Bearer {made.stdout.strip()}"}
        clients.append(client.ApiClient(configuration))
        return client.CoreV1Api(clients[-1])

    yield api
    for one in clients:
        one.close()


@pytest.fixture
def started(cluster):
    """Start pods in the namespace; they are gone afterwards."""
    names = []

    def start(pod):
        names.append(pod["metadata"]["name"])
        return cluster.create_namespaced_pod(NAMESPACE, pod)

    yield start
    for name in names:
        delete(cluster, name)


def sleeper(name, placement=PLACEMENT, seconds=60):
    """Return a pod like the DAG's pods that sleeps for these seconds."""
    pod = placement.template(name, "base")
    pod["metadata"]["name"] = name
    pod["spec"] |= {"restartPolicy": "Never", "terminationGracePeriodSeconds": 0}
    pod["spec"]["containers"][0] |= {
        "image": os.environ["STOREBENCH_IMAGE_PYTHON"],
        "imagePullPolicy": "IfNotPresent",
        "command": ["sleep", str(seconds)],
    }
    return pod


def test_the_cluster_has_what_the_manifests_say():
    done = kubectl("diff", f"--kustomize={CHECKOUT / 'deploy' / 'kubernetes'}")
    assert done.returncode == 0, done.stdout + done.stderr


def test_airflow_is_the_least_privileged_account(cluster):
    review = client.AuthenticationV1Api(cluster.api_client).create_self_subject_review(
        client.V1SelfSubjectReview()
    )
    assert review.status.user_info.username == AIRFLOW


@pytest.mark.parametrize("user", [AIRFLOW, SPARK])
def test_an_account_may_do_what_it_needs_in_its_namespace_and_nothing_else(admin, user):
    reviews = client.AuthorizationV1Api(admin)

    def allowed(namespace, verb, group, kind):
        resource, _, subresource = kind.partition("/")
        attributes = client.V1ResourceAttributes(
            namespace=namespace, verb=verb, group=group, resource=resource, subresource=subresource
        )
        spec = client.V1SubjectAccessReviewSpec(user=user, resource_attributes=attributes)
        return reviews.create_subject_access_review(client.V1SubjectAccessReview(spec=spec)).status.allowed

    may = {(namespace, *what) for what in FORBIDDEN for namespace in EVERYWHERE if allowed(namespace, *what)}
    assert may == set()

    def may_in(namespace, verb, kind):
        group, _, resource = ("", "", kind) if kind == "pods/log" else kind.rpartition("/")
        return allowed(namespace, verb, group, resource)

    for verb, kind in ALLOWED[user]:
        assert may_in(NAMESPACE, verb, kind), (verb, kind)
        assert not any(may_in(other, verb, kind) for other in EVERYWHERE[1:]), (verb, kind)
    for verb, kind in ALLOWED[AIRFLOW]:
        assert may_in(NAMESPACE, verb, kind) is ((verb, kind) in ALLOWED[user]), (verb, kind)
    # Of the whole cluster, Airflow's account alone sees which nodes and storage classes there are.
    for group, kind in (("", "nodes"), ("storage.k8s.io", "storageclasses")):
        assert allowed("", "list", group, kind) is (user == AIRFLOW), kind


@pytest.mark.parametrize("name", ["airflow", "storebench-spark"])
def test_the_api_itself_refuses_the_account(account, name):
    api = account(name)
    for refused in (
        lambda: api.read_namespaced_secret("storebench-s3", NAMESPACE),
        lambda: api.list_namespaced_secret(NAMESPACE),
        lambda: api.list_namespaced_pod("kube-system"),
        lambda: api.read_node("any"),
        lambda: api.read_namespaced_config_map("any", NAMESPACE),
        lambda: api.list_namespaced_config_map("kube-system"),
        lambda: api.patch_namespace(NAMESPACE, {"metadata": {"labels": {"x": "y"}}}),
        lambda: api.create_namespaced_pod("default", sleeper("elsewhere")),
    ):
        with pytest.raises(ApiException) as error:
            refused()
        assert error.value.status == 403


def spoiled(change):
    pod = sleeper("spoiled")
    change(pod["spec"], pod["spec"]["containers"][0])
    return pod


SPOILED = {
    "privileged": lambda spec, container: container["securityContext"].update(
        privileged=True, allowPrivilegeEscalation=True
    ),
    "escalating": lambda spec, container: container["securityContext"].update(allowPrivilegeEscalation=True),
    "capabilities": lambda spec, container: container["securityContext"].update(
        capabilities={"add": ["NET_ADMIN"]}
    ),
    "root": lambda spec, container: container["securityContext"].update(runAsUser=0),
    "unconfined": lambda spec, container: spec.update(securityContext={}),
    "host network": lambda spec, container: spec.update(hostNetwork=True),
    "host processes": lambda spec, container: spec.update(hostPID=True),
    "host files": lambda spec, container: spec["volumes"].append({"name": "host", "hostPath": {"path": "/"}}),
}


@pytest.mark.parametrize("how", SPOILED)
def test_the_namespace_takes_no_pod_that_could_do_more(account, how):
    with pytest.raises(ApiException) as error:
        account("airflow").create_namespaced_pod(NAMESPACE, spoiled(SPOILED[how]), dry_run="All")
    # Where the API server allows no privileged pods at all, it says so before the namespace does.
    found = error.value.status, error.value.body
    assert (found[0] == 403 and "restricted" in found[1]) or (found[0] == 422 and "privileged" in found[1])


def mounting(token, **more):
    """Return a volume of files that Kubernetes makes: with the token of the pod's account, or without. `more`: fields of the token."""
    labels = {"items": [{"path": "labels", "fieldRef": {"fieldPath": "metadata.labels"}}]}
    source = {"serviceAccountToken": {"path": "token", **more}} if token else {"downwardAPI": labels}
    return {"name": "made", "projected": {"sources": [source]}}


# Pods that would give a Spark driver more rights, and the reason for which each is refused.
GREEDY = {
    "the account of Airflow": ({"serviceAccountName": "airflow"}, "the service account default only"),
    "the account of Airflow by its older name": (
        {"serviceAccount": "airflow"},
        "the service account default only",
    ),
    "another driver": ({"serviceAccountName": "storebench-spark"}, "the service account default only"),
    "a token": ({"automountServiceAccountToken": True}, "without a token"),
    "a token, unsaid": ({"automountServiceAccountToken": None}, "without a token"),
    "a token in a volume": (
        {"volumes": [{"name": "tmp", "emptyDir": {}}, mounting(True)]},
        "without a token",
    ),
    "a token for an audience of the cluster": (
        {"volumes": [{"name": "tmp", "emptyDir": {}}, mounting(True, audience="kubernetes")]},
        "without a token",
    ),
}


@pytest.mark.parametrize("how", GREEDY)
def test_a_spark_driver_starts_no_pod_with_more_rights(account, how):
    pod, (change, told) = sleeper("greedy"), GREEDY[how]
    pod["spec"] |= change
    with pytest.raises(ApiException) as error:
        account("storebench-spark").create_namespaced_pod(NAMESPACE, pod, dry_run="All")
    assert (error.value.status, told in error.value.body) == (403, True), error.value.body
    # Airflow itself may: it starts the drivers.
    account("airflow").create_namespaced_pod(NAMESPACE, pod, dry_run="All")


@pytest.mark.parametrize("volume", [mounting(False), mounting(True, audience="sts.amazonaws.com")])
def test_a_spark_driver_starts_its_executors(account, volume):
    """A cloud gives executors whose account has a role a token for its own service, which the cluster refuses."""
    executor = sleeper("executor")
    executor["spec"]["volumes"].append(volume)
    made = account("storebench-spark").create_namespaced_pod(NAMESPACE, executor, dry_run="All")
    assert made.spec.service_account_name == "default"


@pytest.fixture
def other_machine():
    """Yield a network namespace as another machine, which routes to the pod network through this machine at the address HERE."""
    settings = Settings()
    process = subprocess.Popen(
        ["unshare", "--net", "sh", "-c", "echo; exec sleep 120"], stdout=subprocess.PIPE
    )
    process.stdout.readline()  # the namespace is there
    inside = ["nsenter", f"--net=/proc/{process.pid}/ns/net"]
    link = f"sbtest{process.pid}"[:15]

    def ip(*arguments, within=()):
        subprocess.run([*within, "ip", *arguments], check=True, capture_output=True, text=True)

    try:
        ip("link", "add", link, "type", "veth", "peer", "name", "eth0", "netns", str(process.pid))
        ip("address", "add", f"{HERE}/30", "dev", link)
        ip("link", "set", link, "up")
        ip("address", "add", "198.51.100.2/30", "dev", "eth0", within=inside)
        ip("link", "set", "eth0", "up", within=inside)
        ip("route", "add", str(settings.network), "via", HERE, within=inside)
        yield lambda *address: connects(*address, within=inside)
    finally:
        process.kill()  # the link goes with the namespace
        process.wait()


def connects(host, port, within=()):
    """Return whether a TCP connection succeeds."""
    code = "import socket, sys; socket.create_connection((sys.argv[1], int(sys.argv[2])), 2)"
    command = [*within, sys.executable, "-c", code, host, str(port)]
    return subprocess.run(command, check=False, capture_output=True, timeout=30).returncode == 0


def test_no_other_machine_reaches_the_servers_of_the_stack(other_machine):
    settings = Settings()
    with socket.create_server((HERE, 0)) as server:
        assert other_machine(*server.getsockname()), "the route itself works"
    names = {"kubernetes", "kubelet", "s3"} & set(settings.needed_ports)
    servers = {name: settings.ports[name] for name in names}
    assert all(connects(settings.gateway, port) for port in servers.values()), "this machine reaches them"
    assert not {name for name, port in servers.items() if other_machine(settings.gateway, port)}


def condition(cluster, name):
    """Return why the pod has no node; None if it has a node."""
    for found in cluster.read_namespaced_pod(name, NAMESPACE).status.conditions or []:
        if found.type == "PodScheduled" and found.status == "False":
            return found.message
    return None


def test_a_node_takes_one_attempt_at_a_time(cluster, started):
    started(sleeper("one"))
    soon(lambda: cluster.read_namespaced_pod("one", NAMESPACE).status.phase == "Running")
    started(sleeper("two"))
    assert "anti-affinity" in soon(lambda: condition(cluster, "two"))
    own = sleeper("one-executor")
    own["metadata"]["labels"][LABEL] = "one"
    own["spec"]["affinity"] = PLACEMENT.template("one", "base")["spec"]["affinity"]
    started(own)
    soon(lambda: cluster.read_namespaced_pod("one-executor", NAMESPACE).status.phase == "Running")
    assert cluster.read_namespaced_pod("two", NAMESPACE).status.phase == "Pending"
    delete(cluster, "one")
    delete(cluster, "one-executor")
    soon(lambda: cluster.read_namespaced_pod("two", NAMESPACE).status.phase == "Running")


def test_others_are_kept_from_the_node(cluster, started):
    started(sleeper("other", Placement()))
    assert "untolerated taint" in soon(lambda: condition(cluster, "other"))
    time.sleep(2)
    assert cluster.read_namespaced_pod("other", NAMESPACE).status.phase == "Pending"
