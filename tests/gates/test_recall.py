"""The recall cache: the same request again is let through, as long as nothing has changed."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import pytest

from tests.gates.conftest import Sign
from tests.support.serving import Serving
from waitroom.gates.decision import Facts, GoodPass
from waitroom.gates.gate import Gate, Visit
from waitroom.gates.judging import settled
from waitroom.gates.options import Options
from waitroom.gates.recall import Recall


def scope(text: str, path: str = "/concert", query: bytes = b"") -> dict[str, Any]:
    """Return a request with a pass in its cookie."""
    cookie = f"waitroom-pass-concert={text}".encode()
    return {"method": "GET", "path": path, "query_string": query, "headers": [(b"cookie", cookie)]}


@pytest.fixture
def gate(waitroom: Serving) -> Iterator[Gate]:
    """Return a gate that need not look at anything for a while."""
    gate = Gate(Options(waitroom.base, {"/concert": "concert"}, renew=False, deadline_s=5))
    yield gate
    gate.close()


def checked(gate: Gate, text: str) -> GoodPass:
    """Return a pass as the gate knows it."""
    headers = {"waitroom-pass": text}
    visit = settled(gate, Facts("GET", "/concert", "", "http", "127.0.0.1", headers.get))
    assert isinstance(visit, Visit)
    assert visit.good_pass is not None
    gate.due_at = time.monotonic() + 600
    return visit.good_pass


def test_the_same_request_is_known(gate: Gate, sign: Sign) -> None:
    """By method, path and cookie; a code in the address is always looked at."""
    text = sign(ends_s=int(time.time()) + 900)
    recall, good_pass = Recall(gate), checked(gate, text)
    assert None is recall.get(scope(text))
    recall.put(scope(text), good_pass)
    assert good_pass is recall.get(scope(text))
    assert None is recall.get(scope(text, "/concert/seats"))
    assert None is recall.get(scope(sign()))
    assert None is recall.get(scope(text, query=b"waitroom_code=x"))


def test_a_change_of_keys_or_sessions_ends_it(gate: Gate, sign: Sign) -> None:
    """What was decided with other keys does not count any more, nor while something is due."""
    text = sign(ends_s=int(time.time()) + 900)
    recall, good_pass = Recall(gate), checked(gate, text)
    recall.put(scope(text), good_pass)
    gate.due_at = 0
    assert None is recall.get(scope(text))
    gate.due_at = time.monotonic() + 600
    gate.verifier.generation += 1
    assert None is recall.get(scope(text))


def test_what_may_not_be_remembered(gate: Gate, sign: Sign) -> None:
    """A pass that is over, one from a header, and a cookie that is too long."""
    text = sign(ends_s=int(time.time()) + 900)
    recall, good_pass = Recall(gate), checked(gate, text)
    recall.put(scope(text), good_pass._replace(expires_s=time.time() - 1))
    recall.put(scope("another"), good_pass)
    recall.put(scope(text + "; x=" + "x" * 5_000), good_pass)
    assert {} == recall._known
