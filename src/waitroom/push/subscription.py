"""A browser's subscription: where its push service accepts messages, and the encryption keys.

All of it comes from visitors. Endpoints are https, at a listed push service, and bounded; we never
ask anything of them except to take an encrypted message.
"""

from __future__ import annotations

import json
import re
from base64 import urlsafe_b64decode, urlsafe_b64encode
from binascii import Error as Base64Error
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Self
from urllib.parse import urlsplit

from cryptography.hazmat.primitives.asymmetric import ec

from waitroom.errors import InvalidInput

LONGEST_ENDPOINT = 1_024
_LONGEST_KEY = 100
_AUTH_BYTES = 16
_HTTPS = 443
_PLAIN = re.compile(r"[!-\[\]-~]+", re.ASCII)  # printable, without space and backslash
_HOST = re.compile(r"[a-z0-9.-]+(:[0-9]{1,5})?", re.ASCII)


@dataclass(frozen=True, slots=True)
class Subscription:
    """Where to send, with which keys, and in which language."""

    endpoint: str
    p256dh: str
    auth: str
    lang: str

    @classmethod
    def checked(cls, hosts: PushHosts, endpoint: str, p256dh: str, auth: str, lang: str) -> Self:
        """Return the subscription if all of it can be used; an error names the field."""
        hosts.check(endpoint)
        try:
            ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), from_base64url(p256dh))
        except ValueError:
            raise InvalidInput("keys.p256dh", "is not a point of P-256 in base64url") from None
        if len(_bytes("keys.auth", auth)) != _AUTH_BYTES:
            raise InvalidInput("keys.auth", f"is not {_AUTH_BYTES} bytes in base64url")
        return cls(endpoint, p256dh, auth, lang)

    @classmethod
    def from_text(cls, text: str) -> Self:
        """Read what `to_text` wrote."""
        return cls(*json.loads(text))

    def to_text(self) -> str:
        """Return the subscription as text to store."""
        return json.dumps([self.endpoint, self.p256dh, self.auth, self.lang])

    @property
    def origin(self) -> str:
        """The push service, as named in the audience of our signature."""
        url = urlsplit(self.endpoint)
        return f"{url.scheme}://{url.netloc}"


class PushHosts:
    """The push services that may be used: `fcm.googleapis.com`, `*.push.apple.com`, `host:1`."""

    def __init__(self, names: Iterable[str]) -> None:
        self._names = frozenset(name.strip().lower() for name in names if name.strip())

    @classmethod
    def from_text(cls, text: str) -> Self:
        """Read a list split by commas."""
        return cls(text.split(","))

    def check(self, endpoint: str) -> None:
        """Refuse an address that is not https, or not at a listed push service."""
        if len(endpoint) > LONGEST_ENDPOINT or not _PLAIN.fullmatch(endpoint):
            raise InvalidInput("endpoint", f"is no URL of at most {LONGEST_ENDPOINT} characters")
        try:
            url = urlsplit(endpoint)
            host, port = url.hostname or "", url.port or _HTTPS
        except ValueError:
            raise InvalidInput("endpoint", "is not a URL") from None
        # Anything else in a host (a user name, `;`) may be read in two ways.
        plain = _HOST.fullmatch(url.netloc.lower())
        if url.scheme != "https" or not plain or not self._has(host, port):
            raise InvalidInput("endpoint", "is not https at a push service of `push_hosts`")

    def _has(self, host: str, port: int) -> bool:
        if f"{host}:{port}" in self._names:
            return True
        parts = host.split(".")
        wider = {f"*.{'.'.join(parts[n:])}" for n in range(1, len(parts))}
        return port == _HTTPS and not self._names.isdisjoint({host, *wider})


def to_base64url(raw: bytes) -> str:
    """Return bytes as base64url without padding, as Web Push writes them."""
    return urlsafe_b64encode(raw).rstrip(b"=").decode("ascii")


def from_base64url(text: str) -> bytes:
    """Read base64url with or without padding; ValueError if it is not base64url."""
    if len(text) > _LONGEST_KEY:
        raise ValueError("longer than any key")
    plain = text.rstrip("=")
    return urlsafe_b64decode(plain + "=" * (-len(plain) % 4))


def _bytes(field: str, text: str) -> bytes:
    try:
        return from_base64url(text)
    except (ValueError, Base64Error):
        raise InvalidInput(field, "is not base64url") from None
