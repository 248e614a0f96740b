"""Passes: proof of admission as standard JWTs, and the ring of keys that signs them. Pure.

A pass has the header `alg`, `kid`, `typ` and nothing else, and the claims

    iss  who admitted      aud  the room        sub  the ticket's id
    jti  the session     iat  made at         exp  the session's end

The `kid` picks the key and the key picks the algorithm: the pass's own `alg` is only compared, so
`none` and HMAC with a public key do not work. The `typ` separates passes from every other JWT; a
ticket is not a JWT at all. Any library verifies a pass with the keys of `jwks`. A pass does not say
whether the session was finished early: only the engine knows.
"""

from __future__ import annotations

import re
import time
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from json import dumps, loads
from typing import Any, NamedTuple, Self, TypeAlias

import jwt
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from jwt.algorithms import get_default_algorithms

from waitroom.errors import InvalidInput, InvalidPass
from waitroom.models import ROOM_NAME
from waitroom.tickets import KeyRing

TYPE = "waitroom-pass+jwt"
ALGORITHMS = ("ES256", "EdDSA", "RS256")
LEEWAY_S = 5
"""How much the clocks of two servers may differ."""

LONGEST_PASS = 2048
SHORTEST_RSA = 2048

PrivateKey: TypeAlias = ec.EllipticCurvePrivateKey | ed25519.Ed25519PrivateKey | rsa.RSAPrivateKey
PublicKey: TypeAlias = ec.EllipticCurvePublicKey | ed25519.Ed25519PublicKey | rsa.RSAPublicKey

_PRIVATE = (ec.EllipticCurvePrivateKey, ed25519.Ed25519PrivateKey, rsa.RSAPrivateKey)
_HEADER = {"alg", "kid", "typ"}
_CLAIMS = ("iss", "aud", "sub", "jti", "iat", "exp")
_UNREADABLE = "is not written like a pass; a ticket is not a pass"
_JWT = re.compile(r"([A-Za-z0-9_-]+)\.([A-Za-z0-9_-]+)\.([A-Za-z0-9_-]+)", re.ASCII)
# Depending on length modulo 4, the last character has unused bits; set, they would give a second
# spelling.
_LAST = ("", "", "AQgw", "AEIMQUYcgkosw048")
_SID = re.compile(r"[0-9]{1,20}", re.ASCII)
_TICKET_ID = re.compile(r"[A-Za-z0-9_-]{1,64}", re.ASCII)
_PEM = re.compile(rb"-----BEGIN ([A-Z0-9 ]*KEY)-----.+?-----END \1-----", re.DOTALL)
_JWK = {"EC": ("crv", "kty", "x", "y"), "OKP": ("crv", "kty", "x"), "RSA": ("e", "kty", "n")}
_ORDER_P256 = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551


@dataclass(frozen=True, slots=True)
class Pass:
    """What a pass proves: the session `sid` of a ticket in a room, until `expires_s`."""

    room: str
    ticket_id: str
    sid: int
    expires_s: int


class _Key(NamedTuple):
    """A key with its one algorithm; without `private` it only verifies."""

    id: str
    algorithm: str
    method: Any
    public: PublicKey
    private: PrivateKey | None
    jwk: dict[str, str]


class PassKeys:
    """Signs with its first key and verifies with all.

    To rotate, put a new key in front, and drop the old one when the last pass it signed is over.
    """

    __slots__ = ("_first", "_keys")

    def __init__(self, keys: Sequence[PrivateKey | PublicKey]) -> None:
        if not keys:
            raise InvalidInput("pass_keys", "holds no key; make one with `openssl genpkey`")
        made = [_key(key) for key in keys]
        self._first = made[0]
        self._keys = {key.id: key for key in made}
        if len(self._keys) < len(made):
            raise InvalidInput("pass_keys", "the same key is listed twice; list each once")

    @classmethod
    def from_pem(cls, pems: Sequence[bytes]) -> Self:
        """Make a ring from PEM keys, newest first; public keys only verify."""
        return cls([key for number, pem in enumerate(pems, 1) for key in _read(pem, number)])

    @classmethod
    def derive(cls, secret: str, algorithm: str = "ES256") -> Self:
        """Derive a ring from the ticket secrets, so that servers agree without more settings."""
        if algorithm not in ("ES256", "EdDSA"):
            raise InvalidInput(
                "pass_algorithm",
                f"{algorithm!r:.40} is not ES256 or EdDSA; for RS256 give `pass_keys`",
            )
        KeyRing.from_text(secret)  # refuses secrets that are empty, short or listed twice
        parts = (part.encode(errors="surrogateescape") for part in re.split(r"[,\s]+", secret))
        return cls([_derive(part, algorithm) for part in parts if part])

    def and_then(self, others: PassKeys) -> Self:
        """Return a ring that signs with this one's first key and verifies with all keys of both."""
        made = type(self).__new__(type(self))
        made._first, made._keys = self._first, self._keys | others._keys  # noqa: SLF001
        return made

    def __repr__(self) -> str:
        return f"PassKeys({len(self._keys)} keys, {self._first.algorithm})"

    def sign(
        self, room: str, ticket_id: str, sid: int, now_s: int, expires_s: int, issuer: str
    ) -> str:
        """Return the pass of a session."""
        key = self._first
        if key.private is None:
            raise InvalidInput("pass_keys", "the first key is public and cannot sign")
        claims = {
            "iss": issuer,
            "aud": room,
            "sub": ticket_id,
            "jti": str(sid),
            "iat": now_s,
            "exp": expires_s,
        }
        headers = {"kid": key.id, "typ": TYPE}
        return jwt.encode(claims, key.private, key.algorithm, headers)

    def verify(
        self,
        token: str,
        room: str | None = None,
        now_s: float | None = None,
        *,
        issuer: str | None = None,
    ) -> Pass:
        """Return what `token` proves, if it is our pass (for `room`, by `issuer`) and not over."""
        head, body, signature = _parts(token)
        key = self._key_of(head)
        signed = token[: token.rindex(".")].encode("ascii")
        # PyJWT's own `decode` parses everything twice and costs more than the signature.
        if not key.method.verify(signed, key.public, signature):
            raise InvalidPass("was changed or forged")
        claims = _object(body)
        if issuer is not None and claims.get("iss") != issuer:
            raise InvalidPass("is of another Waitroom, which has the same keys")
        return _pass(claims, room, time.time() if now_s is None else now_s)

    def jwks(self) -> dict[str, list[dict[str, str]]]:
        """Return the public keys as a JSON Web Key Set, newest first."""
        return {"keys": [dict(key.jwk) for key in self._keys.values()]}

    def _key_of(self, head: bytes) -> _Key:
        """Return the key that the header of a pass names."""
        header = _object(head)
        if header.keys() != _HEADER or header["typ"] != TYPE:
            raise InvalidPass("is a token of another kind")
        kid = header["kid"]
        key = self._keys.get(kid) if isinstance(kid, str) else None
        if key is None:
            raise InvalidPass("was signed with a key that this server does not have")
        if header["alg"] != key.algorithm:
            raise InvalidPass("was signed by another method than its key's")
        return key


def generate_pem(algorithm: str = "ES256") -> bytes:
    """Return a new private key in PEM."""
    key: PrivateKey
    if algorithm == "ES256":
        key = ec.generate_private_key(ec.SECP256R1())
    elif algorithm == "EdDSA":
        key = ed25519.Ed25519PrivateKey.generate()
    elif algorithm == "RS256":
        key = rsa.generate_private_key(65537, 3072)
    else:
        known = ", ".join(ALGORITHMS)
        raise InvalidInput("pass_algorithm", f"{algorithm!r:.40} is not one of {known}")
    return key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )


def _parts(token: str) -> list[bytes]:
    """Return header, claims and signature; refuse any spelling except that of `sign`."""
    if not isinstance(token, str) or not token:
        raise InvalidPass("is missing; join the room to get in")
    if len(token) > LONGEST_PASS:
        raise InvalidPass(f"is longer than {LONGEST_PASS} characters")
    match = _JWT.fullmatch(token)
    if match is None:
        raise InvalidPass(_UNREADABLE)
    return [_decode(part) for part in match.groups()]


def _decode(part: str) -> bytes:
    over = len(part) % 4
    if over and part[-1] not in _LAST[over]:
        raise InvalidPass(_UNREADABLE)
    return urlsafe_b64decode(part + "==="[: -len(part) % 4])


def _object(data: bytes) -> dict[str, Any]:
    try:
        document = loads(data)
    except (ValueError, RecursionError):
        raise InvalidPass(_UNREADABLE) from None
    if not isinstance(document, dict):
        raise InvalidPass(_UNREADABLE)
    return document


def _pass(claims: dict[str, Any], room: str | None, now_s: float) -> Pass:
    """Check every claim of a token whose signature is valid."""
    values: list[Any] = [claims.get(name) for name in _CLAIMS]
    issuer, audience, ticket_id, sid, issued_s, expires_s = values
    not_before_s = claims.get("nbf", issued_s)  # ours have none, but every JWT library minds it
    words = (issuer, audience, ticket_id, sid)
    if (
        not all(isinstance(word, str) for word in words)
        or type(issued_s) is not int  # `true` is an int to `isinstance`
        or type(expires_s) is not int
        or type(not_before_s) is not int
        or not ROOM_NAME.fullmatch(audience)
        or not _TICKET_ID.fullmatch(ticket_id)
        or not _SID.fullmatch(sid)
    ):
        raise InvalidPass("holds claims that no pass has")
    if room is not None and audience != room:
        raise InvalidPass("is for another room")
    if now_s >= expires_s + LEEWAY_S:
        raise InvalidPass("is over; join the room again")
    if max(issued_s, not_before_s) > now_s + LEEWAY_S:
        raise InvalidPass("is from the future; set the clocks of the servers")
    return Pass(audience, ticket_id, int(sid), expires_s)


def _key(key: object) -> _Key:
    private = key if isinstance(key, _PRIVATE) else None
    public: Any = key if private is None else private.public_key()
    algorithm = _algorithm(public)
    method = get_default_algorithms()[algorithm]
    whole = method.to_jwk(public, as_dict=True)
    jwk = {name: whole[name] for name in _JWK[whole["kty"]]}
    # The thumbprint of RFC 7638, shortened: it only has to distinguish a handful of keys.
    print_of = sha256(dumps(jwk, sort_keys=True, separators=(",", ":")).encode()).digest()
    kid = urlsafe_b64encode(print_of)[:16].decode("ascii")
    jwk |= {"kid": kid, "alg": algorithm, "use": "sig"}
    return _Key(kid, algorithm, method, public, private, jwk)


def _algorithm(public: object) -> str:
    """Return the one algorithm of a key."""
    if isinstance(public, ed25519.Ed25519PublicKey):
        return "EdDSA"
    if isinstance(public, ec.EllipticCurvePublicKey) and isinstance(public.curve, ec.SECP256R1):
        return "ES256"
    if isinstance(public, rsa.RSAPublicKey) and public.key_size >= SHORTEST_RSA:
        return "RS256"
    raise InvalidInput(
        "pass_keys",
        f"takes EC keys on P-256, Ed25519, and RSA keys of {SHORTEST_RSA} bits or more; make one "
        "with `openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256`",
    )


def _read(pem: bytes, number: int) -> Iterator[Any]:
    """Yield every key of a PEM text; skip other blocks, like `EC PARAMETERS`."""
    blocks = list(_PEM.finditer(pem))
    if not blocks:
        raise InvalidInput("pass_keys", f"number {number} holds no key in PEM")
    for block in blocks:
        try:
            if b"PUBLIC" in block[1]:
                yield serialization.load_pem_public_key(block[0])
            else:
                yield serialization.load_pem_private_key(block[0], password=None)
        except (ValueError, TypeError, UnsupportedAlgorithm):
            # The cause stays out of the message: it might contain a part of the key.
            raise InvalidInput(
                "pass_keys", f"number {number} cannot be read: it is damaged or has a password"
            ) from None


def _derive(secret: bytes, algorithm: str) -> PrivateKey:
    info = f"waitroom-pass {algorithm} 1".encode()
    seed = HKDF(hashes.SHA256(), 48, salt=b"waitroom", info=info).derive(secret)
    if algorithm == "EdDSA":
        return ed25519.Ed25519PrivateKey.from_private_bytes(seed[:32])
    # 128 bits more than the order leave a negligible bias (FIPS 186-5, A.2.1).
    return ec.derive_private_key(
        int.from_bytes(seed, "big") % (_ORDER_P256 - 1) + 1, ec.SECP256R1()
    )
