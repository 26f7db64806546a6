"""Cause the fault of an attempt at a planned second, through the agent of a server or through a webhook, and judge what it cost."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, replace
from threading import Event, Thread
from typing import TYPE_CHECKING, TypeVar

from storebench import http_client
from storebench.attempt import copies
from storebench.attempt.spec import AttemptSpec
from storebench.errors import BrokenPromise, FaultFailed, StorebenchError, StoreUnreachable
from storebench.servers.agent import Agent
from storebench.servers.fault import LONGEST_S, Fault
from storebench.servers.watch import Watch

if TYPE_CHECKING:
    from storebench.attempt.run import Attempt

WEBHOOK_S = 600.0  # the limit of a webhook's work, beside the duration of the fault
HEALED_WITHIN_S = 120.0  # seconds after the fault in which the store must answer
PAUSE_S = 0.2  # seconds between two questions to a store that does not answer yet

Answer = TypeVar("Answer")


@dataclass(frozen=True)
class Happened:
    """The times of a fault on this pod's monotonic clock. The true times are later by at most `skew_s`.

    `command_s`: the seconds of a maintenance's command; None for other faults.
    """

    server: str
    began_s: float
    healed_s: float  # the server answers again
    skew_s: float
    command_s: float | None = None

    def since(self, zero_s: float) -> Happened:
        """Return the times as seconds since `zero_s`."""
        return replace(self, began_s=self.began_s - zero_s, healed_s=self.healed_s - zero_s)

    @property
    def said(self) -> str:
        """Return a sentence about the duration of the fault."""
        if self.command_s is not None:
            return f"the command at {self.server} took {self.command_s:.1f} s"
        return f"{self.server} answered again {self.healed_s - self.began_s:.1f} s after the fault began"

    def report(self, attempt: Attempt) -> None:
        """Record the times of the fault, as seconds since the zero of `since`."""
        attempt.metric("fault_from_s", self.began_s)
        attempt.metric("fault_to_s", self.healed_s)
        attempt.metric("fault_skew_s", self.skew_s)
        if self.command_s is not None:
            attempt.metric("command_s", self.command_s)


class Injection:
    """The fault of an attempt. `planned`: None for an attempt without a fault, and then the methods do nothing."""

    def __init__(self, spec: AttemptSpec) -> None:
        self.planned = Fault.of({**spec.options, **spec.axes})
        self._future: Future[Happened] = Future()
        self._caught_up: Future[float | None] = Future()
        self._ended = Event()
        self._thread: Thread | None = None

    @property
    def begun(self) -> bool:
        """Return whether a thread causes, or has caused, the fault."""
        return self._thread is not None

    def at(self, at_s: float) -> None:
        """Let a thread cause the fault at a second of the monotonic clock. Raises SpecError for an unknown server."""
        if self.planned is None:
            return
        cause = _cause_of(self.planned)
        self._thread = Thread(target=self._run, args=(cause, at_s), name="fault", daemon=True)
        self._thread.start()

    def wait(self) -> None:
        """Wait until the fault has ended or failed."""
        if self._thread:
            self._thread.join()

    def cancel(self) -> None:
        """Do not cause the fault if it has not begun: the load has failed."""
        self._ended.set()

    def happened(self) -> Happened:
        """Return the times of the fault after its end. Raises FaultFailed if the fault could not be caused, or did not end."""
        self.wait()
        try:
            return self._future.result(timeout=0)
        except StorebenchError as error:
            assert self.planned is not None
            raise FaultFailed(f"The fault {self.planned.name!r} failed: {error}") from error

    def answer(
        self, ask: Callable[[], Answer], errors: type[StorebenchError] | tuple[type[StorebenchError], ...]
    ) -> Answer:
        """Return the answer of a healed store: wait until the fault has ended, and call `ask` until it raises none of `errors`.

        Raises FaultFailed, StoreUnreachable after HEALED_WITHIN_S, and at once any other error of `ask`.
        """
        self.happened()
        until_s = time.monotonic() + HEALED_WITHIN_S
        while True:
            try:
                return ask()
            except errors as error:
                if time.monotonic() > until_s:
                    raise StoreUnreachable(
                        f"The store did not work again within {HEALED_WITHIN_S:.0f} s after the fault: {error}"
                    ) from error
            time.sleep(PAUSE_S)

    def judge(
        self,
        attempt: Attempt,
        lost: int,
        doubled: int,
        promise: str | None,
        what: str = "writes",
        *,
        may_double: bool = False,
    ) -> str:
        """Record the numbers of lost and doubled entries, and return a sentence about them for the verification.

        `promise`: of `Store.promise`. `what`: the entries. `may_double`: the client has sent failed entries again, and the store does not
        guarantee to store them once.

        Raises BrokenPromise for a loss, or a doubled entry, that the store's guarantee excludes.
        """
        assert self.planned is not None
        attempt.metric("lost_acknowledged", lost)
        attempt.metric("doubled", doubled)
        name = self.planned.name
        if not lost and not doubled:
            return f"the {name} lost nothing and doubled nothing"
        cost = f"{lost:,} acknowledged {what} are lost and {doubled:,} are there twice after the {name}"
        if may_double and not lost:
            return f"{cost}; the store does not guarantee that {what} that are sent again are stored once"
        if promise:
            raise BrokenPromise(f"{cost}, although the store guarantees: {promise}")
        return f"{cost}; the store does not guarantee that a {name} loses nothing"

    def caught_up(self, attempt: Attempt) -> str:
        """Wait until all copies of the data are whole, and record the seconds since the end of the fault. Return a sentence for the
        verification, after a separator; empty if the store does not report on copies, for a webhook, and for a maintenance.

        Call this method after the load, and after `happened`.
        """
        self._ended.set()
        seconds = self._caught_up.result()
        if seconds is None:
            return ""
        if seconds == copies.NEVER_S:
            return f"; not all copies were whole {copies.WITHIN_S:.0f} s after the load"
        attempt.metric("caught_up_s", seconds)
        return f"; all copies were whole {seconds:.1f} s after the end of the fault"

    def _run(self, cause: Callable[[], Happened], at_s: float) -> None:
        if self._ended.wait(max(0.0, at_s - time.monotonic())):
            self._future.set_exception(
                FaultFailed(
                    "the load ended before the fault. Ask for a longer load, or a smaller fault_after_s"
                )
            )
            return
        try:
            happened = cause()
        except BaseException as error:  # noqa: BLE001 - `happened` raises the error
            self._future.set_exception(error)
            return
        Thread(target=self._watch_copies, args=(happened.healed_s,), name="copies", daemon=True).start()
        self._future.set_result(happened)

    def _watch_copies(self, healed_s: float) -> None:
        assert self.planned is not None
        if self.planned.url or self.planned.is_maintenance:
            self._caught_up.set_result(None)
            return
        try:
            ask = Watch.from_environment().copies_whole
            self._caught_up.set_result(copies.caught_up(ask, healed_s, self._ended))
        except BaseException as error:  # noqa: BLE001 - `caught_up` raises the error
            self._caught_up.set_exception(error)


def _cause_of(fault: Fault) -> Callable[[], Happened]:
    if fault.url:
        return lambda: _by_webhook(fault)
    agent = Watch.from_environment().agent_of(fault.server)
    return lambda: _by_agent(agent, fault)


def _by_agent(agent: Agent, fault: Fault) -> Happened:
    print(f"fault: {fault.name} of {agent.pod}", flush=True)
    sent_s = time.monotonic()
    caused = agent.fault(fault.name, LONGEST_S if fault.is_maintenance else fault.for_s)
    answered_s = time.monotonic()
    print(f"fault: {caused}", flush=True)
    return Happened(
        agent.pod,
        sent_s + caused.began_after_s,
        sent_s + caused.ready_after_s,
        max(0.0, answered_s - sent_s - caused.ready_after_s),
        caused.ended_after_s - caused.began_after_s if fault.is_maintenance else None,
    )


def _by_webhook(fault: Fault) -> Happened:
    """Ask the webhook for the fault. The webhook tells no times, so the fault lasts from the request to the answer."""
    print(f"fault: {fault.name} by {fault.url}", flush=True)
    sent_s = time.monotonic()
    try:
        answer = http_client.ask(
            "POST",
            fault.url,
            timeout_s=fault.for_s + WEBHOOK_S,
            headers={"Content-Type": "application/json"},
            body=json.dumps({"fault": fault.name, "server": fault.server, "for_s": fault.for_s}),
            most_bytes=1_000,
        )
    except http_client.NoAnswer as error:
        raise FaultFailed(f"the webhook {fault.url} does not answer: {error}") from error
    answered_s = time.monotonic()
    if not answer.ok:
        said = answer.body[:200].decode(errors="replace")
        raise FaultFailed(f"the webhook {fault.url} refuses ({answer.status} {answer.reason}): {said}")
    skew_s = max(0.0, answered_s - sent_s - fault.for_s)
    command_s = answered_s - sent_s if fault.is_maintenance else None
    return Happened(fault.server or fault.url, sent_s, answered_s, skew_s, command_s)
