"""The ways an attempt can fail, each with the exit code of its pod and the name of its kind in the results."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

from storebench.redact import redacted


class StorebenchError(Exception):
    """Base of all errors that carry a message for the user: what happened and what to do. The message has no secret of a connection."""

    kind = "internal"
    exit_code = 1

    def __str__(self) -> str:
        return redacted(super().__str__())


class SpecError(StorebenchError):
    """An invalid request: a bad parameter, an unknown store, a malformed specification."""

    kind = "bad_spec"
    exit_code = 2


class StoreUnreachable(StorebenchError):
    """A store or a source of data that does not answer."""

    kind = "unreachable"
    exit_code = 3


class VerificationFailed(StorebenchError):
    """The store holds, or gave back, other data than the dataset's manifest says."""

    kind = "verification_failed"
    exit_code = 4


class StoreRefused(StorebenchError):
    """The store answered, but refused the work or failed at it."""

    kind = "store_failed"
    exit_code = 5


class BadResult(StorebenchError):
    """A pod's result that breaks the protocol or does not match its study."""

    kind = "bad_result"


class ServersFailed(StorebenchError):
    """The servers that a run was to bring could not be made, or did not become ready."""

    kind = "servers_failed"


class ServerDied(StorebenchError):
    """A server that a run had brought ended, or was started again, while it was needed."""

    kind = "server_died"


KIND_OF_EXIT_CODE = {
    error.exit_code: error.kind
    for error in (StorebenchError, SpecError, StoreUnreachable, VerificationFailed, StoreRefused)
}


def unknown(kind: str, name: str, known: Iterable[str]) -> SpecError:
    """The error to raise for a name that is not among the `known` ones, with those that were perhaps meant.

    Example:
        >>> str(unknown("store", "mongo", ["elasticsearch", "mongodb"]))
        "Unknown store 'mongo'. Did you mean mongodb? There are elasticsearch, mongodb"
    """
    names = list(known)
    near = get_close_matches(name.casefold(), names)
    meant = f" Did you mean {' or '.join(near)}?" if near else ""
    if not names:
        return SpecError(f"Unknown {kind} {name!r}. There is none")
    return SpecError(
        f"Unknown {kind} {name!r}.{meant} There {'is' if len(names) == 1 else 'are'} {', '.join(names)}"
    )
