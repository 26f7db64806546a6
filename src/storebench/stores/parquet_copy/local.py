"""The pod's volume by Hadoop's client for local files: Spark without a network."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from pathlib import Path

from storebench.fields import Field
from storebench.spark.filesystems import local
from storebench.spark.options import OPTIONS as SPARK
from storebench.stores.base import Durability, Pod
from storebench.stores.files import LocalFiles
from storebench.stores.parquet_copy.base import ParquetStore
from storebench.stores.volume import OPTIONS as VOLUME

FOLDER = "/data"
OPTIONS: Mapping[str, Field] = {**SPARK, **VOLUME}


class Local(ParquetStore):
    """The pod's volume. The driver does all work, since only its pod has the volume."""

    name = "local"
    pod = Pod("jvm", account="storebench-spark", volume=FOLDER)
    options = OPTIONS
    figures_cover = "engine"

    @cached_property
    def file_system(self) -> local.Local:
        return local.Local(FOLDER, checksum=self.checksum)

    @cached_property
    def files(self) -> LocalFiles:
        return LocalFiles(Path(FOLDER))

    def durability(self) -> Durability:
        return Durability("memory", "no fsync: files may be in the page cache only")
