"""Webhooks: make, list, switch, rotate, test and delete them."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from waitroom.cli.command import Session, Yes, command, group, option
from waitroom.cli.output import table
from waitroom.cli.text import moment
from waitroom.engine.webhooks import Webhook
from waitroom.errors import InvalidInput
from waitroom.operations import webhooks
from waitroom.operations.webhooks import Standing

app = typer.Typer(name="webhook")
Url = Annotated[str, typer.Argument(metavar="URL", help="Where events are sent.")]
Rooms = Annotated[str, option("Names, split by commas; all without it.", "NAMES", "--rooms")]
Types = Annotated[str, option("Types, split by commas; all without it.", "NAMES", "--types")]
WebhookId = Annotated[str, typer.Argument(metavar="ID", help="The id, as `webhook list` shows it.")]


@group(app)
def _about() -> None:
    """Send events of rooms to a service of yours, signed and in order.

    Example:

      waitroom webhook create https://example.com/hook --rooms concert
      waitroom webhook list
    """


@command(app)
async def create(cli: Session, url: Url, rooms: Rooms = "", types: Types = "") -> None:
    """Make a webhook, and show its secret once.

    Messages have the format of Standard Webhooks; check their signatures with the secret.

    Example:

      waitroom webhook create https://example.com/hook --rooms concert --types people.called
    """
    async with cli.engine() as engine:
        trail = cli.trail(engine)
        made = await webhooks.create(engine, trail, url, _words(rooms), _words(types))
    _show_secret(cli, made, f"Created webhook {made.id}. Its secret:")


@command(app, "list")
async def list_(cli: Session) -> None:
    """List all webhooks: what each gets, and how its deliveries go.

    Example:

      waitroom webhook list
    """
    async with cli.engine() as engine:
        standings = await webhooks.standings(engine)
    lines = table("id", "address", "state", "delivered", "late", "dropped", "last error")
    for each in standings:
        late = f"{each.late:,} ({each.oldest_ms // 60_000} min)" if each.late else "0"
        error = f"{moment(each.error_ms)} {each.error}" if each.error else ""
        lines.add_row(
            each.webhook.id,
            each.webhook.url,
            "on" if each.webhook.enabled else "off",
            f"{each.delivered:,}",
            late,
            f"{each.dropped:,}",
            error,
        )
    empty = "There are no webhooks yet; make one with `waitroom webhook create URL`."
    cli.out.show(
        {"webhooks": [_document(each) for each in standings]}, lines if standings else empty
    )


@command(app)
async def off(cli: Session, webhook_id: WebhookId) -> None:
    """Switch a webhook off: nothing is sent to it until it is switched on again.

    Example:

      waitroom webhook off 4be0a1c9d2
    """
    await _switch(cli, webhook_id, enabled=False)


@command(app)
async def on(cli: Session, webhook_id: WebhookId) -> None:
    """Switch a webhook on again. It gets what happens from now on, and is told what it missed.

    Example:

      waitroom webhook on 4be0a1c9d2
    """
    await _switch(cli, webhook_id, enabled=True)


async def _switch(cli: Session, webhook_id: str, *, enabled: bool) -> None:
    async with cli.engine() as engine:
        await webhooks.switch(engine, cli.trail(engine), webhook_id, enabled=enabled)
    word = "on" if enabled else "off"
    cli.out.show({"id": webhook_id, "enabled": enabled}, f"Webhook {webhook_id} is {word}.")


@command(app)
async def rotate(cli: Session, webhook_id: WebhookId) -> None:
    """Make a new secret, and show it once. For a day messages are signed with both.

    Example:

      waitroom webhook rotate 4be0a1c9d2
    """
    async with cli.engine() as engine:
        new = await webhooks.rotate(engine, cli.trail(engine), webhook_id)
    _show_secret(cli, new, f"The new secret of webhook {new.id}:")


@command(app)
async def test(cli: Session, webhook_id: WebhookId) -> None:
    """Send a message of the type `webhook.test` now, and say how it went.

    Example:

      waitroom webhook test 4be0a1c9d2
    """
    async with cli.engine() as engine:
        error = await webhooks.send_test(engine, webhook_id)
    if error:
        raise InvalidInput("webhook", f"did not take the message: {error}")
    cli.out.show({"error": ""}, f"Webhook {webhook_id} took the message.")


@command(app)
async def delete(cli: Session, webhook_id: WebhookId, yes: Yes = False) -> None:
    """Remove a webhook, with what still waits for it.

    Example:

      waitroom webhook delete 4be0a1c9d2
    """
    async with cli.engine() as engine:
        webhook = await engine.webhooks.get(webhook_id)
        cli.confirm(f"Remove webhook {webhook.id} to {webhook.url}?", yes)
        await webhooks.remove(engine, cli.trail(engine), webhook_id)
    cli.out.show({"deleted": webhook_id}, f"Removed webhook {webhook_id}.")


def _show_secret(cli: Session, webhook: Webhook, line: str) -> None:
    cli.out.show(
        {"secret": webhook.secret, **_document(Standing(webhook))},
        f"{line}\n",
        webhook.secret,
        "\nSave it now: it is not shown again.",
    )


def _words(text: str) -> list[str]:
    return [word.strip() for word in text.split(",") if word.strip()]


def _document(standing: Standing) -> dict[str, Any]:
    """Return a webhook as JSON, without its secret."""
    webhook = standing.webhook
    return {
        "id": webhook.id,
        "url": webhook.url,
        "rooms": list(webhook.rooms),
        "types": list(webhook.types),
        "created_ms": webhook.created_ms,
        "enabled": webhook.enabled,
        "switched_ms": webhook.switched_ms,
        "late": standing.late,
        "oldest_ms": standing.oldest_ms,
        "delivered": standing.delivered,
        "dropped": standing.dropped,
        "skipped": standing.skipped,
        "error": standing.error,
        "error_ms": standing.error_ms,
        "ok_ms": standing.ok_ms,
    }
