"""What browsers request: the service worker of a room, and to keep or forget a subscription."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse
from pydantic import BaseModel, ConfigDict, Field

from waitroom.errors import NoPush, NotFound, NotWaiting
from waitroom.models import State, TicketView, check_room_name
from waitroom.push.subscription import LONGEST_ENDPOINT, PushHosts, Subscription
from waitroom.server.context import Here, Server
from waitroom.server.http import statics
from waitroom.server.http.openapi import RoomName, TicketText, problems
from waitroom.server.http.request import VisitorRequest
from waitroom.server.pages.languages import DEFAULT
from waitroom.server.pages.locales import load_locales
from waitroom.server.rooms.ticket_json import gone_error
from waitroom.server.tickets import actions
from waitroom.server.tickets.limits import within

router = APIRouter()
WORKER = "waiting/push.js"
_LONGEST_KEY = 100


class PushKeys(BaseModel):
    """The keys of a subscription, in base64url."""

    p256dh: str = Field(min_length=1, max_length=_LONGEST_KEY)
    auth: str = Field(min_length=1, max_length=_LONGEST_KEY)


class Subscribe(BaseModel):
    """A browser's PushSubscription, as its `toJSON` writes it, and the language of messages."""

    model_config = ConfigDict(extra="ignore")  # expirationTime, which nobody sets
    endpoint: str = Field(min_length=1, max_length=LONGEST_ENDPOINT)
    keys: PushKeys
    lang: str = Field("en", max_length=35)


@router.post(
    "/v1/rooms/{room}/tickets/{ticket}/push",
    operation_id="subscribePush",
    status_code=204,
    responses=problems(400, 404, 408, 409, 410, 413, 422, 503),
    tags=["visitors"],
)
async def subscribe(
    server: Here, request: Request, room: RoomName, ticket: TicketText, body: Subscribe
) -> None:
    """Tell this browser when the turn of its ticket is near and when it comes, by Web Push.

    A ticket has one subscription: the latest.
    """
    view = await _view(server, request, room, ticket)
    if view.state is State.INSIDE:
        raise NotWaiting("the ticket is inside; nothing is left to be told")
    hosts = PushHosts.from_text(server.settings.push_hosts)
    keys = body.keys
    subscription = Subscription.checked(hosts, body.endpoint, keys.p256dh, keys.auth, body.lang)
    kept = server.engine.push_subscriptions.put(room, view.id, subscription.to_text())
    if not await within(server, kept):
        raise NoPush("as many want to be told as this room can keep; keep the page open")


@router.delete(
    "/v1/rooms/{room}/tickets/{ticket}/push",
    operation_id="unsubscribePush",
    status_code=204,
    responses=problems(404, 408, 409, 410, 422, 503),
    tags=["visitors"],
)
async def unsubscribe(server: Here, request: Request, room: RoomName, ticket: TicketText) -> None:
    """Forget the subscription of a ticket."""
    view = await _view(server, request, room, ticket)
    await within(server, server.engine.push_subscriptions.remove(room, [view.id]))


async def _view(server: Server, request: Request, room: str, ticket: str) -> TicketView:
    if not server.push_key:
        raise NoPush("this server sends no push messages; see the setting `push`")
    view = await actions.poll(
        server, VisitorRequest.of(server.origins, request.scope, room, ticket)
    )
    if view.state is State.GONE:
        raise gone_error(view)
    return view


@router.get("/rooms/{room}/push.js", include_in_schema=False)
async def worker(server: Here, room: str) -> Response:
    """Return the service worker, whose scope is below the room's page."""
    check_room_name(room)
    if not server.push_key:
        raise NotFound("this server sends no push messages")
    headers = {
        "cache-control": "no-cache",
        "content-security-policy": "default-src 'none'",
        "cross-origin-resource-policy": "same-origin",
        "x-content-type-options": "nosniff",
    }
    file = statics.files()[WORKER]
    return Response(file.content, media_type=file.media_type, headers=headers)


@router.get("/rooms/{room}/alerts", include_in_schema=False)
async def alerts(server: Here, room: str, lang: str = DEFAULT) -> Response:
    """Return the page's texts on notifications; only visitors who want some load them."""
    check_room_name(room)
    locales = load_locales(server.settings.locales)
    text = locales.get(lang) or locales[DEFAULT]
    words = {
        "denied": text("notify_no"),
        "open": text("notify_yes"),
        "push": text("notify_push"),
    }
    headers = {"cache-control": "public, max-age=300", "x-content-type-options": "nosniff"}
    return JSONResponse(words, headers=headers)
