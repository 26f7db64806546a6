"""The search for the capacity, against simulated servers whose capacity is known. Nothing sleeps."""

import math

import numpy as np
import pytest

from storebench.errors import SpecError
from storebench.stores.point_operations.capacity import LEAST_REQUESTS, TARGET, Limits, Search, wilson

SEARCHES, WITHIN = 20, 19
TOLERANCE = 0.05
LIMITS = {
    "first_rate": 100.0,
    "factor": 1.25,
    "tolerance": TOLERANCE,
    "slo_s": 0.05,
    "max_error_share": 0.01,
    "longest_step_s": 60.0,
    "max_rate": 100_000.0,
}


class Queue:
    """A server whose workers need the same time for each request. Requests come by their schedule, with the network's random delay.

    `drops`: seconds of load after which the capacity is the share `to` of its value."""

    def __init__(self, seed, drops=math.inf, to=0.6):
        self._random = np.random.default_rng([seed, 58])
        self.workers = int(self._random.integers(1, 9))
        self.capacity = float(np.exp(self._random.uniform(np.log(150), np.log(20_000))))
        self._drops, self._to, self.seconds_of_steps = drops, to, []

    def latencies(self, rate, count):
        """Return the latencies of `count` requests at `rate` requests per second, from the planned starts."""
        planned = np.arange(count) / rate
        arrived = planned + self._random.exponential(0.001, count)
        served_s = self.workers / self.capacity * np.ones(count)
        served_s[sum(self.seconds_of_steps) + planned >= self._drops] /= self._to
        ended = np.empty(count)
        for worker in range(self.workers):  # each takes every n-th request, as all need the same time
            mine = slice(worker, None, self.workers)
            needed = np.cumsum(served_s[mine])
            ended[mine] = needed + np.maximum.accumulate(arrived[mine] - needed + served_s[mine])
        self.seconds_of_steps.append(count / rate)
        return ended - planned


def searched(answers, **limits):
    """Run a search. `answers`: a function of rate and number of requests, which returns latencies; an infinite one failed."""
    asked = Limits(**{**LIMITS, **limits})
    search, rates = Search(asked), []
    while (probe := search.next) is not None:
        rates.append(probe.rate)
        assert probe.seconds <= asked.longest_step_s and probe.request_count >= LEAST_REQUESTS
        latencies = answers(probe.rate, probe.request_count)
        search.tell(int((latencies <= asked.slo_s).sum()), int(np.isinf(latencies).sum()))
    assert (search.capacity is None) == bool(search.reason)
    return search, rates


@pytest.mark.parametrize("slo_s", [0.06, 0.3])
def test_a_known_capacity_is_found_within_the_tolerance(slo_s):
    found = []
    for seed in range(SEARCHES):
        queue = Queue(seed)
        search, rates = searched(queue.latencies, slo_s=slo_s)
        assert len(rates) < 50
        found.append(
            search.capacity is not None
            and not search.changed
            and 1 / (1 + TOLERANCE) <= search.capacity / queue.capacity <= 1 + TOLERANCE
        )
        assert rates[-2:] == [search.capacity] * 2  # it was confirmed twice
    assert sum(found) >= WITHIN


def test_a_capacity_that_falls_in_the_middle_is_marked_and_the_lower_one_is_found():
    """The capacity falls after a step has held whose rate is above the lower capacity."""
    marked = within = 0
    for seed in range(SEARCHES):
        usual = Queue(seed)
        _, rates = searched(usual.latencies, slo_s=0.3)
        known = next(place for place, rate in enumerate(rates, start=1) if rate > 0.65 * usual.capacity)
        ends_s = np.cumsum(usual.seconds_of_steps)
        falls_s = np.random.default_rng(seed).uniform(
            ends_s[known - 1], ends_s[-1] - usual.seconds_of_steps[-1] / 2
        )
        queue = Queue(seed, drops=falls_s)
        search, _ = searched(queue.latencies, slo_s=0.3)
        marked += search.changed and search.lost > search.capacity * (1 + TOLERANCE)
        within += 1 / (1 + TOLERANCE) <= search.capacity / (0.6 * queue.capacity) <= 1 + TOLERANCE
    assert marked >= WITHIN and within >= WITHIN


def test_a_pause_that_breaks_a_lower_rate_is_noticed_as_that_rate_holds_the_next_time():
    queue, paused = Queue(4), []

    def answers(rate, count):
        if rate > queue.capacity / 4 and not paused:
            paused.append(rate)
            return np.ones(count)
        return queue.latencies(rate, count)

    search, rates = searched(answers, slo_s=0.06)
    assert search.capacity == pytest.approx(queue.capacity, rel=TOLERANCE) and not search.changed
    assert rates.count(paused[0]) == 2 and rates.count(search.high) == 2


def test_a_first_rate_above_the_capacity_leads_down():
    queue = Queue(3)
    search, rates = searched(queue.latencies, first_rate=5 * queue.capacity)
    assert rates[1] < rates[0] and search.capacity == pytest.approx(queue.capacity, rel=0.06)


def test_failed_requests_break_the_limit_although_99_of_100_are_in_time():
    """The server fails 0.5 % of the requests at more than 1,000 per second. A run allows 0.1 %, and then 1 %."""

    def answers(rate, count):
        return np.where((np.arange(count) % 200 == 0) & (rate > 1_000), np.inf, 0.001)

    search, _ = searched(answers, max_error_share=0.001)
    assert search.capacity == pytest.approx(1_000, rel=0.06) and search.capacity <= 1_000
    search, _ = searched(answers, max_error_share=0.01)
    assert (
        search.capacity is None and "No rate up to 100,000 a second broke the limit of 50 ms" in search.reason
    )


def test_a_share_that_is_near_the_limit_is_measured_again_before_it_is_judged():
    search = Search(Limits(**LIMITS))
    first = search.next
    search.tell(math.ceil(0.992 * first.request_count), 0)
    assert search.next == first and search.low is None  # it may be above or below 99 %
    search.tell(first.request_count, 0)
    search.tell(first.request_count, 0)
    assert search.low == first.rate and search.next.rate == pytest.approx(1.25 * first.rate)


def test_a_step_has_the_requests_by_which_its_share_is_known():
    assert (
        wilson(LEAST_REQUESTS, LEAST_REQUESTS)[0]
        >= TARGET
        > wilson(LEAST_REQUESTS - 1, LEAST_REQUESTS - 1)[0]
    )
    probe = Search(Limits(**{**LIMITS, "first_rate": 10_000.0})).next
    assert probe.seconds == pytest.approx(1.1 * 0.05 / TOLERANCE)  # a rate 5 % above the capacity is noticed


def test_a_judgement_is_seldom_wrong():
    """A server that answers 98.5 % or 99.5 % in time, at any rate, is judged rightly."""
    random = np.random.default_rng(1)
    for share, holds in ((0.985, False), (0.995, True)):
        right = 0
        for _ in range(200):
            search = Search(Limits(**LIMITS))
            first = search.next
            while search.low is None and search.high is None:
                search.tell(int(random.binomial(first.request_count, share)), 0)
            right += (search.low is not None) == holds
        assert right >= 180


def test_a_server_that_is_never_fast_enough_has_no_capacity():
    search, _ = searched(lambda rate, count: np.ones(count))
    assert (
        search.capacity is None and "ask for a longer longest_step_s, or for a higher slo_ms" in search.reason
    )


def test_a_search_that_does_not_come_to_an_end_says_so():
    """A rate holds each time that it is new, and never a second time."""
    seen = set()

    def answers(rate, count):
        known = rate in seen or rate > 1_000
        seen.add(rate)
        return np.full(count, 1.0 if known else 0.001)

    search, rates = searched(answers, longest_step_s=6_000.0)
    assert search.capacity is None and f"no end after {len(rates)} steps" in search.reason


@pytest.mark.parametrize(
    ("asks", "says"),
    [
        ({"factor": 1.0}, "needs a rate_factor above 1"),
        ({"tolerance": 0.0005}, "breaks the limit of 50 ms after 110 s, and a step lasts 60 s at most"),
        ({"first_rate": 1.0}, f"the {LEAST_REQUESTS} requests that a step needs last"),
    ],
)
def test_limits_that_contradict_each_other_are_refused(asks, says):
    with pytest.raises(SpecError, match=says):
        Limits(**{**LIMITS, **asks})
