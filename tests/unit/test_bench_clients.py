import io

from rich.console import Console

from bench.clients import figures, table


def row(store="mongodb", seconds=1.0, bound=False, disturbed=None):
    return {
        "store": store,
        "client": "reference",
        "operation": "write",
        "status": "verified",
        "disturbed": disturbed,
        "write_only_s": seconds,
        "client_cpu_share": 0.5,
        "client_bound": bound,
    }


def test_a_disturbed_attempt_is_in_no_median():
    (found,) = figures([row(), row(seconds=9.0, disturbed="throttled in 3 periods")]).values()
    assert found.seconds == [1.0]
    assert figures([row(disturbed="throttled in 3 periods")]) == {}


def test_an_engine_in_the_pod_has_no_client_that_could_be_bound():
    found = figures([row(), row(bound=True), row("null", bound=None)])
    client, engine = found["mongodb", "reference", "write"], found["null", "reference", "write"]
    assert (client.bound, engine.bound) == (1, None)
    console = Console(width=120, record=True, file=io.StringIO())
    console.print(table("t", client, client, engine))
    text = console.export_text()
    assert "1 of 2" in text and "0 of" not in text
