"""Tickets: what a string carries, who can read it, and that nobody else can make one."""

from __future__ import annotations

import base64
import re
import string
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from waitroom.crockford import LETTERS
from waitroom.errors import InvalidInput, InvalidTicket
from waitroom.tickets import LONGEST_TICKET, KeyRing, Ticket

OLD, NEW = b"o" * 32, b"n" * 48
RING = KeyRing([NEW, OLD])
ALPHABET = string.ascii_letters + string.digits + "-_"
TICKET = Ticket("concert", "AbCdEfGhIjKlMn_-", 1_763_232_000_123_456, 1_763_000_000_000_001, 99)

tickets = st.builds(
    Ticket,
    room=st.from_regex(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}", fullmatch=True),
    id=st.text(ALPHABET, min_size=16, max_size=16),
    place=st.integers(0, 2**64 - 1),
    epoch=st.integers(0, 2**64 - 1),
    issued_s=st.integers(0, 2**32 - 1),
    generation=st.integers(0, 7),
    lane=st.integers(0, 3),
    code=st.one_of(st.just(""), st.text(LETTERS, min_size=8, max_size=8)),
    is_account=st.booleans(),
)


def raw(text: str) -> bytes:
    """Decode a ticket without any check."""
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def spelled(data: bytes) -> str:
    """Encode bytes like a ticket."""
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def refusal(text: Any, room: str = "concert", ring: KeyRing = RING) -> str:
    """Return the message with which `text` is refused."""
    with pytest.raises(InvalidTicket) as caught:
        ring.read(room, text)
    assert "ticket" == caught.value.field
    return str(caught.value)


@settings(deadline=None)
@given(tickets)
def test_round_trip(ticket: Ticket) -> None:
    """What was signed is read back exactly, and the string is short and safe in a URL."""
    text = RING.sign(ticket)
    assert ticket == RING.read(ticket.room, text)
    assert re.fullmatch(r"[A-Za-z0-9_-]+", text)
    assert len(text) <= LONGEST_TICKET


@pytest.mark.attack
@settings(max_examples=300, deadline=None)
@given(tickets, st.data())
def test_any_flipped_bit_is_refused(ticket: Ticket, data: st.DataObject) -> None:
    """Not one bit of a ticket can be changed: version, key, flags, times, room, place or MAC."""
    good = bytearray(raw(RING.sign(ticket)))
    bit = data.draw(st.integers(0, len(good) * 8 - 1))
    good[bit // 8] ^= 1 << bit % 8
    refusal(spelled(bytes(good)), ticket.room)


@pytest.mark.attack
@settings(max_examples=300, deadline=None)
@given(tickets, st.data())
def test_any_changed_character_is_refused(ticket: Ticket, data: st.DataObject) -> None:
    """No character can be replaced, added or removed, even where the bytes stay the same."""
    text = RING.sign(ticket)
    at = data.draw(st.integers(0, len(text) - 1))
    other = data.draw(st.characters().filter(lambda character: character != text[at]))
    refusal(text[:at] + other + text[at + 1 :], ticket.room)
    refusal(text[:at] + text[at + 1 :], ticket.room)
    refusal(text + other, ticket.room)


@pytest.mark.attack
@pytest.mark.parametrize("room", ["a", "ab", "abc"])
def test_one_spelling_only(room: str) -> None:
    """Padding, '+' and '/', spare bits, white space and line ends give no second spelling."""
    for number in range(200):
        text = RING.sign(Ticket(room, TICKET.id, number, 1, 1))
        assert number == RING.read(room, text).place
        plain = text.replace("-", "+").replace("_", "/")
        others = [text + "=", text + "==", text + "\n", " " + text, text[:8] + "\n" + text[8:]]
        others += [plain] if plain != text else []
        others += [text[:-1] + last for last in ALPHABET if last != text[-1]]
        for other in others:
            refusal(other, room)


@pytest.mark.attack
@settings(deadline=None)
@given(st.text(max_size=300) | st.text(ALPHABET, max_size=300) | st.binary().map(spelled))
def test_rubbish_is_refused(text: str) -> None:
    """Any text that a stranger sends is refused with our error and no other."""
    refusal(text)


@pytest.mark.attack
@pytest.mark.parametrize("text", [None, 7, b"AAAA", ["A"], object()])
def test_only_text(text: object) -> None:
    """Anything but text is refused, without a crash."""
    refusal(text)


def test_each_refusal_has_its_sentence() -> None:
    """Empty, long, misspelled, short, forged, of another version, key or room: all differ."""
    good = raw(RING.sign(TICKET))
    stranger = KeyRing([b"s" * 32])
    sentences = [
        refusal(""),
        refusal("A" * (LONGEST_TICKET + 1)),
        refusal("대기표"),
        refusal("AAAA"),
        refusal(spelled(b"\x03" + good[1:])),
        refusal(stranger.sign(TICKET)),
        refusal(spelled(good[:-1] + bytes([good[-1] ^ 1]))),
        refusal(RING.sign(TICKET), room="other"),
    ]
    assert len(sentences) == len(set(sentences))
    assert "another room" in sentences[-1]


@pytest.mark.attack
def test_forged_room_is_forged_before_it_is_other() -> None:
    """Renaming the room inside the string breaks the MAC: a ticket is valid for one room only."""
    text = spelled(raw(RING.sign(TICKET)).replace(b"concert", b"theatre"))
    assert "forged" in refusal(text, room="theatre")


def test_rotation() -> None:
    """The first key signs; a ring that lists an old key reads its tickets, one without does not."""
    before, after = KeyRing([OLD]), KeyRing([NEW])
    text = before.sign(TICKET)
    assert TICKET == RING.read("concert", text)
    assert TICKET == after.read("concert", RING.sign(TICKET))
    assert "key" in refusal(text, ring=after)


@pytest.mark.attack
def test_place_is_hidden() -> None:
    """The holder cannot read the place from the string, or compare two of their own."""
    place = TICKET.place.to_bytes(8, "big")
    first = raw(RING.sign(TICKET))
    again = raw(RING.sign(Ticket("concert", TICKET.id, TICKET.place, TICKET.epoch, 100)))
    assert place not in first
    assert first[-24:-16] != again[-24:-16]


def test_ids() -> None:
    """A new id has 96 random bits in 16 characters, and never comes twice."""
    ids = {RING.new_id() for _ in range(10_000)}
    assert 10_000 == len(ids)
    assert all(re.fullmatch(r"[A-Za-z0-9_-]{16}", new) for new in ids)


def test_visitor_has_one_id_per_room() -> None:
    """A visitor has one id in a room, another in the next, and a new key in front changes none."""
    visitor_id = RING.visitor_id("concert", "user-1")
    assert visitor_id == KeyRing([OLD]).visitor_id("concert", "user-1")
    assert re.fullmatch(r"[A-Za-z0-9_-]{16}", visitor_id)
    others = {
        RING.visitor_id("concert", "user-2"),
        RING.visitor_id("theatre", "user-1"),
        RING.visitor_id("concert:u", "ser-1"),
        KeyRing([NEW]).visitor_id("concert", "user-1"),
    }
    assert 5 == len(others | {visitor_id})


@pytest.mark.parametrize("visitor", ["", "v" * 1025, "\ud800", None, 7])
def test_bad_visitor(visitor: Any) -> None:
    """An empty, huge, half or non-text identity is refused by name."""
    with pytest.raises(InvalidInput, match="visitor"):
        RING.visitor_id("concert", visitor)


@settings(deadline=None)
@given(tickets)
def test_draw_is_repeatable(ticket: Ticket) -> None:
    """A lot is a number below 2**52, the same on every server and after a rotation."""
    lot = RING.draw(ticket.room, ticket.epoch, ticket.id)
    assert 0 <= lot < 2**52
    assert lot == KeyRing([OLD]).draw(ticket.room, ticket.epoch, ticket.id)
    assert lot != KeyRing([NEW]).draw(ticket.room, ticket.epoch, ticket.id)


def test_draw_is_even() -> None:
    """Lots are evenly distributed: of 16,000, each sixteenth gets 1,000 within 5 σ."""
    counts = [0] * 16
    for number in range(16_000):
        counts[RING.draw("concert", 1, f"visitor-{number}") >> 48] += 1
    assert all(abs(count - 1_000) < 155 for count in counts)


@pytest.mark.parametrize(
    "keys", [[], [b""], [b"k" * 31], [OLD, b"short"], [OLD, NEW, OLD], ["t" * 32]]
)
def test_bad_keys(keys: list[Any]) -> None:
    """No key, one under 32 bytes, the same twice or one that is not bytes names the secret."""
    with pytest.raises(InvalidInput) as caught:
        KeyRing(keys)
    assert "secret" == caught.value.field


def test_short_key_has_a_remedy() -> None:
    """The error says how to make a good key, and does not repeat the bad one."""
    with pytest.raises(InvalidInput, match="openssl rand -base64 32") as caught:
        KeyRing.from_text("hunter2")
    assert "hunter2" not in str(caught.value)


def test_long_keys() -> None:
    """Keys beyond 64 bytes work, and differ by what follows the 64th."""
    long, longer = KeyRing([b"k" * 64 + b"1"]), KeyRing([b"k" * 64 + b"2"])
    assert TICKET == long.read("concert", long.sign(TICKET))
    refusal(long.sign(TICKET), ring=longer)


def test_keys_from_text() -> None:
    """Secrets may be separated by commas, spaces or lines, with the newest first."""
    new, old = NEW.decode(), OLD.decode()
    for text in (f"{new},{old}", f" {new}\n{old}\n", f"{new} , {old},"):
        ring = KeyRing.from_text(text)
        assert RING.sign(TICKET) == ring.sign(TICKET)
        assert TICKET == ring.read("concert", KeyRing([OLD]).sign(TICKET))
    assert TICKET == KeyRing.from_text("\udcff" * 32).read(
        "concert", KeyRing([b"\xff" * 32]).sign(TICKET)
    )


def test_repr_hides_keys() -> None:
    """A ring in a traceback or log reveals nothing about its keys."""
    assert "KeyRing(2 keys)" == repr(RING)


@pytest.mark.parametrize(
    "changes",
    [
        {"id": "short"},
        {"id": "+/+/+/+/+/+/+/+/"},
        {"id": "대" * 16},
        {"room": ""},
        {"room": "r" * 65},
        {"room": "방"},
        {"place": -1},
        {"place": 2**64},
        {"epoch": 2**64},
        {"issued_s": 2**32},
        {"generation": 8},
        {"generation": -1},
        {"lane": 4},
    ],
)
def test_what_cannot_be_signed(changes: dict[str, Any]) -> None:
    """A ticket out of range is an error when it is signed, not a broken string later."""
    fields: dict[str, Any] = {
        "room": "concert",
        "id": TICKET.id,
        "place": 1,
        "epoch": 1,
        "issued_s": 1,
    }
    with pytest.raises(InvalidInput):
        RING.sign(Ticket(**(fields | changes)))
