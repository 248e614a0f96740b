"""Runs a gate's judgement to its end: on this thread, or on the event loop.

A visitor's patience starts when a call starts. While it is queued, they wait as long as the queue
keeps it.
"""

from __future__ import annotations

import contextlib

from waitroom.gates.answers import Answer
from waitroom.gates.facts import Facts
from waitroom.gates.gate import Gate, Visit
from waitroom.gates.remote import Remote
from waitroom.gates.transport import Outcome
from waitroom.gates.workers import Call


def settled(gate: Gate, facts: Facts) -> Visit | Answer:
    """Judge on this thread."""
    steps = gate.judge(facts)
    try:
        call = next(steps)
        while True:
            call = steps.send(_waited(gate.remote, call))
    except StopIteration as done:
        outcome: Visit | Answer = done.value
        return outcome


async def settled_async(gate: Gate, facts: Facts) -> Visit | Answer:
    """Judge on the event loop."""
    steps = gate.judge(facts)
    try:
        call = next(steps)
        while True:
            call = steps.send(await _waited_async(gate.remote, call))
    except StopIteration as done:
        outcome: Visit | Answer = done.value
        return outcome


def _waited(remote: Remote, call: Call) -> Outcome:
    from concurrent.futures import wait

    while not call.future.done() and (left_s := call.left_s()) > 0:
        wait([call.future], left_s)
    return _outcome(remote, call)


async def _waited_async(remote: Remote, call: Call) -> Outcome:
    if not call.future.done():
        import asyncio  # not needed by a WSGI gate

        loop = asyncio.get_running_loop()
        ended = asyncio.Event()

        def tell(_: object) -> None:
            with contextlib.suppress(RuntimeError):  # the loop has ended meanwhile
                loop.call_soon_threadsafe(ended.set)

        call.future.add_done_callback(tell)
        while not call.future.done() and (left_s := call.left_s()) > 0:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(left_s):
                    await ended.wait()
    return _outcome(remote, call)


def _outcome(remote: Remote, call: Call) -> Outcome:
    """Return how a call ended, or why its visitor waits no longer."""
    future = call.future
    if not future.done() or future.cancelled() or future.exception() is not None:
        return remote.gave_up(call)
    return future.result()
