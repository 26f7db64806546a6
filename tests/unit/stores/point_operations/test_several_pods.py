"""Operations that two parts do together in threads of this process, each with its own load generators."""

import threading
import time

import pytest

from storebench import stores
from storebench.attempt import run
from storebench.attempt.clock import PhaseClock
from storebench.attempt.parts.part import Part
from storebench.attempt.spec import AttemptSpec
from storebench.connection import Connection
from storebench.errors import VerificationFailed
from tests.unit.stores.point_operations.conftest import LOAD, SEED

PARTS, ROWS = 2, 300


class Together:
    """What the parts say to each other, in the memory of this process."""

    def __init__(self):
        self._barrier, self._said, self._decided = threading.Barrier(PARTS, timeout=60), {}, {}

    def say(self, part, name, value, decide):
        self._said[name, part] = value
        if self._barrier.wait() == 0:
            self._decided[name] = decide([self._said[name, number] for number in range(PARTS)])
        self._barrier.wait()
        return self._decided[name]

    def fail(self):
        self._barrier.abort()


class PartOfAttempt(run.Attempt):
    """An attempt that does one part. The figures of the leader stay, but for what it computes of the whole, and for `fill_s`."""

    def __init__(self, together, part, *given):
        super().__init__(*given)
        self._together, self.part = together, part

    def begin(self, lead_s=0.0):
        return self._together.say(self.part.number, "begin", time.monotonic(), max) + lead_s

    def agree(self, name, value, decide):
        return self._together.say(self.part.number, name, value, decide)

    def gather(self, tally):
        tallies = self._together.say(self.part.number, "result", tally, list)
        return tallies if self.part.leads else None


@pytest.fixture
def divided(tmp_path, monkeypatch, attempt):
    """Run an operation of the toy in two parts; returns the results, the leader's first. Raises the leader's error."""

    connection = Connection("toy", host=str(tmp_path / "toy.db"))
    monkeypatch.setattr(Connection, "from_environment", classmethod(lambda cls, name: connection))

    def divided(operation, axes=(), **options):
        together, results, errors = Together(), [None] * PARTS, [None] * PARTS
        axes = {**dict(axes), "pods": str(PARTS)}
        spec = AttemptSpec(
            *(operation, "", "toy_points", "toy", "direct", axes, ROWS, SEED, "t", "b", None, "results/"),
            options={**LOAD, **options},
        )

        def do(number):
            tried = PartOfAttempt(
                together, Part(number, PARTS), spec, stores.load("toy_points", "toy"), PhaseClock()
            )
            try:
                tried.run()
            except Exception as error:  # noqa: BLE001 - raised again by the main thread
                errors[number] = error
                together.fail()
            results[number] = tried.result

        threads = [threading.Thread(target=do, args=[number]) for number in range(PARTS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if error := errors[0] or errors[1]:
            raise error
        return results

    return divided


def count(result, name="latency_s"):
    return sum(result.histograms[name]["counts"])


def test_a_table_is_filled_and_written_by_both_parts_and_compared_as_a_whole(divided):
    leader, other = divided("fill")
    assert "300 acknowledged entities are there once" in leader.verification
    assert other.verification == "left with the leader" and leader.metrics["entities_per_s"] > 0
    leader, other = divided("write", read_share="0.5")
    kept = int(leader.verification.split()[0].replace(",", ""))
    assert leader.status == other.status == "verified" and "reads, each of which" in leader.verification
    assert 0 < count(other) < count(leader) < kept + count(leader, "read_latency_s")
    assert leader.metrics["operations_per_s"] == count(leader) / 2
    assert leader.series["each_second_users"]["values"][-1] == 4
    assert other.series["each_second_users"]["values"][-1] == 2


def test_an_open_load_is_one_schedule_of_both_parts(divided):
    divided("fill")
    leader, other = divided("read", {"load": "open"}, rate="100")
    assert leader.metrics["operations_per_s"] == pytest.approx(100, abs=2)
    assert other.metrics["operations_per_s"] == pytest.approx(50, abs=2)
    assert leader.metrics["not_begun_share"] == pytest.approx(0, abs=0.02)


def test_a_write_that_is_lost_is_found_by_the_leader(divided):
    divided("fill")
    with pytest.raises(VerificationFailed, match="acknowledged entities are not in the table"):
        divided("write", fault="lost", duration_s="1.0")


def test_both_parts_climb_the_same_ramp(divided):
    """Four users and 0.05 s for a read are 80 reads a second."""
    divided("fill")
    leader, other = divided("read", {"load": "ramp"}, fault="slow")
    assert leader.metrics["operations_per_s"] == pytest.approx(75, abs=1)
    assert leader.metrics["broken_operations_per_s"] == 112.5
    assert count(leader) == 150 and count(other) == 75  # both have counted the same step
    assert leader.series["each_step_operations_per_s"]["values"] == [50, 75, 112.5]


def test_both_parts_search_the_same_capacity(divided):
    """Sixteen users and 0.05 s for a read are 320 reads a second at most."""
    divided("fill")
    asked = {"users": "16", "spawn_rate": "160", "slo_ms": "200", "first_rate": "200.0"}
    leader, other = divided("read", {"load": "capacity"}, fault="slow", capacity_tolerance="0.25", **asked)
    capacity = leader.metrics["capacity_per_s"]
    assert 320 / 1.4 < capacity < 320 * 1.25
    assert leader.metrics["operations_per_s"] == pytest.approx(capacity, rel=0.02)
    assert other.metrics["operations_per_s"] == pytest.approx(capacity / 2, rel=0.02)
    assert leader.series["each_step_operations_per_s"]["values"][-1] == capacity
