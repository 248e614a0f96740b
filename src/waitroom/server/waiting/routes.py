"""The waiting page `/rooms/{room}`, and its forms for browsers without a script.

A GET only reads. Taking a place, entering, leaving, finishing and going back are POSTs that answer
303 back to the page, and once inside to the visitor's destination: with a one-time code if the
cookie of the pass does not reach it. A form on another site cannot send them, except the one of
the room's own site that brings a claim: `signed_in.py`.
"""

from __future__ import annotations

import math
import secrets
from typing import Annotated
from urllib.parse import urlsplit

import msgspec
from fastapi import APIRouter, Query, Request, Response

from waitroom.errors import (
    ChallengeRequired,
    NotFound,
)
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
from waitroom.server.pages.text import Text
from waitroom.server.tickets import actions
from waitroom.server.tickets.entry.challenges import ripe_in_s as ripe_in_s_of
from waitroom.server.tickets.responses import forget
from waitroom.server.waiting import forms, signed_in
from waitroom.server.waiting.faces import Face
from waitroom.server.waiting.facts import Asked, facts, known_room
from waitroom.server.waiting.page import render
from waitroom.server.waiting.redirects import go_to_of, next_address, page_address, see_other
from waitroom.server.waiting.ripening import Ripe, harvest, ripen
from waitroom.server.waiting.view import PageView
from waitroom.web.names import BROWSER

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
Word = Annotated[str | None, Query(max_length=20)]


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
    text = locale_of(server, visitor_request, request.headers.get("accept-language"), lang)
    ripe = Ripe.kept(visitor_request) if not visitor_request.ticket else None
    ripe_in_s = ripe_in_s_of(server, visitor_request, ripe.mark, ripe.name) if ripe else None
    if ripe and ripe_in_s is not None and ripe_in_s <= 0 and request.method == "GET":
        place = await harvest(server, visitor_request, ripe, {"return": back, BROWSER: browser})
        if isinstance(place, Response):
            return place
        ripe_in_s = place
    left_s = math.ceil(ripe_in_s) if ripe_in_s and ripe_in_s > 0 else None
    asked = Asked(ended, no, back, browser, left_s)
    answer = await facts(server, visitor_request, text, secrets.token_urlsafe(16), asked)
    cookies = [*answer.cookies]
    if nearest(lang, tuple(load_locales(server.settings.locales))):
        safe = visitor_request.is_https(server.proxies)
        cookies.append(cookie(LANGUAGE_COOKIE, text.lang, secure=safe, max_age_s=LANGUAGE_LIFE_S))
    content, headers = render(answer.page).encode(), _headers(server, answer.page)
    if takes_gzip(request.headers.get("accept-encoding")):
        content, headers["content-encoding"] = packed(content), "gzip"
    response = Response(content, answer.status, headers)
    response.raw_headers += cookies
    return response


@router.post("/rooms/{room}/claim")
async def claim(
    server: Here,
    request: Request,
    room: str,
    back: Annotated[str | None, Query(alias="return")] = None,
    browser: Annotated[str | None, Query(max_length=64)] = None,
) -> Response:
    """Give an account its place, whose claim a gate sends; redirect to the page without it."""
    check_room_name(room)
    visitor_request = VisitorRequest.of(server.origins, request.scope, room, "me")
    await known_room(server, room)
    sender = signed_in.sender_of(server, request, go_to_of(server, visitor_request))
    signed_in.check(sender)
    sent = forms.read(await request.body())
    given = sent.get("claim", "")
    if not sender.has_cookies and signed_in.AGAIN not in sent:
        text = locale_of(server, visitor_request, request.headers.get("accept-language"))
        return signed_in.once_more(text, given)
    signed_in.as_our_own(visitor_request)
    visitor_request.body = msgspec.json.encode({"claim": given})
    answer = await actions.respond(server, actions.join, visitor_request)
    form = {name: text for name, text in (("return", back), (BROWSER, browser)) if text}
    location = page_address(server, visitor_request, "join", answer, form)
    return see_other(server, visitor_request, "join", answer, location)


@router.post("/rooms/{room}/{act}")
async def act(server: Here, request: Request, room: str, act: str) -> Response:
    """Handle a form of the page, and redirect back to it."""
    if act not in _ACTS:
        raise NotFound("the page has no such form")
    check_room_name(room)
    visitor_request = VisitorRequest.of(server.origins, request.scope, room, "me")
    check_own_form(server, request, origin_must_match=False)
    # A form comes from a browser, even one that says nothing about itself, like lynx.
    visitor_request.headers = [*visitor_request.headers, (b"sec-fetch-mode", b"navigate")]
    form = forms.read(await request.body())
    if act == "defer":
        visitor_request.body = forms.places(form)
    if act == "join":
        forms.show_code(visitor_request, form)
    answer = await actions.respond(server, _ACTS[act], visitor_request)
    if act == "join" and (kind := _asked_for(answer)):
        if visitor_request.ticket:  # of a place that is gone: back to the page, whose script solves
            answer = forget(server, visitor_request)
        elif kind == "work":
            answer = ripen(server, visitor_request)
    if act == "enter" and answer.status < 300:
        location = await next_address(server, visitor_request, form)
    else:
        location = page_address(server, visitor_request, act, answer, form)
    return see_other(server, visitor_request, act, answer, location)


def locale_of(
    server: Server, request: VisitorRequest, accept: str | None, lang: str | None = None
) -> Text:
    """Return the texts in the caller's language."""
    locales = load_locales(server.settings.locales)
    return locales[choose(tuple(locales), lang, request.shown_cookie(LANGUAGE_COOKIE), accept)]


def _asked_for(answer: Answer) -> str:
    """Return the kind of challenge for which a join was refused; empty if it was not."""
    if answer.status != 403 or ChallengeRequired.code.encode() not in answer.body:
        return ""
    kind: str = msgspec.json.decode(answer.body)["challenge"]["kind"]
    return kind


def _headers(server: Server, page: PageView) -> dict[str, str]:
    verifier = server.challenges.siteverify if page.asks == "siteverify" else None
    target = urlsplit(page.go_to or "")
    form_target = f"{target.scheme}://{target.netloc}" if target.netloc else ""
    return {
        "content-type": "text/html; charset=utf-8",
        **page_headers(
            page.nonce,
            page.text.lang,
            form_target=form_target,
            fonts=bool(page.theme.font),
            worker=page.push is not None or bool(page.asks),
            widget=() if verifier is None else verifier.service.origins,
        ),
        **({"retry-after": str(page.refresh_s)} if page.away else {}),
        # Also with a script, which this face does not have: it ran, and found no crypto.
        **({"refresh": str(page.refresh_s)} if page.face is Face.RIPENING else {}),
    }
