"""The key by which push services know us (VAPID, RFC 8292): one for all rooms, for years.

Browsers bind a subscription to it, so unlike the keys of passes it is never rotated: a new key ends
every subscription. It is given as PEM, or made from the oldest ticket secret, which stays when a
newer one is put in front.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Self

import jwt
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from waitroom.errors import InvalidInput
from waitroom.push.subscription import to_base64url

LIFE_S = 12 * 3600
"""How long a signature is valid; push services accept at most a day."""

_ORDER_P256 = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551
_MOST_SIGNED = 64


class VapidKey:
    """Signs for us: once for each push service, not for each message."""

    def __init__(self, private: ec.EllipticCurvePrivateKey, contact: str) -> None:
        if not re.fullmatch(r"(mailto:[^\s@]+@[^\s@]+|https://\S+)", contact):
            raise InvalidInput("push", "must be a contact: mailto:you@example.com or https://…")
        self._private = private
        self._contact = contact
        self._signed: dict[str, tuple[int, str]] = {}
        point = private.public_key().public_bytes(
            serialization.Encoding.X962, serialization.PublicFormat.UncompressedPoint
        )
        self.public = to_base64url(point)
        """The key with which a browser subscribes."""

    @classmethod
    def derived(cls, secrets: str, contact: str) -> Self:
        """Make the key from the oldest ticket secret."""
        oldest = [part for part in re.split(r"[,\s]+", secrets) if part][-1]
        seed = HKDF(hashes.SHA256(), 48, salt=b"waitroom", info=b"waitroom-push 1").derive(
            oldest.encode(errors="surrogateescape")
        )
        # 128 bits more than the order leave a negligible bias (FIPS 186-5, A.2.1).
        number = int.from_bytes(seed, "big") % (_ORDER_P256 - 1) + 1
        return cls(ec.derive_private_key(number, ec.SECP256R1()), contact)

    @classmethod
    def from_pem(cls, given: str, contact: str) -> Self:
        """Read a private P-256 key: PEM, or the path of a PEM file."""
        try:
            pem = given.encode() if "-----BEGIN" in given else Path(given).read_bytes()
            private = serialization.load_pem_private_key(pem, None)
        except (OSError, ValueError, TypeError):
            raise InvalidInput("push_key", "is no private key in PEM that can be read") from None
        if not isinstance(private, ec.EllipticCurvePrivateKey) or private.curve.name != "secp256r1":
            raise InvalidInput(
                "push_key", "must be of P-256: openssl ecparam -name prime256v1 -genkey -noout"
            )
        return cls(private, contact)

    def authorization(self, origin: str, now_s: int) -> str:
        """Return the Authorization header for a push service."""
        until, token = self._signed.get(origin, (0, ""))
        if until - now_s < LIFE_S // 2:
            until = now_s + LIFE_S
            claims = {"aud": origin, "exp": until, "sub": self._contact}
            token = jwt.encode(claims, self._private, "ES256")
            if len(self._signed) >= _MOST_SIGNED:
                self._signed.clear()
            self._signed[origin] = (until, token)
        return f"vapid t={token}, k={self.public}"
