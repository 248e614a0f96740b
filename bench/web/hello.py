"""A Starlette hello world, with the gate in front of it if `GATE_URL` is set."""

from __future__ import annotations

import os
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from waitroom.gates.asgi import WaitroomGate

ROOM = "hello"


async def _hello(_: Request) -> PlainTextResponse:
    return PlainTextResponse("hello, world")


def site() -> Any:
    """Return the site without a gate."""
    return Starlette(routes=[Route("/", PlainTextResponse("up")), Route("/hello", _hello)])


def gated(url: str) -> WaitroomGate:
    """Return the site behind its gate."""
    return WaitroomGate(site(), url=url, rules={"/hello": ROOM})


_URL = os.environ.get("GATE_URL")
app = gated(_URL) if _URL else site()
