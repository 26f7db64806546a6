"""Asking a server again that does not answer."""

from __future__ import annotations

from tenacity import Retrying, retry_if_exception_type, stop_after_delay, wait_exponential

from storebench.errors import StoreUnreachable

LONGEST_WAIT_S = 5


def patiently(patience_s: float) -> Retrying:
    """Calls again what raises StoreUnreachable, for so many seconds; then raises what it raised. For what can be done twice without harm."""
    return Retrying(
        retry=retry_if_exception_type(StoreUnreachable),
        stop=stop_after_delay(patience_s),
        wait=wait_exponential(multiplier=0.2, max=LONGEST_WAIT_S),
        reraise=True,
    )
