"""Webhooks on the operator page: how they go; an admin makes, switches, tests and removes them."""

from __future__ import annotations

import time
from typing import Annotated

from fastapi import APIRouter, Form, Path, Response

from waitroom.errors import InvalidInput
from waitroom.events.drafts import TYPES
from waitroom.operations import webhooks
from waitroom.server.operator.page import AdminForm, AdminPage, Page, PageRoute
from waitroom.server.pages.route import redirect

router = APIRouter(prefix="/admin/webhooks", route_class=PageRoute, include_in_schema=False)
WebhookId = Annotated[str, Path(max_length=64)]


@router.get("")
async def list_webhooks(page: AdminPage) -> Response:
    """Show all webhooks, and how their deliveries go."""
    return await _list(page)


@router.post("")
async def create_webhook(
    page: AdminForm,
    url: Annotated[str, Form(max_length=2_000)] = "",
    rooms: Annotated[str, Form(max_length=4_000)] = "",
    types: Annotated[list[str], Form(max_length=50)] = [],  # noqa: B006 - a default for FastAPI
) -> Response:
    """Make a webhook; this answer is the only place where its secret is shown."""
    names = rooms.replace(",", " ").split()
    try:
        hook = await webhooks.create(page.server.engine, page.trail, url.strip(), names, types)
    except InvalidInput as error:
        return await _list(page, 422, url=url, rooms=rooms, chosen=types, error=str(error))
    return page.html("operator/webhooks/made.html", 201, webhook=hook)


@router.post("/{webhook_id}/off")
async def switch_off(page: AdminForm, webhook_id: WebhookId) -> Response:
    """Switch a webhook off: nothing is sent until it is on again."""
    await webhooks.switch(page.server.engine, page.trail, webhook_id, enabled=False)
    return redirect("/admin/webhooks")


@router.post("/{webhook_id}/on")
async def switch_on(page: AdminForm, webhook_id: WebhookId) -> Response:
    """Switch a webhook on: what happens from now on is sent."""
    await webhooks.switch(page.server.engine, page.trail, webhook_id, enabled=True)
    return redirect("/admin/webhooks")


@router.post("/{webhook_id}/rotate")
async def rotate_webhook(page: AdminForm, webhook_id: WebhookId) -> Response:
    """Make a new secret, and show it once."""
    hook = await webhooks.rotate(page.server.engine, page.trail, webhook_id)
    return page.html("operator/webhooks/made.html", webhook=hook)


@router.post("/{webhook_id}/test")
async def send_test(page: AdminForm, webhook_id: WebhookId) -> Response:
    """Send a test message, and show the result."""
    error = await webhooks.send_test(page.server.engine, webhook_id)
    return await _list(page, tested=webhook_id, outcome=error)


@router.get("/{webhook_id}/delete")
async def confirm_removal(page: AdminPage, webhook_id: WebhookId) -> Response:
    """Say what a removal does; nothing is changed yet."""
    hook = await page.server.engine.webhooks.get(webhook_id)
    return page.html("operator/webhooks/delete.html", webhook=hook)


@router.post("/{webhook_id}/delete")
async def delete_webhook(page: AdminForm, webhook_id: WebhookId) -> Response:
    """Remove a webhook."""
    await webhooks.remove(page.server.engine, page.trail, webhook_id)
    return redirect("/admin/webhooks")


async def _list(page: Page, status: int = 200, **values: object) -> Response:
    defaults = {"url": "", "rooms": "", "chosen": (), "error": "", "tested": "", "outcome": ""}
    return page.html(
        "operator/webhooks/list.html",
        status,
        standings=await webhooks.standings(page.server.engine),
        archive_error=await page.server.engine.outbox.archive_error(),
        types=TYPES[:-1],  # a gap is always sent
        now_ms=int(time.time() * 1000),
        **(defaults | values),
    )
