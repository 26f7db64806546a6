"""Read the fields that all forms of connections share: addresses, logins, TLS, and common keys of the extra."""

from __future__ import annotations

import re
import ssl
from typing import Any

from storebench.connection.typed import Address, Typed, host_list

# Keys of the extra that every connection may have, for storebench.attempt.usage and storebench.stores.point_operations.rest
COMMON = ("usage_url", "services")
TLS_KEYS = ("tls", "ca_certs", "verify_certs")
PEM = "-----BEGIN CERTIFICATE-----"
AUTHORITY = "no pod has this file. Type the certificates of your CA as text (PEM) into the extra's ca_certs"

Fields = dict[str, Any]


def place_and_login(typed: Typed, addresses: list[Address], *, login: bool) -> Fields:
    """Take the addresses and, if `login`, the login and the password. Return the normal fields."""
    fields: Fields = {"host": host_list(addresses), "port": None, "login": "", "password": ""}
    if len(addresses) == 1:
        fields["host"], fields["port"] = addresses[0]
    if login:
        fields |= {name: str(typed.field(name)) for name in ("login", "password")}
        if fields["password"] and not fields["login"]:
            raise typed.wrong("login", "is empty, and there is a password")
    return fields


def common(typed: Typed) -> Fields:
    """Take the keys of COMMON from the extra. Return the keys that have a value."""
    fields: Fields = {}
    if url := typed.text("usage_url"):
        if "@" in url or not url.startswith(("http://", "https://")):
            raise typed.wrong("extra usage_url", "has to be http(s)://HOST:PORT/PATH, without a login")
        fields["usage_url"] = url
    if services := typed.mapping("services"):
        for client, place in services.items():
            if not re.fullmatch(r"[\w.-]+(:\d{1,5})?", str(place)):
                raise typed.wrong("extra services", f"{client} has to be HOST or HOST:PORT")
        fields["services"] = services
    return fields


def nothing_behind(typed: Typed, path: str, query: str) -> None:
    """Raise SpecError for a path or a query after the host."""
    if path or query:
        raise typed.wrong("host", "has something behind the server's name. Type the name alone")


def tls_of(typed: Typed, encrypted: bool | None, insecure: bool, field: str = "tls", *more: str) -> Fields:
    """Take `ca_certs` and `verify_certs` from the extra. Return these keys and `tls`.

    `encrypted`: whether the field `field` asks for TLS; if None, `ca_certs` or a false `verify_certs` turns TLS on. `insecure`: whether another
    option turns the check of certificates off. `more`: other names of `verify_certs`.
    """
    files = {key: typed.any(key) for key in more}
    authority = typed.text("ca_certs")
    if paths := [
        key for key, value in files.items() if isinstance(value, str) and ("/" in value or PEM in value)
    ]:
        raise typed.wrong(f"extra {paths[0]}", AUTHORITY)
    verify = typed.boolean("verify_certs", *more)
    if insecure and verify:
        raise typed.wrong(
            "extra verify_certs", "is true, and another option asks for no check of certificates. Keep one"
        )
    verify = False if insecure else verify
    if authority and encrypted is False:
        raise typed.wrong(f"extra ca_certs and {field}", f"a CA is for TLS, and {field} asks for none")
    if authority and verify is False:
        raise typed.wrong("extra ca_certs and verify_certs", "a CA is for a check of certificates. Keep one")
    fields: Fields = {}
    if encrypted is None and (authority or verify is False):
        encrypted = True
    if encrypted is not None:
        fields["tls"] = encrypted
    if fields.get("tls"):
        fields |= {"ca_certs": certificates(typed, "ca_certs", authority)} if authority else {}
        fields |= {"verify_certs": False} if verify is False else {}
    return fields


def certificates(typed: Typed, key: str, text: str) -> str:
    """Return the certificates in `text`. Raises SpecError for a text that is no PEM."""
    if PEM not in text:
        raise typed.wrong(
            f"extra {key}", f"has to be text (PEM) that begins with {PEM}: no pod has a file of yours"
        )
    try:
        ssl.create_default_context(cadata=text)
    except (ssl.SSLError, ValueError) as error:
        raise typed.wrong(
            f"extra {key}", f"cannot be read as certificates ({error}). Each line break is \\n in JSON"
        ) from None
    return text
