import time

import pytest

from storebench.attempt.clock import OperationClock, PhaseClock


def slow(items, seconds):
    for item in items:
        time.sleep(seconds)
        yield item


def test_time_inside_the_iterator_is_source_time_and_not_operation_time():
    clock = OperationClock()
    with clock.operation():
        for _ in clock.source(slow(range(5), 0.02)):
            time.sleep(0.01)
    assert clock.source_s == pytest.approx(0.10, rel=0.3)
    assert clock.operation_s == pytest.approx(0.05, rel=0.4)


def test_source_time_outside_an_operation_is_not_taken_out_of_it():
    clock = OperationClock()
    for _ in clock.source(slow(range(3), 0.02)):
        with clock.operation():
            time.sleep(0.01)
    assert clock.source_s == pytest.approx(0.06, rel=0.4)
    assert clock.operation_s == pytest.approx(0.03, rel=0.4)


def test_cpu_of_the_source_is_not_the_clients():
    def busy(items):
        for item in items:
            end = time.thread_time() + 0.02
            while time.thread_time() < end:
                pass
            yield item

    clock = OperationClock()
    with clock.operation():
        for _ in clock.source(busy(range(5))):
            time.sleep(0.005)
    assert clock.operation_cpu_s < 0.02


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
