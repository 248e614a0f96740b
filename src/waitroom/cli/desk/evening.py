"""An evening at one restaurant, for `waitroom desk demo`: the hours before, and what follows.

The first hours are written straight into the record, with their own clock, so that the line has a
turnover and a history. From then on guests and a host use the server's own API, as phones and a
tablet would, but far faster than on a real evening.
"""

from __future__ import annotations

import contextlib
import logging
import random
import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import httpx2

if TYPE_CHECKING:
    from waitroom.desk.record.record import Record
    from waitroom.tickets import KeyRing

log = logging.getLogger("waitroom.desk.demo")

STORE = "han-river"
LINES = ("dine-in", "takeout")
HOURS_BEFORE = 1.75
LINE = 9
"""How many parties are kept waiting for a table; about half as many for takeout."""

_MINUTE_US = 60_000_000
_MOST_BEFORE = 1_000
"""More than the number of guests who came before."""

_NAMES = ("서연", "Min-jun", "하은", "Alex", "지우", "Sora", "도윤", "Emma", "예준", "Noah", "수아")
_NOTES = (None, None, None, None, "high chair", "창가 자리", "stroller")


def guest(rng: random.Random, line: str, number: int) -> dict[str, Any]:
    """Return what the guest with this number asks for; their phone number is nobody's."""
    return {
        "type": line,
        "size": rng.choice((1, 2, 2, 2, 3, 4, 4, 6)),
        "name": rng.choice(_NAMES),
        "phone": f"010-0000-{number % 10_000:04}",
        "note": rng.choice(_NOTES),
    }


async def before(record: Record, ring: KeyRing, clock: list[int], rng: random.Random) -> None:
    """Play the hours before: `clock` holds the record's time in µs, and ends at now."""
    end = clock[0]
    start = end - round(HOURS_BEFORE * 60) * _MINUTE_US
    for minute in range(round(HOURS_BEFORE * 60)):
        clock[0] = start + minute * _MINUTE_US
        for line in LINES:
            await _minute(record, ring, line, minute, rng)
    clock[0] = end


async def _minute(
    record: Record, ring: KeyRing, line: str, minute: int, rng: random.Random
) -> None:
    from waitroom.desk.inputs import Wish
    from waitroom.desk.models import Source, Status
    from waitroom.desk.record.record import Action

    every, kept = (5, 6) if line == "dine-in" else (8, 3)
    if minute % every == 0 or minute in (2, 3, 7):
        asked = guest(rng, line, minute)
        del asked["type"]
        source = rng.choice([*Source])
        await record.register(STORE, line, Wish(**asked, source=source), ring.new_id())
    if minute % every != 1:
        return
    waiting = [party for party in await record.live(STORE, line) if party.status is Status.WAITING]
    if len(waiting) > kept:
        ended = Action.NO_SHOW if rng.random() < 0.1 else Action.SEAT
        await record.act(STORE, waiting[0].id, ended, by="front tablet")


@dataclass
class Evening:
    """The rest of the evening, over HTTP; `stop` ends it."""

    base: str
    host_key: str
    stop: threading.Event
    pause_s: float = 1.5
    rng: random.Random = field(default_factory=random.Random)

    def __post_init__(self) -> None:
        self._guests = httpx2.Client(base_url=f"{self.base}/v1/stores/{STORE}", timeout=10)
        self._host = httpx2.Client(
            base_url=f"{self.base}/v1/stores/{STORE}",
            timeout=10,
            headers={"Authorization": f"Bearer {self.host_key}"},
        )
        self._tokens: list[str] = []
        self._called: dict[int, int] = {}
        self._steps = 0
        self._joined = 0

    def join(self, line: str = "dine-in", *, stays: bool = False) -> str:
        """Let somebody join, who `stays` or may change their mind; return their page's address."""
        self._joined += 1
        number = _MOST_BEFORE + self._joined
        answer = self._guests.post("/parties", json=guest(self.rng, line, number))
        answer.raise_for_status()
        joined = answer.json()
        if not stays:
            self._tokens.append(joined["token"])
        return str(joined["url"])

    def run(self) -> None:
        """Continue until the end; a failure, like a paused store, happens to real guests too."""
        with contextlib.closing(self._guests), contextlib.closing(self._host):
            while not self.stop.wait(self.pause_s * self.rng.uniform(0.6, 1.4)):
                try:
                    self.step()
                except (httpx2.HTTPError, KeyError) as error:
                    log.debug("somebody did not succeed: %s", error)

    def step(self) -> None:
        """Let something happen: somebody comes, changes their mind, is called or sits down."""
        self._steps += 1
        parties = self._host.get("/line").raise_for_status().json()["parties"]
        for line, most in zip(LINES, (LINE, LINE // 2), strict=True):
            waiting = [
                party for party in parties if (party["type"], party["status"]) == (line, "WAITING")
            ]
            called = [
                party for party in parties if (party["type"], party["status"]) == (line, "CALLED")
            ]
            if len(waiting) < most and self.rng.random() < 0.5:
                self.join(line)
            elif len(waiting) > most // 2 and len(called) < 2 and self.rng.random() < 0.4:
                self._host.post("/line/call-next", json={"type": line})
            for party in called:
                self._attend(party)
        if self._tokens and self.rng.random() < 0.12:
            self._change_mind()

    def _attend(self, party: dict[str, Any]) -> None:
        """Seat a party that was called a moment ago; some do not come."""
        since = self._called.setdefault(party["id"], self._steps)
        if self._steps - since < 4:
            return
        came = self.rng.random() > 0.1
        if came or self._steps - since > 10:
            self._host.post(f"/line/{party['id']}/{'seat' if came else 'no-show'}", json={})
            self._called.pop(party["id"], None)

    def _change_mind(self) -> None:
        """Let a guest let others go first, or leave."""
        token = self._tokens.pop(self.rng.randrange(len(self._tokens)))
        if self.rng.random() < 0.5:
            self._guests.post(f"/parties/{token}/defer", json={"places": self.rng.randint(1, 3)})
        else:
            self._guests.delete(f"/parties/{token}")
