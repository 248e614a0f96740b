"""Webhooks on the operator page: an admin sees how they go, and makes, tests and removes them."""

from __future__ import annotations

import time
from typing import Annotated

from fastapi import APIRouter, Form, Path, Request, Response

from waitroom.credentials.roles import Role
from waitroom.errors import InvalidInput
from waitroom.events.drafts import TYPES
from waitroom.operations import webhooks
from waitroom.server.context import Here
from waitroom.server.operator.page import Page, PageRoute
from waitroom.server.pages.route import redirect

router = APIRouter(prefix="/admin/webhooks", route_class=PageRoute, include_in_schema=False)
WebhookId = Annotated[str, Path(max_length=64)]
Token = Annotated[str, Form(max_length=100)]


@router.get("")
async def list_webhooks(server: Here, request: Request) -> Response:
    """Show all webhooks, and how each goes."""
    return await _list(await Page.of(server, request, Role.ADMIN))


@router.post("")
async def create_webhook(
    server: Here,
    request: Request,
    url: Annotated[str, Form(max_length=2_000)] = "",
    rooms: Annotated[str, Form(max_length=4_000)] = "",
    types: Annotated[list[str], Form(max_length=50)] = [],  # noqa: B006 - of the framework
    token: Token = "",
) -> Response:
    """Make a webhook; this answer is the only place where its secret is shown."""
    page = await Page.of(server, request, Role.ADMIN)
    page.check(token)
    names = rooms.replace(",", " ").split()
    try:
        hook = await webhooks.create(server.engine, page.trail, url.strip(), names, types)
    except InvalidInput as error:
        return await _list(page, 422, url=url, rooms=rooms, chosen=types, error=str(error))
    return page.html("operator/webhook_made.html", 201, webhook=hook)


@router.post("/{webhook_id}/rotate")
async def rotate_webhook(
    server: Here, request: Request, webhook_id: WebhookId, token: Token = ""
) -> Response:
    """Make a new secret, and show it once."""
    page = await Page.of(server, request, Role.ADMIN)
    page.check(token)
    hook = await webhooks.rotate(server.engine, page.trail, webhook_id)
    return page.html("operator/webhook_made.html", webhook=hook)


@router.post("/{webhook_id}/test")
async def send_test(
    server: Here, request: Request, webhook_id: WebhookId, token: Token = ""
) -> Response:
    """Send a test message, and say how it went."""
    page = await Page.of(server, request, Role.ADMIN)
    page.check(token)
    error = await webhooks.send_test(server.engine, webhook_id)
    return await _list(page, tested=webhook_id, outcome=error)


@router.get("/{webhook_id}/delete")
async def confirm_removal(server: Here, request: Request, webhook_id: WebhookId) -> Response:
    """Say what a removal does; nothing is changed yet."""
    page = await Page.of(server, request, Role.ADMIN)
    hook = await server.engine.webhooks.get(webhook_id)
    return page.html("operator/webhook_delete.html", webhook=hook)


@router.post("/{webhook_id}/delete")
async def delete_webhook(
    server: Here, request: Request, webhook_id: WebhookId, token: Token = ""
) -> Response:
    """Remove a webhook."""
    page = await Page.of(server, request, Role.ADMIN)
    page.check(token)
    await webhooks.remove(server.engine, page.trail, webhook_id)
    return redirect("/admin/webhooks")


async def _list(page: Page, status: int = 200, **values: object) -> Response:
    defaults = {"url": "", "rooms": "", "chosen": (), "error": "", "tested": "", "outcome": ""}
    return page.html(
        "operator/webhooks.html",
        status,
        standings=await webhooks.standings(page.server.engine),
        archive_error=await page.server.engine.outbox.archive_error(),
        types=TYPES[:-1],  # a gap is always told
        now_ms=int(time.time() * 1000),
        **(defaults | values),
    )
