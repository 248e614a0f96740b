"""Guests' tokens and what a line says of its pace: signed, small, and cheap to answer."""

from __future__ import annotations

import asyncio
import secrets

import pytest

from tests.desk.live.test_line import party
from tests.support.clock import BAD_TICKETS, SECRET, Clock
from waitroom.desk.live.line import LiveLines, room_of, settled
from waitroom.desk.live.tokens import Observed, Tokens, pace_text, read_pace
from waitroom.desk.models import Pace, Range, Status
from waitroom.engine import Engine
from waitroom.errors import InvalidTicket
from waitroom.tickets import KeyRing


@pytest.fixture
def tokens() -> Tokens:
    """Return the tokens of a desk."""
    return Tokens(KeyRing([SECRET]))


def test_token(tokens: Tokens) -> None:
    """A token says type and ticket to its own store, and is the same each time."""
    one = party(7)
    token = tokens.sign(one)
    assert ("dine-in", one.ticket) == tokens.read("store", token)
    assert token == tokens.sign(party(7, Status.CALLED, 3))


@pytest.mark.parametrize("bad", [*BAD_TICKETS, "dine-in.", ".", "dine-in", "dine-in.x", "." * 99])
def test_bad_tokens(tokens: Tokens, bad: str) -> None:
    """What is no token is refused before anybody is asked."""
    with pytest.raises(InvalidTicket):
        tokens.read("store", bad)


def test_foreign_tokens(tokens: Tokens) -> None:
    """A token of another store, of another line or of another secret is refused."""
    token = tokens.sign(party(7))
    text = token.partition(".")[2]
    other = Tokens(KeyRing([b"another secret of the tests, 32+"])).sign(party(7))
    for store, bad in (("other", token), ("store", f"takeout.{text}"), ("store", other)):
        with pytest.raises(InvalidTicket):
            tokens.read(store, bad)


def test_no_ticket_of_visitors(tokens: Tokens) -> None:
    """A guest's token opens nothing in the visitor API, and a ticket of a room is no token."""
    ring, room = KeyRing([SECRET]), room_of("store", "dine-in")
    with pytest.raises(InvalidTicket):
        ring.read(room, tokens.sign(party()).partition(".")[2])


@pytest.mark.parametrize(
    "pace", [Pace(), Pace(1, 15.0), Pace(150, 3.14159), Pace(150, 100 / 3), Pace(9, 1440.0)]
)
def test_pace_survives(pace: Pace) -> None:
    """The live line says a pace in a few characters, close enough for whole minutes."""
    found = read_pace(pace_text(pace))
    assert pace.samples == found.samples
    assert pace.mean_minutes == pytest.approx(found.mean_minutes, rel=1e-5)
    assert len(pace_text(pace)) < 16


@pytest.mark.parametrize("text", ["", ":", "x:y", "7", "7:", ":7", "7:7:7"])
def test_broken_pace(text: str) -> None:
    """A pace that somebody spoilt counts as none."""
    assert Pace() == read_pace(text)


async def seat_every_minute(engine: Engine, room: str, clock: Clock, parties: int) -> LiveLines:
    """Fill a line and seat a party every minute, with the samples that a ticker makes."""
    lines = LiveLines(engine)
    await lines.settle(room, [settled(party(n)) for n in range(1, 2 * parties)], pace="0:0")
    for number in range(1, parties):
        for _ in range(12):
            clock.step(5)
            await engine.sample(room)
        await lines.settle(room, [settled(party(number, Status.CALLED, 2))])
        await lines.settle(room, [settled(party(number, Status.SEATED, 3))])
    return lines


async def test_observed_range(engine: Engine, clock: Clock) -> None:
    """A line that moves by a party a minute says so, by what the engine saw of it."""
    room = room_of(f"s-{secrets.token_hex(6)}", "dine-in")
    await seat_every_minute(engine, room, clock, 40)
    observed = Observed(engine)
    found = await observed.fresh(room, 10)
    assert found is not None
    assert found.low < found.likely <= found.high
    assert 7 <= found.likely <= 13
    assert found == observed.range(room, 10)


async def test_observed_is_unknown_at_first(engine: Engine) -> None:
    """Nothing is said of a line in which nobody was ever called, or that is not there."""
    observed = Observed(engine)
    room = room_of(f"s-{secrets.token_hex(6)}", "dine-in")
    assert None is await observed.fresh(room, 1)
    await LiveLines(engine).settle(room, [settled(party())])
    assert None is observed.range(room, 1)
    await observed.stop()


async def test_a_burst_is_no_pace(engine: Engine, clock: Clock) -> None:
    """Ten calls within a minute say nothing of an evening; nor do a few within minutes."""
    room = room_of(f"s-{secrets.token_hex(6)}", "dine-in")
    lines = LiveLines(engine)
    await lines.settle(room, [settled(party(n)) for n in range(1, 40)], pace="0:0")
    for number in range(1, 13):
        clock.step(5)
        await engine.sample(room)
        await lines.settle(room, [settled(party(number, Status.CALLED, 2))])
    assert None is await Observed(engine).fresh(room, 3)

    slow = room_of(f"s-{secrets.token_hex(6)}", "dine-in")
    await seat_every_minute(engine, slow, clock, 8)
    assert None is await Observed(engine).fresh(slow, 3)


async def test_a_crowd_is_one_look(engine: Engine) -> None:
    """However many ask, a line is looked at once per period, and nobody waits for that."""
    room = room_of(f"s-{secrets.token_hex(6)}", "dine-in")
    await LiveLines(engine).settle(room, [settled(party())])
    calls: list[str] = []
    engine.runner.on_call = lambda verb, _s, _n: calls.append(verb)
    observed = Observed(engine)
    ranges: set[Range | None] = set()
    for _ in range(50):
        ranges |= {observed.range(room, 1) for _ in range(100)}
        await asyncio.sleep(0.001)
    assert {None} == ranges
    assert ["stats"] == calls
    await observed.stop()
