"""The form of a connection to MongoDB, or to another server with MongoDB's protocol."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qsl, quote

from storebench.connection.common import AUTHORITY, COMMON, TLS_KEYS, Fields, common, place_and_login, tls_of
from storebench.connection.typed import Typed


def mongodb(typed: Typed) -> Fields:
    """Return the normal form: `scheme` is mongodb+srv or absent, and `options` has all options except TLS options."""
    before, addresses, path, query = typed.place(("mongodb", "mongodb+srv", "mongo"), several=True)
    srv = typed.boolean("srv")
    schemes = [
        ("host", "mongodb" if before == "mongo" else before),
        ("extra scheme", typed.choice("scheme", ("mongodb", "mongodb+srv"))),
        ("extra srv", "" if srv is None else "mongodb+srv" if srv else "mongodb"),
    ]
    scheme = typed.agreed(schemes, "schemes") or "mongodb"
    if scheme == "mongodb+srv":
        if len(addresses) > 1:
            raise typed.wrong("host", "mongodb+srv has one name, whose DNS names the servers")
        if addresses[0][1] is not None:
            raise typed.wrong("port", "mongodb+srv has the ports from DNS. Leave it empty")
    database = typed.agreed([("host", path), ("schema", typed.field("schema"))], "databases")
    options, insecure = _mongodb_options(typed, query)
    tls, option = typed.boolean(*MONGODB_TLS), options.pop("tls", None)
    if tls is not None and option is not None and tls != option:
        raise typed.wrong("extra tls and options", "they contradict each other. Keep one")
    tls = option if tls is None else tls
    if tls is None and scheme == "mongodb+srv":
        tls = True  # mongodb+srv addresses imply TLS
    extra = tls_of(typed, tls, insecure)
    if extra.get("verify_certs") is False:
        options.pop("tlsAllowInvalidHostnames", None)  # without checked certificates no host name is checked
    extra |= common(typed) | ({"scheme": scheme} if scheme != "mongodb" else {})
    if key := typed.choice("shard_key", ("hashed", "ranged")):
        extra["shard_key"] = key
    if options:
        extra["options"] = "&".join(f"{key}={quote(value, safe=',:')}" for key, value in options.items())
    fields = place_and_login(typed, addresses, login=True) | {"schema": database, "extra": extra}
    typed.end(*TLS_KEYS, *COMMON, "srv", "options", "shard_key", options=MONGODB_OPTIONS)
    return fields


# Options of a connection string that PyMongo takes in a pod, in the spelling of its documentation.
MONGODB_OPTIONS = [
    "appName",
    "authMechanism",
    "authMechanismProperties",
    "authSource",
    "compressors",
    "connectTimeoutMS",
    "directConnection",
    "fsync",
    "heartbeatFrequencyMS",
    "journal",
    "loadBalanced",
    "localThresholdMS",
    "maxConnecting",
    "maxIdleTimeMS",
    "maxPoolSize",
    "maxStalenessSeconds",
    "minPoolSize",
    "readConcernLevel",
    "readPreference",
    "readPreferenceTags",
    "replicaSet",
    "retryReads",
    "retryWrites",
    "serverMonitoringMode",
    "serverSelectionTimeoutMS",
    "socketTimeoutMS",
    "srvMaxHosts",
    "srvServiceName",
    "timeoutMS",
    "tlsAllowInvalidHostnames",
    "tlsDisableOCSPEndpointCheck",
    "uuidRepresentation",
    "w",
    "waitQueueTimeoutMS",
    "wTimeoutMS",
    "zlibCompressionLevel",
]
MONGODB_FILES = ("tlsCAFile", "ssl_ca_certs", "tlsCRLFile", "ssl_crlfile", "sslCertificateAuthorityFile")
MONGODB_KEY_FILES = ("tlsCertificateKeyFile", "ssl_certfile", "ssl_keyfile", "tlsCertificateKeyFilePassword")
MONGODB_INSECURE = (
    "tlsAllowInvalidCertificates",
    "tlsInsecure",
    "allow_insecure",
    "sslAllowInvalidCertificates",
)
MONGODB_TLS = ("tls", "ssl")
CERTIFICATE_LOGIN = "a pod has no certificate to log in with. Use a login and a password"
MECHANISMS = ("DEFAULT", "SCRAM-SHA-1", "SCRAM-SHA-256", "PLAIN")


def _mongodb_options(typed: Typed, query: str) -> tuple[dict[str, Any], bool]:
    """Take the options. Return the options by PyMongo's names, `tls` as a boolean, and whether an option turns off the check of
    certificates."""
    known = {option.casefold(): option for option in (*MONGODB_OPTIONS, *MONGODB_INSECURE, *MONGODB_TLS)}
    files = {option.casefold() for option in MONGODB_FILES}
    key_files = {option.casefold() for option in MONGODB_KEY_FILES}
    typed_options = typed.text("options").lstrip("?")
    if "://" in typed_options or "@" in typed_options:
        raise typed.wrong(
            "extra options", "has to be the part after the ? of a connection string, with %40 for @"
        )
    texts = [("host", query), ("extra options", typed_options)]
    said = [
        (field, name, value)
        for field, text in texts
        for name, value in parse_qsl(text.replace(";", "&"), keep_blank_values=True)
    ]
    said += [
        (f"extra {key}", key, _option_text(typed.any(key)))
        for key in typed.untaken()
        if key.casefold() in {*known, *files, *key_files} - {"tls", "ssl", "allow_insecure"}
    ]
    if (allow := typed.boolean("allow_insecure")) is not None:
        said.append(("extra allow_insecure", "allow_insecure", _option_text(allow)))
    options: dict[str, Any] = {}
    insecure = False
    for field, name, value in said:
        where = field if field.endswith(name) else f"{field}, {name}"
        if name.casefold() in files:
            raise typed.wrong(where, AUTHORITY)
        if name.casefold() in key_files:
            raise typed.wrong(where, CERTIFICATE_LOGIN)
        if (option := known.get(name.casefold())) is None:
            raise typed.wrong(where, "is no option of a connection string that a pod can use")
        if option in MONGODB_INSECURE:
            insecure = insecure or _true(typed, where, value)
        elif option in MONGODB_TLS:
            if options.setdefault("tls", _true(typed, where, value)) != _true(typed, where, value):
                raise typed.wrong(where, "tls and ssl mean the same, and contradict each other. Keep one")
        elif option == "readPreferenceTags" and option in options:
            raise typed.wrong(where, "only one set of tags can be used")
        elif options.setdefault(option, value) != value:
            raise typed.wrong(where, f"{option} is there twice, with different values. Keep one")
    _mongodb_check(typed, options)
    return options, insecure


def _mongodb_check(typed: Typed, options: Mapping[str, Any]) -> None:
    """Raise SpecError for options that need a library which the pods' image lacks."""
    mechanism = options.get("authMechanism", MECHANISMS[0])
    if mechanism not in MECHANISMS:
        raise typed.wrong(
            "extra options, authMechanism",
            f"pods can log in by {', '.join(MECHANISMS[1:])}, not by {mechanism}",
        )
    if options.get("compressors", "zlib") != "zlib":
        raise typed.wrong("extra options, compressors", "pods have zlib alone")


def _option_text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _true(typed: Typed, field: str, value: str) -> bool:
    if value.casefold() not in ("true", "false"):
        raise typed.wrong(field, "has to be true or false")
    return value.casefold() == "true"
