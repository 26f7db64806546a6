"""Read a connection as typed. Forms take values by the fields' names, and leftover values are refused with the field's name."""

from __future__ import annotations

import ipaddress
import json
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import Any
from urllib.parse import urlsplit

from storebench.errors import SpecError

PREFIX = "storebench_"
HOST = re.compile(r"[\w.-]+")
MAX_PORT = 65_535
BOOLEANS = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}

Address = tuple[str, int | None]


class Typed:
    """The fields of a connection as typed. Methods take values, and raise SpecError with the field's name for an unusable value."""

    def __init__(self, name: str, fields: Mapping[str, Any]) -> None:
        self.name = name
        self._fields = {field: value for field, value in fields.items() if value not in (None, "")}
        self._extra = {key: value for key, value in fields["extra"].items() if value not in (None, "")}
        self._all = fields
        self._taken: list[str] = []

    def wrong(self, field: str, why: str) -> SpecError:
        """Return the error for a field: `host`, `port`, `login`, `password`, `schema`, or `extra KEY`. `why` must have no secret."""
        return SpecError(f"The connection {PREFIX}{self.name}: {field}: {why}")

    def field(self, name: str) -> Any:
        """Take a field other than the extra; an empty text if the field is empty."""
        self._taken.append(name)
        return self._fields.get(name, "")

    def untouched(self) -> dict[str, Any]:
        """Return the connection as it was typed."""
        return dict(self._all)

    def peek(self, name: str) -> str:
        """Return a field without taking it."""
        return str(self._fields.get(name, ""))

    def any(self, *keys: str) -> Any:
        """Take a value of the extra by any of `keys`, which are synonyms; None if no key has a value. Raises SpecError for different
        values."""
        self._taken += keys
        values = {key: self._extra[key] for key in keys if key in self._extra}
        if len({json.dumps(value, sort_keys=True, default=str) for value in values.values()}) > 1:
            raise self.wrong(f"extra {' and '.join(values)}", "they contradict each other. Keep one")
        return next(iter(values.values()), None)

    def text(self, *keys: str) -> str:
        """Take a text of the extra; an empty text if no key has a value."""
        value = self.any(*keys)
        if value is None:
            return ""
        if not isinstance(value, str | int | float) or isinstance(value, bool):
            raise self.wrong(f"extra {keys[0]}", "has to be a text")
        return str(value).strip()

    def choice(self, key: str, known: Collection[str]) -> str:
        """Take a text of the extra that must be in `known`; an empty text if the key has no value."""
        if (value := self.text(key)) and value not in known:
            raise self.wrong(f"extra {key}", f"has to be {' or '.join(known)}")
        return value

    def boolean(self, *keys: str) -> bool | None:
        """Take a boolean of the extra, also as text; None if no key has a value."""
        self._taken += keys
        values = {key: self._boolean(key, self._extra[key]) for key in keys if key in self._extra}
        if len(set(values.values())) > 1:
            raise self.wrong(f"extra {' and '.join(values)}", "they contradict each other. Keep one")
        return next(iter(values.values()), None)

    def _boolean(self, key: str, value: Any) -> bool:
        known = BOOLEANS.get(str(value).strip().casefold())
        if known is None:
            raise self.wrong(f"extra {key}", "has to be true or false")
        return known

    def mapping(self, key: str) -> dict[str, Any]:
        """Take an object of the extra, also as JSON text; an empty dict if the key has no value."""
        mapping = self.any(key)
        if isinstance(mapping, str):
            try:
                mapping = json.loads(mapping)
            except (ValueError, RecursionError):  # RecursionError: nested too deeply
                raise self.wrong(f"extra {key}", "has to be an object of JSON") from None
        if mapping is None:
            return {}
        if not isinstance(mapping, Mapping):
            raise self.wrong(f"extra {key}", "has to be an object of JSON")
        return {str(inner): value for inner, value in mapping.items()}

    def number(self, key: str) -> int | None:
        """Take a port of the extra; None if the key has no value."""
        text = self.text(key)
        return self._port(f"extra {key}", text) if text else None

    def untaken(self) -> list[str]:
        """Return the keys of the extra that were not taken."""
        return [key for key in self._extra if key not in self._taken]

    def refuse(self, why: str, *keys: str) -> None:
        """Raise SpecError if the extra has any of `keys`. `why`: what to type instead."""
        for key in keys:
            if key in self._extra:
                raise self.wrong(f"extra {key}", why)

    def agreed(self, given: Iterable[tuple[str, str]], what: str) -> str:
        """Return the common value of several fields; empty if all are empty. Raises SpecError for fields that differ.

        `given`: pairs of field and value. `what`: plural noun of the value for the error.
        """
        said = {field: value for field, value in given if value}
        if len(set(said.values())) > 1:
            raise self.wrong(" and ".join(said), f"they name different {what}. Keep one")
        return next(iter(said.values()), "")

    def place(
        self, schemes: Collection[str] = (), *, several: bool = False
    ) -> tuple[str, list[Address], str, str]:
        """Take `host` and `port`. Return the scheme or an empty text, the addresses, the path after the host, and the query."""
        text, port = str(self.field("host")).strip(), self.field("port")
        typed_port = self._port("port", port) if port else None
        if not text:
            raise self.wrong("host", "is empty. Type the server's name or address")
        if "@" in text:
            raise self.wrong(
                "host",
                "holds a login. Type the server's name alone, and the login into the fields login and password",
            )
        scheme, colon, rest = text.partition("://")
        if not colon:
            scheme, rest = "", text
        elif scheme.casefold() not in schemes:
            may = (
                f"may begin with {' or '.join(f'{scheme}://' for scheme in schemes)}"
                if schemes
                else "has to be a name or an address"
            )
            raise self.wrong("host", f"begins with {scheme}://, and {may}")
        names, mark, tail = rest.partition("/") if "/" in rest else rest.partition("?")
        path, _, query = tail.partition("?") if mark == "/" else ("", mark, tail)
        parts = [part.strip() for part in names.split(",")]
        if len(parts) > 1 and not several:
            raise self.wrong("host", "names several servers, and this store asks one")
        addresses = [self._address(part, typed_port) for part in parts]
        return scheme.casefold(), addresses, path.strip("/"), query

    def _address(self, text: str, typed_port: int | None) -> Address:
        try:
            if ":" in text and not text.startswith("["):
                return str(ipaddress.IPv6Address(text)), typed_port
        except ValueError:
            pass
        host, port = text, ""
        if match := re.fullmatch(r"\[([^\]]*)\](?::(.*))?", text):
            host, port = match[1], match[2] or ""
            try:
                host = str(ipaddress.IPv6Address(host))
            except ValueError:
                raise self.wrong("host", "has no IPv6 address between [ and ]") from None
        else:
            host, _, port = text.partition(":")
            if not HOST.fullmatch(host):
                raise self.wrong(
                    "host", "has to be a name or an address, without spaces and other characters"
                )
        if not port:
            return host, typed_port
        number = self._port("host", port)
        if typed_port not in (None, number):
            raise self.wrong("host and port", "they name different ports. Keep one")
        return host, number

    def _port(self, field: str, value: Any) -> int:
        if not str(value).isascii() or not str(value).isdigit() or not 0 < int(value) <= MAX_PORT:
            raise self.wrong(field, f"a port has to be a number from 1 to {MAX_PORT}")
        return int(value)

    def address(self, field: str, text: str) -> str:
        """Check and return a server's address http(s)://HOST:PORT from another field than `host`."""
        try:
            parts = urlsplit(text)
            _ = parts.port
        except ValueError:
            raise self.wrong(field, "is no address: http(s)://HOST:PORT") from None
        if "@" in text:
            raise self.wrong(field, "holds a login. Type the login into the fields login and password")
        if parts.scheme not in ("http", "https") or not parts.hostname or re.search(r"\s", text):
            raise self.wrong(field, "is no address: http(s)://HOST:PORT")
        if parts.path.strip("/") or parts.query or parts.fragment:
            raise self.wrong(field, "has a path behind the server's name, which not all clients can use")
        return f"{parts.scheme}://{parts.netloc}"

    def end(self, *known: str, options: Sequence[str] = ()) -> None:
        """Raise SpecError for a value that was not taken. `known`: keys of the extra to list in the error. `options`: further valid keys,
        too many to list."""
        for field in self._fields:
            if field not in {*self._taken, "extra"}:
                raise self.wrong(field, "is used for nothing here. Leave it empty")
        for key in self.untaken():
            names = sorted(known)
            near = get_close_matches(key, [*names, *options])
            meant = f"Did you mean {' or '.join(near)}?" if near else f"There are {', '.join(names)}"
            raise self.wrong(f"extra {key}", f"is used for nothing here. {meant}")


def host_list(addresses: Iterable[tuple[str, int | None]]) -> str:
    """Format addresses as `HOST:PORT,HOST:PORT`, with IPv6 addresses in brackets."""
    return ",".join(
        f"{f'[{host}]' if ':' in host else host}{'' if port is None else f':{port}'}"
        for host, port in addresses
    )
