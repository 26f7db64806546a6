"""The CSV with 50 fields, as a study names it."""

from storebench.dataset.generate import ESTIMATED_ROW_BYTES, MAX_ROWS
from storebench.dataset.schema import SCHEMA_VERSION
from storebench.stores.base import Pod
from storebench.study.dataset import CustomFile, Dataset

CUSTOM_FILE = CustomFile(
    name="own",
    version=2,
    max_rows=MAX_ROWS,
    pod=Pod(arguments=("dataset", "storebench.dataset.custom_file:make")),
)
CSV50 = Dataset(
    name="",
    version=SCHEMA_VERSION,
    text="1,000,000 rows are a CSV of 484 MB.",
    row_bytes=ESTIMATED_ROW_BYTES,
    max_rows=MAX_ROWS,
    pod=Pod(arguments=("dataset", "storebench.dataset.upload:make")),
    custom_file=CUSTOM_FILE,
    divides=True,
)
