"""Which message is due for whom, and its text. Pure."""

from __future__ import annotations

import json
from dataclasses import dataclass

from waitroom.engine.push_subscriptions import CALLED, NEAR, Subscriber
from waitroom.estimate.methods import Wait
from waitroom.models import Policy, State
from waitroom.server.pages.text import Text

NEAR_S = 180
"""Below this wait somebody is told to come back: time enough to find the phone and the page."""

_LONGEST_TTL_S = 3_600


@dataclass(frozen=True, slots=True)
class Message:
    """One notification, and how long it is worth delivering."""

    title: str
    body: str
    ttl_s: int

    def to_bytes(self) -> bytes:
        """Return what the service worker reads."""
        return json.dumps({"title": self.title, "body": self.body}).encode()


def due(subscriber: Subscriber, wait: Wait | None) -> str | None:
    """Return the message that is due for somebody, unless they already had it."""
    if subscriber.state is State.CALLED:
        return None if CALLED in subscriber.messages else CALLED
    near = wait is not None and wait.likely < NEAR_S
    waits = subscriber.state is State.WAITING
    return NEAR if waits and near and NEAR not in subscriber.messages else None


def over(subscriber: Subscriber, *, holding: bool) -> bool:
    """Return whether a subscriber can be forgotten: inside, or gone.

    While admission holds after a loss, somebody missing may just not be back yet.
    """
    return subscriber.state is State.INSIDE or (subscriber.state is None and not holding)


def message(kind: str, text: Text, room: str, policy: Policy) -> Message:
    """Return a message in the language of its reader."""
    event = policy.title or room
    if kind == NEAR:
        title, body, ttl_s = text("push_near"), text("push_near_text"), NEAR_S
    else:
        title, body = text("called_title"), text("push_called_text")
        ttl_s = max(1, int(min(policy.enter_within_s or _LONGEST_TTL_S, _LONGEST_TTL_S)))
    return Message(title, f"{event}: {body}", ttl_s)
