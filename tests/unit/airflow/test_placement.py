import pytest

from storebench.airflow.kubernetes.placement import LABEL, Placement, with_secret, with_shared_memory
from storebench.errors import SpecError
from storebench.servers.render import LABEL as SERVERS

ASKED = {
    "node_selector": {"pool": "bench"},
    "tolerations": [{"key": "bench", "operator": "Exists", "effect": "NoSchedule"}],
    "priority_class_name": "storebench",
    "image_pull_secrets": ["registry"],
}


def test_what_the_connection_says_is_in_the_pod():
    spec = Placement.from_extra({"pods": ASKED}).template("a1", "base")["spec"]
    assert spec["nodeSelector"] == ASKED["node_selector"]
    assert spec["tolerations"] == ASKED["tolerations"]
    assert spec["priorityClassName"] == "storebench"
    assert spec["imagePullSecrets"] == [{"name": "registry"}]


def test_pods_of_another_attempt_are_kept_from_the_node_and_those_of_its_own_are_spread():
    pod = Placement.from_extra({}).template("a1", "base")
    assert pod["metadata"]["labels"] == {LABEL: "a1"}
    apart = pod["spec"]["affinity"]["podAntiAffinity"]
    (required,) = apart["requiredDuringSchedulingIgnoredDuringExecution"]
    assert {"key": LABEL, "operator": "NotIn", "values": ["a1"]} in required["labelSelector"][
        "matchExpressions"
    ]
    preferred = apart["preferredDuringSchedulingIgnoredDuringExecution"]
    assert [one["podAffinityTerm"]["labelSelector"]["matchExpressions"] for one in preferred] == [
        [{"key": SERVERS, "operator": "Exists"}],
        [{"key": LABEL, "operator": "In", "values": ["a1"]}],
    ], "from servers of a run first, then from each other"


def test_a_secret_is_a_folder_beside_what_the_pod_has():
    before = Placement().template("a1", "base")
    pod = with_secret(before, "key", "/run/key")
    assert pod["spec"]["volumes"] == [
        {"name": "tmp", "emptyDir": {}},
        {"name": "key", "secret": {"secretName": "key"}},
    ]
    (container,) = pod["spec"]["containers"]
    assert container["volumeMounts"][1] == {"name": "key", "mountPath": "/run/key", "readOnly": True}
    assert before == Placement().template("a1", "base")


def test_shared_memory_is_the_pod_s_own_memory():
    before = Placement().template("a1", "base")
    spec = with_shared_memory(before)["spec"]
    assert spec["volumes"][1] == {"name": "shared-memory", "emptyDir": {"medium": "Memory"}}
    assert spec["containers"][0]["volumeMounts"][1] == {"name": "shared-memory", "mountPath": "/dev/shm"}
    assert before == Placement().template("a1", "base")


def test_a_form_may_hand_it_over_as_text():
    assert Placement.from_extra({"pods": '{"priority_class_name": "x"}'}).priority_class_name == "x"


@pytest.mark.parametrize(
    ("pods", "words"),
    [
        ("{", "is not JSON"),
        ("[" * 100_000, "is not JSON"),
        ([1], "must be an object"),
        ({"nodeSelector": {}}, "has unknown names: nodeSelector. There are node_selector"),
        ({"node_selector": {"dedicated": True}}, "needs texts in node_selector"),
        ({"tolerations": {"key": "x"}}, "needs a list of objects as tolerations"),
        ({"image_pull_secrets": "registry"}, "needs a list of names"),
    ],
)
def test_what_is_no_placement_is_refused_with_what_would_be(pods, words):
    with pytest.raises(SpecError, match=words):
        Placement.from_extra({"pods": pods})


def test_labels_and_annotations_are_on_each_pod_and_do_not_take_the_place_of_its_own():
    extra = {
        "pods": {"labels": {"team": "x", LABEL: "no"}, "annotations": {"sidecar.istio.io/inject": "false"}}
    }
    meta = Placement.from_extra(extra).template("a", "base")["metadata"]
    assert meta == {"labels": {"team": "x", LABEL: "a"}, "annotations": {"sidecar.istio.io/inject": "false"}}
    with pytest.raises(SpecError, match="needs texts in annotations"):
        Placement.from_extra({"pods": {"annotations": {"inject": False}}})
