"""Runs a load test: starts its processes, samples the server meanwhile, and judges."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import json
import signal
import sys
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from waitroom.errors import WaitroomError
from waitroom.load.bottleneck import Watch, bottleneck
from waitroom.load.checks import Check, Verdict, all_checks
from waitroom.load.outcome import Noted, Outcome
from waitroom.load.plan import Limits, Plan
from waitroom.load.room import Front, Rules

Progress = Callable[[Counter[str], int], None]
_LINE = 1 << 23
_LOOK_S = 3.0
_START_S = 1.0
_END_S = 30.0


@dataclass(slots=True)
class Child:
    """A process of the load test, and its reported progress."""

    process: asyncio.subprocess.Process
    stages: Counter[str] = field(default_factory=Counter)
    errors: int = 0
    cpu_s: float = 0.0
    done: bool = False

    def stop(self) -> None:
        """Ask it to end."""
        if self.process.stdin is not None:
            self.process.stdin.close()


async def run(
    plan: Plan,
    *,
    key: str | None = None,
    limits: Limits | None = None,
    progress: Progress | None = None,
) -> Outcome:
    """Run a load test; Ctrl-C ends it early. The given limits override the room's own."""
    front = Front(plan.target, key)
    try:
        offset_s = await front.clock(plan.room)
        rules = await front.rules(plan.room)
        watch = Watch(plan.target.port, plan.target.local)
        watch.begin()
        began, noted = time.monotonic(), Noted()
        plan = dataclasses.replace(plan, starts=began + _START_S)
        interrupted = await _play(plan, offset_s, noted, watch, front, progress)
        lasted_s = time.monotonic() - plan.starts
        changed = await _changed(front, plan.room, rules)
    finally:
        await front.aclose()
    chosen = _chosen(limits, rules.limits)
    late = noted.latency["lateness"].at(0.99) or 0.0
    usage = watch.usage()
    return Outcome(
        plan=plan,
        limits=chosen,
        noted=noted,
        checks=_judged(noted, chosen, changed),
        usage=usage,
        bottleneck=bottleneck(usage, late, noted.most_busy >= plan.connections),
        lasted_s=lasted_s,
        interrupted=interrupted,
    )


def _chosen(given: Limits | None, own: Limits) -> Limits:
    """Return the room's limits, overridden by the given ones."""
    if given is None:
        return own
    named = {
        name: value
        for name in ("capacity", "max_entries", "per_s")
        if (value := getattr(given, name)) is not None
    }
    return dataclasses.replace(own, **named)


async def _changed(front: Front, room: str, before: Rules) -> bool:
    """Return whether somebody changed the policy meanwhile."""
    if before.version is None:
        return False
    try:
        return (await front.rules(room)).version != before.version
    except WaitroomError:  # the server may be gone, but there is still a test to report
        return False


def _judged(noted: Noted, limits: Limits, changed: bool) -> tuple[Check, ...]:
    checks = all_checks(noted.history, limits)
    if not changed:
        return checks
    reason = "the room's policy was changed during the test"
    kept = {"positions", "nobody lost"}
    return tuple(
        check if check.name in kept else Check(check.name, Verdict.UNKNOWN, reason)
        for check in checks
    )


async def _play(
    plan: Plan, offset_s: float, noted: Noted, watch: Watch, front: Front, progress: Progress | None
) -> bool:
    """Let the crowd come; return whether it was stopped early."""
    async with _children(plan, offset_s) as children:
        with _stopped_by_signal(children) as stopped:
            listening = [asyncio.create_task(_listen(child, noted)) for child in children]
            looking = asyncio.create_task(_look(children, watch, front, progress))
            try:
                async with asyncio.timeout(_START_S + plan.longest_s + _END_S):
                    await asyncio.gather(*listening)
            except TimeoutError:
                raise WaitroomError("the load test did not come to its end in time") from None
            finally:
                for task in (looking, *listening):
                    task.cancel()
                await asyncio.wait([looking, *listening])
            watch.look(await front.metrics(), [child.cpu_s for child in children])
            return bool(stopped)


@contextlib.asynccontextmanager
async def _children(plan: Plan, offset_s: float) -> AsyncIterator[list[Child]]:
    """Start the processes; none outlives us, because each ends when its stdin is closed."""
    children: list[Child] = []
    try:
        for index in range(plan.processes):
            process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", "waitroom.load.worker"),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                limit=_LINE,
                start_new_session=True,  # we get the Ctrl-C, and stop them in order
            )
            children.append(Child(process))
            asked = json.dumps({"plan": plan.share(index), "offset_s": offset_s})
            if process.stdin is not None:
                process.stdin.write(asked.encode() + b"\n")
        yield children
    finally:
        for child in children:
            if child.process.returncode is None and not child.done:
                with contextlib.suppress(ProcessLookupError):
                    child.process.kill()
            child.stop()
            await child.process.communicate()


@contextlib.contextmanager
def _stopped_by_signal(children: list[Child]) -> Iterator[list[int]]:
    """Let the first signal end the test in order; a second one ends it at once."""
    loop, seen = asyncio.get_running_loop(), list[int]()

    def stop(number: int) -> None:
        seen.append(number)
        for child in children:
            child.stop()
            if len(seen) > 1 and child.process.returncode is None:
                child.process.kill()

    handled = []
    for number in (signal.SIGINT, signal.SIGTERM):
        with contextlib.suppress(ValueError, RuntimeError, NotImplementedError):
            loop.add_signal_handler(number, stop, number)  # only in the main thread
            handled.append(number)
    try:
        yield seen
    finally:
        for number in handled:
            loop.remove_signal_handler(number)


async def _listen(child: Child, noted: Noted) -> None:
    """Read a process's messages until it ends."""
    stdout, stderr = child.process.stdout, child.process.stderr
    if stdout is None or stderr is None:
        return
    async for line in stdout:
        _take(child, json.loads(line), noted)
        if child.done:
            return
    last_line = (await stderr.read()).decode(errors="replace").strip().rpartition("\n")[2]
    raise WaitroomError(f"a process of the load test ended early: {last_line or 'it was killed'}")


def _take(child: Child, message: dict[str, Any], noted: Noted) -> None:
    kind = message.pop("kind")
    if kind == "progress":
        child.stages, child.errors = Counter(message["stages"]), message["errors"]
        child.cpu_s = message["cpu_s"]
    elif kind == "visits":
        noted.history.take(message)
    else:
        noted.take(message)
        child.done = True


async def _look(
    children: list[Child], watch: Watch, front: Front, progress: Progress | None
) -> None:
    """Sample the server every few seconds; report progress more often."""
    look_at = 0.0
    while True:
        now = time.monotonic()
        if now >= look_at and all(child.cpu_s for child in children):
            watch.look(await front.metrics(), [child.cpu_s for child in children])
            look_at = now + _LOOK_S
        if progress is not None:
            stages = sum((child.stages for child in children), Counter[str]())
            progress(stages, sum(child.errors for child in children))
        await asyncio.sleep(0.25)
