"""Outages of stores and S3, and full disks."""

import pytest

from tests.drills.disk import full_for_mongodb
from tests.drills.drill import away

AWAY_S = 30


@pytest.mark.parametrize(
    ("server", "process"), [("S3", "versitygw"), ("MongoDB", "ferretdb"), ("Elasticsearch", "elasticsearch")]
)
def test_server_away(drill, server, process):
    run = drill("elasticsearch" if server == "Elasticsearch" else "mongodb")
    run.working("write")
    away(process, AWAY_S)
    run.must_end(f"{server} away for {AWAY_S} s during a write", "success", "failed")


def test_disk_full_for_mongodb(drill):
    with full_for_mongodb():
        run = drill()
        run.end()
    run.must_end("the disk full for MongoDB", "failed")
