import pytest

from local.stack.settings import OWN_SERVERS, PORTS, Settings, StackError


@pytest.fixture(autouse=True)
def bare(monkeypatch, tmp_path):
    for name in (
        "PORT_BASE",
        "POD_NETWORK",
        "BRIDGE",
        "ELASTICSEARCH_HEAP",
        "IDLE_MINUTES",
        "EMBEDDED",
        "NODES",
        *(f"PORT_{name.upper()}" for name in PORTS),
    ):
        monkeypatch.delenv(f"STOREBENCH_{name}", raising=False)
    for name in OWN_SERVERS.values():
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("STOREBENCH_HOME", str(tmp_path))


def test_all_ports_follow_the_base_and_one_can_be_moved_alone(monkeypatch):
    assert Settings().url("airflow") == "http://127.0.0.1:18080"
    monkeypatch.setenv("STOREBENCH_PORT_BASE", "28000")
    monkeypatch.setenv("STOREBENCH_PORT_S3", "9000")
    ports = Settings().ports
    assert (ports["airflow"], ports["kubernetes"], ports["s3"]) == (28080, 28443, 9000)


@pytest.mark.parametrize(
    ("variable", "value", "words"),
    [
        ("PORT_BASE", "high", "STOREBENCH_PORT_BASE is not a port"),
        ("PORT_BASE", "65500", "too high"),
        ("PORT_S3", "0", "STOREBENCH_PORT_S3 is not a port"),
        ("PORT_S3", "18080", "cannot both have port 18080"),
        ("POD_NETWORK", "10.0.0.1/24", "not an IPv4 network"),
        ("POD_NETWORK", "10.0.0.0/30", "between a /8 and a /28"),
        ("ELASTICSEARCH_HEAP", "a lot", "STOREBENCH_ELASTICSEARCH_HEAP is not a size"),
        ("IDLE_MINUTES", "never", "STOREBENCH_IDLE_MINUTES is not a number of minutes, 0 for never"),
        ("BRIDGE", "a name that is too long", "STOREBENCH_BRIDGE"),
        ("BRIDGE", "../x", "STOREBENCH_BRIDGE"),
    ],
)
def test_a_bad_value_is_refused_by_its_variable(monkeypatch, variable, value, words):
    monkeypatch.setenv(f"STOREBENCH_{variable}", value)
    with pytest.raises(StackError, match=words):
        Settings()


def test_the_gateway_is_the_first_address_of_the_pods(monkeypatch):
    monkeypatch.setenv("STOREBENCH_POD_NETWORK", "10.99.0.0/24")
    assert Settings().address("mongodb") == ("10.99.0.1", 18017)
    assert Settings().address("results") == ("127.0.0.1", 18432)


def test_two_homes_have_two_cgroups(monkeypatch, tmp_path):
    first = Settings().cgroup
    monkeypatch.setenv("STOREBENCH_HOME", str(tmp_path / "second"))
    assert Settings().cgroup != first


def test_a_server_of_the_users_own_takes_the_place_of_the_embedded_one(monkeypatch):
    monkeypatch.setenv("KUBECONFIG", "/home/me/.kube/config")
    settings = Settings()
    assert settings.own == {"kubernetes"}
    assert set(settings.needed_ports) == {
        "airflow", "results", "mongodb", "elasticsearch", "elasticsearch_transport", "s3", "usage",
    }  # fmt: skip
    monkeypatch.setenv("AIRFLOW_CONN_STOREBENCH_ELASTICSEARCH", "elasticsearch://es:9200")
    assert set(Settings().needed_ports) == {"airflow", "results", "mongodb", "s3", "usage"}


def test_what_the_stack_itself_has_set_is_not_the_users(monkeypatch):
    monkeypatch.setenv("STOREBENCH_EMBEDDED", "kubernetes s3")
    for name in OWN_SERVERS.values():
        monkeypatch.setenv(name, "x")
    assert Settings().own == {"mongodb", "elasticsearch", "postgresql"}
