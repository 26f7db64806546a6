"""Remove the secrets of connections from every error that leaves a pod or a task."""

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
# A shorter secret is only removed as a whole word: otherwise it would cut other words.
WHOLE_CHARACTERS = 4
# A field of a connection's extra holds a secret if its name contains one of these words.
SECRET_NAMES = ("password", "passwd", "passphrase", "secret", "token", "api_key", "apikey", "private_key")

_secrets: dict[str, None] = {}


def keep_out(*secrets: str) -> None:
    """Make `redacted` remove these secrets from all texts in this process from now on."""
    for secret in secrets:
        if secret and secret not in _secrets:
            _secrets[secret] = None
            _pattern.cache_clear()


def secrets_in(value: Any, name: str = "") -> Iterator[str]:
    """Yield the secrets in a connection's extra: values of secret names at any depth, and logins in addresses."""
    if isinstance(value, Mapping):
        for inner, item in value.items():
            yield from secrets_in(item, str(inner))
    elif isinstance(value, list | tuple):
        for item in value:
            yield from secrets_in(item, name)
    elif isinstance(value, str):
        if any(word in name.casefold() for word in SECRET_NAMES):
            yield value
        yield from logins_in(value)
        for pair in re.split(r"[&;?]", value):  # the pairs of a query string
            key, equals, secret = pair.partition("=")
            if equals and any(word in key.casefold() for word in SECRET_NAMES):
                yield secret
                yield unquote(secret)


def logins_in(address: str) -> Iterator[str]:
    """Yield the password in an address `scheme://user:PASSWORD@host`, both quoted and unquoted."""
    login, _, _ = (address.partition("://")[2] or address).rpartition("@")
    if password := login.partition(":")[2]:
        yield password
        yield unquote(password)


def basic(login: str, password: str) -> str:
    """Encode a login as in the HTTP header Authorization, which contains the password in another form."""
    return base64.b64encode(f"{login}:{password}".encode()).decode()


def redacted(text: str) -> str:
    """Replace each secret in a text by MASK, in all its forms: as typed, and quoted for an address, for JSON or for Python."""
    pattern = _pattern()
    return pattern.sub(MASK, text) if pattern else text


def print_error(error: BaseException) -> None:
    """Print the error's traceback without secrets."""
    print(redacted("".join(traceback.format_exception(error))), end="", file=sys.stderr, flush=True)


def guard() -> None:
    """Print uncaught errors without secrets from now on."""
    sys.excepthook = lambda kind, error, trace: print_error(error)


@lru_cache(maxsize=1)
def _pattern() -> re.Pattern[str] | None:
    parts = []
    for form in sorted({form for secret in _secrets for form in _forms(secret)}, key=len, reverse=True):
        part = re.sub(r"%([0-9A-Fa-f]{2})", lambda match: f"%(?i:{match[1]})", re.escape(form))
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
