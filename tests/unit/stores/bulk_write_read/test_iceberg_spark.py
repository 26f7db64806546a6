"""Iceberg by Spark: what Spark is told, and when. The end-to-end tests write and read tables."""

import json
import re
from contextlib import nullcontext
from pathlib import Path
from unittest.mock import MagicMock

import pytest

from storebench.connection import Connection, variable
from storebench.spark import session
from storebench.stores.bulk_write_read import iceberg
from storebench.stores.bulk_write_read.iceberg_spark import IcebergSpark
from storebench.stores.bulk_write_read.source import Source

CHECKOUT = Path(__file__).parents[4]
CATALOG = "spark.sql.catalog.storebench."
S3 = {"login": "key", "password": "s3-secret", "extra": {"endpoint_url": "http://s3:7070", "bucket": "b"}}


def store_at(monkeypatch, **fields):
    """Return a store whose catalog is at this connection, and which no server answers."""
    monkeypatch.setenv(variable("s3"), json.dumps(S3))
    data = {"host": "pg", "login": "me", "password": "pg-secret", "schema": "db", **fields}
    server = Connection.from_json("postgresql", json.dumps(data))
    source = MagicMock(spec=Source, bucket="b")
    return IcebergSpark(client="tuned", target="t", connection=server, source=source, operation="write")


def test_a_login_reaches_spark_only_after_its_start(monkeypatch):
    store = store_at(monkeypatch)
    told, spark = {}, MagicMock()
    monkeypatch.setattr(iceberg.IcebergStore, "connect", lambda self: None)

    def start_session(values, file_systems, extra):
        told.update(extra)
        for file_system in file_systems:
            told.update(file_system.settings())
        return spark, 0

    monkeypatch.setattr(session, "start_session", start_session)
    monkeypatch.setattr(session, "errors", lambda what: nullcontext())  # it needs Spark's package
    store.connect()
    assert told["spark.sql.catalog.storebench"] == "org.apache.iceberg.spark.SparkCatalog"
    assert told["spark.executorEnv.AWS_REQUEST_CHECKSUM_CALCULATION"] == "when_required"
    assert not {"pg-secret", "s3-secret", "key", "me"} & set(told.values())
    after = dict(call.args for call in spark.conf.set.call_args_list)
    assert after[f"{CATALOG}jdbc.password"] == "pg-secret"
    assert after[f"{CATALOG}s3.secret-access-key"] == "s3-secret"


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({}, {"uri": "jdbc:postgresql://pg:5432/db", "jdbc.sslmode": "prefer"}),
        ({"host": "::1", "port": 7, "schema": "a b"}, {"uri": "jdbc:postgresql://[::1]:7/a%20b"}),
        (
            {"extra": {"tls": True}},
            {"jdbc.sslmode": "verify-full", "jdbc.sslrootcert": "/etc/ssl/certs/ca-certificates.crt"},
        ),
        ({"extra": {"tls": True, "verify_certs": False}}, {"jdbc.sslmode": "require"}),
        ({"extra": {"tls": False}}, {"jdbc.sslmode": "disable"}),
    ],
)
def test_the_driver_of_postgresql_gets_the_connections_address_and_tls(monkeypatch, fields, expected):
    found = store_at(monkeypatch, **fields)._catalog_settings()
    assert found | expected == found


def test_both_versions_are_recorded(monkeypatch):
    store = store_at(monkeypatch)
    store._session = MagicMock(version="4.1.4")
    store._session._jvm.org.apache.iceberg.IcebergBuild.version.return_value = "1.12.0"
    store._catalog_server, store._s3_server = "PostgreSQL 18", "VERSITYGW"
    found = store.describe()
    assert (found.name, found.version) == ("Iceberg", "1.12.0 on Spark 4.1.4")


def test_icebergs_runtime_is_the_runtime_of_the_images_spark():
    pom = (CHECKOUT / "images/iceberg-spark/spark/pom.xml").read_text()
    (runtime,) = re.findall(r"iceberg-spark-runtime-([\d.]+)_2\.13", pom)
    packages = (CHECKOUT / "requirements/pod-iceberg-spark.txt").read_text()
    (spark,) = re.findall(r"^pyspark==([\d.]+)", packages, re.MULTILINE)
    assert spark.startswith(f"{runtime}.")
