"""Calls to Waitroom: each runs on a thread of a small pool, within a deadline, and never raises.

Async and sync frameworks share it: `ask` returns a `Call`, whose future either can wait for. The
queues before the threads are bounded, and a deadline starts when the call is made, so that a
crowd at this gate looks like neither a slow Waitroom nor an absent one. Calls for newcomers have
threads of their own: they cannot crowd out those for people with a pass. While Waitroom is down
no call is made; `Health` finds out when it is back.
"""

from __future__ import annotations

import json
import logging
import os
import time
from collections.abc import Callable, Mapping

from waitroom.gates.health import FEWEST_PROBES, Health
from waitroom.gates.transport import NoAnswer, Outcome, Reply, Request, Transport
from waitroom.gates.workers import LONGEST_QUEUED_S, Call, Workers

log = logging.getLogger("waitroom.gates")
_GRACE_S = 0.05  # a call ends by its own deadline; this is for one that hangs even so
_LONGEST_PROBE_S = 1.0
_WORDS_OF_A_PROXY = {502: NoAnswer.DOWN, 504: NoAnswer.SLOW}
"""Statuses of a proxy before Waitroom: it found nobody, or waited in vain. A 503 is Waitroom's."""

_PROBE = Request("GET", "/healthz", {"connection": "close"}, once=True)


class Remote:
    """Waitroom, as a gate reaches it."""

    def __init__(self, base: str, deadline_s: float, away_after_s: float) -> None:
        self._base = base
        self._away_after_s = away_after_s
        self.deadline_s = deadline_s
        self.background_s = max(2 * deadline_s, min(_LONGEST_PROBE_S, away_after_s / FEWEST_PROBES))
        """The deadline of probes, and of calls that nobody has to wait for."""
        self.calls = 0
        self._open()

    def _open(self) -> None:
        self._pid = os.getpid()
        self._transport = Transport(self._base)
        self._newcomers = Workers("waitroom-gate-newcomers")
        self._others = Workers("waitroom-gate")
        self.health = Health(self._probe, self._away_after_s)

    def ask(
        self,
        method: str,
        path: str,
        *,
        headers: Mapping[str, str] | None = None,
        body: object = None,
        newcomer: bool = False,
        deadline_s: float | None = None,
        once: bool = False,
        then: Callable[[Outcome], None] = lambda _: None,
    ) -> Call:
        """Send a request. `then` gets the outcome first, on the thread that received it.

        A call for a newcomer ends by `deadline_s`. Others go on in the background: a visitor
        waits for them no longer than that, but their answer still counts.
        """
        if self._pid != os.getpid():  # a server may fork after we were made
            self._transport.close()
            self._open()
        call = Call(self.deadline_s + _GRACE_S)
        request = Request(method, path, *_content(headers, body), once=once)
        limit_s = deadline_s or (self.deadline_s if newcomer else self.background_s)

        def run() -> Outcome:
            call.started_at = time.monotonic()
            outcome = self._outcome(call.started_at - call.asked_at, request, limit_s)
            _tell(then, outcome, request)
            return outcome

        if self.health.is_down():
            return _ended(call, NoAnswer.DOWN, then, request)
        future = (self._newcomers if newcomer else self._others).submit(run)
        if future is None:
            return _ended(call, NoAnswer.SHED, then, request)
        self.calls += 1
        call.future = future
        return call

    def gave_up(self, call: Call) -> NoAnswer:
        """Note that a visitor waits no longer for a call; return why it has no answer."""
        if call.started_at is None or call.future.cancelled():  # queued, or the gate was closed
            return NoAnswer.SHED
        self.health.failed(NoAnswer.SLOW)
        return NoAnswer.DOWN if self.health.is_down() else NoAnswer.SLOW

    def close(self) -> None:
        """Close the connections and end the threads; a later call opens them again."""
        self.health.close()
        self._newcomers.close()
        self._others.close()
        self._transport.close()
        self._open()

    def _outcome(self, queued_s: float, request: Request, limit_s: float) -> Outcome:
        if queued_s > LONGEST_QUEUED_S:
            return NoAnswer.SHED
        if self.health.is_down():  # since it was queued
            return NoAnswer.DOWN
        outcome = self._sent(request, limit_s)
        if isinstance(outcome, Reply):
            self.health.heard()
            return outcome
        self.health.failed(outcome)
        down = outcome is NoAnswer.SLOW and self.health.is_down()
        return NoAnswer.DOWN if down else outcome

    def _sent(self, request: Request, limit_s: float) -> Outcome:
        outcome = self._transport.send(request, limit_s)
        if isinstance(outcome, Reply):
            return _WORDS_OF_A_PROXY.get(outcome.status, outcome)
        return outcome

    def _probe(self) -> NoAnswer | None:
        outcome = self._sent(_PROBE, self.background_s)
        return None if isinstance(outcome, Reply) else outcome


def _content(
    headers: Mapping[str, str] | None, body: object
) -> tuple[Mapping[str, str], bytes | None]:
    """Return the headers and the body to send."""
    sent = {"connection": "keep-alive", "cache-control": "no-cache", **(headers or {})}
    if body is None:
        return sent, None
    return {**sent, "content-type": "application/json"}, json.dumps(body).encode()


def _tell(then: Callable[[Outcome], None], outcome: Outcome, request: Request) -> None:
    try:
        then(outcome)
    except Exception:
        log.exception(
            "an answer of Waitroom could not be used: %s %s", request.method, request.path
        )


def _ended(call: Call, why: NoAnswer, then: Callable[[Outcome], None], request: Request) -> Call:
    """End a call that is not made."""
    from concurrent.futures import Future

    _tell(then, why, request)
    call.future = Future()
    call.future.set_result(why)
    return call
