"""A changed block on a DataNode's disk, with and without checksums, and a DataNode that ends during a copy."""

import pytest

from local.stack.settings import Settings
from storebench.servers.render import LABEL
from tests.e2e.harness import NAMESPACE, delete, soon
from tests.e2e.test_servers import left_over

STUDY = "parquet_copy"
BIT = 1
# The files of blocks below the folder of volumes, and what a reader says that has noticed.
STORES = {
    "hdfs@one": ("*data-hdfs-datanode-*/blocks/**/blk_*", ("Could not obtain block", "Checksum")),
    "ozone@one": ("*data-ozone-datanode-*/hdds/**/*.block", ("Checksum mismatched",)),
}


def flip_a_block(pattern):
    """Change one bit in the middle of the largest block that a DataNode has. Its checksums are elsewhere, and stay."""
    blocks = [path for path in (Settings().run / "volumes").glob(pattern) if path.suffix != ".meta"]
    block = max(blocks, key=lambda path: path.stat().st_size)
    with block.open("r+b") as file:
        file.seek(block.stat().st_size // 2)
        (byte,) = file.read(1)
        file.seek(-1, 1)
        file.write(bytes([byte ^ BIT]))
    return block


@pytest.mark.parametrize("checksum", ["on", "off"])
@pytest.mark.parametrize("store", STORES)
def test_flipped_block(drill, say, store, checksum):
    # One copy of each block: a reader that notices has no other one to go to.
    pattern, noticed = STORES[store]
    run = drill(store, study=STUDY, rows=20_000, checksum=[checksum], iterations=["1"])
    run.wait_for_end_of(run.started("cell.generate"))
    block = flip_a_block(pattern)  # before the pod of the copy has started Spark
    assert run.end() == "failed"
    rows = {row["operation"]: row for row in run.rows()}
    assert rows["generate"]["status"] == "verified"
    copy = rows["copy"]
    assert copy["status"] == "failed"
    if checksum == "on":
        assert copy["error_kind"] == "store_failed", "the read has noticed"
        assert any(text in copy["error"] for text in noticed)
    else:
        assert copy["error_kind"] == "verification_failed", "the copy went through, with the changed bytes"
    say(
        f"{store}: a bit of {block.name} flipped, checksums {checksum}: {copy['error_kind']}: {copy['error']}"
    )


def test_datanode_ends_in_a_copy(drill, say):
    run = drill("hdfs@three", study=STUDY, rows=100_000, checksum=["on"], iterations=["3"])
    run.measured("copy")
    servers = run.cluster.list_namespaced_pod(NAMESPACE, label_selector=LABEL).items
    node = next(pod.metadata.name for pod in servers if pod.metadata.name.startswith("hdfs-datanode-"))
    delete(run.cluster, node)
    run.end()
    rows = {row["operation"]: row for row in run.rows()}
    copy = rows["copy"]
    if copy["status"] == "verified":
        assert node in copy["disturbed"], "its time is not that of three DataNodes"
    else:
        assert copy["error_kind"] in ("server_died", "store_failed") and copy["error"]
    soon(lambda: not left_over(run.cluster), 300)
    say(f"a DataNode that ended in a copy: {copy['status']}, {copy['disturbed'] or copy['error']!r}")
