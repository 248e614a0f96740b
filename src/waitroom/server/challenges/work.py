"""The proof of work: challenges in ALTCHA's format, version 2, issued and verified without a store.

A challenge names the room and the keyed hash of the address that it is for, and all of it is
signed. Its counter is drawn by us, and a signature of the key that it gives makes verifying two
HMACs. Whoever solves it is known by its nonce: the same solution is the same place.

Anybody can make us issue one, so it is written at once as the JSON that is signed and sent.
"""

from __future__ import annotations

import time
from base64 import b64decode
from hmac import HMAC, compare_digest
from hmac import new as new_hmac
from typing import Any, NamedTuple

import msgspec
from msgspec import Struct

from waitroom.server.challenges.price import COST, GRACE_MS, Price
from waitroom.server.challenges.puzzles import KEY, Puzzles
from waitroom.tickets import KeyRing

KIND = "work"
ALGORITHM = "PBKDF2/SHA-256"
LIFE_S = 300
"""How long a solution may take: a phone that sleeps in a pocket in between gets a new challenge."""


class Unsolved(Exception):
    """A proof that does not count; the text says why, for developers."""


class Binding(NamedTuple):
    """What a challenge is for: a room, and the keyed hash of an address there."""

    room: str
    source: str


def binding(ring: KeyRing, room: str, network: str, wider: str) -> Binding:
    """Return what a challenge for an address in a room is bound to."""
    return Binding(room, ring.source_name(room, network, wider)[:12])


def derived_key(ring: KeyRing, purpose: str) -> bytes:
    """Return a key of this ring for one purpose, the same on every server that has the ring."""
    # No room has an empty name, so no visitor's id can equal a part of it.
    return "".join(ring.visitor_id("", f"{purpose}:{half}") for half in (1, 2)).encode()


_TOLD = KEY // 2  # bytes of the key that a solver is told, to know it by
# ALTCHA's canonical JSON: sorted names, no blanks. A test reads it again and compares.
_PARAMETERS = (
    f'{{"algorithm":"{ALGORITHM}","cost":{COST},"data":{{"counters":%d,"for":"%s","room":%s}},'
    f'"expiresAt":%d,"keyLength":{KEY},"keyPrefix":"%s","keySignature":"%s","nonce":"%s",'
    '"salt":"%s"}'
)


class Work:
    """Issues challenges and verifies their solutions."""

    __slots__ = ("_key_secret", "_secret", "puzzles")

    def __init__(self, ring: KeyRing) -> None:
        # Keyed once: a copy takes half the time of a new one.
        self._secret = new_hmac(derived_key(ring, "challenge"), digestmod="sha256")
        self._key_secret = new_hmac(derived_key(ring, "solution"), digestmod="sha256")
        self.puzzles = Puzzles()

    def issue(self, to: Binding, counters: int, now_s: float | None = None) -> bytes:
        """Return a challenge, as JSON, whose solution is one of so many counters."""
        nonce, salt, key = self.puzzles.take(counters)
        expires_at = int(time.time() if now_s is None else now_s) + LIFE_S
        parameters = _PARAMETERS % (
            *(counters, to.source, _ENCODER.encode(to.room).decode(), expires_at),
            *(key[:_TOLD].hex(), _signature(self._key_secret, key), nonce.hex(), salt.hex()),
        )
        signature = _signature(self._secret, parameters.encode())
        whole = f'{{"kind":"{KIND}","parameters":{parameters},"signature":"{signature}"}}'
        return whole.encode()

    def close(self) -> None:
        """Make no puzzles any more."""
        self.puzzles.close()

    def nonce(self, text: str, to: Binding, price: Price) -> str:
        """Return the nonce of a solution in base64, as ALTCHA's widget sends it; `Unsolved` if not.

        The same checks as `altcha.v2.verify_solution`, which takes six times as long: it writes the
        canonical JSON in Python, and so does signing there. A test holds both equal.
        """
        try:
            sent = _DECODER.decode(b64decode(text, validate=True))
            parameters = sent.challenge.parameters
            data, key = parameters["data"], bytes.fromhex(sent.solution.derived_key)
            if data["room"] != to.room:
                raise Unsolved("it was solved for another room")
            if data["for"] != to.source:
                raise Unsolved("it was solved at another address")
            left_s = parameters["expiresAt"] - time.time()
            if left_s < 0:
                raise Unsolved("it has expired")
            is_new = LIFE_S - left_s <= GRACE_MS / 1000
            if data["counters"] < (price.least if is_new else price.asked):
                raise Unsolved("it was too easy for what a place costs by now")
            # All of it proves nothing until here: whatever was changed has another signature.
            own = _signature(self._secret, _ENCODER.encode(parameters))
            if not compare_digest(own, sent.challenge.signature):
                raise Unsolved("its challenge is not ours")
            own = _signature(self._key_secret, key)
            if not compare_digest(own, parameters["keySignature"]):
                raise Unsolved("it is wrong")
            return str(parameters["nonce"])
        except (msgspec.MsgspecError, ValueError, LookupError, TypeError, RecursionError):
            raise Unsolved("it is not the solution of a challenge") from None


def _signature(keyed: HMAC, data: bytes) -> str:
    state = keyed.copy()
    state.update(data)
    return state.hexdigest()


class _Signed(Struct):
    parameters: dict[str, Any]
    signature: str


class _Found(Struct, rename="camel"):
    derived_key: str


class _Sent(Struct):
    challenge: _Signed
    solution: _Found


_DECODER = msgspec.json.Decoder(_Sent)
_ENCODER = msgspec.json.Encoder(order="sorted")  # ALTCHA's canonical JSON, of what we sign
