"""Tickets: signed strings that carry their own place, and the ring of keys that signs them. Pure.

A ticket is base64url without padding of

    version u8 · key id 4 · flags u8 · epoch u64 · issued u32 · id 12 · room · place u64 · MAC 16

with the five bytes of an entry code before the room if it was taken with one (version 2). The MAC
covers everything before it, so a forged ticket is refused before it costs the server
anything. The place is masked by a keyed hash of everything before it, so that a drawn place stays
hidden from its holder until the room opens. Flags: 3 bits generation, 2 lane, 1 account, 2 kept for
weight.

A ticket says where somebody stands; the proof of admission is a pass. The engine decides whether a
place still counts (epoch, watermark, age): this module knows no time.
"""

from __future__ import annotations

import re
import secrets
from binascii import Error as Base64Error
from binascii import a2b_base64, b2a_base64
from collections.abc import Sequence
from hashlib import blake2b
from hmac import compare_digest
from hmac import digest as hmac_digest
from struct import Struct
from struct import error as StructError  # noqa: N812 - an exception by its role, not by its name
from typing import NamedTuple, Self

from waitroom.accounts import SALT, ClaimKey, ClaimReader, ClaimUse, fingerprint
from waitroom.crockford import number_of, written
from waitroom.errors import InvalidInput, InvalidTicket

LONGEST_TICKET = 256
SHORTEST_KEY = 32
_LONGEST_ROOM = 64
_LONGEST_VISITOR = 1024
_VERSION, _WITH_CODE = 1, 2
_CODE, _CODE_LETTERS = 5, 8
_ACCOUNT = 1 << 5  # of the flags
_SPARE_BITS = 6  # of the seven bytes of an entry code's MAC
_HEAD = Struct(">B4sBQI12s")
_PLACE = Struct(">Q")
_ID_IN_TEXT = slice(24, 40)  # 18 bytes come before the id, so the string contains it as text
_MAC = 16
_ROOM_AT = _HEAD.size
_PLACE_AT = -_MAC - _PLACE.size
_SHORTEST = _HEAD.size + 1 - _PLACE_AT
_TO_URL = bytes.maketrans(b"+/", b"-_")
# '+', '/' and '=' become invalid characters; otherwise a ticket would have a second spelling.
_FROM_URL = bytes.maketrans(b"-_+/=", b"+/!!!")
# So would the unused bits of the last character: by length modulo 4, the characters that may end
# it.
_LAST = ("", "", "AQgw", "AEIMQUYcgkosw048")
_REMEDY = "make one with `openssl rand -base64 32`"


class Ticket(NamedTuple):
    """A place in a room: `place` and `epoch` in µs, `generation` counts how often it went back.

    A tuple, because one is made for every poll, and a frozen dataclass takes six times as long.
    """

    room: str
    id: str
    place: int
    epoch: int
    issued_s: int
    generation: int = 0
    lane: int = 0
    code: str = ""
    """The name of the entry code that gave the place: after a loss the room learns it again."""
    is_account: bool = False
    """Whether the place is an account's: nobody else who signs in with the ticket may adopt it."""


class _Key(NamedTuple):
    """The hashes of one secret, keyed once: copying a hash is far cheaper than keying a new one."""

    id: bytes
    mac: blake2b
    mask: blake2b
    visitor: blake2b
    draw: blake2b
    source: blake2b
    code: blake2b
    claims: bytes


class KeyRing:
    """Signs with its first key and accepts all; visitor ids and draws depend on the last, oldest.

    To rotate, put a new key in front. Dropping the oldest key ends the tickets that it signed,
    gives known visitors another id and changes future draws. So do it while no room is open.
    """

    __slots__ = ("_claims", "_first", "_keys", "_oldest")

    def __init__(self, keys: Sequence[bytes]) -> None:
        if not keys:
            raise InvalidInput("secret", f"is empty; {_REMEDY}")
        for number, key in enumerate(keys, 1):
            if not isinstance(key, bytes) or len(key) < SHORTEST_KEY:
                raise InvalidInput(
                    "secret", f"key {number} is not {SHORTEST_KEY} bytes or more; {_REMEDY}"
                )
        made = [_derive(key) for key in keys]
        self._keys = {key.id: key for key in made}
        if len(self._keys) < len(made):
            raise InvalidInput("secret", "the same key is listed twice; list each once")
        self._first, self._oldest = made[0], made[-1]
        self._claims = ClaimReader(self._signing_key)

    @classmethod
    def from_text(cls, text: str) -> Self:
        """Make a ring from secrets separated by commas or white space, newest first."""
        # An environment variable that is not UTF-8 arrives as surrogates; this restores its bytes.
        parts = [part.encode(errors="surrogateescape") for part in re.split(r"[,\s]+", text)]
        return cls([part for part in parts if part])

    def __repr__(self) -> str:
        return f"KeyRing({len(self._keys)} keys)"

    def new_id(self) -> str:
        """Return an id that nobody can guess."""
        return self.new_ids(1)[0]

    def new_ids(self, number: int) -> list[str]:
        """Return ids that nobody can guess; made together, they cost one system call."""
        text = _encode(secrets.token_bytes(12 * number))
        return [text[start : start + 16] for start in range(0, len(text), 16)]

    def visitor_id(self, room: str, visitor: str) -> str:
        """Return the stable id of a known visitor in a room; computing it needs the key."""
        if not isinstance(visitor, str) or not 0 < len(visitor) <= _LONGEST_VISITOR:
            raise InvalidInput("visitor", f"must be text of 1 to {_LONGEST_VISITOR} characters")
        state = self._oldest.visitor.copy()
        try:
            # The length distinguishes ("a", "b:c") from ("a:b", "c").
            state.update(f"{len(room)}:{room}:{visitor}".encode())
        except UnicodeEncodeError:
            raise InvalidInput("visitor", "holds half a character; send valid Unicode") from None
        return _encode(state.digest())

    def draw(self, room: str, epoch: int, id: str) -> int:  # noqa: A002 - the ticket's word
        """Return the lot of an id, 0 to 2**52 - 1: even, repeatable, and secret without the key."""
        state = self._oldest.draw.copy()
        state.update(f"{epoch}:{id}:{room}".encode())
        return int.from_bytes(state.digest(), "big") >> 12

    def source_name(self, room: str, network: str, wider: str) -> str:
        """Return how a room counts a network: 12 letters, and 2 for the wider network around it.

        Guessing the network needs the key. Many wider networks share two letters, so that a room
        needs few counters for them.
        """
        state, around = self._oldest.source.copy(), self._oldest.source.copy()
        state.update(f"{room}:{network}".encode())
        around.update(f"{room}:{wider}".encode())
        return _encode(state.digest() + around.digest())[:14]

    def code_mac(self, room: str, signed: bytes) -> int:
        """Return the MAC of an entry code, 50 bits; see `entry_codes`."""
        state = self._first.code.copy()
        state.update(b"%s:%s" % (signed, room.encode()))
        return int.from_bytes(state.digest(), "big") >> _SPARE_BITS

    def is_code_mac(self, room: str, signed: bytes, mac: int) -> bool:
        """Return whether any of our keys gives an entry code this MAC: a code names no key."""
        given, data = mac.to_bytes(8, "big"), b"%s:%s" % (signed, room.encode())
        for key in self._keys.values():
            state = key.code.copy()
            state.update(data)
            right = int.from_bytes(state.digest(), "big") >> _SPARE_BITS
            if compare_digest(given, right.to_bytes(8, "big")):
                return True
        return False

    def claim_key(self, room: str, old: ClaimKey | None = None) -> ClaimKey:
        """Return the newest claim key of a room for its gates; with `old`, accounts stay the same.

        The first one's salt follows from the oldest key and the room, so that two gates that were
        given a key at different times know the same accounts.
        """
        salt = old.salt if old else _of_claims(self._oldest, b"salt:", room.encode())[:SALT]
        key = _signing_key(self._first, fingerprint(salt), room)
        return ClaimKey(self._first.id, salt, key)

    def read_claim(self, room: str, text: str, now_s: float) -> ClaimUse:
        """Return a use of a gate's claim, if one of our keys stands behind it; else refuse it."""
        return self._claims.read(room, text, now_s)

    def _signing_key(self, key_id: bytes, salt_print: bytes, room: str) -> bytes | None:
        key = self._keys.get(key_id)
        return None if key is None else _signing_key(key, salt_print, room)

    def sign(self, ticket: Ticket) -> str:
        """Return the string that stands for `ticket`."""
        key, room = self._first, ticket.room
        if len(ticket.id) != 16 or not 0 < len(room) <= _LONGEST_ROOM:
            raise InvalidInput("ticket", "needs a room and an id of 16 base64url characters")
        if ticket.generation >> 3 or ticket.lane >> 2:
            raise InvalidInput("ticket", "takes generations 0 to 7 and lanes 0 to 3")
        flags = ticket.generation | ticket.lane << 3 | (_ACCOUNT if ticket.is_account else 0)
        try:
            raw_id = _decode(ticket.id)
            version = _WITH_CODE if ticket.code else _VERSION
            head = _HEAD.pack(version, key.id, flags, ticket.epoch, ticket.issued_s, raw_id)
            if ticket.code:
                head += number_of(ticket.code.encode()).to_bytes(_CODE, "big")
            head += room.encode("ascii")
            raw = head + _PLACE.pack(ticket.place ^ _mask(key, head))
        except (StructError, ValueError, OverflowError) as error:
            raise InvalidInput("ticket", f"cannot be signed: {error}") from None
        return _encode(raw + _mac(key, raw))

    def read(self, room: str, text: str) -> Ticket:
        """Return the ticket that `text` stands for if we signed it for `room`, or refuse it."""
        raw = _raw(text)
        version, key_id, flags, epoch, issued_s, _ = _HEAD.unpack_from(raw)
        room_at, code = _ROOM_AT, ""
        if version == _WITH_CODE:
            room_at += _CODE
            code = written(int.from_bytes(raw[_ROOM_AT:room_at], "big"), _CODE_LETTERS)
        elif version != _VERSION:
            raise InvalidTicket("is of a version that this server does not know")
        key = self._keys.get(key_id)
        if key is None:
            raise InvalidTicket("was signed with a key that this server does not have")
        # The same as `_mac` and `_mask`, but without a function call: this is a tenth of a poll.
        signed, head = raw[:-_MAC], raw[:_PLACE_AT]
        state = key.mac.copy()
        state.update(signed)
        if not compare_digest(state.digest(), raw[-_MAC:]):
            raise InvalidTicket("was changed or forged")
        if head[room_at:].decode("ascii") != room:
            raise InvalidTicket("is for another room")
        state = key.mask.copy()
        state.update(head)
        masked = int.from_bytes(signed[-_PLACE.size :], "big")
        place = masked ^ int.from_bytes(state.digest(), "big")
        ticket_id, generation, lane = text[_ID_IN_TEXT], flags & 7, flags >> 3 & 3
        is_account = flags & _ACCOUNT != 0
        return Ticket(room, ticket_id, place, epoch, issued_s, generation, lane, code, is_account)


def _derive(secret: bytes) -> _Key:
    # BLAKE2 takes keys of at most 64 bytes, so every secret is hashed first.
    master = blake2b(secret, person=b"waitroom-master").digest()
    return _Key(
        id=blake2b(key=master, person=b"waitroom-key-id", digest_size=4).digest(),
        mac=blake2b(key=master, person=b"waitroom-ticket", digest_size=_MAC),
        mask=blake2b(key=master, person=b"waitroom-place", digest_size=_PLACE.size),
        visitor=blake2b(key=master, person=b"waitroom-visitor", digest_size=12),
        draw=blake2b(key=master, person=b"waitroom-draw", digest_size=8),
        source=blake2b(key=master, person=b"waitroom-source", digest_size=9),
        code=blake2b(key=master, person=b"waitroom-code", digest_size=7),
        claims=blake2b(key=master, person=b"waitroom-claims", digest_size=32).digest(),
    )


def _of_claims(key: _Key, *parts: bytes) -> bytes:
    """Derive a salt or a signing key; the first part and its length say which."""
    return hmac_digest(key.claims, b"".join(parts), "sha256")


def _signing_key(key: _Key, salt_print: bytes, room: str) -> bytes:
    return _of_claims(key, b"key:", salt_print, room.encode())


def _mac(key: _Key, data: bytes) -> bytes:
    state = key.mac.copy()
    state.update(data)
    return state.digest()


def _mask(key: _Key, head: bytes) -> int:
    state = key.mask.copy()
    state.update(head)
    return int.from_bytes(state.digest(), "big")


def _encode(raw: bytes) -> str:
    return b2a_base64(raw, newline=False).translate(_TO_URL).rstrip(b"=").decode("ascii")


def _decode(text: str) -> bytes:
    """Decode base64url; any spelling except that of `_encode` is an error."""
    over = len(text) % 4
    if over and text[-1] not in _LAST[over]:
        raise Base64Error("not the canonical spelling")
    data = text.encode("ascii").translate(_FROM_URL)
    return a2b_base64(data + b"==="[over - 1 :] if over else data, strict_mode=True)


def _raw(text: str) -> bytes:
    if not isinstance(text, str) or not text:
        raise InvalidTicket("is empty; join the room to get one")
    if len(text) > LONGEST_TICKET:
        raise InvalidTicket(f"is longer than {LONGEST_TICKET} characters")
    try:
        raw = _decode(text)
    except (Base64Error, UnicodeEncodeError):
        raise InvalidTicket("is not written as a ticket is; send it as it was given") from None
    if len(raw) < _SHORTEST:
        raise InvalidTicket("is shorter than any ticket; send it as it was given")
    return raw
