"""The form of a connection to S3."""

from __future__ import annotations

import re
from collections.abc import Mapping

from storebench.connection.common import COMMON, Fields, certificates, common, nothing_behind
from storebench.connection.typed import Typed, host_list

# Keys of Airflow's form that refer to settings outside the connection.
ROLES = (
    "role_arn",
    "profile_name",
    "assume_role_method",
    "assume_role_kwargs",
    "external_id",
    "session_kwargs",
    "aws_account_id",
    "aws_iam_role",
    "s3_config_file",
)


def s3(typed: Typed) -> Fields:
    """Return the normal form: the address is in `endpoint_url`, also if it was typed into the host or into Airflow's `service_config`."""
    typed.refuse(
        "a pod cannot take a role or a profile from a connection. Give the pods' service account the role, and leave the login empty; or type the"
        " role's temporary credentials: login, password, and the extra's aws_session_token",
        *ROLES,
    )
    service = typed.mapping("service_config").get("s3") or {}
    if not isinstance(service, Mapping) or set(service) - {"endpoint_url", "region_name", "bucket_name"}:
        raise typed.wrong(
            "extra service_config", "of its s3 only endpoint_url, region_name and bucket_name can be used"
        )
    config = typed.mapping("config_kwargs")
    if config not in ({}, {"s3": {"addressing_style": "path"}}):
        raise typed.wrong(
            "extra config_kwargs", "no other setting than addressing_style=path can be used. Leave it out"
        )
    texts = [
        ("extra endpoint_url", typed.text("endpoint_url")),
        ("extra service_config", str(service.get("endpoint_url") or "")),
    ]
    addresses = [(field, typed.address(field, text)) for field, text in texts if text]
    endpoint = typed.agreed([*addresses, ("host", _s3_host(typed))], "servers")
    extra = _s3_authority(typed, endpoint) | common(typed)
    extra |= {"endpoint_url": endpoint} if endpoint else {}
    both = (
        ("region_name", "region_name", r"[A-Za-z0-9-]+", "region"),
        ("bucket", "bucket_name", r"[A-Za-z0-9._-]{1,255}", "bucket"),
    )
    for key, other, pattern, what in both:
        value = typed.agreed(
            [(f"extra {key}", typed.text(key)), ("extra service_config", str(service.get(other) or ""))],
            f"{what}s",
        )
        if value and not re.fullmatch(pattern, value):
            raise typed.wrong(
                f"extra {key}",
                f"is no name of a {what}: letters, digits, and {'. _ -' if what == 'bucket' else '-'}",
            )
        extra |= {key: value} if value else {}
    if options := typed.mapping("delta_rs"):
        extra["delta_rs"] = options
    login = typed.agreed(
        [("login", typed.field("login")), ("extra aws_access_key_id", typed.text("aws_access_key_id"))],
        "keys",
    )
    password = typed.agreed(
        [
            ("password", typed.field("password")),
            ("extra aws_secret_access_key", typed.text("aws_secret_access_key")),
        ],
        "keys",
    )
    if bool(login) != bool(password):
        raise typed.wrong(
            "login and password", "S3 needs both, the access key's id and its secret, or neither"
        )
    if token := typed.text("aws_session_token"):
        if not login:
            raise typed.wrong("extra aws_session_token", "is for a login and a password, which are empty")
        extra["aws_session_token"] = token
    known = ["endpoint_url", "region_name", "bucket", "aws_session_token", "ca_certs", "delta_rs"]
    typed.end(*known, *COMMON)
    return {"host": "", "port": None, "login": login, "password": password, "schema": "", "extra": extra}


def _s3_host(typed: Typed) -> str:
    """Take the address of S3 from the fields host, port and schema; empty if the host is empty."""
    schema = str(typed.field("schema")).casefold()
    if schema not in ("", "http", "https"):
        raise typed.wrong("schema", "has to be http or https")
    if not typed.field("host"):
        if schema or typed.field("port"):
            raise typed.wrong("port" if typed.field("port") else "schema", "is for a host, which is empty")
        return ""
    before, addresses, path, query = typed.place(("http", "https"))
    nothing_behind(typed, path, query)
    scheme = typed.agreed([("host", before), ("schema", schema)], "schemes")
    return f"{scheme or 'https'}://{host_list(addresses)}"


def _s3_authority(typed: Typed, endpoint: str) -> Fields:
    """Take the CA from `ca_certs`, or from boto3's name `verify`.

    Raises SpecError for a disabled check of certificates, because S3 clients in Java always check.
    """
    verify = typed.any("verify", "verify_certs")
    if verify is not None and str(verify).strip().casefold() in ("false", "0", "no"):
        raise typed.wrong(
            "extra verify",
            "clients of S3 in Java check every certificate. Type your CA's certificates into the extra's ca_certs",
        )
    text = verify if isinstance(verify, str) and verify.strip().casefold() not in ("true", "1", "yes") else ""
    authority = typed.agreed([("extra verify", text), ("extra ca_certs", typed.text("ca_certs"))], "CAs")
    if not authority:
        return {}
    if endpoint.startswith("http://"):
        raise typed.wrong("extra ca_certs", "is for https, and the address begins with http://")
    return {"ca_certs": certificates(typed, "ca_certs", authority)}
