"""The recall cache: a repeated request is let through, as long as nothing has changed."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.gates.conftest import Sign
from tests.support.servers import wait_for
from tests.support.serving import Serving
from waitroom.gates.facts import Facts
from waitroom.gates.gate import Gate, Visit
from waitroom.gates.judging import settled
from waitroom.gates.options import Options
from waitroom.gates.recall import Recall
from waitroom.gates.scopes import facts_of
from waitroom.passes import PassKeys


def scope(text: str, path: str = "/concert", query: bytes = b"", **more: Any) -> dict[str, Any]:
    """Return a request with a pass in its cookie."""
    cookie = f"waitroom-pass-concert={text}".encode()
    return {
        "method": "GET",
        "scheme": "http",
        "path": path,
        "query_string": query,
        "headers": [(b"cookie", cookie)],
        **more,
    }


@pytest.fixture
def make_gate(waitroom: Serving) -> Iterator[Callable[..., Gate]]:
    """Return a factory for gates that have their keys and need not check anything for a while."""
    made: list[Gate] = []

    def make(rules: Any = None, **fields: Any) -> Gate:
        rules = rules or {"/concert": "concert"}
        gate = Gate(Options(waitroom.base, rules, renew=False, deadline_s=5, **fields))
        made.append(gate)
        settled(gate, Facts("GET", "/", "", "http", "127.0.0.1", lambda _: None))
        wait_for(lambda: gate.verifier.ready, "the keys")
        gate.due_at = time.monotonic() + 600
        return gate

    yield make
    for gate in made:
        gate.close()


@pytest.fixture
def text(sign: Sign) -> str:
    """Return a pass with a long validity."""
    return sign(ends_s=int(time.time()) + 900)


def remembers(gate: Gate, recall: Recall, request: dict[str, Any], text: str) -> bool:
    """Record that a request was let through with a pass; tell whether it is known from then on."""
    good_pass = gate.verifier.read("concert", text, time.time())
    assert good_pass is not None
    recall.put(request, good_pass)
    return recall.get(request) is not None


def test_the_same_request_is_known(make_gate: Callable[..., Gate], text: str, sign: Sign) -> None:
    """By method, path, mount and cookie; a code in the address is always checked."""
    gate = make_gate()
    recall = Recall(gate)
    assert None is recall.get(scope(text))
    assert remembers(gate, recall, scope(text), text)
    good_pass = recall.get(scope(text, query=b"seat=7"))
    assert good_pass is not None
    assert text == good_pass.text
    assert None is recall.get(scope(text, "/concert/seats"))
    assert None is recall.get(scope(text, "/Concert"))
    assert None is recall.get(scope(text, method="POST"))
    assert None is recall.get(scope(text, root_path="/concert"))
    assert None is recall.get(scope(sign()))
    assert None is recall.get(scope(text, query=b"waitroom_code=x"))


def test_a_change_of_keys_or_sessions_ends_it(make_gate: Callable[..., Gate], text: str) -> None:
    """A decision made with other keys no longer counts, nor while something is due."""
    gate = make_gate()
    recall = Recall(gate)
    assert remembers(gate, recall, scope(text), text)
    gate.due_at = 0
    assert None is recall.get(scope(text))
    gate.due_at = time.monotonic() + 600
    assert recall.get(scope(text)) is not None
    gate.verifier.generation = object()
    assert None is recall.get(scope(text))


def test_it_ends_with_half_of_the_pass(
    make_gate: Callable[..., Gate], text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From then on a request may renew the session, so it is checked."""
    gate = make_gate()
    gate.due_at = math.inf
    recall = Recall(gate)
    assert remembers(gate, recall, scope(text), text)
    good_pass = recall.get(scope(text))
    assert good_pass is not None
    half_at = time.monotonic() + good_pass.half_s - time.time()
    monkeypatch.setattr("waitroom.gates.recall.monotonic", lambda: half_at - 5)
    assert recall.get(scope(text)) is good_pass
    monkeypatch.setattr("waitroom.gates.recall.monotonic", lambda: half_at + 5)
    assert None is recall.get(scope(text))


@pytest.mark.attack
def test_it_is_bounded(
    make_gate: Callable[..., Gate], text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Endless or ever longer paths do not fill the memory."""
    monkeypatch.setattr("waitroom.gates.recall._MOST", 10)
    gate = make_gate()
    recall = Recall(gate)
    for number in range(25):
        assert remembers(gate, recall, scope(text, f"/concert/{number}"), text)
        assert len(recall._known) <= 10
    assert not remembers(gate, recall, scope(text, "/concert/" + "x" * 5_000), text)
    assert not remembers(gate, recall, scope(text + "; x=" + "x" * 5_000), text)


def test_what_may_not_be_remembered(make_gate: Callable[..., Gate], text: str, sign: Sign) -> None:
    """A pass past its half, one that is not in the cookie, and a free path."""
    gate = make_gate()
    recall, now_s = Recall(gate), int(time.time())
    late, in_header = sign(now_s=now_s - 60, ends_s=now_s + 50), [(b"waitroom-pass", text.encode())]
    assert not remembers(gate, recall, scope(late), late)
    assert not remembers(gate, recall, scope(text, headers=in_header), text)
    assert not remembers(gate, recall, scope("another"), text)
    assert not remembers(gate, recall, scope(text, "/free"), text)
    assert {} == recall._known


def test_every_request_of_a_strict_gate_is_looked_at(
    make_gate: Callable[..., Gate], text: str
) -> None:
    """It asks Waitroom about each."""
    gate = make_gate(strict=True)
    assert not remembers(gate, Recall(gate), scope(text), text)


def test_a_request_that_ends_the_session_is_looked_at(
    make_gate: Callable[..., Gate], text: str
) -> None:
    """The others are known."""
    gate = make_gate(finish=["/concert/thanks"])
    recall = Recall(gate)
    assert not remembers(gate, recall, scope(text, "/concert/thanks"), text)
    assert remembers(gate, recall, scope(text, "/concert/seats"), text)


@pytest.mark.attack
def test_another_method_in_a_header_opens_no_other_room(
    make_gate: Callable[..., Gate], text: str
) -> None:
    """A method that the framework takes from a header decides, so this request is checked."""
    gate = make_gate([("/book", "concert", ["POST"]), ("/book", "backstage", ["PUT"])])
    recall = Recall(gate)

    def request(override: bytes) -> dict[str, Any]:
        plain = scope(text, "/book")
        return {**plain, "headers": [*plain["headers"], (b"x-http-method-override", override)]}

    assert gate.quick(facts_of(request(b"POST"))) is not None
    assert None is gate.quick(facts_of(request(b"PUT"))), "there is no pass for that room"
    assert not remembers(gate, recall, request(b"POST"), text)
    assert None is recall.get(request(b"PUT"))
    # Nor a plain request, which would stand for the same one with a header.
    assert not remembers(gate, recall, scope(text, "/book", method="POST"), text)


@pytest.mark.attack
def test_another_method_in_a_header_ends_the_session(
    make_gate: Callable[..., Gate], text: str
) -> None:
    """A remembered GET does not count for a GET that a site reads as an order."""
    gate = make_gate({"/concert": "concert"}, finish=["POST /concert/pay"])
    assert not remembers(gate, Recall(gate), scope(text, "/concert/pay"), text)


@pytest.mark.attack
def test_another_mount_opens_no_other_room(make_gate: Callable[..., Gate], text: str) -> None:
    """The same path below another mount may belong to another room."""
    gate = make_gate({"/tours": "concert", "/tours/concert/backstage": "backstage"})
    recall, path = Recall(gate), "/tours/tours/concert/backstage"
    assert remembers(gate, recall, scope(text, path, root_path=""), text)
    mounted = scope(text, path, root_path="/tours")
    assert None is gate.quick(facts_of(mounted)), "there is no pass for that room"
    assert None is recall.get(mounted)


@pytest.mark.attack
def test_a_key_that_goes_while_a_request_is_judged(
    make_gate: Callable[..., Gate], text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The keys arrive on another thread: a decision with the old ones is not remembered."""
    gate = make_gate()
    recall, quick = Recall(gate), gate.quick

    def slowly(facts: Facts) -> Visit | None:
        visit = quick(facts)
        assert gate.verifier.load(PassKeys.derive("another-secret-of-32-characters-").jwks())
        return visit

    monkeypatch.setattr(gate, "quick", slowly)
    assert not remembers(gate, recall, scope(text), text)
