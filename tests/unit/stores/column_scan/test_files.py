"""The stores without a server, on files of this machine: written files, sums, proofs and refusals."""

import errno
import os

import duckdb
import numpy as np
import pytest

from storebench.attempt import disk, disturbance
from storebench.errors import SpecError, StoreRefused, VerificationFailed
from storebench.stores import caches
from storebench.stores.column_scan import residence
from storebench.stores.column_scan.base import check_memory
from storebench.stores.column_scan.table import ROW_BYTES
from tests.unit.stores.column_scan.conftest import ROWS

FILES = [
    ("numpy-memmap", "reference"),
    ("numpy-memmap", "tuned"),
    ("duckdb", "reference"),
    ("duckdb-parquet", "reference"),
    ("pyarrow-parquet", "reference"),
]
ALL = [*FILES, ("numpy-memory", "reference"), ("numpy-memory", "tuned")]


@pytest.mark.parametrize(("store", "client"), ALL)
def test_a_tool_is_measured_and_verified(attempt, study, store, client, monkeypatch):
    # Other tests run meanwhile, so the times of two passes may differ.
    monkeypatch.setattr(caches, "AGREE_SHARE", 1000)
    results = {}
    for operation in study.operations:
        results[operation.name] = result = attempt(store, operation.name, client)
        assert (result.status, result.disturbed) == ("verified", None), result.error
        large = operation.name == "cold_sum" and result.metrics["disk_read_bytes"] >= caches.JUDGED_BYTES
        assert result.metrics.keys() == {*operation.metrics, *(["cold_read_mb_per_s"] if large else [])}
        assert result.environment["server_version"]
    write, cold, hot = (results[name] for name in ("write", "cold_sum", "hot_sum"))
    assert "all 23 columns" in write.verification
    assert write.data_bytes == write.metrics["stored_bytes"] > 100 * ROWS / 4
    assert "30,011 rows counted" in cold.verification and "30,011 rows counted" in hot.verification
    assert hot.metrics["warm_passes"] >= 2
    if store != "numpy-memory":
        assert cold.metrics["disk_read_bytes"] >= cold.metrics["needed_bytes"] > 0
        assert cold.metrics["resident_before_bytes"] == 0
        assert hot.metrics["disk_read_bytes"] == 0


@pytest.mark.parametrize(("store", "client"), FILES)
def test_other_columns_can_be_added_up(attempt, store, client):
    attempt(store, "write", client)
    assert attempt(store, "cold_sum", client, column="total_price").status == "verified"


def test_rows_need_all_of_their_pages_and_columns_their_own(attempt):
    attempt("numpy-memmap", "write", "reference")
    attempt("numpy-memmap", "write", "tuned")
    assert attempt("numpy-memmap", "cold_sum", "reference").metrics["needed_bytes"] == ROWS * ROW_BYTES
    assert attempt("numpy-memmap", "cold_sum", "tuned").metrics["needed_bytes"] == ROWS * 8


@pytest.mark.parametrize(("store", "client"), FILES)
def test_a_sum_that_was_not_cold_is_not_verified(attempt, store, client, monkeypatch):
    attempt(store, "write", client)
    monkeypatch.setattr(residence, "drop", lambda paths: None)  # what was written is still in the page cache
    with pytest.raises(
        VerificationFailed, match=r"The sum was not cold: [1-9][0-9,]* bytes of the data stayed"
    ):
        attempt(store, "cold_sum", client)


def test_a_sum_that_read_less_than_it_needs_is_not_verified(attempt, monkeypatch):
    attempt("pyarrow-parquet", "write")
    monkeypatch.setattr(residence, "read_bytes", lambda: 0)
    with pytest.raises(VerificationFailed, match=r"and 0 came from disk, where it needs [0-9,]+"):
        attempt("pyarrow-parquet", "cold_sum")


def test_times_that_never_agree_disturb_a_hot_sum(attempt, monkeypatch):
    attempt("numpy-memmap", "write")
    monkeypatch.setattr(caches, "AGREE_SHARE", -1)
    result = attempt("numpy-memmap", "hot_sum")
    assert (result.status, result.metrics["warm_passes"]) == ("verified", caches.MAX_PASSES)
    assert "no two of 30 passes" in result.disturbed


def test_a_changed_value_is_not_verified(attempt, tmp_path):
    attempt("numpy-memmap", "write", "tuned")
    (path,) = tmp_path.rglob("quantity.npy")
    values = np.load(path)
    values[[3, 4]] = values[[4, 3]]  # the same sum
    np.save(path, values)
    with pytest.raises(VerificationFailed, match="quantity has other values"):
        attempt("numpy-memmap", "hot_sum", "tuned")
    values[3] += 1
    np.save(path, values)
    with pytest.raises(VerificationFailed, match="The sum of quantity is"):
        attempt("numpy-memmap", "hot_sum", "tuned")


@pytest.mark.parametrize(("store", "client"), FILES)
def test_a_volume_that_was_lost_is_said(attempt, store, client):
    with pytest.raises(StoreRefused, match="not there"):
        attempt(store, "cold_sum", client)


def test_a_full_volume_is_said(attempt, monkeypatch):
    def full(paths):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "/data/stock.dat")

    monkeypatch.setattr(residence, "sync", full)
    with pytest.raises(StoreRefused, match=r"The volume is full\. .*volume_size.*: /data/stock\.dat"):
        attempt("numpy-memmap", "write")


@pytest.mark.parametrize("store", ["duckdb", "duckdb-parquet"])
def test_what_duckdb_says_is_the_reason(attempt, store, monkeypatch, tmp_path):
    def refuse(said):
        def connect(*_, **__):
            raise duckdb.IOException(said)

        monkeypatch.setattr(duckdb, "connect", connect)

    refuse(f"Could not write: {os.strerror(errno.ENOSPC)}")
    with pytest.raises(StoreRefused, match=r"The volume is full\. .*Could not write"):
        attempt(store, "write")
    refuse("not a file\nof DuckDB")
    with pytest.raises(StoreRefused, match="DuckDB refused: not a file of DuckDB"):
        attempt(store, "write")


def test_a_column_that_is_not_there_is_refused(attempt, study):
    with pytest.raises(SpecError, match=r"Unknown column to add up 'quantty'\. Did you mean quantity"):
        attempt("duckdb", "cold_sum", column="quantty")
    with pytest.raises(SpecError, match="'price' is not one of quantity, total_price"):
        study.params_and_options()["column"].read("price")


def test_a_table_that_does_not_fit_in_memory_is_refused_before_it_is_read():
    check_memory(10**9, None)
    with pytest.raises(SpecError, match=r"for which a pod needs about .*pod_memory"):
        check_memory(2_000_000, 1 << 30)


def test_a_dataset_that_is_not_as_it_was_made_is_refused(attempt, bucket, prefix):
    key = f"{prefix}quantity.bin"
    bucket.objects[key] = bucket.objects[key][:-1] + b"x"
    with pytest.raises(StoreRefused, match="has other bytes than it was made of"):
        attempt("numpy-memory", "hot_sum")
    del bucket.objects[f"{prefix}manifest.json"]
    with pytest.raises(StoreRefused, match="the next run makes the dataset"):
        attempt("numpy-memory", "hot_sum")


@pytest.mark.parametrize(("told", "marked"), [("0.001", True), ("1000000", False), ("", False)])
def test_a_cold_sum_that_is_faster_than_the_disk_is_verified_and_marked(attempt, monkeypatch, told, marked):
    """The disk's real rate is between the two given rates."""
    assert attempt("numpy-memmap", "write").status == "verified"
    monkeypatch.setenv(disk.VARIABLE, told)
    monkeypatch.setattr(disturbance, "perhaps_of_node", lambda *_, **__: "of the node")
    cold = attempt("numpy-memmap", "cold_sum")
    rate = cold.metrics["disk_read_bytes"] / cold.metrics["sum_s"] / 1e6
    assert (cold.status, cold.metrics["cold_read_mb_per_s"]) == ("verified", pytest.approx(rate))
    assert cold.metrics.get("uncached_mb_per_s") == (float(told) if told else None)
    reasons = cold.perhaps_disturbed.split("; ")
    assert reasons[0] == "of the node"
    assert [reason.startswith("cold for this kernel only") for reason in reasons[1:]] == [True] * marked
