"""Planted copies: rows that a copy loses, doubles or changes while a server has a fault are counted."""

import time

import numpy as np
import pytest

from storebench.attempt import fault
from storebench.attempt.fault import Happened, Injection
from storebench.attempt.spec import AttemptSpec
from storebench.connection import Connection
from storebench.errors import BrokenPromise, FaultFailed, StoreRefused, StoreUnreachable, VerificationFailed
from storebench.servers.fault import Fault
from storebench.stores.file_servers import file_server
from storebench.stores.parquet_copy.hdfs import Hdfs
from storebench.stores.parquet_copy.rows import RowHashes, Rows
from storebench.stores.parquet_copy.under_fault import CopyUnderFault
from storebench.study import studies

ROWS = Rows(seed=7, iterations=2, rows=50, record_bytes=20)
KEPT = "two DataNodes have each acknowledged packet"


class Attempt:
    def __init__(self, after_s):
        options = {"fault_after_s": str(after_s), "fault_for_s": "1", "fault_url": "http://192.0.2.1/"}
        axes = {"fault": "kill"}
        spec = AttemptSpec(
            *("copy", "k", "parquet_copy", "hdfs", "reference", axes, 50, 7, "t", "b", None, "r/"),
            options=options,
        )
        self.fault, self.metrics = Injection(spec), {}

    def metric(self, name, value):
        self.metrics[name] = value


@pytest.fixture
def copy(monkeypatch):
    """Copy rows through a fault of 2 s. Return the attempt and the text of its verification."""

    def caused(planned):
        return lambda: Happened("hdfs-datanode-0", time.monotonic(), time.monotonic() + 2, 0.5)

    monkeypatch.setattr(fault, "_cause_of", caused)

    def copy(copied, promise=None, after_s=0.05, refusals=0):
        attempt = Attempt(after_s)
        planned = Fault.of({"fault": "kill", "fault_after_s": str(after_s)})
        under = CopyUnderFault(attempt, planned, promise)
        under.around(lambda: time.sleep(0.3))
        left = [StoreRefused("a block has no place yet")] * refusals

        def read_back(checksum):
            if left:
                raise left.pop()
            ids = np.array([id for id, _ in copied], dtype=np.uint64)
            checksum.add(ids, np.array([value for _, value in copied]))
            return checksum

        try:
            said = under.verified(ROWS, read_back)
        except Exception as error:
            error.attempt = attempt
            raise
        return attempt, said

    return copy


@pytest.fixture
def rows():
    return list(enumerate(ROWS.made(0, ROWS.total)))


def test_a_copy_that_keeps_all_rows_has_the_times_of_the_fault(copy, rows):
    attempt, said = copy(rows, KEPT, refusals=1)
    assert attempt.metrics["fault_to_s"] - attempt.metrics["fault_from_s"] == pytest.approx(2, abs=0.01)
    assert attempt.metrics["fault_from_s"] == pytest.approx(0.05, abs=0.1)
    assert (attempt.metrics["fault_skew_s"], attempt.metrics["lost_acknowledged"]) == (0.5, 0)
    assert said.startswith("100 of 100 rows are there; hdfs-datanode-0 answered again 2.0 s after")
    assert said.endswith("the kill lost nothing and doubled nothing")


def test_lost_and_doubled_rows_are_counted_and_break_a_guarantee(copy, rows):
    attempt, said = copy(rows[3:] + rows[-1:])
    assert (attempt.metrics["lost_acknowledged"], attempt.metrics["doubled"]) == (3, 1)
    assert "3 acknowledged rows are lost and 1 are there twice after the kill" in said
    with pytest.raises(BrokenPromise, match=KEPT) as error:
        copy(rows[3:], KEPT)
    assert error.value.attempt.metrics["lost_acknowledged"] == 3


def test_a_changed_row_fails_the_verification(copy, rows):
    changed = [(id, value.copy()) for id, value in rows]
    changed[5][1][0] ^= 1
    with pytest.raises(VerificationFailed, match="1 rows of the table are not those that were written"):
        copy(changed)


def test_a_copy_that_ends_before_its_fault_says_so(copy, rows):
    with pytest.raises(FaultFailed, match="the load ended before the fault"):
        copy(rows, after_s=60)


def test_a_file_that_stays_unreadable_fails(copy, rows, monkeypatch):
    monkeypatch.setattr(fault, "HEALED_WITHIN_S", 0.1)
    with pytest.raises(StoreUnreachable, match=r"did not work again .*: a block has no place yet"):
        copy(rows, refusals=3)


@pytest.mark.parametrize(
    ("kind", "name", "value", "copies"),
    [
        ("hdfs", "dfs.replication", "3", 3),
        ("hdfs", "dfs.replication", "1", 1),
        ("ozone", "ozone.replication", "THREE", 3),
        ("ozone", "ozone.replication", "3", 3),
        ("ozone", "ozone.replication", "1", 1),
    ],
)
def test_several_copies_are_guaranteed_and_one_copy_only_under_a_pause(kind, name, value, copies):
    connection = Connection(kind, host="h", port=8020, extra={"hadoop": {name: value}})
    assert file_server(kind, connection, lambda: None).copies == copies
    store = Hdfs(client="reference", target="t", connection=connection, values={"checksum": "on"})
    store._file_server = file_server(kind, connection, lambda: None)
    kept = {fault for fault in Hdfs.faults if store.promise(fault)}
    assert kept == ({"kill", "pause"} if copies > 1 else {"pause"})


def test_the_hashes_of_rows_add_up_to_their_checksum():
    kept, expected = ROWS.added_to(RowHashes(ROWS.record_bytes)), ROWS.checksum()
    assert (kept.rows, kept.sum) == (expected.rows, expected.sum)
    assert len(set(kept.hashes.tolist())) == ROWS.total


def test_only_file_servers_have_faults():
    study = studies.find("parquet_copy")
    assert {name for name in study.stores if study.store(name).faults} == {"hdfs", "ozone"}
