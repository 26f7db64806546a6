"""Keep secrets out of texts: each secret of a connection is cut out of every error that leaves a pod or a task."""

from __future__ import annotations

import base64
import json
import re
import sys
import traceback
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any
from urllib.parse import quote, quote_plus, unquote

MASK = "***"
# A shorter secret is cut out only where it is a word of its own: else it would cut words apart.
WHOLE_CHARACTERS = 4
# A field of a connection's extra whose name has one of these words holds a secret.
SECRET_NAMES = ("password", "passwd", "passphrase", "secret", "token", "api_key", "apikey", "private_key")

_secrets: dict[str, None] = {}


def keep_out(*secrets: str) -> None:
    """Cut these secrets out of every text that `redacted` sees from now on, in this process."""
    for one in secrets:
        if one and one not in _secrets:
            _secrets[one] = None
            _pattern.cache_clear()


def secrets_in(value: Any, name: str = "") -> Iterator[str]:
    """Yield the secrets in a connection's extra: values of secret names at any depth, and logins in addresses."""
    if isinstance(value, Mapping):
        for inner, one in value.items():
            yield from secrets_in(one, str(inner))
    elif isinstance(value, list | tuple):
        for one in value:
            yield from secrets_in(one, name)
    elif isinstance(value, str):
        if any(word in name.casefold() for word in SECRET_NAMES):
            yield value
        yield from logins_in(value)
        for pair in re.split(r"[&;?]", value):  # of a query string
            key, equals, found = pair.partition("=")
            if equals and any(word in key.casefold() for word in SECRET_NAMES):
                yield found
                yield unquote(found)


def logins_in(address: str) -> Iterator[str]:
    """Yield the password in an address `scheme://user:PASSWORD@host`, as it is there and unquoted."""
    login, _, _ = (address.partition("://")[2] or address).rpartition("@")
    if password := login.partition(":")[2]:
        yield password
        yield unquote(password)


def basic(login: str, password: str) -> str:
    """Return a login as HTTP's header Authorization has it: the password in another form."""
    return base64.b64encode(f"{login}:{password}".encode()).decode()


def redacted(text: str) -> str:
    """Return the text with MASK in place of each secret, in whatever form the secret is there: as typed, quoted for an address, for JSON
    or for Python."""
    pattern = _pattern()
    return pattern.sub(MASK, text) if pattern else text


def print_error(error: BaseException) -> None:
    """Print the error's traceback without secrets."""
    print(redacted("".join(traceback.format_exception(error))), end="", file=sys.stderr, flush=True)


def guard() -> None:
    """Print errors that nothing catches without secrets, too."""
    sys.excepthook = lambda kind, error, trace: print_error(error)


@lru_cache(maxsize=1)
def _pattern() -> re.Pattern[str] | None:
    parts = []
    for form in sorted({form for one in _secrets for form in _forms(one)}, key=len, reverse=True):
        part = re.sub(r"%([0-9A-Fa-f]{2})", lambda found: f"%(?i:{found[1]})", re.escape(form))
        parts.append(part if len(form) >= WHOLE_CHARACTERS else rf"(?<!\w){part}(?!\w)")
    return re.compile("|".join(parts)) if parts else None


def _forms(secret: str) -> Iterator[str]:
    yield secret
    yield quote(secret, safe="")
    yield quote(secret)
    yield quote_plus(secret)
    yield json.dumps(secret)[1:-1]
    yield json.dumps(secret, ensure_ascii=False)[1:-1]
    yield repr(secret)[1:-1]
