import io
import json
import math
import uuid

import pytest
from rich.console import Console

from storebench.answers.prices import demands_answer
from storebench.cli.output.demands import print_demands
from storebench.errors import SpecError
from storebench.results.forecast.demand import demands
from storebench.results.forecast.price import GIB

CELL = "s/mongodb@one/direct/rows=1/seed=1"


def attempt(rate_per_s: float, **changes):
    return {
        "attempt_id": uuid.uuid4(),
        "cell_key": CELL,
        "operation": "read",
        "status": "verified",
        "disturbed": None,
        "client_bound": False,
        "metrics": {"capacity_per_s": rate_per_s, "p99_s": 0.1},
        "parameters": {"server_cpu": "2", "server_memory": None},
        "servers_cpu_s": 15.0,
        "servers_memory_working_set_peak_bytes": 3 * GIB,
        **changes,
    }


def demand_of(rows, rate_per_s=10_000, seconds=10.0):
    return demands(
        rows,
        {row["attempt_id"]: seconds for row in rows},
        "capacity_per_s",
        rate_per_s,
        cpu_hour=0.04,
        gib_hour=0.005,
    )


def test_a_rate_needs_whole_sets_of_servers_and_their_price():
    (demand,) = demand_of([attempt(4000)])
    assert (demand.n, demand.set_cores, demand.set_gib) == (1, 1.5, 3.0)
    assert (demand.sets.median, demand.gib.median) == (3, 9.0)
    assert demand.cores.median == pytest.approx(1.5 * 10_000 / 4000)
    assert demand.cost_per_hour.median == pytest.approx(3.75 * 0.04 + 9 * 0.005)
    assert demand.sets.low is None and demand.cost_per_hour.high is None  # one value has no interval


def test_the_interval_of_the_rate_becomes_the_interval_of_the_price():
    rates = [3000, 3500, 4000, 4500, 5000, 5500]
    (demand,) = demand_of([attempt(rate) for rate in rates])
    low, high = demand.rate_per_s.interval.low, demand.rate_per_s.interval.high
    assert (low, high) == (3000, 5500)
    assert (demand.sets.low, demand.sets.high) == (2, 4)
    assert demand.cost_per_hour.low == pytest.approx(1.5 * 10_000 / high * 0.04 + 6 * 0.005)
    assert demand.cost_per_hour.high == pytest.approx(1.5 * 10_000 / low * 0.04 + 12 * 0.005)


def test_an_attempt_whose_client_was_the_limit_does_not_count():
    (demand,) = demand_of(
        [attempt(9000, client_bound=True), attempt(4000), attempt(1.0, disturbed="throttled")]
    )
    assert (demand.n, demand.excluded, demand.rate_per_s.median) == (1, 2, 4000)
    (nothing,) = demand_of([attempt(9000, client_bound=True)])
    assert (nothing.n, nothing.excluded, nothing.sets) == (0, 1, None)


def test_sizes_of_servers_are_told_apart():
    rows = [attempt(4000), attempt(7000, parameters={"server_cpu": "4"})]
    assert [(demand.sizes, demand.sets.median) for demand in demand_of(rows)] == [
        ({"server_cpu": "2"}, 3),
        ({"server_cpu": "4"}, 2),
    ]


def test_servers_without_agents_have_a_number_and_no_price():
    (demand,) = demand_of(
        [attempt(4000, servers_cpu_s=None, servers_memory_working_set_peak_bytes=None, parameters=None)]
    )
    assert (demand.sets.median, demand.cores, demand.cost_per_hour) == (3, None, None)


def test_a_rate_that_is_a_multiple_needs_no_further_set():
    (demand,) = demand_of([attempt(0.1)], rate_per_s=0.3)
    assert demand.sets.median == 3 == math.ceil(0.3 / 0.1 - 1e-9)


@pytest.mark.parametrize(
    ("metric", "said"), [("p99_s", "p99_s is no rate"), ("capacity_a_per_s", "Did you mean capacity_per_s")]
)
def test_a_metric_that_is_no_rate_or_unknown_is_refused(metric, said):
    with pytest.raises(SpecError, match=said):
        demands([attempt(1)], {}, metric, 1, 1, 1)


def test_the_table_and_the_answer_have_the_figures():
    found = demand_of([attempt(rate) for rate in (3000, 3500, 4000, 4500, 5000, 5500)])
    console = Console(width=220, file=io.StringIO())
    print_demands(console, found, 10_000, "EUR", {})
    text = console.file.getvalue()
    assert "Servers for 10,000 per second" in text and "2 to 4" in text and "3,000 to 5,500" in text
    (answer,) = json.loads(demands_answer(found, "capacity_per_s", 10_000, "EUR").model_dump_json())
    assert (answer["store"], answer["sets"]) == ("mongodb@one", {"median": 3.0, "low": 2.0, "high": 4.0})
