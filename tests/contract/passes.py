"""Passes, good and bad, signed with publicly known keys, at one moment."""

from __future__ import annotations

import hmac
import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from typing import Any

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature

from waitroom.gates.keys import Verifier
from waitroom.passes import LEEWAY_S, LONGEST_PASS, TYPE, PassKeys

NOW_S = 1_800_000_000
ISSUER = "https://wait.example"
ROOM = "concert"
SID = 1_799_999_900_000_000
OURS = PassKeys.derive("keys-of-the-contract-anybody-may-know-them-1")
OLDER = PassKeys.derive("keys-of-the-contract-anybody-may-know-them-2")
OTHERS = PassKeys.derive("keys-that-no-gate-of-the-contract-has-been-given")
JWKS = {"issuer": ISSUER, "keys": OURS.jwks()["keys"] + OLDER.jwks()["keys"]}
# Deterministic (RFC 6979), so that the same vectors come out each time.
_METHOD = ec.ECDSA(hashes.SHA256(), deterministic_signing=True)
_CLAIMS: dict[str, Any] = {
    "iss": ISSUER,
    "aud": ROOM,
    "sub": "AAECAwQFBgcICQoL",
    "jti": str(SID),
    "iat": NOW_S - 100,
    "exp": NOW_S + 500,
}


def kid_of(keys: PassKeys) -> str:
    """Return the id of a ring's only key."""
    return str(keys.jwks()["keys"][0]["kid"])


def encoded(data: bytes | dict[str, Any]) -> str:
    """Return base64url without padding."""
    raw = data if isinstance(data, bytes) else json.dumps(data, separators=(",", ":")).encode()
    return urlsafe_b64encode(raw).rstrip(b"=").decode()


def signed(keys: PassKeys = OURS, header: dict[str, Any] | None = None, **changes: Any) -> str:
    """Return a pass with other members in its header or claims; None leaves one out."""
    head = {"alg": "ES256", "kid": kid_of(keys), "typ": TYPE} | (header or {})
    text = ".".join(encoded(_given(part)) for part in (head, _CLAIMS | changes))
    private = keys._first.private
    assert isinstance(private, ec.EllipticCurvePrivateKey)
    pair = decode_dss_signature(private.sign(text.encode(), _METHOD))
    return f"{text}.{encoded(b''.join(number.to_bytes(32, 'big') for number in pair))}"


def document() -> dict[str, Any]:
    """Return the file; the Python gate confirms each expectation."""
    cases = [{"name": name, "room": ROOM, "pass": text, "good": True} for name, text in _good()]
    cases += [{"name": name, "room": ROOM, "pass": text, "good": False} for name, text in _bad()]
    cases.append(
        {"name": "the pass of another room", "room": "other", "pass": signed(), "good": False}
    )
    for case in cases:
        verifier = Verifier(None)
        assert verifier.load(JWKS)
        read = verifier.read(str(case["room"]), str(case["pass"]), NOW_S)
        assert case["good"] is (read is not None), case["name"]
    return {
        "about": "Which texts are passes of a room at `now_s`, with keys and issuer of `jwks`.",
        "now_s": NOW_S,
        "leeway_s": LEEWAY_S,
        "jwks": JWKS,
        "cases": cases,
    }


def _good() -> list[tuple[str, str]]:
    return [
        ("good", signed()),
        ("signed with the older key", signed(OLDER)),
        ("over, within the leeway", signed(exp=NOW_S - LEEWAY_S + 1)),
        ("from the future, within the leeway", signed(iat=NOW_S + LEEWAY_S)),
        ("not before the leeway", signed(nbf=NOW_S + LEEWAY_S)),
        ("a claim that nobody knows", signed(lane="fast")),
        ("without a session, as in bypass", signed(jti="0")),
    ]


def _bad() -> list[tuple[str, str]]:
    good = signed()
    head, body, signature = good.split(".")
    kid, raw = kid_of(OURS), urlsafe_b64decode(f"{signature}==")
    cases = [
        ("nothing", ""),
        ("dots", ".."),
        ("no token", "a.b.c"),
        ("two parts", f"{head}.{body}"),
        ("four parts", f"{good}.{signature}"),
        ("no signature", f"{head}.{body}."),
        ("padding", f"{good}=="),
        ("a blank after it", f"{good} "),
        ("spare bits in the last letter", good[:-1] + chr(ord(good[-1]) + 1)),
        ("standard base64", f"{head}.{body}.{'+' * len(signature)}"),
        ("too long", signed(more="x" * LONGEST_PASS)),
        ("header is a list", f"{encoded(b'[]')}.{body}.{signature}"),
        ("header is no JSON", f"{encoded(b'{')}.{body}.{signature}"),
        ("signature of zeros", f"{head}.{body}.{encoded(bytes(64))}"),
        ("signature too short", f"{head}.{body}.{encoded(bytes(32))}"),
        ("signature with a zero more", f"{head}.{body}.{encoded(raw[:32] + bytes(1) + raw[32:])}"),
        ("signature of another pass", f"{head}.{body}.{signed(sub='other').split('.')[2]}"),
        ("claims of another pass", f"{head}.{signed(sub='other').split('.')[1]}.{signature}"),
        ("unknown kid", signed(OTHERS)),
        ("forged under our kid", signed(OTHERS, {"kid": kid})),
        ("older key under the newer kid", signed(OLDER, {"kid": kid})),
        ("no kid", signed(header={"kid": None})),
        ("kid is a number", signed(header={"kid": 7})),
        ("another typ", signed(header={"typ": "JWT"})),
        ("typ in capitals", signed(header={"typ": TYPE.upper()})),
        ("no typ", signed(header={"typ": None})),
        ("another member in the header", signed(header={"jku": "https://evil.example/keys"})),
        ("critical header", signed(header={"crit": ["exp"]})),
        ("key brought along", signed(OTHERS, {"jwk": OTHERS.jwks()["keys"][0], "kid": kid})),
        ("alg ES384", signed(header={"alg": "ES384"})),
        ("alg RS256", signed(header={"alg": "RS256"})),
        ("alg EdDSA", signed(header={"alg": "EdDSA"})),
        ("alg in lower case", signed(header={"alg": "es256"})),
        ("no alg", signed(header={"alg": None})),
        ("another issuer", signed(iss="https://staging.example")),
        ("no issuer", signed(iss=None)),
        ("issuer is a list", signed(iss=[ISSUER])),
        ("another room", signed(aud="other")),
        ("room in capitals", signed(aud=ROOM.upper())),
        ("several rooms", signed(aud=[ROOM, "other"])),
        ("a list of one room", signed(aud=[ROOM])),
        ("no room", signed(aud=None)),
        ("no ticket", signed(sub=None)),
        ("ticket is a number", signed(sub=7)),
        ("ticket with a blank", signed(sub="a b")),
        ("no session", signed(jti=None)),
        ("session is a number", signed(jti=SID)),
        ("session is a word", signed(jti="abc")),
        ("session is negative", signed(jti="-1")),
        ("over", signed(exp=NOW_S - LEEWAY_S)),
        ("long over", signed(iat=NOW_S - 9_000, exp=NOW_S - 8_000)),
        ("no end", signed(exp=None)),
        ("end is a text", signed(exp=str(NOW_S + 500))),
        ("end is a fraction", signed(exp=NOW_S + 0.5)),
        ("end is true", signed(exp=True)),
        ("from the future", signed(iat=NOW_S + LEEWAY_S + 1)),
        ("no beginning", signed(iat=None)),
        ("beginning is a text", signed(iat=str(NOW_S))),
        ("beginning is true", signed(iat=True)),
        ("from the future, but not before today", signed(iat=NOW_S + LEEWAY_S + 1, nbf=NOW_S)),
        ("not yet", signed(nbf=NOW_S + LEEWAY_S + 1)),
        ("not before a text", signed(nbf="tomorrow")),
    ]
    for word in ("none", "None", "NONE", ""):
        fake = encoded({"alg": word, "kid": kid, "typ": TYPE})
        cases.append((f"alg {word!r}", f"{fake}.{body}."))
        cases.append((f"alg {word!r} with a signature", f"{fake}.{body}.{signature}"))
    text = f"{encoded({'alg': 'HS256', 'kid': kid, 'typ': TYPE})}.{body}"
    for name, key in (("JWK", json.dumps(JWKS["keys"][0]).encode()), ("nothing", b"\0")):
        mac = encoded(hmac.digest(key, text.encode(), "sha256"))
        cases.append((f"HS256 with {name}", f"{text}.{mac}"))
    return cases


def _given(part: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in part.items() if value is not None}
