import base64

import pytest
from kubernetes.client.exceptions import ApiException

from storebench.errors import ServersFailed, SpecError
from storebench.servers import cluster as module
from storebench.servers.cluster import Limits, ServerCluster
from storebench.servers.pods import deaths, templates
from storebench.servers.render import Place, policy_of, rendered
from storebench.servers.sizes import Sizes
from storebench.servers.topology import find
from tests.unit.airflow.cluster import ended
from tests.unit.servers.kube import container, running, starting, unscheduled, warning

SOON = Limits(node_s=0.02, ready_s=0.05)


@pytest.fixture
def servers(kube):
    return ServerCluster(kube, "ns", lambda call: call())


def make(servers, name="three", set_id="abc", **more):
    objects = rendered(find("elasticsearch", name), set_id, Sizes(), Place())
    servers.make(set_id, objects, **more)


def wait(servers, copies=3, go_on=lambda: None):
    return servers.wait("abc", copies, SOON, go_on)


def test_servers_are_made_and_known_by_their_pods(kube, servers):
    make(servers)
    assert wait(servers) == {f"elasticsearch-abc-{n}": [str(n + 1), 0] for n in range(3)}
    assert ("Service", "elasticsearch-nodes-abc") in kube.objects


def test_the_policy_is_there_before_the_servers_and_until_they_are_gone(kube, servers, monkeypatch):
    monkeypatch.setattr(module, "GONE_WITHIN_S", 0.01)
    make(servers)
    assert kube.objects["NetworkPolicy", "storebench-servers-abc"] == policy_of("abc")
    made = [call for call in kube.calls if call.startswith("create ")]
    assert made.index("create NetworkPolicy") < made.index("create StatefulSet")
    kube.sticky = {"data-elasticsearch-abc-0"}
    with pytest.raises(ServersFailed):
        servers.remove("abc")
    assert ("NetworkPolicy", "storebench-servers-abc") in kube.objects, "a server may still be there"
    kube.sticky = set()
    servers.remove("abc")
    assert kube.objects == {}


def test_no_server_is_made_where_the_account_may_make_no_policy(kube, servers):
    kube.refuses = {"NetworkPolicy": 403}
    with pytest.raises(SpecError, match=r"NetworkPolicy storebench-servers-abc .*deploy/kubernetes has"):
        make(servers)
    assert kube.objects == {} and kube.made == 0


def test_servers_are_made_a_second_time_without_harm(kube, servers):
    make(servers)
    make(servers)
    assert kube.made == 3


def test_each_set_has_a_token_and_a_password_that_nobody_can_guess(kube, servers):
    servers.make("abc", [])
    servers.make("def", [])
    texts = {base64.b64decode(text) for one in kube.secrets.values() for text in one["data"].values()}
    assert set(kube.secrets) == {"storebench-servers-abc", "storebench-servers-def"}
    assert all(one["data"].keys() == {"token", "password"} for one in kube.secrets.values())
    assert len(texts) == 4 and min(map(len, texts)) >= 32
    assert all(text.isalnum() for text in texts), "they stand in JSON and in SQL as they are"


def test_all_of_a_set_is_removed_its_volumes_too_and_nothing_of_another(kube, servers):
    make(servers)
    make(servers, "one", "other")
    kept = {key for key in kube.objects if "other" in key[1]}
    assert len(kept) == 5
    servers.remove("abc")
    assert set(kube.objects) == kept and set(kube.pods) == {"elasticsearch-other-0"}
    assert set(kube.secrets) == {"storebench-servers-other"}
    servers.remove("abc")


def test_what_does_not_go_is_named(kube, servers, monkeypatch):
    monkeypatch.setattr(module, "GONE_WITHIN_S", 0.01)
    make(servers)
    kube.sticky = {"data-elasticsearch-abc-0"}
    with pytest.raises(ServersFailed, match=r"Still there .*: volume claim data-elasticsearch-abc-0"):
        servers.remove("abc")


def test_a_lack_of_rights_says_what_to_do(kube, servers):
    kube.refuses = {"StatefulSet": 403}
    with pytest.raises(
        SpecError, match=r"refused the StatefulSet elasticsearch-abc .*rights that deploy/kubernetes has"
    ):
        make(servers)


def test_a_refusal_by_a_rule_has_kubernetes_own_sentence(kube, servers):
    kube.refuses, kube.says = {"Service": 403}, "exceeded quota: small, requested: services=1"
    with pytest.raises(SpecError, match="403 No: exceeded quota: small, requested: services=1"):
        make(servers)


def test_the_pods_of_a_set_have_their_volumes():
    objects = rendered(find("elasticsearch", "three"), "abc", Sizes(), Place())
    (pod,) = templates(objects)
    assert pod["metadata"]["name"] == "elasticsearch-abc-0" and pod["metadata"]["labels"]
    mounted = {one["name"] for each in pod["spec"]["containers"] for one in each["volumeMounts"]}
    assert mounted <= {one["name"] for one in pod["spec"]["volumes"]}


def test_another_refusal_says_what_kubernetes_says(kube, servers):
    kube.refuses = {"Service": 422}
    with pytest.raises(ServersFailed, match="refused the Service elasticsearch-abc: 422"):
        make(servers)


def test_an_image_that_cannot_be_had_ends_the_wait_at_once(kube, servers):
    kube.status_of = lambda name: starting(waiting=("ImagePullBackOff", "Back-off pulling image"))
    make(servers)
    with pytest.raises(
        ServersFailed, match=r"elasticsearch-abc-0 does not start: its image es:1 cannot be pulled: Image"
    ):
        servers.wait("abc", 3, Limits(60, 60), lambda: None)


def test_a_server_that_ends_again_and_again_ends_the_wait_with_its_log(kube, servers):
    kube.status_of = lambda name: starting(restarts=2, before=ended(78))
    make(servers)
    kube.logs["elasticsearch-abc-0", True] = "a\nmax virtual memory areas too low\n"
    with pytest.raises(ServersFailed) as error:
        servers.wait("abc", 3, Limits(60, 60), lambda: None)
    assert "it ended 2 times: Error (exit code 78)" in str(error.value)
    assert "The end of its log:\na\nmax virtual memory areas too low" in str(error.value)


def test_the_message_of_an_agent_is_shown_without_its_figures_and_a_log_that_is_gone_is_none(kube, servers):
    left = '{"message": "the server ended by itself: exit code 1", "figures": {"cpu_s": 1}}'
    kube.status_of = lambda name: starting(restarts=2, before=ended(1, "Error", left))
    make(servers)
    kube.logs["elasticsearch-abc-0", True] = "unable to retrieve container logs for containerd://1"
    kube.logs["elasticsearch-abc-0", False] = "no host is set"
    with pytest.raises(ServersFailed) as error:
        servers.wait("abc", 3, Limits(60, 60), lambda: None)
    assert str(error.value).endswith(
        "it ended 2 times: Error (exit code 1): the server ended by itself: exit code 1. The end of its log:\nno host is set"
    )


def test_a_server_that_never_becomes_ready_is_given_up_with_its_log(kube, servers):
    kube.status_of = lambda name: starting() if name.endswith("1") else running(name)
    make(servers)
    kube.logs["elasticsearch-abc-1", False] = "waiting for a master"
    kube.warnings = [warning("elasticsearch-abc-1", "Readiness probe failed"), warning("other", "no matter")]
    with pytest.raises(ServersFailed) as error:
        wait(servers)
    said = str(error.value)
    assert said.startswith("2 of 3 servers are ready after 0 s, elasticsearch-abc-1 not")
    assert "Readiness probe failed" in said and "waiting for a master" in said and "no matter" not in said


def test_a_server_that_has_not_begun_has_no_log(kube, servers):
    kube.status_of = lambda name: starting() if name.endswith("1") else running(name)
    make(servers)
    kube.logs["elasticsearch-abc-1", False] = None
    with pytest.raises(
        ServersFailed, match=r"2 of 3 servers are ready after 0 s, elasticsearch-abc-1 not[^\n]*$"
    ):
        wait(servers)


def test_a_server_that_gets_no_node_is_given_up_with_the_schedulers_reason(kube, servers):
    kube.status_of = lambda name: unscheduled("0/1 nodes are available: 1 Insufficient memory")
    make(servers)
    with pytest.raises(
        ServersFailed, match=r"No node can take elasticsearch-abc-0: 0/1 nodes .*Insufficient memory"
    ):
        wait(servers)


def test_pods_that_are_never_made_are_told_with_the_warning(kube, servers):
    make(servers)
    kube.pods.clear()
    kube.warnings = [warning("elasticsearch-abc", "forbidden: violates PodSecurity")]
    with pytest.raises(
        ServersFailed, match=r"has made none of the servers' pods. It waited 0 s.*violates PodSecurity"
    ):
        servers.wait("abc", 3, Limits(node_s=0.02, ready_s=600), lambda: None)


def test_pods_of_which_only_some_are_made_are_told_with_the_warning(kube, servers):
    make(servers)
    del kube.pods["elasticsearch-abc-2"]
    kube.warnings = [warning("elasticsearch-abc", "exceeded quota: small")]
    with pytest.raises(
        ServersFailed, match=r"2 of 3 servers .* has made no more of them.*exceeded quota: small"
    ):
        wait(servers)


def test_a_wait_can_be_stopped(kube, servers):
    kube.status_of = lambda name: starting()
    make(servers)

    def stop():
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        wait(servers, go_on=stop)


def test_an_api_that_fails_is_not_hidden(kube, servers):
    kube.fails = lambda call, calls: ApiException(500, "broken") if call == "list" else None
    with pytest.raises(ApiException):
        wait(servers)


@pytest.fixture
def three(kube, servers):
    make(servers)
    return wait(servers)


def found(kube, servers, seen):
    return list(deaths(seen, servers.pods("abc")))


def test_servers_that_stay_are_not_dead(kube, servers, three):
    assert found(kube, servers, three) == []


def test_a_pod_that_is_gone_or_another_one_is_a_death(kube, servers, three):
    gone = kube.pods.pop("elasticsearch-abc-1")
    assert found(kube, servers, three) == ["the server elasticsearch-abc-1 is gone"]
    gone.metadata.uid = "9"
    kube.pods["elasticsearch-abc-1"] = gone
    assert found(kube, servers, three) == ["the server elasticsearch-abc-1 was removed, and started again"]


def test_a_restart_is_a_death_with_its_reason(kube, servers, three):
    status = kube.pods["elasticsearch-abc-0"].status
    status.container_statuses = [container(restarts=1, before=ended(137, "OOMKilled", "last words"))]
    assert found(kube, servers, three) == [
        "the server elasticsearch-abc-0 ended, and was started again: OOMKilled (exit code 137): last words"
    ]


def test_a_server_that_is_down_is_a_death(kube, servers, three):
    pod = kube.pods["elasticsearch-abc-2"]
    pod.status = starting(ended=ended(1))
    assert found(kube, servers, three) == [
        "the server elasticsearch-abc-2 is not ready any more: Error (exit code 1)"
    ]
