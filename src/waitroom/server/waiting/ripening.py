"""A page that ripens: how a browser without a script gets a place in a room with a challenge.

Its mark is signed, and gives a place after some seconds. The browser keeps it in a cookie.
"""

from __future__ import annotations

from typing import NamedTuple

import msgspec
from fastapi import Response

from waitroom import crockford
from waitroom.errors import TooMany
from waitroom.server.context import Server
from waitroom.server.http import problems
from waitroom.server.http.answers import Answer
from waitroom.server.http.request import VisitorRequest, cookie
from waitroom.server.tickets import actions
from waitroom.server.tickets.bodies import JoinBody
from waitroom.server.tickets.entry.challenges import begin_ripening
from waitroom.server.tickets.entry.newcomer import by_name
from waitroom.server.waiting import forms
from waitroom.server.waiting.redirects import page_address, see_other

RIPE_COOKIE = "waitroom-ripe-"
RIPE_LIFE_S = 600


class Ripe(NamedTuple):
    """The mark of a page that ripens, which its browser keeps: with the entry code, if it is for
    several people, and the key of this browser."""

    mark: str
    code: str = ""
    key: str = ""

    @classmethod
    def kept(cls, request: VisitorRequest) -> Ripe | None:
        """Read it again."""
        parts = (request.cookie(RIPE_COOKIE + request.room) or "").split("/")
        return cls(*parts) if parts[0] and len(parts) in (1, 3) else None

    @property
    def name(self) -> str | None:
        """By what the visitor is known, if not by the mark."""
        return by_name(self.key) if self.code else None


def ripen(server: Server, request: VisitorRequest) -> Answer:
    """Let the page ripen instead; the browser keeps its mark."""
    code, key = request.json(JoinBody).code, request.header(b"idempotency-key") or ""
    shown = ("", crockford.read(code).decode(), key) if code else ("",)
    try:
        mark = begin_ripening(server, request, by_name(key) if code else None)
    except TooMany as error:
        return problems.answer(error)
    name, safe = RIPE_COOKIE + request.room, request.is_https(server.proxies)
    kept = cookie(name, mark + "/".join(shown), secure=safe, max_age_s=RIPE_LIFE_S)
    return Answer(202, [kept], b"")


async def harvest(
    server: Server, request: VisitorRequest, ripe: Ripe, known: dict[str, str | None]
) -> Response | int:
    """Take the place of a ripe page, which this browser asked for by its form.

    If it is refused: for how many seconds the page ripens on, because others of its address were
    before it. Not if its code has died meanwhile: the page says so, and does not try again.
    """
    if ripe.code:
        forms.show_code(request, {"code": ripe.code, "key": ripe.key}, solution=ripe.mark)
    else:
        request.body = msgspec.json.encode({"solution": ripe.mark})
    answer = await actions.respond(server, actions.join, request)
    if answer.status == 429:
        return int(dict(answer.headers)[b"retry-after"])
    if answer.status >= (500 if ripe.code else 300):
        return 0
    form = {name: value for name, value in known.items() if value is not None}
    location = page_address(server, request, "join", answer, form)
    response = see_other(server, request, "join", answer, location)
    safe = request.is_https(server.proxies)
    response.raw_headers.append(cookie(RIPE_COOKIE + request.room, "", secure=safe, max_age_s=0))
    return response
