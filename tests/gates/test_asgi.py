"""What only ASGI has: WebSockets, the lifespan, cookies in pieces, and the shortcut."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from typing import Any

import pytest

from tests.gates.conftest import Sign
from tests.gates.sites import text_of
from tests.support.serving import Serving
from waitroom.gates.asgi import WaitroomGate, finish

Messages = list[dict[str, Any]]


async def _site(scope: Any, receive: Any, send: Any) -> None:
    if scope["type"] == "lifespan":
        await receive()
        await send({"type": "lifespan.startup.complete"})
    elif scope["type"] == "websocket":
        await send({"type": "websocket.accept"})
    else:
        if scope["path"] == "/concert/pay" or scope["query_string"] == b"pay":
            finish(scope)
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": text_of(scope["path"]).encode()})


@pytest.fixture
def gate(waitroom: Serving) -> Iterator[WaitroomGate]:
    """Return a site behind its gate, called without a server."""
    made = WaitroomGate(_site, url=waitroom.base, rules={"/concert": "concert"}, deadline_s=5)
    yield made
    made.gate.close()


async def call(
    gate: WaitroomGate,
    *cookies: str,
    kind: str = "http",
    path: str = "/concert",
    query: bytes = b"",
) -> Messages:
    """Send one request; return the answer."""
    sent: Messages = []

    async def receive() -> dict[str, Any]:
        return {"type": "lifespan.startup"}

    async def send(message: Any) -> None:
        sent.append(message)

    scope = {
        "type": kind,
        "scheme": "ws" if kind == "websocket" else "http",
        "path": path,
        "query_string": query,
        "headers": [(b"host", b"shop.test"), *((b"cookie", cookie.encode()) for cookie in cookies)],
        **({"method": "GET"} if kind == "http" else {}),
    }
    await gate(scope, receive, send)
    return sent


async def test_a_websocket_needs_a_pass_too(gate: WaitroomGate, sign: Sign) -> None:
    """Without one it is closed before it is accepted."""
    (refused,) = await call(gate, kind="websocket")
    assert ("websocket.close", 1008) == (refused["type"], refused["code"])
    (accepted,) = await call(gate, f"waitroom-pass-concert={sign()}", kind="websocket")
    assert "websocket.accept" == accepted["type"]


async def test_the_lifespan_goes_through(gate: WaitroomGate) -> None:
    """A gate ignores it."""
    assert [{"type": "lifespan.startup.complete"}] == await call(gate, kind="lifespan")


async def test_cookies_may_come_in_pieces(gate: WaitroomGate, sign: Sign) -> None:
    """As HTTP/2 sends them."""
    start, _ = await call(gate, "a=b", f"waitroom-pass-concert={sign()}", "c=d")
    assert 200 == start["status"]


async def test_the_short_way_ends_with_the_session(gate: WaitroomGate, sign: Sign) -> None:
    """A request that was let in before is not let in after its session was finished."""
    cookie = f"waitroom-pass-concert={sign()}"
    for _ in range(3):
        assert 200 == (await call(gate, cookie))[0]["status"]
    assert 1 == len(gate._recall._known)
    start = (await call(gate, cookie, path="/concert/pay"))[0]
    assert 2 == len([name for name, _ in start["headers"] if name == b"set-cookie"])
    assert 303 == (await call(gate, cookie))[0]["status"]


async def test_a_session_may_end_on_the_short_way(gate: WaitroomGate, sign: Sign) -> None:
    """The response to a known request still removes the cookies."""
    cookie = f"waitroom-pass-concert={sign()}"
    known = (await call(gate, cookie))[0]
    start = (await call(gate, cookie, query=b"pay"))[0]
    assert 1 == len(gate._recall._known)
    assert [] == known["headers"]
    assert 2 == len([name for name, _ in start["headers"] if name == b"set-cookie"])
    assert 303 == (await call(gate, cookie))[0]["status"]


async def test_the_short_way_ends_with_the_pass(
    gate: WaitroomGate, sign: Sign, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither is one whose pass is over, nor one with another cookie or path."""
    cookie = f"waitroom-pass-concert={sign()}"
    while not gate._recall._known:  # what took a second is not remembered
        assert 200 == (await call(gate, cookie))[0]["status"]
    assert 303 == (await call(gate, cookie.replace("concert=", "other=")))[0]["status"]
    assert 303 == (await call(gate, cookie[:-1]))[0]["status"]
    (key, (_, generation, good_pass)), *_ = gate._recall._known.items()
    gate._recall._known[key] = (0.0, generation, good_pass)
    monkeypatch.setattr("time.time", lambda: good_pass.expires_s + 9)
    assert 303 == (await call(gate, cookie))[0]["status"]


async def test_a_request_leaves_nothing_for_the_garbage_collector(
    gate: WaitroomGate, sign: Sign
) -> None:
    """No cycles: everything that a request created goes with it."""
    cookie = f"waitroom-pass-concert={sign()}"
    await call(gate, cookie)
    gc.collect()
    gc.disable()
    try:
        for _ in range(50):
            await call(gate, cookie)
        assert gc.collect() < 50
    finally:
        gc.enable()
