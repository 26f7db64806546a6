"""A folder of the pod, through Hadoop's client for local files."""

from __future__ import annotations

from storebench.spark.filesystems.base import FileSystem

# By default Hadoop writes a file with checksums (.NAME.crc) beside each file.
WITHOUT_CHECKSUMS = {"spark.hadoop.fs.file.impl": "org.apache.hadoop.fs.RawLocalFileSystem"}


class Local(FileSystem):
    """Files in the driver's pod, which executor pods cannot see."""

    def __init__(self, folder: str, *, checksum: bool = True) -> None:
        self._folder, self._checksum = folder, checksum

    def uri(self, path: str) -> str:
        return f"file://{self._folder}/{path}"

    def settings(self) -> dict[str, str]:
        return {} if self._checksum else dict(WITHOUT_CHECKSUMS)
