"""Webhooks in the operator API: make, list, switch, rotate, test and remove them."""

from __future__ import annotations

from typing import Annotated

from fastapi import Path
from pydantic import BaseModel, Field

from waitroom.operations import webhooks
from waitroom.operations.webhooks import Standing
from waitroom.server.context import Here
from waitroom.server.http.auth import Admin
from waitroom.server.operator.api import Strict, api_router, trail_of

router = api_router(path="/webhooks")
WebhookId = Annotated[str, Path(max_length=64)]


class NewWebhook(Strict):
    """A webhook to create."""

    url: str = Field(max_length=1_000)
    rooms: list[str] = Field(default=[], max_length=100, description="Empty: all of them.")
    types: list[str] = Field(default=[], max_length=50, description="Empty: all of them.")


class WebhookChange(Strict):
    """What can be changed in a webhook."""

    enabled: bool = Field(description="Whether it is switched on.")


class WebhookBody(BaseModel):
    """A webhook without its secret, and how its deliveries go."""

    id: str
    url: str
    rooms: list[str]
    types: list[str]
    created_ms: int
    enabled: bool = Field(description="False: switched off, nothing is sent.")
    switched_ms: int = Field(description="When it was last switched off or on; 0: never.")
    late: int = Field(description="Entries that wait, while it fails.")
    oldest_ms: int = Field(description="The age of the oldest that waits.")
    delivered: int
    dropped: int
    skipped: int = Field(description="Not sent, because it was switched off.")
    error: str
    error_ms: int
    ok_ms: int

    @classmethod
    def of(cls, standing: Standing) -> WebhookBody:
        """Make the body of a webhook."""
        hook = standing.webhook
        return cls(
            id=hook.id,
            url=hook.url,
            rooms=[*hook.rooms],
            types=[*hook.types],
            created_ms=hook.created_ms,
            enabled=hook.enabled,
            switched_ms=hook.switched_ms,
            late=standing.late,
            oldest_ms=standing.oldest_ms,
            delivered=standing.delivered,
            dropped=standing.dropped,
            skipped=standing.skipped,
            error=standing.error,
            error_ms=standing.error_ms,
            ok_ms=standing.ok_ms,
        )


class WebhookMade(WebhookBody):
    """A new webhook, or one with a new secret: the secret is shown only this time."""

    secret: str


class WebhooksBody(BaseModel):
    """All webhooks."""

    webhooks: list[WebhookBody]


class Tested(BaseModel):
    """The result of a test; an empty `error` means success."""

    error: str


@router.get("", operation_id="listWebhooks")
async def list_webhooks(server: Here, _: Admin) -> WebhooksBody:
    """Return all webhooks, without their secrets, and how their deliveries go."""
    standings = await webhooks.standings(server.engine)
    return WebhooksBody(webhooks=[WebhookBody.of(each) for each in standings])


@router.post("", operation_id="createWebhook", status_code=201)
async def create_webhook(server: Here, who: Admin, body: NewWebhook) -> WebhookMade:
    """Make a webhook; this answer is the only place where its secret is shown."""
    trail = trail_of(server, who)
    hook = await webhooks.create(server.engine, trail, body.url, body.rooms, body.types)
    return WebhookMade(secret=hook.secret, **WebhookBody.of(Standing(hook)).model_dump())


@router.patch("/{webhook_id}", operation_id="changeWebhook")
async def change_webhook(
    server: Here, who: Admin, webhook_id: WebhookId, body: WebhookChange
) -> WebhookBody:
    """Switch a webhook off or on; what happens while it is off is reported only as a gap."""
    trail = trail_of(server, who)
    hook = await webhooks.switch(server.engine, trail, webhook_id, enabled=body.enabled)
    standings = {each.webhook.id: each for each in await webhooks.standings(server.engine)}
    return WebhookBody.of(standings.get(webhook_id, Standing(hook)))


@router.post("/{webhook_id}/rotate", operation_id="rotateWebhook")
async def rotate_webhook(server: Here, who: Admin, webhook_id: WebhookId) -> WebhookMade:
    """Give a webhook a new secret; for a day messages are also signed with the old one."""
    hook = await webhooks.rotate(server.engine, trail_of(server, who), webhook_id)
    return WebhookMade(secret=hook.secret, **WebhookBody.of(Standing(hook)).model_dump())


@router.post("/{webhook_id}/test", operation_id="testWebhook")
async def send_test(server: Here, _: Admin, webhook_id: WebhookId) -> Tested:
    """Send a message of the type `webhook.test` now, and return the result."""
    return Tested(error=await webhooks.send_test(server.engine, webhook_id))


@router.delete("/{webhook_id}", operation_id="deleteWebhook", status_code=204)
async def delete_webhook(server: Here, who: Admin, webhook_id: WebhookId) -> None:
    """Remove a webhook and the messages that wait for it."""
    await webhooks.remove(server.engine, trail_of(server, who), webhook_id)
