from bench.clients import comparable, figures, pairs


def row(store, client, operation, seconds):
    return {
        "store": store,
        "client": client,
        "operation": operation,
        f"{operation}_only_s": seconds,
        "client_cpu_share": 0.5,
        "client_bound": False,
    }


def test_the_stores_with_both_clients_are_compared():
    assert {"mongodb", "elasticsearch", "delta-kernel"} <= set(comparable())
    assert not {"null", "delta-standalone"} & set(comparable())


def test_a_store_that_only_reads_has_no_write_to_compare():
    rows = [row("delta-kernel", "reference", "read", 4.0), row("delta-kernel", "tuned", "read", 2.0)]
    rows += [row("mongodb", c, o, 1.0) for c in ("reference", "tuned") for o in ("write", "read")]
    found = pairs(figures(rows), ["delta-kernel", "mongodb"])
    assert [
        (tuned.store, tuned.operation, reference.median_s / tuned.median_s) for reference, tuned in found
    ] == [
        ("delta-kernel", "read", 2.0),
        ("mongodb", "write", 1.0),
        ("mongodb", "read", 1.0),
    ]
