"""The errors of an attempt, each with the exit code of its pod and the name of its kind in the results."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

from storebench.redact import redacted

MOST_QUOTED = 200  # characters of a user's text in an error: the key of a cell fits


class StorebenchError(Exception):
    """The base of all errors with a message for the user: what happened and what to do. The message has no secret of a connection."""

    kind = "internal"
    exit_code = 1

    def __str__(self) -> str:
        return redacted(super().__str__())


class SpecError(StorebenchError):
    """An invalid request: a bad parameter, an unknown store, a malformed specification."""

    kind = "bad_spec"
    exit_code = 2


class SchemaDiffers(SpecError):
    """The results database has the schema of another version of Storebench."""


class StoreUnreachable(StorebenchError):
    """A store or a source of data does not answer."""

    kind = "unreachable"
    exit_code = 3


class VerificationFailed(StorebenchError):
    """The data in the store, or the data that it returned, differs from the dataset's manifest."""

    kind = "verification_failed"
    exit_code = 4


class StoreRefused(StorebenchError):
    """The store answered, but refused the work or failed at it."""

    kind = "store_failed"
    exit_code = 5


class BadResult(StorebenchError):
    """A pod's result breaks the protocol or does not match its study."""

    kind = "bad_result"


class ServersFailed(StorebenchError):
    """The servers of a run could not be provisioned, or did not become ready."""

    kind = "servers_failed"


class ServerDied(StorebenchError):
    """A server that a run had provisioned ended or was restarted while it was needed."""

    kind = "server_died"


class PartFailed(StorebenchError):
    """Another pod of a divided operation failed, ended, or did not come."""

    kind = "part_failed"
    exit_code = 6


class FaultFailed(StorebenchError):
    """The fault of an attempt could not be caused, or did not end."""

    kind = "fault_failed"
    exit_code = 7


class BrokenPromise(StorebenchError):
    """A store lost or doubled an acknowledged write although it guarantees that it does not."""

    kind = "broken_promise"
    exit_code = 8


KIND_OF_EXIT_CODE = {
    error.exit_code: error.kind
    for error in (
        StorebenchError,
        SpecError,
        StoreUnreachable,
        VerificationFailed,
        StoreRefused,
        PartFailed,
        FaultFailed,
        BrokenPromise,
    )
}


def quoted(value: object) -> str:
    """Return a user's value as an error quotes it: its repr, cut after MOST_QUOTED characters.

    Example:
        >>> quoted("1" * 1600)[-22:]
        '11… (1,600 characters)'
    """
    text = repr(value)
    if len(text) <= MOST_QUOTED:
        return text
    length = len(value) if isinstance(value, str) else len(text)
    return f"{text[:MOST_QUOTED]}… ({length:,} characters)"


def did_you_mean(name: str, known: Iterable[str], *, most: int = 3, cutoff: float = 0.6) -> str:
    """Return " Did you mean …?" with up to `most` known names that resemble `name`; empty without such names.

    `cutoff`: the smallest difflib ratio of a similar name.
    """
    near = get_close_matches(name.casefold(), list(known), most, cutoff)
    return f" Did you mean {' or '.join(near)}?" if near else ""


def unknown(kind: str, name: str, known: Iterable[str]) -> SpecError:
    """Return the error for a name that is not in `known`, with similar known names.

    Example:
        >>> str(unknown("store", "mongo", ["elasticsearch", "mongodb"]))
        "Unknown store 'mongo'. Did you mean mongodb? There are elasticsearch, mongodb"
    """
    names = list(known)
    meant = did_you_mean(name, names)
    if not names:
        return SpecError(f"Unknown {kind} {quoted(name)}. There is none")
    return SpecError(
        f"Unknown {kind} {quoted(name)}.{meant} There {'is' if len(names) == 1 else 'are'} {', '.join(names)}"
    )
