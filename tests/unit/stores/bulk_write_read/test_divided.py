"""Operations that several pods do together: each does its share, and the whole is verified."""

import io

import pytest

from storebench.dataset.checksum import TableChecksum
from storebench.dataset.generate import generate_chunk, header
from storebench.dataset.manifest import Manifest
from storebench.errors import SpecError, VerificationFailed
from storebench.stores.base import Durability
from storebench.stores.bulk_write_read.null import Null
from storebench.stores.bulk_write_read.source import Source
from storebench.stores.bulk_write_read.tally import Tally
from tests.bulk import bulk_study, cell_at, spec_for
from tests.parts import run_parts

ROWS = 100


@pytest.fixture(scope="module")
def chunk():
    return generate_chunk(7, 0, ROWS)


@pytest.fixture
def dataset(monkeypatch, chunk):
    """Return the bytes and the manifest of a dataset that `smart_open` opens."""
    import smart_open

    data = header() + bytes(chunk.csv)

    def opened(uri, mode="r", *, encoding=None, newline=None, transport_params=None):
        stream = io.BytesIO(data)
        return stream if "b" in mode else io.TextIOWrapper(stream, encoding, newline=newline)

    monkeypatch.setattr(smart_open, "open", opened)
    sums = chunk.checksums
    return Manifest(1, ROWS, 7, len(data), "0" * 64, sums.fields, sums.row_sum, "1", "b", "data.csv")


class Memory(Null):
    """A table in memory that all parts share. `lose` and `change`: the row that a part loses or changes on its way."""

    kept, prepared, lose, change, barriers = [], 0, None, None, 0

    def prepare(self):
        type(self).kept, type(self).prepared = [], self.prepared + 1

    def durability(self):
        return Durability("memory", "in this process")

    def write(self, batch, clock):
        rows = 0
        for part in clock.source(self.source.batches(batch or ROWS)):
            with clock.operation():
                self.kept.extend(row for row in part if row["id"] != self.lose)
                rows += len(part)
        return rows

    def barrier(self):
        type(self).barriers = self.barriers + 1
        assert self.written == ROWS, "the rows of all parts"

    def take_share(self, attempt, manifest):
        total = attempt.agree("count", None, lambda _: len(self.kept))
        share = attempt.part.share(total)
        self.mine = slice(share.start, share.stop)

    mine = slice(None)

    def read(self, clock):
        with clock.operation():
            return len(self.kept[self.mine])

    def count(self):
        return len(self.kept)

    def checksum(self):
        total = TableChecksum(self.source.fields)
        for row in self.kept[self.mine]:
            seen = row | {"city": "Atlantis"} if row["id"] == self.change else row
            total.update({name: [text] for name, text in seen.items()})
        return total

    def size_bytes(self):
        return 512


@pytest.fixture
def run(dataset):
    def run(operation, parts, store_class=Memory, **options):
        def run_part(attempt):
            source = Source(None, "b", "data.csv")
            source.schema = dataset.schema
            source.manifest = lambda: dataset
            store = attempt._store = store_class(
                client="reference",
                target="t",
                connection=None,
                source=source,
                operation=operation,
                values={"batch": "20", **options},
            )
            attempt.result.verification = store.operate(attempt)

        spec = spec_for(operation, cell_at("null", 7, ROWS, batch="20"), "t", "b", **options)
        return run_parts(spec, store_class, parts, run_part)

    return run


@pytest.fixture
def memory():
    """Return a class of its own with an empty table."""
    return type("Table", (Memory,), {"kept": []})


@pytest.mark.parametrize("parts", [1, 3, 7])
def test_the_parts_write_and_read_the_whole(run, memory, parts):
    for operation in ("write", "read"):
        attempts, errors = run(operation, parts, memory)
        assert errors == {}
        leader, *others = [attempt.result for attempt in attempts]
        assert {result.verification for result in others} <= {"left with the leader"}
        by = "" if parts == 1 else f" by {parts} pods"
        assert leader.verification.startswith(f"100 rows handled{by} and counted; all 50 fields by ")
        assert leader.verification.endswith("in each pod") == (operation == "read" and parts > 1)
        only_s = leader.metrics["only_s"]
        assert only_s >= max([0, *(result.metrics["only_s"] for result in others)])
        barrier_s = leader.metrics["barrier_s"]
        assert leader.metrics["rows_per_s"] == pytest.approx(ROWS / (only_s + barrier_s))
        for result in others:
            assert result.metrics.keys() == {"only_s", "source_s", "barrier_s"}
            assert (result.durability, result.data_bytes, result.metrics["barrier_s"]) == (None, None, 0.0)
    assert (memory.prepared, memory.barriers) == (1, 1), "only the leader prepares, and makes rows durable"


def test_the_floor_divides_both(run):
    for operation in ("write", "read"):
        attempts, errors = run(operation, 3, Null)
        assert errors == {}
        assert attempts[0].result.verification.startswith("100 rows handled by 3 pods and counted; ")


@pytest.mark.parametrize("row", [0, 40, 99])
def test_a_row_that_a_part_loses_is_missed_by_the_leader(run, memory, row):
    memory.lose = str(1_000_000_000 + row)
    _, errors = run("write", 3, memory)
    assert isinstance(errors[0], VerificationFailed) and "The server counts 99 rows" in str(errors[0])
    _, errors = run("read", 3, memory)
    assert isinstance(errors[0], VerificationFailed) and "handled 99 rows of 100" in str(errors[0])


@pytest.mark.parametrize("row", [0, 40, 99])
def test_a_value_that_a_part_sees_changed_is_noticed_by_the_leader(run, memory, row):
    assert run("write", 3, memory)[1] == {}
    memory.change = str(1_000_000_000 + row)
    _, errors = run("read", 3, memory)
    assert isinstance(errors[0], VerificationFailed) and "field city: checksum differs" in str(errors[0])


def test_a_row_of_another_form_fails_in_the_part_that_saw_it(run, memory):
    assert run("write", 3, memory)[1] == {}
    del memory.kept[50]["city"]
    _, errors = run("read", 3, memory)
    assert "A row does not have the dataset's fields" in str(errors[1])


def test_caches_are_prepared_for_one_pod_only():
    for state in ("cold", "lukewarm", "hot"):
        with pytest.raises(SpecError, match=f"cache={state} prepares .* set cache=as_is or pods=1"):
            Null.least_s("read", {"cache": state, "pods": "2"})
        assert Null.least_s("read", {"cache": state, "pods": "1"}) == 0
        assert Null.least_s("read", {"cache": state}) == 0
        assert Null.least_s("write", {"cache": state, "pods": "2"}) == 0
    assert Null.least_s("read", {"cache": "as_is", "pods": "2"}) == 0


def test_a_pod_refuses_what_the_plan_has_not(run, memory):
    _, errors = run("read", 2, memory, cache="hot")
    assert all(
        "set cache=as_is or pods=1" in str(error) for error in errors.values() if isinstance(error, SpecError)
    )
    assert any(isinstance(error, SpecError) for error in errors.values())


def test_more_pods_than_rows_are_refused(run, memory):
    _, errors = run("write", ROWS + 1, memory)
    assert any("fewer than pods. Use fewer pods or more rows" in str(error) for error in errors.values())


def test_tallies_add_up(chunk):
    sums = [generate_chunk(7, first, last).checksums for first, last in ((0, 30), (30, 31), (31, ROWS))]
    whole = Tally.total([Tally(seen.rows, seen).to_json() for seen in sums])
    assert (whole.rows, vars(whole.seen)) == (ROWS, vars(chunk.checksums))
    assert Tally.total([Tally(3).to_json(), Tally(4).to_json()]) == Tally(7)


@pytest.mark.parametrize("name", ["mongodb", "elasticsearch", "delta-rs", "null"])
def test_each_metric_of_a_divided_operation_says_how_parts_become_one(name):
    study = bulk_study()
    for operation in study.store(name).divides:
        metrics = {metric.name: metric.merge for metric in study.metrics}
        assert all(metrics[metric] for metric in study.operation(operation).metrics)


def test_the_stores_of_the_axis_are_those_that_divide():
    study = bulk_study()
    (axis,) = [axis for axis in study.axes if axis.name == "pods"]
    assert set(axis.where["store"]) == {name for name in study.stores if study.store(name).divides}
    assert axis == study.axes[-2], "before the faults"
