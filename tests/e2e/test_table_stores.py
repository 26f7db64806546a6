"""The stores of bulk_write_read that a run measures only if it names them: each of their clients, in one run."""

from tests.bulk import bulk_study
from tests.e2e.harness import run


def test_each_client_of_each_further_store_writes_and_reads_what_is_verified():
    study = bulk_study()
    stores = [name for name in study.stores if name not in study.default_stores]
    code, text, rows = run(
        *("--stores", ",".join(stores), "--clients", "reference,tuned"),
        *("--axis", "batch=400", "--rows", "1000"),
    )
    assert code == 0, text
    assert [(row["store"], row["error"]) for row in rows if row["status"] != "verified"] == []
    found = {(row["store"], row["client"], row["operation"]) for row in rows}
    assert found == {
        (name, client, operation)
        for name in stores
        for client in study.store(name).clients
        for operation in ("write", "read")
    }
    guarantees = {row["store"]: row["durability"] for row in rows if row["operation"] == "write"}
    assert guarantees == {
        "parquet": "s3",
        "duckdb": "disk",
        "postgresql": "disk",
        "pyiceberg": "s3",
        "chdb": "disk",
    }
