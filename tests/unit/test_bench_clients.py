import io

from rich.console import Console

from bench.clients import comparable, figures, pairs, table


def row(store="mongodb", client="reference", operation="write", seconds=1.0, bound=False, disturbed=None):
    return {
        "store": store,
        "client": client,
        "operation": operation,
        "status": "verified",
        "disturbed": disturbed,
        "value": seconds,
        "client_cpu_share": 0.5,
        "client_bound": bound,
    }


def test_the_stores_with_both_clients_are_compared():
    assert {"mongodb", "elasticsearch", "delta-kernel"} <= set(comparable())
    assert not {"null", "delta-standalone"} & set(comparable())


def test_a_store_that_only_reads_has_no_write_to_compare():
    rows = [row("delta-kernel", "reference", "read", 4.0), row("delta-kernel", "tuned", "read", 2.0)]
    rows += [row("mongodb", c, o) for c in ("reference", "tuned") for o in ("write", "read")]
    found = pairs(figures(rows), ["delta-kernel", "mongodb"])
    assert [
        (tuned.store, tuned.operation, reference.median_s / tuned.median_s) for reference, tuned in found
    ] == [
        ("delta-kernel", "read", 2.0),
        ("mongodb", "write", 1.0),
        ("mongodb", "read", 1.0),
    ]


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
