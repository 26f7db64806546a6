"""Load the runs that the documentation shows into a temporary database, and write the gallery of these runs.

`python -m local.reference.shipped DIR` writes the gallery.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bench.scratch import scratch
from storebench.results.database.migrate import migrate
from storebench.results.export import bundle_file
from storebench.results.export.bundle import Bundles
from storebench.web.site import write_site

ROOT = Path(__file__).parents[2]
BUNDLES = sorted((ROOT / "docs" / "studies" / "data").glob("*.zip"))
RESULTS = "AIRFLOW_CONN_STOREBENCH_RESULTS"


@contextmanager
def shipped(server: str) -> Iterator[str]:
    """Create a database with all shipped runs on the server of the URI `server`. Yield its URI, and drop the database afterwards."""
    with scratch(server) as uri:
        migrate(uri)
        for bundle in BUNDLES:
            Bundles(uri).load(bundle, bundle_file.content_of(bundle))
        yield uri


if __name__ == "__main__":
    with shipped(os.environ[RESULTS]) as shipped_uri:
        for line in write_site(shipped_uri, Path(sys.argv[1])):
            print(line)
