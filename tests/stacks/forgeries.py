"""Everything that is not a pass of the room, though it looks like one."""

from __future__ import annotations

import hmac
import json
import time
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Iterator
from typing import Any

import jwt
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature

from waitroom.passes import TYPE, PassKeys

_OTHERS = "somebody-elses-" + "o" * 32


def encoded(data: bytes | dict[str, Any]) -> str:
    """Return base64url without padding, as JOSE has it."""
    raw = data if isinstance(data, bytes) else json.dumps(data).encode()
    return urlsafe_b64encode(raw).rstrip(b"=").decode()


def altered(good: str) -> Iterator[str]:
    """Yield the pass with each of its characters changed, including the last bit of a byte."""
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    for at, old in enumerate(good):
        new = "A" if old == "." else letters[letters.index(old) ^ 1]
        yield good[:at] + new + good[at + 1 :]


def forgeries(secret: str, good: str, ticket: str, room: str) -> dict[str, str]:
    """Return texts that no gate may accept, by what is wrong with them."""
    ours, others = PassKeys.derive(secret), PassKeys.derive(_OTHERS)
    head, body, signature = good.split(".")
    kid = jwt.get_unverified_header(good)["kid"]
    claims = jwt.decode(good, options={"verify_signature": False})
    now = int(time.time())

    def signed(keys: PassKeys, header: dict[str, Any], **changes: Any) -> str:
        made = {name: value for name, value in (claims | changes).items() if value is not None}
        private = keys._first.private
        assert private is not None
        return jwt.encode(made, private, "ES256", {"kid": kid, "typ": TYPE} | header)

    def unsigned(algorithm: str, tail: str) -> str:
        return f"{encoded({'alg': algorithm, 'kid': kid, 'typ': TYPE})}.{body}.{tail}"

    def made_by(
        keys: PassKeys, at: str, began_s: int, ends_s: int, issuer: str = "waitroom"
    ) -> str:
        return keys.sign(at, claims["sub"], int(claims["jti"]), began_s, ends_s, issuer)

    forgeries = {
        "nothing": "",
        "no token": "a.b.c",
        "a ticket": ticket,
        "a ticket in three": f"{ticket}.{ticket}.{ticket}",
        "forged under our key's name": signed(others, {}),
        "another key": made_by(others, room, now, now + 600),
        "key brought along": signed(others, {"jwk": others.jwks()["keys"][0]}),
        "key elsewhere": signed(others, {"jku": "http://127.0.0.1:9/jwks.json"}),
        "expired": made_by(ours, room, now - 900, now - 60),
        "another deployment": made_by(ours, room, now, now + 600, "https://staging.example"),
        "another room": made_by(ours, "other", now, now + 600),
        "a later end": f"{head}.{encoded(claims | {'exp': now + 10**6})}.{signature}",
        "another kind": signed(ours, {"typ": "JWT"}),
        "no kind": signed(ours, {"typ": None}),
        "no end": signed(ours, {}, exp=None),
        "several rooms": signed(ours, {}, aud=["other", "else"]),
        "no room": signed(ours, {}, aud=None),
        "zeros": f"{head}.{body}.{encoded(bytes(64))}",
        "in DER": f"{head}.{body}.{encoded(_der(signature))}",
        "no signature": f"{head}.{body}.",
        "signature twice": f"{good}.{signature}",
    }
    for word in ("none", "None", "NONE", "nOnE", ""):
        forgeries[f"alg {word!r}"] = unsigned(word, "")
        forgeries[f"alg {word!r} with the signature"] = unsigned(word, signature)
    for name, key in _public_as_secret(ours):
        text = f"{encoded({'alg': 'HS256', 'kid': kid, 'typ': TYPE})}.{body}"
        forgeries[f"HS256 with {name}"] = (
            f"{text}.{encoded(hmac.digest(key, text.encode(), 'sha256'))}"
        )
    return forgeries


def _der(signature: str) -> bytes:
    raw = urlsafe_b64decode(signature + "==")
    return encode_dss_signature(int.from_bytes(raw[:32], "big"), int.from_bytes(raw[32:], "big"))


def _public_as_secret(keys: PassKeys) -> Iterator[tuple[str, bytes]]:
    """Yield what a careless library would use as the secret of an HMAC."""
    public, jwk = keys._first.public, keys.jwks()["keys"][0]
    info = serialization.PublicFormat.SubjectPublicKeyInfo
    yield "PEM", public.public_bytes(serialization.Encoding.PEM, info)
    yield "DER", public.public_bytes(serialization.Encoding.DER, info)
    yield "x", urlsafe_b64decode(jwk["x"] + "=")
    yield "JWK", json.dumps(jwk).encode()
    yield "nothing", b"\0"
