"""Where a form of the page leads: back to the page, which explains a refusal, or to the site."""

from __future__ import annotations

from urllib.parse import urlencode

import msgspec
from fastapi import Response

from waitroom.errors import (
    Banned,
    CodeRefused,
    CodeRequired,
    DefersUsedUp,
    EnteredBefore,
    IdentityRequired,
    NobodyBehind,
    RoomFull,
    TooMany,
    WaitroomError,
)
from waitroom.server.context import Server
from waitroom.server.http.answers import Answer
from waitroom.server.http.request import VisitorRequest, cookie
from waitroom.server.tickets import actions
from waitroom.server.waiting import onward
from waitroom.server.waiting.facts import host_of, inside, mark_in
from waitroom.server.waiting.forms import Form
from waitroom.server.waiting.progress import PROGRESS_COOKIE
from waitroom.web.names import BROWSER
from waitroom.web.return_urls import with_code

_REFUSALS = {
    "join": {
        Banned.code: "join",
        IdentityRequired.code: "identity",
        EnteredBefore.code: "entered",
        CodeRequired.code: "missing",
        RoomFull.code: "full",
        TooMany.code: "later",
    },
    "defer": {DefersUsedUp.code: "defer", NobodyBehind.code: "last"},
}
"""What the page's query says after a refusal that the page explains."""

_ENDS = {"leave": "left", "finish": "finished"}
_STARTS_AGAIN = ("join", "defer", "leave")
"""What gives another place, so that progress starts again."""


def page_address(
    server: Server, request: VisitorRequest, act: str, answer: Answer, form: Form
) -> str:
    """Return the address of the page, with its query."""
    known = {}
    if act in _ENDS and answer.status < 500:
        known["ended"] = _ENDS[act]
    elif answer.status >= 400:
        known |= _refused(act, answer)
    back = onward.returning(form.get("return"), host_of(server, request), go_to_of(server, request))
    if back is not None:
        known["return"] = back
    if mark := mark_in(form.get(BROWSER)):
        known[BROWSER] = mark
    return f"/rooms/{request.room}" + (f"?{urlencode(known)}" if known else "")


def _refused(act: str, answer: Answer) -> dict[str, str]:
    """Return what the page's query says of a refusal that the page explains."""
    problem = msgspec.json.decode(answer.body)
    word = _REFUSALS.get(act, {}).get(problem["code"])
    if act == "join" and problem["code"] == CodeRefused.code:
        word = problem["reason"]
    return {"no": word} if word else {}


async def next_address(server: Server, request: VisitorRequest, form: Form) -> str:
    """Return where somebody who is inside goes next."""
    host, go_to = host_of(server, request), go_to_of(server, request)
    back = onward.returning(form.get("return"), host, go_to)
    target = onward.onward(back, host, go_to, secure=request.is_https(server.proxies))
    if target is None:
        return f"/rooms/{request.room}"
    mark = mark_in(form.get(BROWSER))
    if not target.hand_off or mark is None:
        return target.url  # a gate there sends them here again, with the mark of their browser
    try:
        code = await actions.hand_off(server, request, mark)
    except WaitroomError:
        return target.url  # its gate decides; while the backend is away it may let people in
    return with_code(target.url, code)


def go_to_of(server: Server, request: VisitorRequest) -> str | None:
    """Return where the room leads, if that is known."""
    policy = server.engine.policy_of(request.room)
    return policy.go_to if policy else None


def see_other(
    server: Server, request: VisitorRequest, act: str, answer: Answer, location: str
) -> Response:
    """Redirect, with the cookies of the answer."""
    good = answer.status < 300
    headers = {
        "location": location,
        "cache-control": "no-store",
        "referrer-policy": "no-referrer",  # only the destination needs the code
    }
    response = Response(status_code=303, headers=headers)
    response.raw_headers += [header for header in answer.headers if header[0] == b"set-cookie"]
    if good and act == "enter":
        response.raw_headers.append(inside(server, request, request.ticket))
    if answer.status in (200, 201, 204) and act in _STARTS_AGAIN:
        name, safe = PROGRESS_COOKIE + request.room, request.is_https(server.proxies)
        response.raw_headers.append(cookie(name, "", secure=safe, max_age_s=0))
    return response
