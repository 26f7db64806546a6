"""Retry requests to a server that does not answer."""

from __future__ import annotations

from tenacity import Retrying, retry_if_exception_type, stop_after_delay, wait_exponential

from storebench.errors import StoreUnreachable

LONGEST_WAIT_S = 5


def patiently(
    patience_s: float, error: type[Exception] | tuple[type[Exception], ...] = StoreUnreachable
) -> Retrying:
    """Return a retrier that repeats a call while it raises `error`, for up to `patience_s` seconds; then the error is raised.

    The call must be idempotent.
    """
    return Retrying(
        retry=retry_if_exception_type(error),
        stop=stop_after_delay(patience_s),
        wait=wait_exponential(multiplier=0.2, max=LONGEST_WAIT_S),
        reraise=True,
    )
