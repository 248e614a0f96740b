"""A burst of joins, nine in ten of which are gone: places go to people who are still there."""

from __future__ import annotations

import random

from tests.acceptance.tools import members
from tests.support.clock import Clock, open_engine
from tests.support.counts import count
from tests.support.figures import say
from tests.support.servers import Server
from waitroom.engine import Join
from waitroom.models import Policy, TicketView

PRESENCE_S = 60
POLL_EVERY_S = 30


async def test_places_go_to_people_who_are_there(server: Server, room: str, clock: Clock) -> None:
    """After the first presence period >= 95 % of calls reach somebody, one advance per second."""
    ghosts = count("ghosts")
    policy = Policy(batch=10, every_s=1, session_s=30, enter_within_s=20, presence_s=PRESENCE_S)
    draw = random.Random(9)
    async with open_engine(server.url, clock) as engine:
        client = engine.backend.client
        await engine.create(room, policy.change(mode="paused"))
        people: list[str] = []
        for start in range(0, ghosts, 500):
            joins = [Join()] * min(500, ghosts - start)
            for view in await engine.join_many(room, joins):
                assert isinstance(view, TicketView)
                people.append(view.ticket)
        ids = [engine.ring.read(room, ticket).id for ticket in people]
        here = {
            ticket_id: ticket
            for ticket_id, ticket in zip(ids, people, strict=True)
            if draw.random() < 0.1
        }
        waiting, turn = list(here), 0
        at = {ticket_id: number % POLL_EVERY_S for number, ticket_id in enumerate(here)}
        await engine.configure(room, mode="open")
        reached, missed, early = 0, 0, 0
        for second in range(PRESENCE_S + ghosts // 100 + 30):
            clock.step(1)
            # People who are still there poll every half minute, and enter when called.
            some = [ticket_id for ticket_id in waiting if at[ticket_id] == second % POLL_EVERY_S]
            for start in range(0, len(some), 500):
                await engine.poll_many(
                    room, [here[ticket_id] for ticket_id in some[start : start + 500]]
                )
            done = await engine.advance(room)  # one, bounded
            assert done.called + done.abandoned + done.no_shows + done.expired <= 500
            for ticket_id in await members(client, room, "called"):
                if ticket_id not in here:
                    continue
                await engine.enter(room, here[ticket_id])
                waiting.remove(ticket_id)
                if second > PRESENCE_S + 1:
                    reached += 1
                else:
                    early += 1
            if second > PRESENCE_S + 1:
                missed += done.called
            turn = second
            if not waiting:
                break
        assert not waiting, "somebody who was there never got in"
        share = reached / missed
        say(
            f"{ghosts} joined, {len(here)} stayed; after {PRESENCE_S} s {missed} calls, "
            f"{share:.0%} to people who are there, all inside after {turn} s ({early} before)"
        )
        assert missed > 0
        assert share >= 0.95
