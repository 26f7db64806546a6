import subprocess
import sys
import threading
from dataclasses import fields

import pytest

from storebench.errors import SpecError, StoreUnreachable
from storebench.servers.agent import Agent, Cpu, Used
from storebench.servers.watch import AGENTS, FIGURES, TOKEN, Watch

USED = Used(**{one.name: place for place, one in enumerate(fields(Used), 1)})


class Answers:
    def __init__(self, pod):
        self.pod, self.began = pod, 0

    def begin(self):
        self.began += 1

    def end(self):
        return USED

    def cpu(self):
        return Cpu(2.5, "machine")


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
    assert watch.end() == ([], None)


def test_agents_without_a_token_are_refused(told, monkeypatch):
    monkeypatch.delenv(TOKEN)
    with pytest.raises(SpecError, match="STOREBENCH_AGENT_TOKEN is not set"):
        Watch.from_environment()


def test_each_server_has_a_row_of_what_it_used():
    watch = Watch([Answers("es-0"), Answers("es-1")])
    watch.begin()
    rows, lacking = watch.end()
    assert [one.began for one in watch.agents] == [1, 1] and lacking is None
    assert rows == [
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
    rows, lacking = Watch([Answers("es-0"), Away("es-1")]).end()
    assert rows[0]["cpu_s"] == USED.cpu_s and rows[1] == {"role": "server", "name": "es-1"}
    assert lacking == "the agent of es-1 does not answer"


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
