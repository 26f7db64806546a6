"""The stores of bulk_write_read with a pod image of their own, which a run measures only if it names them: each of their clients, in one run.

`integration/test_table_stores.py` tests the other such stores at their servers.
"""

from tests.bulk import bulk_study
from tests.e2e.harness import run

GUARANTEES = {"pyiceberg": "s3", "chdb": "disk"}


def test_each_client_writes_and_reads_what_is_verified():
    study = bulk_study()
    code, text, rows = run(
        *("--stores", ",".join(GUARANTEES), "--clients", "reference,tuned"),
        *("--axis", "batch=400", "--axis", "maintenance=on", "--rows", "1000"),
    )
    assert code == 0, text
    assert [(row["store"], row["error"]) for row in rows if row["status"] != "verified"] == []
    found = {(row["store"], row["client"], row["operation"]) for row in rows}
    assert found == {
        (name, client, operation)
        for name in GUARANTEES
        for client in study.store(name).clients
        for operation in study.store(name).operations
    }
    parts = [row["metrics"]["files_after"] for row in rows if row["operation"] == "maintain"]
    assert parts == [1] * len(study.store("chdb").clients)
    assert {row["store"]: row["durability"] for row in rows if row["operation"] == "write"} == GUARANTEES


def test_spark_writes_compacts_and_reads_an_iceberg_table_in_its_executors():
    """Iceberg compacts five files or more by default."""
    code, text, rows = run(
        *("--stores", "iceberg-spark", "--clients", "tuned"),
        *("--axis", "batch=200", "--axis", "executors=1", "--axis", "maintenance=on", "--rows", "1000"),
    )
    assert code == 0, text
    assert [(row["operation"], row["status"], row["error"]) for row in rows] == [
        ("write", "verified", None),
        ("maintain", "verified", None),
        ("read", "verified", None),
    ]
    assert rows[1]["metrics"]["files_before"] >= 5 and rows[1]["metrics"]["files_after"] == 1
