"""The people of one process: they join, poll when they are told to, enter, stay and finish.

People are not tasks. People with nothing to do are entries in a heap, and at most one request per
connection is under way, so memory and sockets are bounded.
"""

from __future__ import annotations

import asyncio
import contextlib
import heapq
import json
import random
import time
from collections import Counter
from math import isnan
from typing import Any

from waitroom import work
from waitroom.errors import (
    ChallengeRequired,
    InvalidInput,
    RoomClosed,
    RoomEnded,
    RoomFull,
    RoomNotOpen,
)
from waitroom.load.http import Failed, Reply, Wire
from waitroom.load.latency import Latency
from waitroom.load.person import Person, Stage, Step, moment
from waitroom.load.plan import Plan
from waitroom.load.visits import NEVER, End, History

_REFUSED = {RoomFull.code, RoomClosed.code, RoomEnded.code, RoomNotOpen.code}
_CHALLENGED = f'"{ChallengeRequired.code}"'.encode()
_PAUSE_S, _LONGEST_PAUSE_S = 0.5, 10.0
_CLOSING_S = 5.0
_STATES = {"waiting": Stage.WAITING, "called": Stage.CALLED, "inside": Stage.INSIDE}
Due = tuple[float, int, Person]


class Crowd:
    """A crowd, and everything that it noted."""

    def __init__(self, plan: Plan, offset_s: float = 0.0) -> None:
        self.plan = plan
        self.history = History()
        self.latency = {step: Latency() for step in Step}
        self.lateness = Latency()
        self.errors: Counter[tuple[str, int, str]] = Counter()
        self.stages = Counter({Stage.COMING: plan.people})
        self.most_busy = 0
        self._offset_s = offset_s
        self._chance = random.Random(plan.seed)  # noqa: S311
        self._tickets = f"/v1/rooms/{plan.room}/tickets"
        self._due: list[Due] = []
        self._order = 0
        self._free = [Wire(plan.target) for _ in range(plan.connections)]
        self._busy: dict[asyncio.Task[None], Person] = {}
        self._broken: BaseException | None = None
        self._wake = asyncio.Event()
        self._stop = asyncio.Event()

    def stop(self) -> None:
        """End early; `run` returns soon."""
        self._stop.set()
        self._wake.set()

    async def run(self) -> None:
        """Play all visits to their end."""
        plan = self.plan
        for _ in range(plan.people):
            comes_at = plan.starts + self._chance.uniform(0, plan.arrive_s)
            self._later(Person.make(plan, self._chance), comes_at)
        ends = plan.starts + plan.longest_s
        while (self._due or self._busy) and not self._stop.is_set() and time.monotonic() < ends:
            self._begin_due()
            self._wake.clear()
            await self._rest(ends)
        await self._close()
        if self._broken is not None:
            raise self._broken

    # When ---------------------------------------------------------------------------------------

    def _later(self, person: Person, at: float) -> None:
        self._order += 1
        heapq.heappush(self._due, (at, self._order, person))

    def _begin_due(self) -> None:
        now = time.monotonic()
        while self._due and self._free and self._due[0][0] <= now:
            due, _, person = heapq.heappop(self._due)
            self.lateness.add(now - due)
            # Take the connection used last: the server may have closed the others as idle.
            task = asyncio.create_task(self._act(person, self._free.pop()))
            self._busy[task] = person
            task.add_done_callback(self._done)
        self.most_busy = max(self.most_busy, len(self._busy))

    def _done(self, task: asyncio.Task[None]) -> None:
        self._busy.pop(task, None)
        self._wake.set()
        if not task.cancelled() and (error := task.exception()) is not None:
            self._broken = error
            self._stop.set()

    async def _rest(self, ends: float) -> None:
        until = min(ends, self._due[0][0]) if self._due and self._free else ends
        loop = asyncio.get_running_loop()
        alarm = loop.call_later(max(0.0, until - time.monotonic()), self._wake.set)
        try:
            await self._wake.wait()
        finally:
            alarm.cancel()

    # What ---------------------------------------------------------------------------------------

    async def _act(self, person: Person, wire: Wire) -> None:
        try:
            reply = await self._ask(person, wire)
        except Failed as error:
            self.errors[person.step, 0, str(error)] += 1
            self._again(person, 0.0)
        else:
            self.latency[person.step].add(reply.came - reply.sent)
            if person.step is Step.JOIN and _CHALLENGED in reply.body:
                await self._solve(person, reply)
            else:
                self._heard(person, reply)
        finally:
            self._free.append(wire)

    async def _ask(self, person: Person, wire: Wire) -> Reply:
        if isnan(person.first_sent):
            person.first_sent = time.monotonic()
        if person.step is Step.JOIN:
            body = json.dumps({"solution": person.solution} if person.solution else {}).encode()
            return await wire.ask("POST", self._tickets, {"idempotency-key": person.key}, body)
        headers = {"authorization": f"Bearer {person.ticket}"}
        if person.step is Step.POLL:
            return await wire.ask("GET", f"{self._tickets}/me", headers)
        if person.step is Step.LEAVE:
            return await wire.ask("DELETE", f"{self._tickets}/me", headers)
        return await wire.ask("POST", f"{self._tickets}/me/{person.step}", headers)

    async def _solve(self, person: Person, reply: Reply) -> None:
        """Solve the proof of work that the room asks for, as a browser would, and join again."""
        try:
            person.solution = await asyncio.to_thread(work.solve, reply.json()["challenge"])
        except (KeyError, TypeError, InvalidInput):  # a widget, which no program solves
            self._heard(person, reply)
        else:
            person.first_sent = NEVER
            self._later(person, time.monotonic())

    def _heard(self, person: Person, reply: Reply) -> None:
        if reply.status < 300:
            self._went_well(person, reply)
            return
        problem = reply.json()
        code, reason = str(problem.get("code", "")), problem.get("reason")
        ends = person.step in (Step.FINISH, Step.LEAVE)
        if ends and reply.status == 410:
            self._was_over(person, reply, str(reason))
            return
        error = f"{code or 'no_problem_document'}{f' ({reason})' if reason else ''}"
        self.errors[person.step, reply.status, error] += 1
        if code in _REFUSED and person.step is Step.JOIN:
            self._end(person, End.REFUSED)
        elif reply.status >= 500 or reply.status in (408, 429):
            if reply.status < 500:  # refused for now: nothing was done, nothing is broken
                person.first_sent = person.failing_since = NEVER
            self._again(person, reply.retry_after_s)
        elif reply.status == 409 and person.step is Step.ENTER:
            self._not_yet(person, problem)
        elif person.step is Step.JOIN:
            self._end(person, End.REFUSED)
        else:
            self._gone(person, reply)

    def _went_well(self, person: Person, reply: Reply) -> None:
        first, person.first_sent = person.first_sent, NEVER
        person.failing_since = NEVER
        if person.step is Step.FINISH:
            person.held_until = min(person.held_until, first)
            self._end(person, End.SERVED)
        elif person.step is Step.LEAVE:
            person.held_until = min(person.held_until, first)
            self._end(person, End.LEFT)
        else:
            self._saw(person, first, reply)

    def _saw(self, person: Person, first: float, reply: Reply) -> None:
        """Process a view of the ticket."""
        view = reply.json()
        stage = _STATES.get(str(view.get("state")))
        if stage is None or not isinstance(view.get("ticket"), str):
            self.errors[person.step, reply.status, "no_view"] += 1
            self._again(person, 0.0)
            return
        person.ticket, person.last_sent = view["ticket"], reply.sent
        person.poll_after_s = max(0, int(view.get("poll_after_ms") or 0)) / 1000
        if person.step is Step.JOIN:
            person.join_sent, person.joined = first, reply.came
        self._move(person, stage)
        if stage is Stage.WAITING:
            self._waits(person, reply, view)
        elif stage is Stage.CALLED:
            self._is_called(person, reply, view)
        else:
            self._is_inside(person, first, reply, view)

    def _waits(self, person: Person, reply: Reply, view: dict[str, Any]) -> None:
        person.last_waiting = reply.sent
        person.saw_position(view.get("position"))
        person.step = Step.POLL
        at = reply.came + person.poll_after_s
        if person.joined + person.patience_s <= at:
            person.step, at = Step.LEAVE, max(reply.came, person.joined + person.patience_s)
        self._later(person, at)

    def _is_called(self, person: Person, reply: Reply, view: dict[str, Any]) -> None:
        if not person.has_called:
            person.called = reply.came
        person.deadline = moment(view.get("enter_by"), self._offset_s)
        if not person.comes:
            self._end(person, End.NO_SHOW)
            return
        person.step = Step.ENTER
        self._later(person, reply.came)

    def _is_inside(self, person: Person, first: float, reply: Reply, view: dict[str, Any]) -> None:
        if not person.has_called:
            person.called = reply.came
        person.enter_sent, person.entered = first, reply.came
        person.deadline = moment(view.get("session_ends_at"), self._offset_s)
        person.step = Step.FINISH
        self._later(person, reply.came + person.stay_s)

    def _not_yet(self, person: Person, problem: dict[str, Any]) -> None:
        """Wait again: it was not their turn yet, or the rolling limit delays them."""
        person.first_sent = NEVER
        at = moment(problem.get("retry_at"), self._offset_s)
        now = time.monotonic()
        if problem.get("code") != "enter_later":
            person.step = Step.POLL
        self._later(person, at if now < at < now + 60 else now + max(person.poll_after_s, 1.0))

    def _again(self, person: Person, retry_after_s: float) -> None:
        """Try again after an error, unless there were only errors for too long."""
        now = time.monotonic()
        if isnan(person.failing_since):
            person.failing_since, person.pause_s = now, _PAUSE_S
        if now - person.failing_since > self.plan.patience_s:
            self._end(person, End.UNREACHED)
            return
        pause_s = person.pause_s * self._chance.uniform(0.5, 1.5)
        self._later(person, now + max(retry_after_s, pause_s))
        person.pause_s = min(_LONGEST_PAUSE_S, 2 * person.pause_s)

    def _was_over(self, person: Person, reply: Reply, reason: str) -> None:
        """End a visit that the server had already ended."""
        repeated = person.first_sent < reply.sent
        if repeated:  # the first try succeeded, and only its reply was lost
            person.held_until = min(person.held_until, person.first_sent)
        elif reason != "expired":
            self.errors[person.step, reply.status, f"gone ({reason})"] += 1
            certain = person.called if isnan(person.entered) else person.entered
            person.held_until = certain
        if person.step is Step.FINISH:
            self._end(person, End.SERVED if repeated or reason == "expired" else End.LOST)
        else:
            self._end(person, End.LEFT)

    def _gone(self, person: Person, reply: Reply) -> None:
        """Note a lost ticket: our fault only if it was silent for longer than the server allows."""
        silent_s = reply.sent - person.last_sent
        allowed_s = 0.0 if person.step is Step.ENTER else person.poll_after_s
        person.held_until = person.called
        late = silent_s > 2 * allowed_s + 1
        self._end(person, End.LATE if late else End.LOST)

    # The end ------------------------------------------------------------------------------------

    def _move(self, person: Person, stage: Stage) -> None:
        self.stages[person.stage] -= 1
        self.stages[stage] += 1
        person.stage = stage

    def _end(self, person: Person, end: End) -> None:
        self._move(person, Stage.DONE)
        self.history.add(person.visit(end, time.monotonic()))

    async def _close(self) -> None:
        """Stop: note where everybody is, and let people who have a place give it up."""
        left = [person for _, _, person in self._due]
        under_way = dict(self._busy)
        if under_way:
            await asyncio.wait(under_way, timeout=2)
        known = {id(person) for person in left}
        left += [person for _, _, person in self._due if id(person) not in known]
        late = dict(self._busy)
        left += late.values()
        for task in late:
            task.cancel()
        await asyncio.gather(*late, return_exceptions=True)
        now = time.monotonic()
        for person in left:
            self.history.add(person.visit(person.still(now), now))
        self._due.clear()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_CLOSING_S):
                await self._see_off([person.ticket for person in left if person.ticket])
        await asyncio.gather(*(wire.aclose() for wire in self._free))

    async def _see_off(self, tickets: list[str]) -> None:
        """Leave, so that the room is as before; tickets not reached in time will expire."""

        async def leave(wire: Wire) -> None:
            while tickets:
                headers = {"authorization": f"Bearer {tickets.pop()}"}
                with contextlib.suppress(Failed):
                    await wire.ask("DELETE", f"{self._tickets}/me", headers)

        if tickets:
            await asyncio.gather(*(leave(wire) for wire in self._free))
