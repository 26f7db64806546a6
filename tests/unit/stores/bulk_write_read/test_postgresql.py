"""PostgreSQL's store without a server: its connection string, its durability and its limits."""

import pytest

from storebench.connection import Connection
from storebench.dataset.schema import Field
from storebench.stores.bulk_write_read.postgresql import PostgreSQL
from storebench.stores.postgresql_server import conninfo, durability_of


def server(**extra):
    return Connection("postgresql", host="db", login="u", password="p q", schema="bench", extra=extra)


@pytest.mark.parametrize(
    ("extra", "words"),
    [
        ({}, "sslmode=prefer"),
        ({"tls": False}, "sslmode=disable"),
        ({"tls": True}, "sslmode=verify-full sslrootcert=system"),
        ({"tls": True, "verify_certs": False}, "sslmode=require"),
    ],
)
def test_the_connection_becomes_libpqs_string(extra, words):
    assert (
        conninfo(server(**extra))
        == f"host=db port=5432 user=u password='p q' dbname=bench connect_timeout=10 {words}"
    )


@pytest.mark.parametrize(
    ("settings", "kind"),
    [
        ({"fsync": "on", "synchronous_commit": "on"}, "disk"),
        ({"fsync": "on", "synchronous_commit": "local"}, "disk"),
        ({"fsync": "on", "synchronous_commit": "off"}, "memory"),
        ({"fsync": "off", "synchronous_commit": "on"}, "memory"),
        ({}, "unknown"),
    ],
)
def test_a_commit_is_as_durable_as_the_settings_say(settings, kind):
    found = durability_of(settings)
    assert found.kind == kind
    assert all(f"{name}={value}" in found.stated for name, value in settings.items())


@pytest.mark.parametrize(
    ("names", "words"),
    [
        (["ctid"], "rename that column"),
        (["é" * 32], "longer than PostgreSQL's 63 bytes"),
        ([f"c{n}" for n in range(1601)], "at most 1,600 columns"),
        ([f"c{n}" for n in range(1600)], ""),
    ],
)
def test_what_a_table_cannot_have_is_said(names, words):
    found = PostgreSQL.cannot_hold_fields([Field(name, "string", "") for name in names])
    assert words in found and bool(words) == bool(found)
