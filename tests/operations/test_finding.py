"""One person is found across all rooms, by whatever they or a site can say about them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.support.clock import Clock, crowd
from waitroom.engine import Engine, keys
from waitroom.errors import InvalidInput, UnknownRoom
from waitroom.models import Mode, Policy, Reason, State
from waitroom.operations import finding, reinstating
from waitroom.operations.trail import Actor, Trail, Way
from waitroom.short_codes import code_of

PAUSED = Policy(mode=Mode.PAUSED)


def where(findings: finding.Findings) -> list[tuple[str, str, State, Reason | None]]:
    """Return the matches, in short form."""
    return [
        (one.person.room, one.person.id, one.person.state, one.reason) for one in findings.sightings
    ]


def within(findings: finding.Findings, *rooms: str) -> finding.Findings:
    """Return the matches in some rooms: somebody in a room of another test may share a code."""
    sightings = tuple(one for one in findings.sightings if one.person.room in rooms)
    return replace(findings, sightings=sightings)


@pytest.mark.parametrize("how", ["id", "ticket", "code", "typed code", "account"])
async def test_by_what_they_can_say(engine: Engine, room: str, how: str) -> None:
    """In any room, and nobody else with them."""
    other = f"{room}-other"
    for name in (room, other):
        await engine.create(name, PAUSED)
        await crowd(engine, name, 20)
    account = f"{room}@example.com"
    person = await engine.join(other, visitor=account)
    words = {
        "id": person.id,
        "ticket": f" {person.ticket} ",
        "code": code_of(person.id),
        "typed code": code_of(person.id).replace("-", "").lower(),
        "account": account,
    }
    findings = within(await finding.find(engine, words[how]), room, other)
    assert [(other, person.id, State.WAITING, None)] == where(findings)
    (sighting,) = findings.sightings
    assert (21, False) == (sighting.person.position, findings.full)
    assert sighting.since_ms == engine.ring.read(other, person.ticket).place // 1000


async def test_all_matches(engine: Engine, room: str) -> None:
    """One account in two rooms, and a word that is a code and an account at once."""
    rooms = [room, f"{room}-b"]
    for name in rooms:
        await engine.create(name, PAUSED)
        await engine.join(name, visitor="user42")
    stranger = await engine.join(room)
    both = [one for one in where(await finding.find(engine, "user42")) if one[0] in rooms]
    assert rooms == [name for name, *_ in both]
    code = code_of(stranger.id)
    known = await engine.join(rooms[1], visitor=code)
    found = {one[:2] for one in where(await finding.find(engine, code))}
    assert {(room, stranger.id), (rooms[1], known.id)} <= found


@pytest.mark.parametrize("how", ["left", "kicked", "banned", "finished", "no_show", "abandoned"])
async def test_who_is_gone(engine: Engine, clock: Clock, room: str, how: str) -> None:
    """They are found too, with reason and time, as far as anything is known about them."""
    policy = Policy(mode=Mode.MANUAL, presence_s=10, enter_within_s=5)
    await engine.create(room, policy)
    person, other = await crowd(engine, room, 2)
    if how in ("finished", "no_show"):
        await engine.admit(room, 1)
    if how == "finished":
        await engine.enter(room, person.ticket)
        await engine.finish(room, person.ticket)
    elif how == "left":
        await engine.leave(room, person.ticket)
    elif how in ("kicked", "banned"):
        await engine.kick(room, [person.id], ban=how == "banned")
    else:
        for _ in range(15):
            clock.step(1)
            await engine.poll(room, other.ticket)
            await engine.advance(room)
    reason = Reason("kicked" if how == "banned" else how)
    for words in (person.id, person.ticket, code_of(person.id)):
        findings = await finding.find(engine, words, [room])
        assert [(room, person.id, State.GONE, reason)] == where(findings)
        (sighting,) = findings.sightings
        assert sighting.person.banned == (how == "banned")
        assert sighting.since_ms is not None


async def test_nobody(engine: Engine, room: str) -> None:
    """Words that mean nobody find nobody; an empty search is refused."""
    await engine.create(room, PAUSED)
    for words in ("K7Q-4M2", "A" * 16, "nobody@example.com", "x" * 120):
        assert () == (await finding.find(engine, words, [room])).sightings
    for words in ("  ", "x" * 1_025):
        with pytest.raises(InvalidInput):
            await finding.find(engine, words)


async def test_a_broken_room_hides_nobody_elsewhere(engine: Engine, room: str) -> None:
    """A key of another type is skipped."""
    broken = f"{room}-broken"
    for name in (broken, room):
        await engine.create(name, PAUSED)
    person = await engine.join(room)
    await engine.backend.client.set(keys.room_key(broken, "waiting"), "somebody else's")
    for words in (person.id, code_of(person.id)):
        findings = await finding.find(engine, words, [broken, room])
        assert [(room, person.id, State.WAITING, None)] == where(findings)


@pytest.mark.parametrize("how", ["id", "code", "ticket", "account"])
async def test_reinstated_and_recorded(engine: Engine, room: str, how: str) -> None:
    """By any of these; the log has the id, and never the ticket itself."""
    await engine.create(room, PAUSED)
    person = await engine.join(room, visitor="kim")
    await crowd(engine, room, 2)
    await engine.kick(room, [person.id])
    trail = Trail(engine.audit, Actor("abc", "box office", "operator", Way.API))
    words = {"id": person.id, "code": code_of(person.id), "ticket": person.ticket, "account": "kim"}
    returned = await reinstating.reinstate(engine, trail, room, words[how])
    assert (person.id, 1) == (returned.ticket_id, returned.reinstated.position)
    (entry,) = (await engine.audit.page(room=room)).entries
    assert (returned.entry_id, "reinstate", person.id) == (
        entry.id,
        entry.action,
        entry.detail["ticket"],
    )
    assert person.ticket not in str(entry)
    with pytest.raises(InvalidInput):
        await reinstating.reinstate(engine, trail, room, "K7Q-4M2")
    with pytest.raises(UnknownRoom):
        await reinstating.reinstate(engine, trail, f"{room}-none", "K7Q-4M2")
