"""A server's caches before a read: cold, lukewarm, hot, and as they are."""

import pytest

from tests.e2e.harness import run
from tests.e2e.test_servers import check_cold, left_over

FIGURES = {"warm_passes", "disk_read_bytes", "needed_bytes"}


@pytest.mark.timeout(1800)
@pytest.mark.parametrize("store", ["elasticsearch@one", "mongodb@one", "postgresql@one"])
def test_reads_are_cold_lukewarm_and_hot_with_their_proofs(cluster, say, store):
    found = {}
    for cache in ("cold", "lukewarm", "hot", "as_is"):
        asked = ("--rows", "20000", "--axis", "batch=1000", "--param", f'cache="{cache}"')
        code, text, rows = run("--stores", store, *asked)
        assert code == 0, text
        write, read = rows
        assert read["parameters"].get("cache", "as_is") == cache and not FIGURES & {*write["metrics"]}
        found[cache] = read
    check_cold(found["cold"])
    cold, lukewarm, hot = (found[cache]["metrics"] for cache in ("cold", "lukewarm", "hot"))
    assert lukewarm["resident_before_bytes"] == 0
    assert hot["warm_passes"] >= 2 and hot["disk_read_bytes"] < cold["needed_bytes"] / 10
    assert not FIGURES & {*found["as_is"]["metrics"]}
    assert left_over(cluster) == []
    seconds = {cache: row["value"] for cache, row in found.items()}
    say(f"reads of {store}, each once, in seconds: {seconds}")
