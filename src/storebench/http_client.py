"""Send HTTP requests that are not measured. The client is urllib3, which every pod image contains."""

from __future__ import annotations

import json
import os
import ssl
from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from http.client import HTTPException
from typing import Any
from urllib.parse import unquote
from urllib.request import getproxies, proxy_bypass

from urllib3 import PoolManager, ProxyManager, Retry
from urllib3.exceptions import HTTPError, MaxRetryError, ProtocolError
from urllib3.util import make_headers, parse_url

REDIRECTS = 10


class NoAnswer(OSError):
    """The server cannot be reached, or does not answer in time. The message is the operating system's."""


class BrokenAnswer(NoAnswer):
    """The server ends its answer too early, or does not speak HTTP."""


@dataclass(frozen=True)
class Answer:
    """An answer with any status. `headers`: a mapping that ignores the case of names."""

    status: int
    reason: str
    headers: Mapping[str, str]
    body: bytes

    @property
    def ok(self) -> bool:
        return 200 <= self.status < 300

    def json(self) -> Any:
        """Parse the body as JSON. Raises ValueError if the body is not JSON."""
        return json.loads(self.body)

    def expected(self) -> Answer:
        """Return this answer if its status is 2xx. Raises ValueError with the status otherwise."""
        if not self.ok:
            raise ValueError(f"status {self.status} {self.reason}")
        return self


def ask(
    method: str,
    url: str,
    *,
    timeout_s: float,
    headers: Mapping[str, str] | None = None,
    body: bytes | str | None = None,
    most_bytes: int | None = None,
    redirects: int = 0,
    http: PoolManager | None = None,
) -> Answer:
    """Send a request once, and return the answer. Raises NoAnswer without an answer.

    `timeout_s`: seconds to wait for the connection, and for each piece of data. `most_bytes`: the maximum number of bytes to read of the
    body. `redirects`: the maximum number of redirects to follow. `http`: connections to use; by default, a new connection without a proxy.
    """
    retries = Retry(connect=0, read=0, other=0, redirect=redirects, respect_retry_after_header=False)
    try:
        with nullcontext(http) if http else PoolManager() as connections:
            response = connections.request(
                method,
                url,
                timeout=timeout_s,
                headers=headers,
                body=body,
                redirect=redirects > 0,
                retries=retries,
                preload_content=False,
            )
            try:
                content = response.read(most_bytes)
            finally:
                response.release_conn()
    except HTTPError as error:
        cause = _cause(error)
        kind = BrokenAnswer if isinstance(cause, HTTPException) else NoAnswer
        raise kind(str(cause) or type(cause).__name__) from error
    return Answer(response.status, response.reason or "", response.headers, content)


def by_environment(url: str) -> PoolManager:
    """Return a pool of connections to a URL, through the proxy that HTTP_PROXY, HTTPS_PROXY, ALL_PROXY and NO_PROXY name, if any.

    The connections trust the authorities of SSL_CERT_FILE and SSL_CERT_DIR, or the public authorities if neither variable is set.
    """
    import certifi  # the images of pods do not have it

    given = os.environ.get("SSL_CERT_FILE") or os.environ.get("SSL_CERT_DIR")
    context = ssl.create_default_context(cafile=None if given else certifi.where())
    address, proxies = parse_url(url), getproxies()
    proxy = proxies.get(address.scheme or "http") or proxies.get("all")
    if not proxy or proxy_bypass(address.netloc or ""):
        return PoolManager(ssl_context=context)
    proxy = proxy if "://" in proxy else f"http://{proxy}"
    login = parse_url(proxy).auth
    headers = make_headers(proxy_basic_auth=unquote(login)) if login else None
    return ProxyManager(proxy, proxy_headers=headers, ssl_context=context)


def _cause(error: HTTPError) -> BaseException:
    """Return the operating system's error that caused an error of urllib3; the error of urllib3 if nothing caused it."""
    cause: BaseException = error.reason or error if isinstance(error, MaxRetryError) else error
    if isinstance(cause, ProtocolError) and len(cause.args) > 1:
        return cause.args[1]  # type: ignore[no-any-return]
    return cause.__cause__ or cause
