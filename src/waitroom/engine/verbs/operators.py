"""What operators do by hand, and what the ticker does by the clock."""

from __future__ import annotations

import itertools
from collections.abc import Iterable

from waitroom.engine import inputs
from waitroom.engine.protocol import calls, replies
from waitroom.engine.steps import Steps, steps_of
from waitroom.engine.verbs.base import Verbs
from waitroom.errors import InvalidInput
from waitroom.models import MEMBERS_PER_SCRIPT, Advanced, Reinstated, check_room_name


class OperatorVerbs(Verbs):
    """People: called, removed and given their place back."""

    async def advance(self, room: str, most: int = MEMBERS_PER_SCRIPT) -> Advanced:
        """Do one bounded step of housekeeping and admission."""
        inputs.check_count("most", most, MEMBERS_PER_SCRIPT)
        return replies.advanced(await self._run(room, calls.advance(most)))

    async def admit(
        self, room: str, count: int, *, force: bool = False, op_id: str | None = None
    ) -> int:
        """Call the first `count` people by hand; return how many there was room for."""
        inputs.check_count("count", count, 1_000_000)
        op_id, total = inputs.op_id_of(op_id), 0
        for step in itertools.count():
            want = min(count - total, MEMBERS_PER_SCRIPT)
            reply = await self._once(room, calls.admit(want, force=force), f"{op_id}.{step}")
            if total and reply.word != "ok":
                break
            done = replies.admitted(reply)
            total += done.called
            if total >= count or (done.called < want and not done.more):
                break
        return total

    async def call(
        self, room: str, ticket_id: str, *, force: bool = False, op_id: str | None = None
    ) -> int | None:
        """Call one ticket by hand; return until when it may enter, None for no limit."""
        call = calls.call(inputs.check_ticket_id(ticket_id), force=force)
        return replies.called(await self._once(room, call, op_id))

    async def kick(
        self, room: str, ticket_ids: Iterable[str], *, ban: bool = False, op_id: str | None = None
    ) -> int:
        """Remove tickets, whether here or not; return how many were waiting, called or inside.

        None of them can come back to a place it had. With `ban` a ticket cannot join again either,
        until it is kicked without a ban.
        """
        if isinstance(ticket_ids, str):  # otherwise each of its letters would be an id
            raise InvalidInput("ticket ids", "must be a list of ids, not one string")
        ids = [inputs.check_ticket_id(ticket_id) for ticket_id in ticket_ids]
        op_id, total = inputs.op_id_of(op_id), 0
        for start in range(0, len(ids), MEMBERS_PER_SCRIPT):
            call = calls.kick(ids[start : start + MEMBERS_PER_SCRIPT], ban=ban)
            total += replies.kicked(await self._once(room, call, f"{op_id}.{start}"))
        return total

    async def reinstate(
        self,
        room: str,
        ticket: str,
        *,
        lift_ban: bool = False,
        force: bool = False,
        op_id: str | None = None,
    ) -> Reinstated:
        """Give a place back to somebody who was here; their ticket string works again.

        `ticket` is an id, or the whole ticket string, which proves a place by itself. A ban holds
        unless it is lifted. A ticket that nothing in the room mentions is refused, or with `force`
        put at the end of the line.
        """
        ticket_id, claim, evidence, epoch = ticket, "", "", 0
        if not inputs.TICKET_ID.fullmatch(ticket):
            presented = await self._tickets.read(room, ticket)
            ticket_id, claim = presented.ticket.id, presented.claim
        op_id = inputs.op_id_of(op_id)
        while True:
            call = calls.reinstate(
                ticket_id, claim, evidence, epoch, lift_ban=lift_ban, force=force
            )
            reply = await self._once(room, call, op_id)
            if reply.word != "unread":
                return replies.reinstated(reply)
            epoch = reply.epoch  # events of an earlier one prove nothing
            evidence = (await self.steps(room, ticket_id)).evidence

    async def steps(self, room: str, ticket_id: str) -> Steps:
        """Return what the room's events say about one ticket, as far back as they are kept."""
        return await steps_of(self._runner, check_room_name(room), ticket_id)
