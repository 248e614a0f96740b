"""Webhooks by the operator API: an admin makes, lists, rotates, tests and removes them."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Response
from pydantic import BaseModel, Field

from waitroom.operations import webhooks
from waitroom.operations.trail import Actor, Trail, Way
from waitroom.operations.webhooks import Standing
from waitroom.server.context import Here, Server
from waitroom.server.http.auth import SIGNED, Admin, Who
from waitroom.server.http.openapi import problems
from waitroom.server.operator.schemas import Strict

router = APIRouter(
    prefix="/v1/admin/webhooks",
    tags=["operators"],
    dependencies=SIGNED,
    responses=problems(400, 401, 403, 404, 408, 413, 422, 429, 503),
)
WebhookId = Annotated[str, Path(max_length=64)]


class NewWebhook(Strict):
    """A webhook to make."""

    url: str = Field(max_length=1_000)
    rooms: list[str] = Field(default=[], max_length=100, description="Empty: all of them.")
    types: list[str] = Field(default=[], max_length=50, description="Empty: all of them.")


class WebhookBody(BaseModel):
    """A webhook without its secret, and how its deliveries go."""

    id: str
    url: str
    rooms: list[str]
    types: list[str]
    created_ms: int
    late: int = Field(description="Entries that wait, while it fails.")
    oldest_ms: int = Field(description="The age of the oldest that waits.")
    delivered: int
    dropped: int
    error: str
    error_ms: int
    ok_ms: int

    @classmethod
    def of(cls, standing: Standing) -> WebhookBody:
        """Make one of a webhook."""
        hook = standing.webhook
        return cls(
            id=hook.id,
            url=hook.url,
            rooms=[*hook.rooms],
            types=[*hook.types],
            created_ms=hook.created_ms,
            late=standing.late,
            oldest_ms=standing.oldest_ms,
            delivered=standing.delivered,
            dropped=standing.dropped,
            error=standing.error,
            error_ms=standing.error_ms,
            ok_ms=standing.ok_ms,
        )


class WebhookMade(WebhookBody):
    """A new webhook, or one with a new secret: the only time that it is shown."""

    secret: str


class WebhooksBody(BaseModel):
    """All webhooks."""

    webhooks: list[WebhookBody]


class Tested(BaseModel):
    """How a test went; an empty `error` is a success."""

    error: str


@router.get("")
async def list_webhooks(server: Here, _: Admin, response: Response) -> WebhooksBody:
    """Return all webhooks, without their secrets, and how each goes."""
    response.headers["Cache-Control"] = "no-store"
    standings = await webhooks.standings(server.engine)
    return WebhooksBody(webhooks=[WebhookBody.of(each) for each in standings])


@router.post("", status_code=201)
async def create_webhook(
    server: Here, who: Admin, body: NewWebhook, response: Response
) -> WebhookMade:
    """Make a webhook; this answer is the only place where its secret is shown."""
    response.headers["Cache-Control"] = "no-store"
    trail = _trail(server, who)
    hook = await webhooks.create(server.engine, trail, body.url, body.rooms, body.types)
    return WebhookMade(secret=hook.secret, **WebhookBody.of(Standing(hook)).model_dump())


@router.post("/{webhook_id}/rotate")
async def rotate_webhook(
    server: Here, who: Admin, webhook_id: WebhookId, response: Response
) -> WebhookMade:
    """Give a webhook a new secret; for a day messages are signed with the old one too."""
    response.headers["Cache-Control"] = "no-store"
    hook = await webhooks.rotate(server.engine, _trail(server, who), webhook_id)
    return WebhookMade(secret=hook.secret, **WebhookBody.of(Standing(hook)).model_dump())


@router.post("/{webhook_id}/test")
async def send_test(server: Here, _: Admin, webhook_id: WebhookId) -> Tested:
    """Send a message of the type `webhook.test` now, and say how it went."""
    return Tested(error=await webhooks.send_test(server.engine, webhook_id))


@router.delete("/{webhook_id}", status_code=204)
async def delete_webhook(server: Here, who: Admin, webhook_id: WebhookId) -> None:
    """Remove a webhook, with what waits for it."""
    await webhooks.remove(server.engine, _trail(server, who), webhook_id)


def _trail(server: Server, who: Who) -> Trail:
    return Trail(server.audit, Actor.of_key(who.key, Way.API, who.address))
