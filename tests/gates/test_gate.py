"""A gate without a framework: what it answers, what it asks Waitroom, and what it leaves alone."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Iterator

import pytest

from tests.gates.conftest import Sign
from tests.support.serving import Serving
from waitroom.gates import answers
from waitroom.gates.answers import Answer
from waitroom.gates.facts import Facts
from waitroom.gates.gate import Carries, Gate, Visit
from waitroom.gates.judging import settled, settled_async
from waitroom.gates.options import Options
from waitroom.passes import PassKeys


def facts(text: str | None = None, method: str = "GET") -> Facts:
    """Return a request for the protected page, perhaps with a pass."""
    headers = {"host": "shop.test", "cookie": text and f"waitroom-pass-concert={text}"}
    return Facts(method, "/concert", "", "http", "127.0.0.1", headers.get)


@pytest.fixture
def gate(waitroom: Serving) -> Iterator[Gate]:
    """Return the gate of a site on which `/concert` is protected and an order ends the visit."""
    options = Options(
        waitroom.base, {"/concert": "concert"}, finish=["POST /concert"], renew=False, deadline_s=5
    )
    gate = Gate(options)
    yield gate
    gate.close()


async def test_threads_and_loops_judge_alike(gate: Gate, sign: Sign) -> None:
    """A pass is valid for both, and without one both lead to the waiting page."""
    good = facts(sign())
    for outcome in (settled(gate, good), await settled_async(gate, good)):
        assert isinstance(outcome, Visit)
        assert outcome.good_pass is not None
        assert "concert" == outcome.good_pass.room
    for outcome in (settled(gate, facts()), await settled_async(gate, facts())):
        assert isinstance(outcome, Answer)
        assert 303 == outcome.status


def test_known_keys_need_no_call(gate: Gate, sign: Sign) -> None:
    """Once it has the keys, a gate lets pass holders in without asking anybody."""
    assert None is gate.quick(facts(sign())), "it has no keys yet"
    settled(gate, facts(sign()))
    gate.due_at = math.inf  # what is due once a second is not under test
    calls = gate.remote.calls
    for _ in range(20):
        visit = gate.quick(facts(sign()))
        assert visit is not None
        assert [] == visit.leaving(200, lambda of: of, facts())
    assert calls == gate.remote.calls


def test_forgers_cost_few_calls(gate: Gate) -> None:
    """Passes with unknown keys are looked up a few times, and then refused at once."""
    began = time.monotonic()
    for number in range(200):
        keys = PassKeys.derive(f"{number:032}")
        text = keys.sign("concert", "t", 7, 1_800_000_000, 4_000_000_000, "test")
        outcome = settled(gate, facts(text))
        assert isinstance(outcome, Answer)
    assert gate.remote.calls <= 15 + 3 * (time.monotonic() - began), "about two a second"


@pytest.mark.parametrize(("status", "cookies"), [(200, ["", ""]), (303, ["", ""]), (422, [])])
def test_an_order_ends_the_visit(
    gate: Gate, sign: Sign, status: int, cookies: list[str], make_room: Callable[..., str]
) -> None:
    """The site's answer decides: a refused form ends nothing."""
    make_room()
    visit = settled(gate, facts(sign(), "POST"))
    assert isinstance(visit, Visit)
    left = visit.leaving(status, lambda of: of, facts())
    assert cookies == [cookie.value for cookie in left]
    assert bool(cookies) == (visit.carries is Carries.ENDED)


def test_a_newer_waitroom_cannot_overwrite_a_problem() -> None:
    """Members that a ticket shares with a problem document do not replace the document's own."""
    answer = answers.problem(429, "waiting", "wait", {"code": "K7Q-4M2", "title": "x", "room": "r"})
    document = json.loads(answer.body)
    expected = {"code": "waiting", "title": "Please wait", "room": "r"}
    assert expected.items() <= document.items()
