"""A push service for tests, over TLS on loopback, and browsers that can read its messages."""

from __future__ import annotations

import asyncio
import contextlib
import json
import secrets
import ssl
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import http_ece  # type: ignore[import-untyped]
import jwt
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec

from tests.server.process.test_parent import certificate
from waitroom.push.subscription import PushHosts, Subscription, from_base64url, to_base64url

CONTACT = "mailto:ops@example.com"


class Browser:
    """A subscribed browser: only it can read its messages."""

    def __init__(self, endpoint: str) -> None:
        self.endpoint = endpoint
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._auth = secrets.token_bytes(16)

    @property
    def json(self) -> dict[str, Any]:
        """Its PushSubscription, as `toJSON` writes it."""
        point = self._key.public_key().public_bytes(
            serialization.Encoding.X962, serialization.PublicFormat.UncompressedPoint
        )
        keys = {"p256dh": to_base64url(point), "auth": to_base64url(self._auth)}
        return {"endpoint": self.endpoint, "expirationTime": None, "keys": keys}

    def subscription(self, hosts: PushHosts, lang: str = "en") -> Subscription:
        """Return what the server stores about it."""
        keys = self.json["keys"]
        return Subscription.checked(hosts, self.endpoint, keys["p256dh"], keys["auth"], lang)

    def read(self, body: bytes) -> dict[str, str]:
        """Decrypt a message."""
        text = http_ece.decrypt(
            body, private_key=self._key, auth_secret=self._auth, version="aes128gcm"
        )
        message: dict[str, str] = json.loads(text)
        return message


@dataclass
class Delivery:
    """One message, as received."""

    path: str
    headers: Mapping[str, str]
    body: bytes

    def claims(self, public: str, origin: str) -> dict[str, Any]:
        """Verify the signature as a push service does, and return its claims."""
        scheme, token, key = self.headers["authorization"].split(" ")
        assert ("vapid", f"k={public}") == (scheme, key)
        point = from_base64url(key.removeprefix("k="))
        verifying = ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), point)
        text = token.removeprefix("t=").removesuffix(",")
        claims: dict[str, Any] = jwt.decode(text, verifying, ["ES256"], audience=origin)
        return claims


@dataclass
class PushService:
    """Receives messages. `answers` are (status, headers) for the next ones; the rest get 201."""

    certificate: Path
    port: int = 0
    answers: list[tuple[int, str]] = field(default_factory=list)
    got: list[Delivery] = field(default_factory=list)
    _news: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def origin(self) -> str:
        """The audience that signatures name."""
        return f"https://127.0.0.1:{self.port}"

    @property
    def hosts(self) -> PushHosts:
        """The list of allowed services that contains only this one."""
        return PushHosts.from_text(f"127.0.0.1:{self.port}")

    def browser(self, name: str = "a") -> Browser:
        """Return a browser that subscribed here."""
        return Browser(f"{self.origin}/{name}")

    @property
    def messages(self) -> list[Delivery]:
        """Each message once: a sender on a busy machine may give up too early and send it again."""
        return list({delivery.body: delivery for delivery in self.got}.values())

    async def until(self, count: int, path: str = "") -> list[Delivery]:
        """Wait until this many messages have arrived, for one browser or for all."""
        async with asyncio.timeout(90):
            while True:
                got = [delivery for delivery in self.messages if path in ("", delivery.path)]
                if len(got) >= count:
                    return got
                self._news.clear()
                await self._news.wait()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Take one request per connection; clients that hang up early are forgotten."""
        with contextlib.closing(writer), contextlib.suppress(EOFError, OSError):
            await self._take(reader, writer)

    async def _take(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        first, *lines = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
        pairs = (line.split(": ", 1) for line in lines if line)
        headers = {name.lower(): value for name, value in pairs}
        body = await reader.readexactly(int(headers["content-length"]))
        self.got.append(Delivery(first.split(" ")[1], headers, body))
        status, more = self.answers.pop(0) if self.answers else (201, "")
        self._news.set()
        writer.write(f"HTTP/1.1 {status} X\r\n{more}content-length: 0\r\n\r\n".encode())
        await writer.drain()


@contextlib.asynccontextmanager
async def push_service(folder: Path) -> AsyncIterator[PushService]:
    """Run a push service; trust it with SSL_CERT_FILE."""
    cert, key = certificate(folder)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(cert, key)
    service = PushService(cert)
    server = await asyncio.start_server(service.serve, "127.0.0.1", 0, ssl=context)
    service.port = server.sockets[0].getsockname()[1]
    try:
        yield service
    finally:
        server.close()
        await server.wait_closed()
