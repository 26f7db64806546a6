import csv
import hashlib
import io

import pytest

from storebench.dataset.generate import GENERATOR_VERSION, generate_chunk, header
from storebench.dataset.manifest import Manifest, dataset_key
from storebench.dataset.schema import SCHEMA_VERSION

SEED = 42


def parse(data: bytes) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO((header() + data).decode(), newline="")))


@pytest.fixture(scope="session")
def chunk():
    """Return the golden dataset of 1,000 rows."""
    return generate_chunk(SEED, 0, 1000)


@pytest.fixture(scope="session")
def golden_rows(chunk):
    """Return the chunk's rows, as the csv module reads them."""
    return parse(chunk.csv)


@pytest.fixture
def rows(golden_rows):
    """Return a copy of the rows that a test may change."""
    return [dict(row) for row in golden_rows]


@pytest.fixture(scope="session")
def manifest(chunk):
    """Return the chunk's manifest."""
    data = header() + chunk.csv
    return Manifest(
        schema_version=SCHEMA_VERSION,
        rows=1000,
        seed=SEED,
        bytes=len(data),
        sha256=hashlib.sha256(data).hexdigest(),
        fields=chunk.checksums.fields,
        row_sum=chunk.checksums.row_sum,
        generator_version=GENERATOR_VERSION,
        bucket="storebench",
        key=dataset_key(1000, SEED),
    )
