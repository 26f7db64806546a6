"""Changes by the embedded cluster's services to the machine and to new pods, and their end."""

import json
from pathlib import Path

import pytest
import yaml

from local.stack import network, packet_filter, render, services
from local.stack.settings import Settings, StackError

forward = network.forward


@pytest.fixture
def settings(tmp_path):
    settings = Settings(home=tmp_path, own=frozenset())
    settings.run.mkdir()
    services.write(settings, "storebench")
    return settings


@pytest.fixture(autouse=True)
def calls(monkeypatch):
    """Collect the calls that would change the machine or the cluster."""
    calls = []
    monkeypatch.setattr(services, "kubectl", lambda _, *arguments: calls.append(arguments))
    monkeypatch.setattr(packet_filter, "claim", lambda _: calls.append("claim"))
    monkeypatch.setattr(packet_filter, "clear", lambda _: calls.append("clear"))
    monkeypatch.setattr(network, "forward", lambda on, _: calls.append(f"forward {on}"))
    return calls


def _resolver(settings):
    return settings.run / "kubernetes" / "resolv.conf"


def test_pods_have_the_machine_s_resolver_until_the_services_begin_and_after_they_end(settings, calls):
    assert _resolver(settings).readlink() == Path("/etc/resolv.conf")
    services.begin(settings)
    assert _resolver(settings).read_text().splitlines() == [
        "nameserver 10.96.0.10",
        "search storebench.svc.cluster.local svc.cluster.local cluster.local",
        "options ndots:5",
    ]
    services.end(settings)
    assert _resolver(settings).readlink() == Path("/etc/resolv.conf")
    manifests = settings.run / "kubernetes" / "services.yaml"
    assert calls == [
        *("claim", "forward True", ("apply", f"--filename={manifests}")),
        *("clear", "forward False"),
    ]


def test_where_another_cluster_s_are_nothing_is_changed(settings, calls, monkeypatch):
    def refuse(_):
        raise StackError("another")

    monkeypatch.setattr(packet_filter, "claim", refuse)
    with pytest.raises(StackError, match="another"):
        services.begin(settings)
    assert calls == []
    assert _resolver(settings).readlink() == Path("/etc/resolv.conf")


def test_the_kubelet_gives_pods_what_the_services_change(settings):
    kubelet = yaml.safe_load(render.template("kubelet.yaml", settings))
    assert kubelet["resolvConf"] == str(_resolver(settings))
    assert kubelet["clusterDNS"] == [], "with an address here, pods would ask it while nothing answers"


def test_the_machine_forwards_packets_only_as_long_as_needed(tmp_path, monkeypatch):
    (tmp_path / "net" / "ipv4").mkdir(parents=True)
    setting = tmp_path / "net" / "ipv4" / "ip_forward"
    setting.write_text("0")
    monkeypatch.setattr(network, "PROC_SYS", tmp_path)
    settings = Settings(home=tmp_path)
    (tmp_path / "sysctls.json").write_text(json.dumps({network.FORWARD: "0"}))
    forward(True, settings)
    assert setting.read_text() == "1"
    forward(False, settings)
    assert setting.read_text() == "0"


def test_volumes_are_below_the_home_and_end_with_the_cluster(settings):
    config = json.loads((settings.run / "kubernetes" / "volumes" / "config.json").read_text())
    assert config == {"sharedFileSystemPath": str(settings.run / "volumes")}
    services.write_helper(settings, "localhost/storebench/python:1")
    pod = yaml.safe_load((settings.run / "kubernetes" / "volumes" / "helperPod.yaml").read_text())
    (container,) = pod["spec"]["containers"]
    assert (container["image"], container["imagePullPolicy"]) == ("localhost/storebench/python:1", "Never")


def test_the_class_of_volumes_is_the_default_and_waits_for_a_pod(settings):
    found = {
        (one["kind"], one["metadata"]["name"]): one
        for one in yaml.safe_load_all(render.template("services.yaml", settings))
    }
    volumes = found["StorageClass", "local-path"]
    assert volumes["metadata"]["annotations"] == {"storageclass.kubernetes.io/is-default-class": "true"}
    assert (volumes["volumeBindingMode"], volumes["reclaimPolicy"]) == ("WaitForFirstConsumer", "Delete")
    scripts = found["ConfigMap", "local-path-config"]["data"]
    assert scripts["teardown"] == 'rm -rf "$VOL_DIR"'
    assert found["Service", "kube-dns"]["spec"]["clusterIP"] == services.DNS_SERVICE
    assert found["EndpointSlice", "kube-dns"]["endpoints"][0]["addresses"] == [settings.gateway]
