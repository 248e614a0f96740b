"""Every state of the waiting page, made without a room: for checks that cover all of them."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from playwright.async_api import Page

from tests.browser.stage import Stage
from waitroom.estimate.methods import Wait
from waitroom.models import BeforeOpen, Mode, Policy
from waitroom.moments import from_ms
from waitroom.server.http.answers import moment
from waitroom.server.pages.locales import Locales, load_locales
from waitroom.server.waiting.faces import Face
from waitroom.server.waiting.page import render
from waitroom.server.waiting.view import PageView

POLICY = Policy(title="Aurora Live", ready="Have your card ready.", max_defers=2, colour="#7a2ff0")
ETA = Wait(480, 540, 660)


def room_view(policy: Policy) -> dict[str, Any]:
    """Return the public view of a room, as far as the script reads it."""
    return {
        "title": policy.title,
        "message": policy.message,
        "message_at": None,
        "ready": policy.ready,
        "go_to": policy.go_to,
        "footer": policy.footer,
        "help_link": policy.help_link,
        "mode": str(policy.mode),
        "opens_at": moment(policy.opens_at_ms),
        "before_open": str(policy.before_open),
        "holding": False,
        "changed_at": None,
    }


def ticket_view(state: str, **more: Any) -> dict[str, Any]:
    """Return a ticket's view; its next poll is far away."""
    ticket = {"state": state, "position": None, "waiting": 5_021, "eta_s": None}
    return ticket | {"poll_after_ms": 60_000} | more


def waiting(base: PageView, position: int = 1_234, eta: Wait | None = ETA) -> PageView:
    """Return the page of somebody who waits."""
    body = ticket_view("waiting", position=position, eta_s=eta._asdict() if eta else None)
    return replace(
        base,
        face=Face.WAITING,
        holds=True,
        position=position,
        waiting=5_021,
        start=3_000,
        eta=eta,
        ticket=body,
    )


def faces(lang: str = "en", locales: Locales | None = None) -> Iterator[tuple[str, PageView]]:
    """Yield each state by name, and the optional parts of a waiting page."""
    now_ms = int(time.time() * 1000)
    base = PageView(
        room="aurora",
        face=Face.JOIN,
        now_ms=now_ms,
        nonce="of-a-test",
        text=(locales or load_locales(None))[lang],
        policy=POLICY,
        view=room_view(POLICY),
    )
    for face in Face:
        if face not in (Face.SOON, Face.WAITING, Face.CALLED, Face.INSIDE):
            yield str(face), replace(base, face=face)
    yield "waiting", waiting(base)
    paused = POLICY.change(mode=Mode.PAUSED)
    yield "paused", waiting(replace(base, policy=paused, view=room_view(paused)), eta=None)
    early = POLICY.change(opens_at=from_ms(now_ms + 200_000_000), before_open=BeforeOpen.DRAW)
    soon = replace(base, face=Face.SOON, policy=early, view=room_view(early), holds=True)
    yield "soon", replace(soon, ticket=ticket_view("waiting"))
    by_ms = now_ms + 291_000
    called = ticket_view("called", enter_by=moment(by_ms))
    yield "called", replace(base, face=Face.CALLED, holds=True, enter_by_ms=by_ms, ticket=called)
    inside = ticket_view("inside", session_ends_at=moment(by_ms))
    leads = replace(base, policy=POLICY.change(go_to="/shop"))
    yield "inside", replace(leads, face=Face.INSIDE, session_ends_at_ms=by_ms, ticket=inside)


async def put(page: Page, stage: Stage, view: PageView) -> None:
    """Show a page that was made here; its style and script come from the server."""
    address = stage.page_of(f"made-{view.face}")
    await page.goto("about:blank")  # an open page would learn that there is no room
    await page.unroute_all()
    # The room does not exist, and a page that learns this would say so.
    await page.route("**/v1/**", lambda route: route.abort())
    await page.route(
        address, lambda route: route.fulfill(body=render(view), content_type="text/html")
    )
    await page.goto(address)
