"""The forms of connections to all servers except MongoDB and S3."""

from __future__ import annotations

from typing import Any

from storebench.connection.common import (
    COMMON,
    TLS_KEYS,
    Fields,
    common,
    nothing_behind,
    place_and_login,
    tls_of,
)
from storebench.connection.typed import Address, Typed

INSTEAD = "type tls, ca_certs and verify_certs instead: no pod has a file of yours"


def elasticsearch(typed: Typed) -> Fields:
    """Return the normal form: the extra has `scheme`, http or https, and `path`, the path after the host."""
    schemes = ("http", "https")
    before, addresses, path, query = typed.place(schemes, several=True)
    if query:
        raise typed.wrong(
            "host", "has a ? in it. Type the server's name, and the path after it if there is one"
        )
    schema = str(typed.field("schema")).casefold()
    if schema and schema not in schemes:
        raise typed.wrong("schema", "has to be http or https")
    given = [("host", before), ("schema", schema), ("extra scheme", typed.choice("scheme", schemes))]
    scheme = typed.agreed(given, "schemes")
    if before:  # an address without a port has the scheme's default port
        default = {"http": 80, "https": 443}[before]
        addresses = [(host, default if port is None else port) for host, port in addresses]
    tls = {"": None, "http": False, "https": True}[scheme]
    extra = tls_of(typed, tls, False, "scheme", "verify")
    tls = bool(extra.pop("tls", False))
    extra |= common(typed) | {"scheme": "https" if tls else "http"}
    if place := typed.agreed([("host", path), ("extra path", typed.text("path").strip("/"))], "paths"):
        extra["path"] = place
    if key := typed.text("api_key"):
        extra["api_key"] = key
    fields = place_and_login(typed, addresses, login=True) | {"schema": "", "extra": extra}
    if key and fields["login"]:
        raise typed.wrong("login and extra api_key", "Elasticsearch takes one of them. Keep one")
    typed.end("scheme", "path", "api_key", "ca_certs", "verify_certs", *COMMON)
    return fields


def cassandra(typed: Typed) -> Fields:
    """Return the normal form: the hosts are contact points, and `local_dc` is the data centre of the coordinators."""
    _, addresses, path, query = typed.place(several=True)
    nothing_behind(typed, path, query)
    if typed.mapping("ssl_options"):
        raise typed.wrong("extra ssl_options", INSTEAD)
    typed.choice("load_balancing_policy", ("DCAwareRoundRobinPolicy", "TokenAwarePolicy"))
    arguments = typed.mapping("load_balancing_policy_args")
    if more := sorted(set(arguments) - {"local_dc"}):
        raise typed.wrong(
            "extra load_balancing_policy_args", f"only local_dc can be used, not {', '.join(more)}"
        )
    centres = [
        ("extra local_dc", typed.text("local_dc")),
        ("extra load_balancing_policy_args", str(arguments.get("local_dc", ""))),
    ]
    centre = typed.agreed(centres, "data centres")
    if typed.text("protocol_version") not in ("", "4"):
        raise typed.wrong("extra protocol_version", "is 4 for every server here. Leave it out")
    extra = tls_of(typed, typed.boolean("tls", "ssl"), False) | common(typed)
    extra |= {"local_dc": centre} if centre else {}
    if typed.field("schema"):
        raise typed.wrong("schema", "each cell gets a keyspace of its own. Leave it empty")
    fields = place_and_login(typed, addresses, login=True) | {"schema": "", "extra": extra}
    typed.end(*TLS_KEYS, *COMMON, "local_dc")
    return fields


def mariadb(typed: Typed) -> Fields:
    """Return the normal form: one server, with TLS if `tls` or `ca_certs` asks for TLS."""
    _, addresses, path, query = typed.place(("mysql", "mariadb"))
    nothing_behind(typed, path, query)
    typed.refuse(INSTEAD, "ssl", "ssl_mode", "ssl_ca", "ssl_cert", "ssl_key")
    if typed.text("charset") not in ("", "utf8mb4"):
        raise typed.wrong("extra charset", "is utf8mb4 here. Leave it out")
    extra = tls_of(typed, typed.boolean("tls"), False) | common(typed)
    if typed.field("schema"):
        raise typed.wrong("schema", "each cell gets a database of its own. Leave it empty")
    fields = place_and_login(typed, addresses, login=True) | {"schema": "", "extra": extra}
    typed.end(*TLS_KEYS, *COMMON)
    return fields


def postgresql(typed: Typed) -> Fields:
    """Return the normal form: one server, the database as `schema`, with TLS if `tls` or `ca_certs` asks for TLS."""
    _, addresses, path, query = typed.place(("postgres", "postgresql"))
    nothing_behind(typed, "", query)
    typed.refuse(INSTEAD, "sslmode", "sslcert", "sslkey", "sslrootcert", "sslcrl")
    database = typed.agreed([("host", path), ("schema", str(typed.field("schema")))], "databases")
    if not database:
        raise typed.wrong("schema", "is empty. Type the name of the database")
    extra = tls_of(typed, typed.boolean("tls"), False) | common(typed)
    fields = place_and_login(typed, addresses, login=True) | {"schema": database, "extra": extra}
    typed.end(*TLS_KEYS, *COMMON)
    return fields


def hdfs(typed: Typed) -> Fields:
    """Return the normal form: the NameNode's address, and the user's name as `login`."""
    _, addresses, path, query = typed.place(("hdfs",))
    nothing_behind(typed, path, query)
    return _hadoop(typed, addresses, "")


def ozone(typed: Typed) -> Fields:
    """Return the normal form: the OM's address, and VOLUME/BUCKET as `schema`."""
    _, addresses, path, query = typed.place(("ofs",))
    nothing_behind(typed, "", query)
    schema = typed.agreed([("host", path), ("schema", str(typed.field("schema")).strip("/"))], "buckets")
    return _hadoop(typed, addresses, schema)


def _hadoop(typed: Typed, addresses: list[Address], schema: str) -> Fields:
    if typed.field("password"):
        raise typed.wrong("password", "this store has no passwords, and no Kerberos. Leave it empty")
    extra: dict[str, Any] = common(typed)
    if hadoop := typed.mapping("hadoop"):
        if not str(hadoop.get("dfs.replication", 1)).isdigit():
            raise typed.wrong("extra hadoop", "dfs.replication has to be a number")
        extra["hadoop"] = hadoop
    if port := typed.number("http_port"):
        extra["http_port"] = port
    fields = place_and_login(typed, addresses, login=False) | {"login": str(typed.field("login"))}
    typed.end("hadoop", "http_port", *COMMON)
    return fields | {"schema": schema, "extra": extra}


def zeo(typed: Typed) -> Fields:
    """Return the normal form: an address. A ZEO server has no logins."""
    _, addresses, path, query = typed.place()
    nothing_behind(typed, path, query)
    fields = place_and_login(typed, addresses, login=False) | {
        "login": "",
        "schema": "",
        "extra": common(typed),
    }
    typed.end(*COMMON)
    return fields


def postgres(typed: Typed) -> Fields:
    """Return the normal form of the results database. The host may be a socket's folder; the extra has any option of Postgres."""
    if not typed.peek("host") or typed.peek("host").startswith("/"):
        return typed.untouched()
    _, addresses, path, _ = typed.place(("postgres", "postgresql"), several=True)
    schema = typed.agreed([("host", path), ("schema", str(typed.field("schema")))], "databases")
    extra = {key: typed.any(key) for key in typed.untaken()}
    return place_and_login(typed, addresses, login=True) | {"schema": schema, "extra": extra}
