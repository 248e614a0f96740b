"""Accounts: one place for each user of a site, proved by claims that its gate signs. Pure.

A gate has a claim key of a room, `wrc_` and base64url without padding of

    version u8 · ring key id 4 · salt 16 · signing key 32

The account of a user in a room is base64url of the first 12 bytes of

    HMAC-SHA256(salt, "account:" + room + NUL + the user's id in UTF-8)

It is the id of their ticket and the `sub` of their pass, so a gate knows offline whose pass it
sees, and the user's own id never leaves the site. A claim says that the bearer is an account:
base64url of

    version u8 · ring key id 4 · fingerprint 16 · expires u32 · nonce 8 · account 12 · room · MAC 16

The fingerprint is the first 16 bytes of HMAC-SHA256(salt, "fingerprint"). The salt itself leaves
the gate in nothing: with it, anybody could try user ids against accounts. The MAC is the first 16
bytes of HMAC-SHA256(signing key, everything before it). The signing key follows from the ring key,
room and fingerprint, so a server stores no claim key. Every language has HMAC-SHA256:
docs/gate-contract.md.
"""

from __future__ import annotations

import hmac
import random
import secrets
from binascii import a2b_base64, b2a_base64
from collections.abc import Callable
from hashlib import sha256
from hmac import compare_digest
from struct import Struct
from typing import Any, NamedTuple, Self

from waitroom.errors import ClaimRefused, InvalidInput

CLAIM_LIFE_S = 45
"""How long a gate's claim is good; clocks may differ by the rest of `LONGEST_CLAIM_S`."""

LONGEST_CLAIM_S = 60
LONGEST_CLAIM = 256
SALT, SIGNING_KEY, ACCOUNT = 16, 32, 12
_PREFIX = "wrc_"
_VERSION = 1
_KEY = Struct(f">B4s{SALT}s{SIGNING_KEY}s")
_HEAD = Struct(f">B4s{SALT}sI8s{ACCOUNT}s")
_MAC = 16
_SIGNED, _EXPIRES, _ROOM = slice(-_MAC), slice(5 + SALT, 9 + SALT), slice(_HEAD.size, -_MAC)
_TOO_SHORT = _HEAD.size + _MAC  # without a room, so no claim is this short
# What a claim contains as text. It begins with 21 bytes that are the same in all claims of one key;
# the fingerprint without its first byte is long enough to tell salts apart. 24 and 33 bytes come
# before the nonce and the account. The nonce has a byte of the expiry too, which only makes it
# longer.
_KEY_IN_TEXT, _SALT_IN_TEXT = slice(28), slice(8, 20)
_NONCE_IN_TEXT, _ACCOUNT_IN_TEXT = slice(32, 44), slice(44, 60)
_CALLS = 2**21
"""As in parts/claims.lua: a score holds the time and this many calls, and is exact in a double."""

_MOST_KEYS = 1_000  # that a process remembers; a room has one or two
_LONGEST_IDENTITY = 1_024
# As in tickets.py: one spelling for each text.
_TO_URL, _FROM_URL = bytes.maketrans(b"+/", b"-_"), bytes.maketrans(b"-_+/=", b"+/!!!")
_LAST = ("", "", "AQgw", "AEIMQUYcgkosw048")
_INNER, _OUTER = (bytes(byte ^ pad for byte in range(256)) for pad in (0x36, 0x5C))  # of HMAC
_REMEDY = "make one with `waitroom claim-key ROOM`"

SigningKeys = Callable[[bytes, bytes, str], bytes | None]
"""Returns a signing key, by ring key id, fingerprint and room; None if that ring key is not
listed."""


class ClaimUse(NamedTuple):
    """A gate's good claim that somebody is an account, used by one call.

    The text has the claim's nonce, a score of when it expires and which call uses it, and the salt
    that the account is made with. A repeat of this call is no second use, any other call is.
    """

    id: str
    text: str


class ClaimKey(NamedTuple):
    """What a gate needs to know accounts of a room and to sign claims for them."""

    key_id: bytes
    salt: bytes
    key: bytes

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read a claim key as `waitroom claim-key` prints it."""
        raw = _decoded(text[len(_PREFIX) :]) if _is_key(text) else None
        if raw is None or len(raw) != _KEY.size or raw[0] != _VERSION:
            raise InvalidInput("claim_key", f"is not a claim key; {_REMEDY}")
        return cls(*_KEY.unpack(raw)[1:])

    @property
    def salt_name(self) -> str:
        """The salt as a `ClaimUse` names it: a room keeps to one."""
        return _encoded(fingerprint(self.salt)[1:10])

    def text(self) -> str:
        """Return the key as text, for a gate's configuration."""
        return _PREFIX + _encoded(_KEY.pack(_VERSION, *self))

    def account(self, room: str, identity: str) -> str:
        """Return the account of a user of the site in a room."""
        if not 0 < len(identity) <= _LONGEST_IDENTITY:
            raise InvalidInput("identity", f"must be 1 to {_LONGEST_IDENTITY} characters")
        named = f"account:{room}\0{identity}".encode(errors="surrogatepass")
        return _encoded(hmac.digest(self.salt, named, "sha256")[:ACCOUNT])

    def claim(self, room: str, account: str, now_s: float, nonce: bytes | None = None) -> str:
        """Return a claim that its bearer is an account of a room."""
        raw = _decoded(account)
        if raw is None or len(raw) != ACCOUNT:
            raise InvalidInput("account", "is not the account of anybody")
        nonce = nonce or secrets.token_bytes(8)
        expires_s = int(now_s) + CLAIM_LIFE_S
        head = _HEAD.pack(_VERSION, self.key_id, fingerprint(self.salt), expires_s, nonce, raw)
        head += room.encode("ascii")
        return _encoded(head + hmac.digest(self.key, head, "sha256")[:_MAC])


def fingerprint(salt: bytes) -> bytes:
    """Return what claims say of a salt: enough to compare it, and not to compute an account."""
    return hmac.digest(salt, b"fingerprint", "sha256")[:SALT]


class ClaimReader:
    """Reads claims, and remembers the signing keys of good ones.

    A hash that is keyed already saves work. Anybody can make up the beginning of a claim,
    so only a good MAC makes us remember one. `make bench-fair` measures joins with claims.
    """

    __slots__ = ("_keys", "_proven")

    def __init__(self, keys: SigningKeys) -> None:
        self._keys = keys
        self._proven: dict[tuple[str, str], _Keyed] = {}

    def read(self, room: str, text: str, now_s: float) -> ClaimUse:
        """Return a use of a claim, if it is good for a room now; else refuse it."""
        raw = _decoded(text) if len(text) <= LONGEST_CLAIM else None
        if raw is None or len(raw) <= _TOO_SHORT or raw[0] != _VERSION:
            raise ClaimRefused("the claim is not written as claims are; come from the site again")
        # By the room that was asked for: whatever another room's key signed does not fit.
        known = self._proven.get((room, text[_KEY_IN_TEXT]))
        key = known or self._keyed(room, raw)
        if key is None or not compare_digest(_mac(key, raw[_SIGNED]), raw[-_MAC:]):
            raise ClaimRefused("the claim is forged, for another room, or of a key that is gone")
        if known is None:
            if len(self._proven) >= _MOST_KEYS:
                self._proven.clear()
            self._proven[room, text[_KEY_IN_TEXT]] = key
        if raw[_ROOM] != room.encode("ascii"):
            raise ClaimRefused("the claim is for another room")
        expires_s = int.from_bytes(raw[_EXPIRES], "big")
        if not now_s < expires_s <= now_s + LONGEST_CLAIM_S:
            raise ClaimRefused("the claim is older than a minute, or clocks differ; come again")
        # Nobody chooses this number, so it need not be hard to guess.
        score = expires_s * _CALLS + random.getrandbits(21)
        use = f"{text[_NONCE_IN_TEXT]} {score} {text[_SALT_IN_TEXT]}"
        return ClaimUse(text[_ACCOUNT_IN_TEXT], use)

    def _keyed(self, room: str, raw: bytes) -> _Keyed | None:
        _, key_id, salt_print, *_ = _HEAD.unpack_from(raw)
        key = self._keys(key_id, salt_print, room)
        if key is None:
            return None
        block = key.ljust(sha256().block_size, b"\0")
        return sha256(block.translate(_INNER)), sha256(block.translate(_OUTER))


_Keyed = tuple[Any, Any]
"""The two hashes of HMAC-SHA256 after its key: copying them costs less than an `hmac.HMAC` does."""


def _mac(key: _Keyed, signed: bytes) -> bytes:
    inner, outer = key[0].copy(), key[1].copy()
    inner.update(signed)
    outer.update(inner.digest())
    mac: bytes = outer.digest()[:_MAC]
    return mac


def _is_key(text: object) -> bool:
    return isinstance(text, str) and text.startswith(_PREFIX) and text.isascii()


def _encoded(raw: bytes) -> str:
    return b2a_base64(raw, newline=False).translate(_TO_URL).rstrip(b"=").decode("ascii")


def _decoded(text: str) -> bytes | None:
    """Decode base64url; None for any spelling except that of `_encoded`."""
    over = len(text) % 4
    if over and text[-1] not in _LAST[over]:
        return None
    try:
        data = text.encode("ascii").translate(_FROM_URL)
        return a2b_base64(data + b"==="[over - 1 :] if over else data, strict_mode=True)
    except ValueError:
        return None
