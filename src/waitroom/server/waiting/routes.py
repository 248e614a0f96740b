"""The waiting page `/rooms/{room}`, and its forms for browsers without a script.

A GET only reads. Taking a place, entering, leaving, finishing and going back are POSTs that answer
303 back to the page, and once inside to the visitor's destination: with a one-time code if the
cookie of the pass does not reach it. A form on another site cannot send them, except the one of
the room's own site that brings a claim: `signed_in.py`.
"""

from __future__ import annotations

import math
import secrets
from typing import Annotated, NamedTuple
from urllib.parse import parse_qs, urlencode, urlsplit

import msgspec
from fastapi import APIRouter, Query, Request, Response

from waitroom import crockford
from waitroom.entry_codes import LONGEST_CODE
from waitroom.errors import (
    BadRequest,
    Banned,
    ChallengeRequired,
    CodeRefused,
    CodeRequired,
    DefersUsedUp,
    EnteredBefore,
    IdentityRequired,
    NobodyBehind,
    NotFound,
    RoomFull,
    TooMany,
    WaitroomError,
)
from waitroom.models import check_room_name
from waitroom.server.context import Here, Server
from waitroom.server.http import problems, statics
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
from waitroom.server.tickets.bodies import JoinBody
from waitroom.server.tickets.entry.challenges import begin_ripening
from waitroom.server.tickets.entry.challenges import ripe_in_s as ripe_in_s_of
from waitroom.server.tickets.entry.newcomer import by_name
from waitroom.server.tickets.responses import forget
from waitroom.server.waiting import onward, signed_in
from waitroom.server.waiting.faces import Face
from waitroom.server.waiting.facts import KEY, Asked, facts, host_of, inside, known_room, mark_in
from waitroom.server.waiting.page import render
from waitroom.server.waiting.progress import PROGRESS_COOKIE
from waitroom.server.waiting.view import PageView
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

RIPE_COOKIE = "waitroom-ripe-"
RIPE_LIFE_S = 600
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
    text = locale_of(server, visitor_request, request.headers.get("accept-language"), lang)
    ripe = Ripe.kept(visitor_request) if not visitor_request.ticket else None
    ripe_in_s = ripe_in_s_of(server, visitor_request, ripe.mark, ripe.name) if ripe else None
    if ripe and ripe_in_s is not None and ripe_in_s <= 0 and request.method == "GET":
        place = await _harvest(server, visitor_request, ripe, {"return": back, BROWSER: browser})
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
    sender = signed_in.sender_of(server, request, _go_to(server, visitor_request))
    signed_in.check(sender)
    sent = _form(await request.body())
    given = sent.get("claim", "")
    if not sender.has_cookies and signed_in.AGAIN not in sent:
        text = locale_of(server, visitor_request, request.headers.get("accept-language"))
        return signed_in.once_more(text, given)
    signed_in.as_our_own(visitor_request)
    visitor_request.body = msgspec.json.encode({"claim": given})
    answer = await actions.respond(server, actions.join, visitor_request)
    form = {name: text for name, text in (("return", back), (BROWSER, browser)) if text}
    location = _page(server, visitor_request, "join", answer, form)
    return _see(server, visitor_request, "join", answer, location)


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
    form = _form(await request.body())
    if act == "defer":
        visitor_request.body = _places(form)
    if act == "join":
        _show_code(visitor_request, form)
    answer = await actions.respond(server, _ACTS[act], visitor_request)
    if act == "join" and (kind := _asked_for(answer)):
        if visitor_request.ticket:  # of a place that is gone: back to the page, whose script solves
            answer = forget(server, visitor_request)
        elif kind == "work":
            answer = _ripen(server, visitor_request)
    if act == "enter" and answer.status < 300:
        location = await _onward(server, visitor_request, form)
    else:
        location = _page(server, visitor_request, act, answer, form)
    return _see(server, visitor_request, act, answer, location)


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


def _ripen(server: Server, request: VisitorRequest) -> Answer:
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


async def _harvest(
    server: Server, request: VisitorRequest, ripe: Ripe, known: dict[str, str | None]
) -> Response | int:
    """Take the place of a ripe page, which this browser asked for by its form.

    If it is refused: for how many seconds the page ripens on, because others of its address were
    before it. Not if its code has died meanwhile: the page says so, and does not try again.
    """
    if ripe.code:
        _show_code(request, {"code": ripe.code, "key": ripe.key}, solution=ripe.mark)
    else:
        request.body = msgspec.json.encode({"solution": ripe.mark})
    answer = await actions.respond(server, actions.join, request)
    if answer.status == 429:
        return int(dict(answer.headers)[b"retry-after"])
    if answer.status >= (500 if ripe.code else 300):
        return 0
    form = {name: value for name, value in known.items() if value is not None}
    response = _see(server, request, "join", answer, _page(server, request, "join", answer, form))
    safe = request.is_https(server.proxies)
    response.raw_headers.append(cookie(RIPE_COOKIE + request.room, "", secure=safe, max_age_s=0))
    return response


def _page(server: Server, request: VisitorRequest, act: str, answer: Answer, form: Form) -> str:
    """Return the address of the page, with its query."""
    known = {}
    if act in _ENDS and answer.status < 500:
        known["ended"] = _ENDS[act]
    elif answer.status >= 400:
        known |= _refused(act, answer)
    back = onward.returning(form.get("return"), host_of(server, request), _go_to(server, request))
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


async def _onward(server: Server, request: VisitorRequest, form: Form) -> str:
    """Return where somebody who is inside goes next."""
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
        "referrer-policy": "no-referrer",  # only the destination needs the code
    }
    response = Response(status_code=303, headers=headers)
    response.raw_headers += [header for header in answer.headers if header[0] == b"set-cookie"]
    if good and act == "enter":
        response.raw_headers.append(inside(server, request, request.ticket))
    if answer.status in (200, 201, 204) and act in (
        "join",
        "defer",
        "leave",
    ):  # progress starts again with a new place
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


def _show_code(request: VisitorRequest, form: Form, **proof: str) -> None:
    """Turn the form of a join into the body of the API, with the key of this browser."""
    code, key = form.get("code"), form.get("key", "")
    if not KEY.fullmatch(key):
        key = secrets.token_urlsafe(16)
    if code is not None:
        request.body = msgspec.json.encode({"code": code[:LONGEST_CODE], **proof})
        request.headers = [*request.headers, (b"idempotency-key", key.encode())]


def _places(form: Form) -> bytes:
    """Turn the form of a defer into the body of the API."""
    try:
        return msgspec.json.encode({"places": int(form.get("places", "")[:10])})
    except ValueError:
        raise BadRequest("the form needs a whole number `places`") from None


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
