"""The load: Locust in processes of its own, against a store in a file."""

import pytest

from storebench.errors import StoreRefused, VerificationFailed
from storebench.stores.point_operations.requests import PERCENTILES

SHORT = {"duration_s": "1.0"}  # for an attempt of which only the verification is tested


def test_a_table_is_filled_and_compared(attempt):
    found = attempt("fill")
    assert found.status == "verified" and "300 acknowledged entities are there once" in found.verification
    assert set(found.metrics) == {"fill_s", "entities_per_s"} and found.durability == "memory"


@pytest.mark.parametrize("distribution", ["uniform", "zipf"])
def test_reads_are_measured_after_the_warm_up_and_each_is_compared(attempt, distribution):
    attempt("fill")
    found = attempt("read", axes={"key_distribution": distribution})
    metrics = found.metrics
    assert found.status == "verified" and "each of which gave all fields" in found.verification
    assert metrics["measured_from_s"] == pytest.approx(1.0)  # all users are there after 0.5 s
    counted = sum(found.histograms["latency_s"]["counts"])
    assert metrics["operations_per_s"] == counted / 2
    assert counted < int(found.verification.split()[0].replace(",", ""))  # the warm-up's are compared, too
    for view in ("", "service_", "successful_", "successful_service_"):
        percentiles = [metrics[view + name] for name in PERCENTILES]
        assert len(percentiles) == 6 and percentiles == sorted(percentiles) and percentiles[0] > 0
    rates = found.series["each_second_operations_per_s"]
    assert rates["at_s"] == [0, 1, 2] and sum(rates["values"][1:]) == counted
    assert metrics["max_operations_per_s"] == max(rates["values"][1:])
    assert found.series["each_second_users"]["values"][-1] == 4
    assert metrics["error_share"] == 0 and 0 < found.client_cpu_share < 1.2
    assert metrics["entity_s"] < 0.001


def test_each_write_is_new_and_read_back_also_of_several_load_generators(attempt):
    attempt("fill")
    found = attempt("write", load_processes="2")
    counted = sum(found.histograms["latency_s"]["counts"])
    kept = int(found.verification.split()[0].replace(",", ""))
    assert found.status == "verified" and kept > 300 + counted
    assert found.series["each_second_users"]["values"][-1] == 4


@pytest.mark.parametrize(
    ("trouble", "says"),
    [("lost", "acknowledged entities are not in the table"), ("twice", "twice")],
)
def test_a_write_that_is_lost_or_doubled_is_found(attempt, trouble, says):
    attempt("fill")
    with pytest.raises(VerificationFailed, match=says):
        attempt("write", trouble=trouble, **SHORT)


@pytest.mark.parametrize(("trouble", "says"), [("missing", "found nothing"), ("wrong", "found other fields")])
def test_a_read_that_gives_nothing_or_something_else_is_found(attempt, trouble, says):
    attempt("fill", rows=20)
    with pytest.raises(VerificationFailed, match=says):
        attempt("read", rows=20, trouble=trouble, **SHORT)


def test_a_table_that_is_smaller_than_asked_is_found(attempt):
    attempt("fill", rows=100)
    with pytest.raises(VerificationFailed, match="found nothing"):
        attempt("read", rows=200, **SHORT)


def test_too_many_errors_fail_the_attempt_and_are_counted(attempt):
    attempt("fill")
    with pytest.raises(
        StoreRefused, match=r"33\.\d+% of the requests have failed, and at most 1\.00% may"
    ) as error:
        attempt("write", trouble="errors")
    metrics = error.value.result.metrics
    assert metrics["error_share"] == pytest.approx(1 / 3, abs=0.01) and metrics["timeouts"] > 0
    assert sum(error.value.result.series["each_second_errors"]["values"]) >= metrics["timeouts"]


@pytest.mark.parametrize("load", ["closed", "open"])
def test_requests_that_a_server_never_answers_are_in_the_latencies_of_all(attempt, silent, load):
    """The service is a real one, over HTTP. It does not answer about 1 % of the requests, and a request may take a second."""
    attempt("fill")
    limits = {"request_timeout_s": "1.0", "max_error_share": "0.05", "duration_s": "4.0"}
    limits |= {"users": "8", "spawn_rate": "16.0"}
    found = attempt("read", service=silent, axes={"load": load}, **limits)
    metrics = found.metrics
    assert found.status == "verified" and metrics["timeouts"] > 0
    assert 0.001 < metrics["error_share"] < 0.05
    assert metrics["p999_s"] >= 1 and metrics["p100_s"] >= 1 and metrics["service_p999_s"] >= 1
    assert metrics["successful_service_p999_s"] < 1 and metrics["successful_service_p100_s"] < 1
    if load == "closed":  # in an open one, others wait for a user who waits
        assert metrics["successful_p999_s"] < 1 and metrics["successful_p100_s"] < 1
    counts = {name: sum(found.histograms[name]["counts"]) for name in found.histograms}
    assert counts["latency_s"] == counts["service_s"]
    assert counts["latency_s"] == counts["successful_latency_s"] + metrics["timeouts"]
    assert metrics["operations_per_s"] == counts["successful_latency_s"] / 4  # an error is no operation
    assert max(found.histograms["latency_s"]["values"]) >= 1
    assert max(found.series["each_second_p99_s"]["values"]) >= 1
    assert sum(found.series["each_second_operations_per_s"]["values"][1:]) == counts["successful_latency_s"]


def test_a_request_that_still_has_no_answer_at_the_end_has_failed(attempt):
    """Each of the four users ends in a request that nothing cuts off; the load generators give it the timeout, and a second more."""
    attempt("fill")
    found = attempt("read", trouble="hang", request_timeout_s="1.0", max_error_share="0.5")
    assert found.status == "verified" and found.metrics["timeouts"] == 4
    assert found.metrics["p100_s"] > 2 > found.metrics["successful_p100_s"]


def test_a_write_that_still_has_no_answer_at_the_end_may_be_there(attempt):
    attempt("fill")
    found = attempt("write", trouble="hang", request_timeout_s="1.0", max_error_share="0.5")
    assert found.status == "verified" and found.metrics["timeouts"] == 4
    assert "4 more are there, whose writes were not acknowledged" in found.verification


def test_a_write_whose_acknowledgement_was_lost_may_be_there(attempt):
    attempt("fill")
    found = attempt("write", trouble="unsure")
    assert (
        found.status == "verified"
        and "more are there, whose writes were not acknowledged" in found.verification
    )


@pytest.mark.parametrize(
    ("trouble", "says"),
    [("exit", "ended with 3"), ("unknown", "ended with 1"), ("no start", "did not become ready")],
)
def test_a_load_generator_that_ends_is_no_result(attempt, monkeypatch, trouble, says):
    attempt("fill")
    if trouble == "no start":  # only where the load is
        from storebench import stores

        toy = stores.load("toy_points", "toy")
        connect = toy.connect
        monkeypatch.setattr(toy, "connect", lambda self: (self.values.pop("trouble"), connect(self)))
        monkeypatch.setattr(toy, "jobs", with_trouble(toy.jobs))
    with pytest.raises(StoreRefused, match=says):
        attempt("read", trouble=trouble)


def with_trouble(jobs):
    return lambda *given: (
        {**job, "values": {**job["values"], "trouble": "no start"}} for job in jobs(*given)
    )


def test_an_open_load_keeps_its_rate_whatever_the_load_generators_are(attempt):
    attempt("fill")
    found = attempt("read", axes={"load": "open"}, rate="100", load_processes="2")
    assert found.status == "verified" and found.metrics["operations_per_s"] == pytest.approx(100, abs=1)
    assert found.metrics["not_begun_share"] == pytest.approx(0, abs=0.01)
    assert "not kept" not in found.verification
    assert found.metrics["service_p50_s"] <= found.metrics["p50_s"]


def test_a_server_that_stalls_is_seen_by_the_open_load_only(attempt):
    """The server stops for 0.6 s of each 6 s, like 2 s of each 20 s. A tenth of all who come at a constant rate wait, and one request of one user.

    7 s have one such stop from its begin to its end, whenever they begin.
    """
    attempt("fill")
    stall = {"trouble": "stall", "users": "1", "duration_s": "7.0"}
    closed = attempt("read", **stall).metrics
    opened = attempt("read", axes={"load": "open"}, **stall).metrics
    assert opened["p999_s"] > 0.5 and opened["p99_s"] > 0.4 > opened["service_p99_s"]
    assert closed["p999_s"] < 0.4 and closed["p100_s"] > 0.5


def test_a_rate_that_the_server_does_not_reach_is_said(attempt):
    """Four users and 0.05 s for a read are 80 reads a second."""
    attempt("fill")
    found = attempt("read", axes={"load": "open"}, rate="110", trouble="slow")
    assert found.status == "verified" and 0.1 < found.metrics["not_begun_share"] < 1
    assert found.metrics["p50_s"] > 2 * found.metrics["service_p50_s"] >= 0.1
    assert "the rate was not kept: " in found.verification


def test_a_rate_that_no_load_generator_reaches_has_no_figures(attempt):
    attempt("fill")
    with pytest.raises(StoreRefused, match="far behind the rate of 100000 a second") as error:
        attempt("read", axes={"load": "open"}, rate="100000", trouble="slow")
    assert error.value.result.metrics["not_begun_share"] == 1


def test_a_ramp_ends_where_the_latency_breaks_its_limit_and_the_rate_before_is_the_result(attempt):
    """Four users and 0.05 s for a read are 80 reads a second."""
    attempt("fill")
    found = attempt("read", axes={"load": "ramp"}, trouble="slow", load_processes="2")
    metrics = found.metrics
    assert found.status == "verified" and metrics["operations_per_s"] == pytest.approx(75, abs=1)
    assert metrics["broken_operations_per_s"] == 112.5
    assert (
        metrics["measured_from_s"] == 3 and metrics["p99_s"] <= 0.5
    )  # of the second step, after 1 s and the first one
    assert metrics["not_begun_share"] == pytest.approx(0, abs=0.01)
    assert "at 75 a second 100.00% were answered within 500 ms, at 112.5 a second " in found.verification
    rates, latencies = (found.series[f"each_step_{name}"] for name in ("operations_per_s", "p99_s"))
    assert rates == {"at_s": [1, 3, 5], "values": [50, 75, 112.5]} and latencies["at_s"] == [1, 3, 5]
    assert latencies["values"][1] == metrics["p99_s"] and latencies["values"][2] > 0.5
    assert found.environment["client_settings"]["slo_ms"] == "500.0"


def test_a_ramp_whose_first_rate_breaks_the_limit_has_no_result(attempt):
    attempt("fill")
    with pytest.raises(StoreRefused, match=r"first rate of the ramp breaks .* lower first_rate") as error:
        attempt("read", axes={"load": "ramp"}, trouble="slow", slo_ms="20")
    assert error.value.result.series["each_step_p99_s"]["values"][0] >= 0.05


def test_a_load_generator_that_ends_during_a_ramp_is_no_result(attempt):
    attempt("fill")
    with pytest.raises(StoreRefused, match="ended with 3"):
        attempt("read", axes={"load": "ramp"}, trouble="exit")


def test_the_capacity_of_a_server_is_found_and_confirmed(attempt):
    """Sixteen users and 0.05 s for a read are 320 reads a second at most."""
    attempt("fill")
    asked = {"users": "16", "spawn_rate": "160", "slo_ms": "500", "first_rate": "200.0"}
    asked |= {"capacity_tolerance": "0.25", "load_processes": "2"}
    found = attempt("read", axes={"load": "capacity"}, trouble="slow", **asked)
    metrics = found.metrics
    assert found.status == "verified" and 320 / 1.4 < metrics["capacity_per_s"] < 320 * 1.25
    assert 1 < metrics["broken_operations_per_s"] / metrics["capacity_per_s"] < 1.251
    rates, latencies = (found.series[f"each_step_{name}"] for name in ("operations_per_s", "p99_s"))
    assert rates["values"][0] == 200 and rates["at_s"] == latencies["at_s"] == sorted(rates["at_s"])
    assert rates["values"][-2:] == pytest.approx([metrics["capacity_per_s"]] * 2)
    assert latencies["values"][-1] == metrics["p99_s"] <= 0.5 < max(latencies["values"][:-2])
    assert metrics["operations_per_s"] == pytest.approx(metrics["capacity_per_s"], rel=0.02)
    assert "a second held the limit twice more" in found.verification and found.perhaps_disturbed is None
    assert found.environment["client_settings"]["capacity_tolerance"] == "0.25"


def test_a_server_that_is_slower_than_the_limit_has_no_capacity(attempt):
    attempt("fill")
    rates = {"first_rate": "100.0", "longest_step_s": "6.0"}
    with pytest.raises(
        StoreRefused, match="ask for a longer longest_step_s, or for a higher slo_ms"
    ) as error:
        attempt("read", axes={"load": "capacity"}, trouble="slow", slo_ms="20", **rates)
    assert error.value.result.series["each_step_p99_s"]["values"][0] >= 0.05
    assert "capacity_per_s" not in error.value.result.metrics


@pytest.mark.parametrize("load", ["closed", "open"])
def test_a_mix_reads_what_was_filled_and_writes_what_is_new_and_is_verified_as_both(attempt, load):
    attempt("fill")
    found = attempt("write", axes={"load": load}, read_share="0.75")
    table, reads = found.verification.split("; ")[0], found.verification.split("; ")[-1]
    assert found.status == "verified" and "each of which gave all fields" in reads
    kept, read = (int(text.split()[0].replace(",", "")) for text in (table, reads))
    assert read / (read + kept - 300) == pytest.approx(0.75, abs=0.06)
    counts = {name: sum(found.histograms[name]["counts"]) for name in found.histograms}
    assert counts["read_latency_s"] + counts["write_latency_s"] == counts["latency_s"]
    assert found.metrics["read_error_share"] == found.metrics["write_error_share"] == 0
    assert counts["read_latency_s"] / counts["latency_s"] == pytest.approx(0.75, abs=0.08)
    metrics = found.metrics
    assert metrics["operations_per_s"] == counts["latency_s"] / 2
    assert min(metrics["read_p50_s"], metrics["write_p50_s"]) <= metrics["p50_s"]
    assert max(metrics["read_p99_s"], metrics["write_p99_s"]) >= metrics["p99_s"]


@pytest.mark.parametrize(
    ("trouble", "says"),
    [
        ("missing", "found nothing"),
        ("wrong", "found other fields"),
        ("lost", "acknowledged entities are not in the table"),
    ],
)
def test_a_mix_in_which_a_read_or_a_write_goes_wrong_is_found(attempt, trouble, says):
    attempt("fill", rows=20)
    with pytest.raises(VerificationFailed, match=says):
        attempt("write", rows=20, read_share="0.5", trouble=trouble, **SHORT)


def test_reads_by_themselves_are_no_mix(attempt):
    attempt("fill")
    found = attempt("read", read_share="0.5", **SHORT)
    assert found.status == "verified" and "table" not in found.verification
    assert set(found.histograms) == {
        *("latency_s", "service_s"),
        *("successful_latency_s", "successful_service_s"),
    }
