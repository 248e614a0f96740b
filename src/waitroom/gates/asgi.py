"""The gate for ASGI: FastAPI, Starlette, Litestar and every other. `finish` is for views.

app.add_middleware(WaitroomGate, url="http://waitroom:8080", rules={"/concert": "concert"})
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from waitroom.gates.answers import Answer
from waitroom.gates.gate import Gate, Visit
from waitroom.gates.identities import identify_async
from waitroom.gates.judging import settled_async
from waitroom.gates.options import Options
from waitroom.gates.recall import Recall
from waitroom.gates.scopes import facts_of

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Message, Receive, Send], Awaitable[None]]
_STARTS = ("http.response.start", "websocket.accept")


class WaitroomGate:
    """ASGI middleware; takes `Options`, or their fields as keywords."""

    def __init__(self, app: App, /, options: Options | None = None, **fields: Any) -> None:
        self.app = app
        self.gate = Gate(options or Options(**fields))
        self._recall = Recall(self.gate)
        # What it recalls depends on the cookies alone, and who has signed in may not.
        self._recalls = self.gate.options.identity is None

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Pass a request on, or answer it."""
        recall = self._recall if scope["type"] == "http" and self._recalls else None
        if recall and (good_pass := recall.get(scope)):
            visit = Visit(self.gate, good_pass)
        elif scope["type"] in ("http", "websocket"):
            facts = facts_of(scope)
            await identify_async(self.gate, facts, scope)
            judged = self.gate.quick(facts) or await settled_async(self.gate, facts)
            if isinstance(judged, Answer):
                await _answer(judged, scope, send)
                return
            visit = judged
            if visit.good_pass is not None and recall:
                recall.put(scope, visit.good_pass)
        else:  # the lifespan of the app
            await self.app(scope, receive, send)
            self.gate.close()
            return
        scope["waitroom"] = visit

        def leave(message: Message) -> Awaitable[None]:
            if visit.carries and message["type"] in _STARTS:
                cookies = visit.leaving(message.get("status", 200), facts_of, scope)
                lines = [(b"set-cookie", cookie.header().encode("latin-1")) for cookie in cookies]
                message["headers"] = [*message.get("headers", ()), *lines]
            return send(message)

        await self.app(scope, receive, send if visit.good_pass is None else leave)


def finish(request: Any) -> None:
    """End the session of the visitor who sent a request; their place goes to the next one."""
    if visit := (request if isinstance(request, MutableMapping) else request.scope).get("waitroom"):
        visit.finish()


async def _answer(answer: Answer, scope: Message, send: Send) -> None:
    if scope["type"] == "websocket":  # not yet accepted, so the client sees a 403
        await send({"type": "websocket.close", "code": 1008, "reason": "a pass is needed"})
        return
    lines = [(name.encode(), value.encode("latin-1")) for name, value in answer.lines()]
    await send({"type": "http.response.start", "status": answer.status, "headers": lines})
    body = b"" if scope["method"] == "HEAD" else answer.body
    await send({"type": "http.response.body", "body": body})
