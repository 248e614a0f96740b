"""After a loss of state, gates announce the sessions they see, so that no place is given twice.

Anybody who reaches the server may announce, so it must stay cheap: few passes per request, few
signatures per turn of the event loop, one read per room, and writes only while a room holds.
"""

from __future__ import annotations

import asyncio
import contextlib
import math
from collections.abc import Iterable

from waitroom.errors import InvalidPass, TooMany, Unavailable, WaitroomError
from waitroom.models import TicketView
from waitroom.passes import Pass
from waitroom.server.context import Server
from waitroom.server.rooms.passes import Passes

SIGNATURES_PER_TURN = 4
"""One takes about 0.3 ms (ES256), so others wait for little more than a millisecond."""


def take_turn(server: Server, address: str) -> None:
    """Refuse an address that announces too often."""
    wait_s = server.announces.take(server.proxies.network(address))
    if wait_s:
        server.counters.limited("announces")
        raise TooMany("too many announcements from this address", math.ceil(wait_s))


async def announce(server: Server, texts: Iterable[str]) -> int:
    """Vouch for sessions whose record was lost; return how many of all given are inside now."""
    rooms: dict[str, list[Pass]] = {}
    for session in await sessions_of(server.passes, texts):
        rooms.setdefault(session.room, []).append(session)
    return sum(await asyncio.gather(*(_inside(server, *room) for room in rooms.items())))


async def renew(server: Server, session: Pass) -> TicketView:
    """Extend a session, or take it in again: the room decides, as it knows whether it holds."""
    server.backend_health.check(session.room)
    return await server.engine.renew_session(
        session.room, session.ticket_id, session.sid, vouched_until_ms=session.expires_s * 1000
    )


async def sessions_of(passes: Passes, texts: Iterable[str]) -> list[Pass]:
    """Return each session once, by its longest pass; passes that prove no session are left out."""
    longest: dict[tuple[str, str, int], Pass] = {}
    for number, text in enumerate(dict.fromkeys(texts)):
        if number % SIGNATURES_PER_TURN == 0:
            await asyncio.sleep(0)
        with contextlib.suppress(InvalidPass):
            session = passes.read(text)
            key = session.room, session.ticket_id, session.sid
            if session.sid and (key not in longest or longest[key].expires_s < session.expires_s):
                longest[key] = session
    return [*longest.values()]


async def _inside(server: Server, room: str, sessions: list[Pass]) -> int:
    """Return how many sessions of a room are inside, after vouching for those that were lost."""
    try:
        known = [(session.ticket_id, session.sid) for session in sessions]
        inside = await server.engine.check_many(room, known)
        absent = [session for session, is_in in zip(sessions, inside, strict=True) if not is_in]
        if not absent or not await _holds(server, room):
            return sum(inside)
    except Unavailable:
        raise  # the gate tries again
    except WaitroomError:  # the room is gone, or broken
        return 0
    return sum(inside) + sum(await asyncio.gather(*(_taken_in(server, lost) for lost in absent)))


async def _holds(server: Server, room: str) -> bool:
    """Return whether a room holds after a loss; a board of a second ago may not know it yet."""
    return (await server.boards.renew(room)).stats.hold_until_ms is not None


async def _taken_in(server: Server, session: Pass) -> bool:
    try:
        await renew(server, session)
    except Unavailable:
        raise
    except WaitroomError:  # finished, or over since
        return False
    return True
