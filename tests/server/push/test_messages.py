"""Who is told what, and when nobody needs to be told any more."""

from __future__ import annotations

import json

import pytest

from waitroom.engine.push_subscriptions import CALLED, NEAR, Subscriber
from waitroom.estimate.methods import Wait
from waitroom.models import Policy, State
from waitroom.server.pages.locales import load_locales
from waitroom.server.push.messages import NEAR_S, due, message, over


def subscriber(state: State | None, *told: str, away: bool = False) -> Subscriber:
    """Return somebody at position 1 who was told part of it."""
    return Subscriber("id", "x", state, 1, away, frozenset(told))


def wait(likely: int) -> Wait:
    """Return an estimate."""
    return Wait(likely // 2, likely, likely * 2)


@pytest.mark.parametrize(
    ("who", "estimate", "kind"),
    [
        (subscriber(State.WAITING), wait(NEAR_S), None),
        (subscriber(State.WAITING), wait(NEAR_S - 1), NEAR),
        (subscriber(State.WAITING, away=True), wait(NEAR_S - 1), NEAR),
        (subscriber(State.WAITING, NEAR), wait(1), None),
        (subscriber(State.WAITING), None, None),
        (subscriber(State.CALLED), None, CALLED),
        (subscriber(State.CALLED, NEAR), wait(1), CALLED),
        (subscriber(State.CALLED, NEAR, CALLED), wait(1), None),
        (subscriber(State.INSIDE), None, None),
        (subscriber(None), wait(1), None),
    ],
)
def test_due(who: Subscriber, estimate: Wait | None, kind: str | None) -> None:
    """Near under three minutes, called when called, each once; never without an estimate."""
    assert kind == due(who, estimate)


def test_over() -> None:
    """Anybody inside or gone is forgotten; after a loss missing people may just not be back yet."""
    states = (State.WAITING, State.CALLED, State.INSIDE, None)
    assert [False, False, True, True] == [over(subscriber(at), holding=False) for at in states]
    assert [False, False, True, False] == [over(subscriber(at), holding=True) for at in states]


def test_words() -> None:
    """Messages name the event in the reader's language, and are worth delivering for a while."""
    locales, policy = load_locales(None), Policy(title="오로라 라이브", enter_within_s=90)
    near = message(NEAR, locales["ko"], "concert", policy)
    assert {
        "title": "곧 차례가 됩니다",
        "body": "오로라 라이브: 지금 페이지로 돌아오시면 순서가 유지됩니다.",
    } == json.loads(near.to_bytes())
    called = message(CALLED, locales["en"], "concert", Policy())
    assert ("It is your turn", "concert: Open the page and go in.") == (called.title, called.body)
    assert [NEAR_S, 90] == [near.ttl_s, message(CALLED, locales["en"], "c", policy).ttl_s]
