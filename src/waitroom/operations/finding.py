"""Find one person: by ticket, ticket id, short code or account, in every room and state."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Sequence
from dataclasses import dataclass

from waitroom.engine import MOST_MATCHES, Engine, Matches
from waitroom.errors import InvalidInput, InvalidTicket, UnknownRoom
from waitroom.models import Event, Person, Reason, State
from waitroom.short_codes import prefix_of
from waitroom.tickets import LONGEST_TICKET

LONGEST_WORDS = 1_024
_ID = re.compile(r"[A-Za-z0-9_-]{16}", re.ASCII)


@dataclass(frozen=True, slots=True)
class Sighting:
    """One ticket in one room, with the last event that names it."""

    person: Person
    event: Event | None = None

    @property
    def reason(self) -> Reason | None:
        """Why they are gone, as far as keys or events show."""
        if self.person.state is not State.GONE:
            return None
        if self.person.reason is Reason.KICKED or self.event is None:
            return self.person.reason
        return self.event.reason or self.person.reason

    @property
    def since_ms(self) -> int | None:
        """When their present state began, as far as that is known."""
        person, event = self.person, self.event
        if person.state is State.WAITING:
            return None if person.place is None else person.place // 1000
        noted = person.kicked_ms if person.state is State.GONE else None
        if noted is not None or event is None:
            return noted or person.dropped_ms
        return event.at_us // 1000


@dataclass(frozen=True, slots=True)
class Findings:
    """All people who were found; `full`: there may be more, and the search must be narrower."""

    sightings: tuple[Sighting, ...]
    full: bool = False


async def find(engine: Engine, words: str, rooms: Sequence[str] | None = None) -> Findings:
    """Return everybody whom `words` may mean, in these rooms or in all of them."""
    words = words.strip()
    if not 0 < len(words) <= LONGEST_WORDS:
        raise InvalidInput("q", "give a ticket, its id, a short code or an account")
    names = await engine.rooms() if rooms is None else rooms
    prefix, ids = prefix_of(words), _ids(engine, words, names)
    matches = Matches()
    if prefix is not None:
        matches.take(await engine.ids_beginning(names, prefix))
    matches.take(await engine.ids_named(ids))
    begin = {room: [*some, *([prefix] if prefix else [])] for room, some in ids.items()}
    matches.take(await engine.ids_in_events(begin))
    return Findings(tuple(await _sightings(engine, matches)), matches.count >= MOST_MATCHES)


def _ids(engine: Engine, words: str, rooms: Sequence[str]) -> dict[str, list[str]]:
    """Return, by room, the ids that the words may mean: a ticket's, an id itself, an account's."""
    text = words if 40 < len(words) <= LONGEST_TICKET else None
    ids: dict[str, list[str]] = {}
    for room in rooms:
        if text is not None:
            with contextlib.suppress(InvalidTicket):
                return {room: [engine.ring.read(room, text).id]}
        account = engine.ring.claim_key(room).account(room, words)
        ids[room] = [engine.ring.visitor_id(room, words), account]
        if _ID.fullmatch(words):
            ids[room].append(words)
    return ids


async def _sightings(engine: Engine, matches: Matches) -> list[Sighting]:
    sightings: list[Sighting] = []
    for room, events in matches.by_room.items():
        with contextlib.suppress(UnknownRoom):  # it was dropped meanwhile
            for person in await engine.people(room, list(events)):
                sightings.append(Sighting(person, events[person.id]))
    order = list(State)
    return sorted(sightings, key=lambda seen: (order.index(seen.person.state), seen.person.room))


async def ticket_id(engine: Engine, room: str, word: str) -> str:
    """Return the id of the only ticket that `word` means in a room, present or gone."""
    if _ID.fullmatch(word):
        return word
    findings = await find(engine, word, [room])
    ids = [sighting.person.id for sighting in findings.sightings]
    if not ids:
        await engine.stats(room)  # raises if there is no such room
        raise InvalidInput("ticket", "nobody is known in this room by that ticket, code or account")
    if len(ids) > 1:
        raise InvalidInput("ticket", f"several are known by that, give an id: {', '.join(ids)}")
    return ids[0]
