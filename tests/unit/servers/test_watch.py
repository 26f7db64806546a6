import subprocess
import sys
import threading
from dataclasses import fields, replace

import pytest

from storebench.errors import SpecError, StoreUnreachable
from storebench.servers.agent import Agent, Cpu, Used
from storebench.servers.watch import (
    AGENTS,
    FIGURES,
    HOLDING,
    LIMITED,
    SERVICES,
    SET,
    TOKEN,
    Busiest,
    ServersUsed,
    Watch,
)

USED = replace(Used(**{one.name: place for place, one in enumerate(fields(Used), 1)}), throttled_periods=0)


class Answers:
    def __init__(self, pod):
        self.pod, self.began = pod, 0

    def begin(self):
        self.began += 1

    def end(self):
        return USED

    def cpu(self):
        return Cpu(2.5, "machine")


class Served(Answers):
    """A pod that kept `cores` cores busy for 10 s, out of the usable cores of its container."""

    def __init__(self, pod, cores, usable=4.0, **more):
        super().__init__(pod)
        self.used = replace(USED, seconds=10.0, cpu_s=10.0 * cores, cores_usable=usable, **more)

    def end(self):
        return self.used


class Away(Answers):
    def begin(self):
        raise StoreUnreachable(f"the agent of {self.pod} does not answer")

    end = cpu = begin


@pytest.fixture
def told(monkeypatch):
    monkeypatch.setenv(AGENTS, '{"es-0": "10.0.0.1", "es-1": "10.0.0.2"}')
    monkeypatch.setenv(TOKEN, "secret")


def test_a_pod_knows_the_agents_that_it_was_told(told):
    assert Watch.from_environment().agents == [
        Agent("es-0", "10.0.0.1", "secret"),
        Agent("es-1", "10.0.0.2", "secret"),
    ]


def test_a_pod_whose_servers_nobody_watches_asks_nobody(monkeypatch):
    monkeypatch.delenv(AGENTS, raising=False)
    watch = Watch.from_environment()
    watch.begin()
    assert watch.end() == ServersUsed()


def test_agents_without_a_token_are_refused(told, monkeypatch):
    monkeypatch.delenv(TOKEN)
    with pytest.raises(SpecError, match="STOREBENCH_AGENT_TOKEN is not set"):
        Watch.from_environment()


def test_each_server_has_a_row_of_what_it_used():
    watch = Watch([Answers("es-0"), Answers("es-1")])
    watch.begin()
    found = watch.end()
    assert [one.began for one in watch.agents] == [1, 1] and found.disturbances == []
    assert found.busiest is None, "none of them is a service"
    assert found.rows == [
        {"role": "server", "name": f"es-{n}", **{name: vars(USED)[name] for name in FIGURES}}
        for n in range(2)
    ]


def test_all_are_asked_at_the_same_time():
    together = threading.Barrier(3, timeout=10)
    agents = [Answers(str(n)) for n in range(3)]
    for one in agents:
        one.begin = together.wait
    Watch(agents).begin()


def test_nothing_is_measured_without_an_agent_that_should_be_there():
    with pytest.raises(StoreUnreachable, match="the agent of es-1 does not answer"):
        Watch([Answers("es-0"), Away("es-1")]).begin()


def test_figures_that_are_lacking_in_the_end_are_told_and_the_others_kept():
    found = Watch([Answers("es-0"), Away("es-1")], {"es-1": 1.0}).end()
    assert found.rows[0]["cpu_s"] == USED.cpu_s and found.rows[1] == {"role": "server", "name": "es-1"}
    assert found.disturbances == [
        "the figures of its servers are not known: the agent of es-1 does not answer"
    ]
    assert found.busiest is None


def test_a_pod_knows_which_of_its_servers_are_services_and_which_have_a_limit(told, monkeypatch):
    monkeypatch.setenv(SERVICES, '{"es-1": 1, "es-2": null}')
    monkeypatch.setenv(LIMITED, '["es-0"]')
    watch = Watch.from_environment()
    watch.agents = [
        Served("es-0", 4.0, throttled_periods=7),
        Served("es-1", 0.5),
        Served("es-2", 1.0),
        Served("es-3", 4.0),
    ]
    found = watch.end()
    assert found.busiest == Busiest(0.5, 1.0), "half of one core, beside a quarter of four, and no database"
    assert found.disturbances == []


@pytest.mark.parametrize(
    ("cores", "usable", "expected"),
    [
        (1, 4.0, Busiest(0.45, 1.0)),  # a lock
        (1, 0.5, Busiest(0.45, 0.5)),  # the container's CPU limit is lower
        (2, 4.0, Busiest(0.45, 2.0)),  # two worker processes
        (None, 4.0, Busiest(0.45, 4.0)),
    ],
)
def test_the_cores_that_a_service_can_use_are_its_own_and_its_containers(cores, usable, expected):
    found = Watch([Served("api-0", 0.45, usable)], {"api-0": cores}).end().busiest
    assert (found.cpu_share, found.cores_usable) == (pytest.approx(expected.cpu_share), expected.cores_usable)


def test_the_service_whose_cpu_time_the_kernel_does_not_tell_is_not_judged():
    silent = Answers("api-0")
    silent.end = lambda: replace(USED, cpu_s=None)
    assert Watch([silent], {"api-0": 1.0}).end().busiest is None


def test_a_cpu_limit_that_nobody_asked_for_disturbs():
    agents = [Served("es-0", 1.0, throttled_periods=3), Served("es-1", 1.0, throttled_periods=9)]
    assert Watch(agents, limited=["es-1"]).end().disturbances == ["es-0 was throttled in 3 periods"]


def test_the_cpu_time_of_all_servers_is_told_by_machine():
    elsewhere = Answers("es-2")
    elsewhere.cpu = lambda: Cpu(1.0, "another")
    assert Watch([Answers("es-0"), Answers("es-1"), elsewhere]).cpu_s() == {"machine": 5.0, "another": 1.0}


def test_the_cpu_time_is_not_known_where_an_agent_or_its_kernel_does_not_tell_it():
    silent = Answers("es-1")
    silent.cpu = lambda: Cpu(None, "machine")
    for other in (Away("es-1"), silent):
        assert Watch([Answers("es-0"), other]).cpu_s() is None


def test_a_pod_needs_nothing_for_it_that_its_image_has_not():
    code = "import sys, storebench.servers.watch; print({'yaml', 'kubernetes'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"


def test_a_server_is_found_by_its_name_in_the_topology_or_as_the_first_that_holds_data(told, monkeypatch):
    monkeypatch.setenv(
        AGENTS, '{"api-x1-0": "10.0.0.1", "cassandra-x1-0": "10.0.0.2", "cassandra-x1-1": "10.0.0.3"}'
    )
    monkeypatch.setenv(HOLDING, '["cassandra-x1-0", "cassandra-x1-1"]')
    monkeypatch.setenv(SET, "x1")
    watch = Watch.from_environment()
    found = [watch.agent_of(server).host for server in ("", "cassandra-1", "api-0")]
    assert found == ["10.0.0.2", "10.0.0.3", "10.0.0.1"]
    with pytest.raises(
        SpecError, match=r"no agent of the server 'cassandra-2'\. The servers with agents: api-x1-0"
    ):
        watch.agent_of("cassandra-2")
    with pytest.raises(SpecError, match="The servers with agents: none"):
        Watch().agent_of("")
