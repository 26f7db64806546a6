import time

import pytest

from storebench.attempt.clock import OperationClock, PhaseClock


@pytest.fixture
def wait(monkeypatch):
    """Advance the clock by exactly these seconds."""
    now_s = [100.0]
    monkeypatch.setattr(time, "perf_counter", lambda: now_s[0])

    def wait(seconds):
        now_s[0] += seconds

    return wait


def slow(wait, items, seconds):
    for item in items:
        wait(seconds)
        yield item


def test_time_inside_the_iterator_is_source_time_and_not_operation_time(wait):
    clock = OperationClock()
    with clock.operation():
        for _ in clock.source(slow(wait, range(5), 2)):
            wait(1)
    assert clock.source_s == pytest.approx(10)
    assert clock.operation_s == pytest.approx(5)


def test_source_time_outside_an_operation_is_not_taken_out_of_it(wait):
    clock = OperationClock()
    for _ in clock.source(slow(wait, range(3), 2)):
        with clock.operation():
            wait(1)
    assert clock.source_s == pytest.approx(6)
    assert clock.operation_s == pytest.approx(3)


def test_cpu_of_the_source_is_not_the_clients():
    def busy(items):
        for item in items:
            end = time.thread_time() + 0.1
            while time.thread_time() < end:
                pass
            yield item

    clock = OperationClock()
    with clock.operation():
        for _ in clock.source(busy(range(5))):
            time.sleep(0.005)
    assert clock.operation_cpu_s < 0.25, "the source used 0.5 s; other threads of the process use some, too"


def test_time_counts_when_the_operation_fails():
    clock = OperationClock()
    with pytest.raises(ValueError, match="refused"), clock.operation():
        time.sleep(0.01)
        raise ValueError("refused")
    assert clock.operation_s >= 0.01


def test_phases_keep_their_order_and_add_up():
    phases = PhaseClock()
    for name in ("connect", "verify", "connect"):
        with phases.phase(name):
            time.sleep(0.001)
    assert list(phases.phases) == ["connect", "verify"]
    assert phases.phases["connect"] >= 0.002
