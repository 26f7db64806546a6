from decimal import Decimal
from types import SimpleNamespace

import pytest
from kubernetes.client import models as k8s
from kubernetes.client.exceptions import ApiException

from storebench.servers.capacity import DEFAULT_CLASS, GIB, Need, lacking, needs_of, volumes_of
from storebench.servers.render import Place, rendered
from storebench.servers.sizes import Sizes
from storebench.servers.topology import FOLDER, find

CLIENT = Need("the client's pod", Decimal(1), Decimal(2 * 2**30))


@pytest.fixture(autouse=True)
def shipped(monkeypatch):
    monkeypatch.delenv(FOLDER, raising=False)


def node(memory, cpu="4", name="n", labels=None, taints=(), **spec):
    return k8s.V1Node(
        metadata=k8s.V1ObjectMeta(name=name, labels=labels),
        spec=k8s.V1NodeSpec(taints=list(taints), **spec),
        status=k8s.V1NodeStatus(allocatable={"cpu": cpu, "memory": memory}),
    )


def storage_class(name, default):
    annotations = {DEFAULT_CLASS: "true"} if default else None
    return k8s.V1StorageClass(metadata=k8s.V1ObjectMeta(name=name, annotations=annotations), provisioner="p")


def lacks(*nodes, classes=None, sizes=None, pod=None):
    objects = rendered(find("elasticsearch", "three"), "abc", sizes or Sizes(), Place())
    core = SimpleNamespace(list_node=lambda: SimpleNamespace(items=list(nodes)))
    storage = SimpleNamespace(
        list_storage_class=lambda: SimpleNamespace(
            items=[storage_class("local-path", True)] if classes is None else classes
        )
    )
    return lacking(core, storage, objects, needs_of(objects, CLIENT), pod or {}, lambda call: call())


def test_each_pod_counts():
    objects = rendered(find("elasticsearch", "three"), "abc", Sizes(cpu="2", memory="4Gi"), Place())
    needs = needs_of(objects, CLIENT)
    assert [need.what for need in needs] == [
        "the client's pod",
        *(f"elasticsearch-abc-{n}" for n in range(3)),
    ]
    assert {(need.cpu, need.memory) for need in needs[1:]} == {(Decimal(2), Decimal(4 * 2**30))}


def test_the_volume_of_each_copy_counts():
    three = find("elasticsearch", "three")
    assert volumes_of(rendered(three, "abc", Sizes(disk="2Gi"), Place())) == 3 * 2 * GIB
    assert volumes_of(rendered(find("hdfs", "one"), "abc", Sizes(), Place())) == 11 * GIB


def test_what_fits_lacks_nothing_on_one_node_or_several():
    assert lacks(node("8Gi")) is None
    assert lacks(*(node("2Gi") for _ in range(4))) is None


def test_what_does_not_fit_is_told_with_what_there_is():
    said = lacks(node("7Gi", name="small"))
    assert "there is no room for elasticsearch-abc-" in said and "(0.5 cores, 2 GiB)" in said
    assert "need 2.5 cores, 8 GiB together" in said and "small: 4 cores, 7 GiB" in said


def test_room_in_pieces_is_no_room():
    assert lacks(*(node("1900Mi") for _ in range(9))) is not None


def test_cores_count_too():
    assert "no room" in lacks(node("64Gi", cpu="2"))


def test_only_nodes_that_take_the_pods_count():
    taint = k8s.V1Taint(effect="NoSchedule", key="bench", value="x")
    tainted = node("64Gi", taints=[taint], labels={"pool": "bench"})
    assert "no node takes these pods" in lacks(tainted)
    assert lacks(tainted, pod={"tolerations": [{"key": "bench", "operator": "Exists"}]}) is None
    assert "no node takes" in lacks(tainted, pod={"tolerations": [{"key": "bench", "value": "y"}]})
    assert (
        lacks(
            tainted, pod={"tolerations": [{"key": "bench", "value": "x"}], "nodeSelector": {"pool": "bench"}}
        )
        is None
    )
    assert "no node takes" in lacks(node("64Gi"), pod={"nodeSelector": {"pool": "bench"}})
    assert "no node takes" in lacks(node("64Gi", unschedulable=True))


def test_a_storage_class_that_is_not_there_is_told_with_those_that_are():
    said = lacks(node("64Gi"), sizes=Sizes(storage_class="fast"))
    assert said == "the cluster has no storage class 'fast'. It has local-path"
    assert lacks(node("64Gi"), sizes=Sizes(storage_class="local-path")) is None


def test_without_a_default_class_one_must_be_named():
    said = lacks(node("64Gi"), classes=[storage_class("slow", False)])
    assert said.startswith("the cluster has no default storage class") and said.endswith("there are slow")


@pytest.mark.parametrize("status", [401, 403])
def test_an_account_that_may_not_look_leaves_it_to_the_scheduler(status):
    def refused():
        raise ApiException(status, "Forbidden")

    assert lacking(SimpleNamespace(list_node=refused), None, [], [], {}, lambda call: call()) is None


def test_other_errors_are_told():
    def broken():
        raise ApiException(500, "broken")

    with pytest.raises(ApiException):
        lacking(SimpleNamespace(list_node=broken), None, [], [], {}, lambda call: call())
