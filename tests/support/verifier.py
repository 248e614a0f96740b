"""A siteverify service of our own: a real server that speaks the protocol of Turnstile.

It gives tokens by the script of its widget, or by `token`, verifies each once, and can be slow or
broken.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import secrets
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs

SECRET, SITE_KEY = "secret-of-tests", "site-key-of-tests"
WIDGET = """
window.turnstile = {
  render(element, { sitekey, action, callback }) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = "I am a person";
    button.addEventListener("click", async () => {
      const body = JSON.stringify({ sitekey, action });
      const answer = await fetch(new URL("/token", SERVICE), { method: "POST", body });
      callback(await answer.text());
    });
    element.append(button);
  },
};
"""


@dataclass
class Verifier:
    """The service: what it was asked, and how it answers."""

    port: int = 0
    hostname: str = "wait.example"
    asked: list[dict[str, str]] = field(default_factory=list)
    answers: asyncio.Event = field(default_factory=asyncio.Event)
    """Set, unless it is slow."""

    broken: bytes | None = None
    """What it answers with 500, if it is broken."""

    unreadable: str | None = None
    """What it calls a token with a blank, with 400: services differ in how they do."""

    _actions: dict[str, str | None] = field(default_factory=dict)
    _spent: dict[str, str] = field(default_factory=dict)

    @property
    def base(self) -> str:
        """Its address."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def settings(self) -> dict[str, str]:
        """The settings of a Waitroom that uses it."""
        return {
            "siteverify_url": f"{self.base}/siteverify",
            "siteverify_secret": SECRET,
            "siteverify_site_key": SITE_KEY,
            "siteverify_script": f"{self.base}/widget.js",
            "siteverify_hostnames": self.hostname,
        }

    def token(self, action: str | None = "join") -> str:
        """Return what the widget gives somebody who passed."""
        token = secrets.token_urlsafe(24)
        self._actions[token] = action
        return token

    def verify(self, form: dict[str, str]) -> dict[str, Any]:
        """Judge a token: known, and not spent by another question."""
        self.asked.append(form)
        token, key = form.get("response", ""), form.get("idempotency_key", "")
        if form.get("secret") != SECRET:
            return {"success": False, "error-codes": ["invalid-input-secret"]}
        if token not in self._actions:
            return {"success": False, "error-codes": ["invalid-input-response"]}
        if self._spent.setdefault(token, key) != key:
            return {"success": False, "error-codes": ["timeout-or-duplicate"]}
        verdict = {"success": True, "hostname": self.hostname, "action": self._actions[token]}
        return {name: value for name, value in verdict.items() if value is not None}

    def answer(self, path: str, body: bytes) -> tuple[str, bytes, str]:
        """Return status, body and type of an answer."""
        if path == "/widget.js":
            script = WIDGET.replace("SERVICE", json.dumps(self.base))
            return "200 OK", script.encode(), "text/javascript"
        if path == "/token":
            return "200 OK", self.token(json.loads(body)["action"]).encode(), "text/plain"
        if self.broken is not None:
            return "500 Internal Server Error", self.broken, "text/plain"
        form = {name: values[0] for name, values in parse_qs(body.decode()).items()}
        if self.unreadable is not None and " " in form["response"]:
            self.asked.append(form)
            answer = {"success": False, "error-codes": [self.unreadable]}
            return "400 Bad Request", json.dumps(answer).encode(), "application/json"
        return "200 OK", json.dumps(self.verify(form)).encode(), "application/json"


@contextlib.asynccontextmanager
async def verifying() -> AsyncIterator[Verifier]:
    """Run the service on a free port."""
    service = Verifier()
    service.answers.set()
    held: set[asyncio.StreamWriter] = set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        held.add(writer)
        with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
            lines = [line.lower() for line in head.split("\r\n")]
            sizes = [line for line in lines if line.startswith("content-length:")]
            size = int(sizes[0].split(":")[1]) if sizes else 0
            body = await reader.readexactly(size)
            await service.answers.wait()
            status, content, kind = service.answer(head.split()[1], body)
            writer.write(
                f"HTTP/1.1 {status}\r\ncontent-type: {kind}\r\ncontent-length: {len(content)}\r\n"
                "access-control-allow-origin: *\r\nconnection: close\r\n\r\n".encode()
                + content
            )
            await writer.drain()
        held.discard(writer)
        writer.close()

    listener = await asyncio.start_server(serve, "127.0.0.1", 0)
    service.port = listener.sockets[0].getsockname()[1]
    try:
        yield service
    finally:
        service.answers.set()
        listener.close()
        for writer in held:
            writer.close()
        await asyncio.sleep(0.1)
