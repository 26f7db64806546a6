"""S3, through Hadoop's client S3A."""

from __future__ import annotations

import os

from storebench.connection import Connection, tls
from storebench.s3 import TOKEN, hadoop_settings
from storebench.spark.filesystems.base import FileSystem

SECRET = ("fs.s3a.access.key", "fs.s3a.secret.key", "fs.s3a.session.token")
# S3 has no rename. With the magic committer, tasks upload parts to their final places, and the job's commit completes the uploads.
MAGIC = {
    "spark.hadoop.fs.s3a.committer.name": "magic",
    "spark.hadoop.fs.s3a.committer.magic.enabled": "true",
    "spark.hadoop.mapreduce.outputcommitter.factory.scheme.s3a": "org.apache.hadoop.fs.s3a.commit.S3ACommitterFactory",
    "spark.sql.sources.commitProtocolClass": "org.apache.spark.internal.io.cloud.PathOutputCommitProtocol",
    "spark.sql.parquet.output.committer.class": "org.apache.spark.internal.io.cloud.BindingParquetOutputCommitter",
}


class S3(FileSystem):
    """A bucket in S3. With `magic`, Spark's own writers use S3A's magic committer. Delta's writers have their own commits."""

    def __init__(self, connection: Connection, bucket: str = "", *, magic: bool = False) -> None:
        self._connection, self._bucket, self._magic = connection, bucket, magic

    def uri(self, path: str) -> str:
        return f"s3a://{self._bucket}/{path}"

    def settings(self) -> dict[str, str]:
        hadoop = hadoop_settings(self._connection)
        spark = {f"spark.hadoop.{name}": value for name, value in hadoop.items() if name not in SECRET}
        return spark | (MAGIC if self._magic else {})

    def log_in(self) -> None:
        """Put the login into the environment of the driver's JVM. Spark passes the login to the executors."""
        if self._connection.login:
            os.environ |= {
                "AWS_ACCESS_KEY_ID": self._connection.login,
                "AWS_SECRET_ACCESS_KEY": self._connection.password,
            }
        if token := self._connection.extra.get(TOKEN):
            os.environ["AWS_SESSION_TOKEN"] = token

    def certificates(self) -> str | None:
        return self._connection.extra.get(tls.CA_CERTS)
