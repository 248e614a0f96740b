"""The gate for ASGI: FastAPI, Starlette, Litestar and every other.

    app.add_middleware(WaitroomGate, url="http://waitroom:8080", rules={"/concert": "concert"})

`finish(request)` ends the visitor's session from within a view.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from waitroom.gates.answers import Answer
from waitroom.gates.decision import Facts, Options
from waitroom.gates.gate import Gate, settled_async

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Message, Receive, Send], Awaitable[None]]
KEY = "waitroom"


class WaitroomGate:
    """ASGI middleware; takes `Options`, or their fields as keywords."""

    def __init__(self, app: App, options: Options | None = None, **fields: Any) -> None:
        self.app = app
        self.gate = Gate(options or Options(**fields))

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Pass a request on, or answer it."""
        if scope["type"] not in ("http", "websocket"):
            try:
                await self.app(scope, receive, send)
            finally:  # the lifespan is over
                self.gate.close()
            return
        found = await settled_async(self.gate, self.gate.judge(facts_of(scope)))
        if isinstance(found, Answer):
            await _answer(found, scope, send)
            return
        scope[KEY] = found

        def leave(message: Message) -> Awaitable[None]:
            if message["type"] in ("http.response.start", "websocket.accept"):
                cookies = found.leaving(message.get("status", 200))
                if cookies:
                    more = [(b"set-cookie", one.header().encode("latin-1")) for one in cookies]
                    message["headers"] = [*message.get("headers", ()), *more]
            return send(message)

        await self.app(scope, receive, send if found.held is None else leave)


def finish(request: Any) -> None:
    """End the session of the visitor who sent a request; their place goes to the next one."""
    visit = (request if isinstance(request, MutableMapping) else request.scope).get(KEY)
    if visit is not None:
        visit.finish()


def facts_of(scope: Message) -> Facts:
    """Return what is known of a request."""
    headers = scope["headers"]

    def header(name: str) -> str | None:
        wanted = name.encode("latin-1")
        found = [value for key, value in headers if key == wanted]
        if len(found) > 1:  # HTTP/2 may send cookies one by one
            return (b"; " if wanted == b"cookie" else b", ").join(found).decode("latin-1")
        return found[0].decode("latin-1") if found else None

    client = scope.get("client")
    scheme = {"ws": "http", "wss": "https"}.get(scope["scheme"], scope["scheme"])
    query = scope["query_string"].decode("latin-1")
    method = scope.get("method", "GET")
    return Facts(method, scope["path"], query, scheme, client[0] if client else "", header)


async def _answer(answer: Answer, scope: Message, send: Send) -> None:
    if scope["type"] == "websocket":  # before it was accepted, this is a 403
        await send({"type": "websocket.close", "code": 1008, "reason": "a pass is needed"})
        return
    lines = [(name.encode(), value.encode("latin-1")) for name, value in answer.lines()]
    await send({"type": "http.response.start", "status": answer.status, "headers": lines})
    body = b"" if scope["method"] == "HEAD" else answer.body
    await send({"type": "http.response.body", "body": body})
