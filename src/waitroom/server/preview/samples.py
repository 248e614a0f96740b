"""A sample of every face of the waiting page, with a room's own policy. Pure."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from waitroom.estimate.methods import Wait
from waitroom.models import BeforeOpen, Mode, Policy
from waitroom.moments import from_ms
from waitroom.server.waiting.faces import Face
from waitroom.server.waiting.view import PageView

_LINE: dict[str, Any] = {"holds": True, "position": 1_234, "waiting": 5_021, "start": 3_000}
_CODE = "K7Q-4M2"
_ETA = Wait(480, 540, 660)
_LEFT_MS = 291_000
_OPENS_MS = 200_000_000


def samples(base: PageView) -> dict[str, PageView]:
    """Return each face by name, in the order in which a visitor may see them.

    `base` gives room, policy and language; numbers and times are invented.
    """
    policy = (base.policy or Policy()).change(mode=Mode.OPEN, ends_at=None)
    base = replace(base, policy=policy, sample=True)
    until_ms = base.now_ms + _LEFT_MS
    waiting = replace(base, face=Face.WAITING, eta=_ETA, code=_CODE, **_LINE)
    paused = replace(waiting, eta=None, policy=policy.change(mode=Mode.PAUSED))
    called = replace(base, face=Face.CALLED, holds=True, code=_CODE)
    if policy.enter_within_s is not None:
        called = replace(called, enter_by_ms=until_ms)
    inside = replace(base, face=Face.INSIDE)
    if policy.session_s is not None:
        inside = replace(inside, session_ends_at_ms=until_ms)
    made = {
        "join": replace(base, face=Face.JOIN),
        "soon": _soon(base, policy),
        "waiting": waiting,
        "paused": paused,
        "called": called,
        "inside": inside,
    }
    return made | {str(face): replace(base, face=face) for face in Face if face not in made}


def _soon(base: PageView, policy: Policy) -> PageView:
    opens_ms = max(policy.opens_at_ms or 0, base.now_ms + _OPENS_MS)
    early = policy.change(opens_at=from_ms(opens_ms), **_queue(policy))
    refuses = early.before_open is BeforeOpen.REFUSE
    return replace(base, face=Face.SOON, policy=early, holds=not refuses)


def _queue(policy: Policy) -> dict[str, BeforeOpen]:
    """Return the change for a room that lets all in before the opening, so that it has a queue."""
    return {"before_open": BeforeOpen.WAIT} if policy.before_open is BeforeOpen.PASS else {}
