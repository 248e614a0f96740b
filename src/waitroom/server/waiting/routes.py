"""The waiting page `/rooms/{room}`, and its forms for browsers without a script.

A GET only looks. Taking a place, entering, leaving, finishing and going back are POSTs that answer
303 back to the page, and once inside to where the visitor goes on to: with a one-time code where
the cookie of the pass does not reach. A form on another site cannot send them.
"""

from __future__ import annotations

import secrets
from typing import Annotated
from urllib.parse import parse_qs, urlencode, urlsplit

import msgspec
from fastapi import APIRouter, Query, Request, Response

from waitroom.errors import BadRequest, Banned, DefersUsedUp, NobodyBehind, NotFound, WaitroomError
from waitroom.models import check_room_name
from waitroom.server.context import Here, Server
from waitroom.server.http import statics
from waitroom.server.http.answers import Answer
from waitroom.server.http.packing import packed, takes_gzip
from waitroom.server.http.request import VisitorRequest, cookie
from waitroom.server.pages.forms import check_own_form
from waitroom.server.pages.headers import page_headers
from waitroom.server.pages.languages import choose, nearest
from waitroom.server.pages.locales import load_locales
from waitroom.server.pages.page import LANGUAGE_COOKIE, LANGUAGE_LIFE_S
from waitroom.server.tickets import actions
from waitroom.server.waiting import onward
from waitroom.server.waiting.facts import Asked, facts, host_of, inside, mark_in
from waitroom.server.waiting.progress import PROGRESS_COOKIE
from waitroom.server.waiting.view import PageView, render
from waitroom.web.names import BROWSER
from waitroom.web.return_urls import with_code

router = APIRouter(include_in_schema=False)
router.include_router(statics.router)
public = statics.public
_ACTS: dict[str, actions.Action] = {
    "join": actions.join,
    "enter": actions.enter,
    "leave": actions.leave,
    "finish": actions.finish,
    "defer": actions.defer,
}
_ENDS = {"leave": "left", "finish": "finished"}
Word = Annotated[str | None, Query(max_length=20)]
Form = dict[str, str]


@router.api_route("/rooms/{room}", methods=["GET", "HEAD"])
async def waiting_page(
    server: Here,
    request: Request,
    room: str,
    lang: Word = None,
    ended: Word = None,
    no: Word = None,
    back: Annotated[str | None, Query(alias="return")] = None,
    browser: Annotated[str | None, Query(max_length=64)] = None,
) -> Response:
    """Show the caller where they are."""
    visitor_request = VisitorRequest.of(server.origins, request.scope, room, "me")
    kept, accept = (
        visitor_request.shown_cookie(LANGUAGE_COOKIE),
        request.headers.get("accept-language"),
    )
    locales = load_locales(server.settings.locales)
    tag = choose(tuple(locales), lang, kept, accept)
    asked = Asked(ended, no, back, browser)
    answer = await facts(server, visitor_request, locales[tag], secrets.token_urlsafe(16), asked)
    cookies = [*answer.cookies]
    if nearest(lang, tuple(locales)):
        safe = visitor_request.is_https(server.proxies)
        cookies.append(cookie(LANGUAGE_COOKIE, tag, secure=safe, max_age_s=LANGUAGE_LIFE_S))
    content, headers = render(answer.page).encode(), _headers(answer.page)
    if takes_gzip(request.headers.get("accept-encoding")):
        content, headers["content-encoding"] = packed(content), "gzip"
    response = Response(content, answer.status, headers)
    response.raw_headers += cookies
    return response


@router.post("/rooms/{room}/{act}")
async def act(server: Here, request: Request, room: str, act: str) -> Response:
    """Handle a form of the page, and redirect back to it."""
    if act not in _ACTS:
        raise NotFound("the page has no such form")
    check_room_name(room)
    visitor_request = VisitorRequest.of(server.origins, request.scope, room, "me")
    check_own_form(server, request, origin_must_match=False)
    # A form comes from a browser, also from one that says nothing about itself, like lynx.
    visitor_request.headers = [*visitor_request.headers, (b"sec-fetch-mode", b"navigate")]
    form = _form(await request.body())
    if act == "defer":
        visitor_request.body = _places(form)
    answer = await actions.respond(server, _ACTS[act], visitor_request)
    if act == "enter" and answer.status < 300:
        location = await _onward(server, visitor_request, form)
    else:
        location = _page(server, visitor_request, act, answer, form)
    return _see(server, visitor_request, act, answer, location)


def _page(server: Server, request: VisitorRequest, act: str, answer: Answer, form: Form) -> str:
    """Return the address of the page, with its query."""
    known = {}
    if act in _ENDS and answer.status < 500:
        known["ended"] = _ENDS[act]
    elif act == "join" and answer.status == 403 and Banned.code.encode() in answer.body:
        known["no"] = "join"
    elif act == "defer" and DefersUsedUp.code.encode() in answer.body:
        known["no"] = "defer"
    elif act == "defer" and NobodyBehind.code.encode() in answer.body:
        known["no"] = "last"
    back = onward.returning(form.get("return"), host_of(server, request), _go_to(server, request))
    if back is not None:
        known["return"] = back
    if mark := mark_in(form.get(BROWSER)):
        known[BROWSER] = mark
    return f"/rooms/{request.room}" + (f"?{urlencode(known)}" if known else "")


async def _onward(server: Server, request: VisitorRequest, form: Form) -> str:
    """Return where somebody who is inside goes on to."""
    host, go_to = host_of(server, request), _go_to(server, request)
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


def _go_to(server: Server, request: VisitorRequest) -> str | None:
    policy = server.engine.policy_of(request.room)
    return policy.go_to if policy else None


def _see(
    server: Server, request: VisitorRequest, act: str, answer: Answer, location: str
) -> Response:
    """Redirect, with the cookies of the answer."""
    good = answer.status < 300
    headers = {
        "location": location,
        "cache-control": "no-store",
        "referrer-policy": "no-referrer",  # only the site that it leads to needs the code
    }
    response = Response(status_code=303, headers=headers)
    response.raw_headers += [header for header in answer.headers if header[0] == b"set-cookie"]
    if good and act == "enter":
        response.raw_headers.append(inside(server, request, request.ticket))
    if good and act in ("join", "defer", "leave"):  # progress starts again with a new place
        name, safe = PROGRESS_COOKIE + request.room, request.is_https(server.proxies)
        response.raw_headers.append(cookie(name, "", secure=safe, max_age_s=0))
    return response


def _form(body: bytes) -> Form:
    """Read a form; an unreadable one counts as empty."""
    try:
        fields = parse_qs(body.decode("ascii"), max_num_fields=5)
    except ValueError:
        return {}
    return {name: values[0] for name, values in fields.items()}


def _places(form: Form) -> bytes:
    """Turn the form of a defer into the body of the API."""
    try:
        return msgspec.json.encode({"places": int(form.get("places", "")[:10])})
    except ValueError:
        raise BadRequest("the form needs a whole number `places`") from None


def _headers(page: PageView) -> dict[str, str]:
    target = urlsplit(page.go_to or "")
    form_target = f"{target.scheme}://{target.netloc}" if target.netloc else ""
    return {
        "content-type": "text/html; charset=utf-8",
        **page_headers(
            page.nonce,
            page.text.lang,
            form_target=form_target,
            fonts=bool(page.theme.font),
            worker=page.push is not None,
        ),
        **({"retry-after": str(page.refresh_s)} if page.away else {}),
    }
