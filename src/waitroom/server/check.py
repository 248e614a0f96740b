"""`/v1/check`: is this pass good now? Cheap, for it is asked before every request of a site.

A signature is checked once and remembered; whether the session still is inside is asked of the
store each time, many at once. While the store is away the signature and the end must do.
"""

from __future__ import annotations

import time

from waitroom.errors import InvalidPass, StoreError, UnknownRoom
from waitroom.passes import Pass
from waitroom.server import problems
from waitroom.server.answers import Answer
from waitroom.server.calls import PASS_COOKIE, Call
from waitroom.server.state import Server

_MOST_READ = 50_000
_GOOD = [(b"cache-control", b"no-store")]
GOOD = Answer(204, _GOOD, b"")


async def check(server: Server, call: Call) -> Answer:
    """Answer 204 for a good pass, else 401; `call.room` is the room asked for, '' for any."""
    try:
        found = read(server, call)
        try:
            if found.sid and not server.pulse.away:
                inside = await server.engine.check(found.room, found.ticket_id, found.sid)
                if not inside:
                    raise InvalidPass("the session is over; join again")
            elif not found.sid and not server.pulse.away:
                raise InvalidPass("it was given while the store was away, and has served; join")
        except UnknownRoom:
            raise InvalidPass("its room is no more") from None
        except StoreError:
            server.pulse.suspect()  # signature and end are good: that is all that can be known
    except InvalidPass as error:
        return problems.answer(error)
    return GOOD


def read(server: Server, call: Call) -> Pass:
    """Return the pass that the caller shows, with its signature and end checked."""
    text = call.bearer or call.cookie(PASS_COOKIE + call.room) or ""
    found = server.read_passes.get(text)
    now_s = time.time()
    if found is None or found.expires_s <= now_s:
        found = server.passes.verify(text, now_s=now_s)
        if len(server.read_passes) >= _MOST_READ:
            server.read_passes.clear()
        server.read_passes[text] = found
    if call.room and found.room != call.room:
        raise InvalidPass("is for another room")
    return found
