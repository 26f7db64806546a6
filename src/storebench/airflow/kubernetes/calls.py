"""Repeat calls of the Kubernetes API that fail for a while."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import TypeVar

from kubernetes.client.exceptions import ApiException
from tenacity import Retrying, retry_if_exception, stop_after_delay, wait_exponential
from urllib3.exceptions import HTTPError

from storebench.airflow.compat.kubernetes_provider import KubernetesApiException
from storebench.errors import StorebenchError
from storebench.servers.pods import answer

PATIENCE_S = 60.0
LONGEST_WAIT_S = 5.0
# Kubernetes' phases of a pod that has ended.
ENDED_PHASES = {"Succeeded", "Failed"}

T = TypeVar("T")


def error_text(error: BaseException) -> str:
    """Return the error in one line. An answer of the API server becomes its status and Kubernetes' own sentence, such as the quota that
    refused a pod, without the headers.
    """
    if isinstance(error, StorebenchError):  # its text says what to do
        return str(error)
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, ApiException):
            return f"the Kubernetes API answered {answer(cause)}"
        cause = cause.__cause__
    return f"{type(error).__name__}: {error}"


# An API server that has just started does not know its accounts and roles yet. An account that had the right to start a pod will
# have the right to look at it in a moment.
RIGHTS = (401, 403)


def ask_again(call: Callable[[], T], also: Collection[int] = ()) -> T:
    """Return the result of `call`, and repeat the call for up to PATIENCE_S seconds while it fails for a reason that may pass.

    Such a reason is an API server that does not answer, is overloaded, has an internal error, or answers with a status in `also`.
    Raises the last error of `call`.
    """

    def passes(error: BaseException) -> bool:
        if isinstance(error, ApiException):
            return error.status == 429 or (error.status or 0) >= 500 or error.status in also
        return isinstance(error, HTTPError | KubernetesApiException)

    retrying = Retrying(
        retry=retry_if_exception(passes),
        stop=stop_after_delay(PATIENCE_S),
        wait=wait_exponential(multiplier=0.2, max=LONGEST_WAIT_S),
        reraise=True,
    )
    return retrying(call)
