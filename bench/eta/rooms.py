"""Rooms drawn at run time: what limits them, who comes when, how long people stay and who gives up.

Each room is one of each family, so every figure can be told by family. Which room comes out is
decided by the salt of the run: no number of the estimator was chosen with these rooms in view.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from math import exp, log
from typing import Any

from waitroom.models import Mode, Policy
from waitroom.rehearsal.distributions import Spread, fixed
from waitroom.rehearsal.scenario import Arrivals, Behaviour, Change, Scenario

FEWEST, MOST = 200, 20_000
_DRAWS = 4_000
_NEVER = 1e6
_UNKNOWABLE = "pace halved", "pace doubled", "capacity halved", "capacity doubled", "pause"


@dataclass(frozen=True, slots=True)
class Room:
    """A drawn room; `families` says of which kinds it is."""

    name: str
    scenario: Scenario
    families: dict[str, str]

    @property
    def is_knowable(self) -> bool:
        """Whether no operator changes anything: nobody could know that beforehand."""
        return self.families["change"] not in _UNKNOWABLE


# How long people stay ------------------------------------------------------------------------

_Lengths = Callable[[random.Random, float], list[float]]


def _same(_rng: random.Random, mean_s: float) -> list[float]:
    return [mean_s]


def _lognormal(rng: random.Random, mean_s: float) -> list[float]:
    return _scattered(rng, mean_s, rng.uniform(0.3, 0.8))


def _heavy(rng: random.Random, mean_s: float) -> list[float]:
    return _scattered(rng, mean_s, rng.uniform(1.1, 1.4))


def _scattered(rng: random.Random, mean_s: float, sigma: float) -> list[float]:
    return [mean_s * exp(rng.gauss(0, sigma) - sigma * sigma / 2) for _ in range(_DRAWS)]


def _two_kinds(rng: random.Random, mean_s: float) -> list[float]:
    """Some only look around, the others stay long."""
    share, part = rng.uniform(0.25, 0.6), rng.uniform(0.06, 0.2)
    long_s = mean_s / (share * part + 1 - share)
    scatter = rng.uniform(0.1, 0.4)
    return [
        (part if rng.random() < share else 1.0) * long_s * exp(rng.gauss(0, scatter))
        for _ in range(_DRAWS)
    ]


SESSIONS: dict[str, _Lengths] = {
    "fixed": _same,
    "lognormal": _lognormal,
    "two kinds": _two_kinds,
    "heavy tail": _heavy,
    "all used up": _same,
}

# Who gives up --------------------------------------------------------------------------------


def _steadily(rng: random.Random, wait_s: float) -> list[float]:
    rate = rng.uniform(0.2, 0.7) / wait_s
    return [rng.expovariate(rate) for _ in range(_DRAWS)]


def _early(rng: random.Random, _wait_s: float) -> list[float]:
    return _some(rng, rng.uniform(0.3, 0.65), (20, 300))


def _late(rng: random.Random, wait_s: float) -> list[float]:
    return _some(rng, rng.uniform(0.3, 0.6), (0.5 * wait_s, 1.2 * wait_s))


def _some(rng: random.Random, share: float, between: tuple[float, float]) -> list[float]:
    return [rng.uniform(*between) if rng.random() < share else _NEVER for _ in range(_DRAWS)]


GIVING_UP: dict[str, _Lengths | None] = {
    "nobody": None,
    "steady": _steadily,
    "early": _early,
    "late": _late,
}

# Who comes when ------------------------------------------------------------------------------


def _spike(rng: random.Random, people: float, wait_s: float) -> tuple[Arrivals, ...]:
    share = rng.uniform(0.5, 0.75)
    return (
        Arrivals("spike", people=share * people, within_s=rng.uniform(30, 600)),
        _stream((1 - share) * people, wait_s),
    )


def _only_spike(rng: random.Random, people: float, _wait_s: float) -> tuple[Arrivals, ...]:
    return (Arrivals("spike", people=people, within_s=rng.uniform(20, 300)),)


def _waves(rng: random.Random, people: float, wait_s: float) -> tuple[Arrivals, ...]:
    number = rng.randint(2, 4)
    wave = Arrivals(
        "waves",
        people=0.8 * people / number,
        within_s=rng.uniform(60, 300),
        waves=number,
        every_s=wait_s / number * rng.uniform(0.6, 1.1),
    )
    return wave, _stream(0.2 * people, wait_s)


def _trickle(rng: random.Random, people: float, wait_s: float) -> tuple[Arrivals, ...]:
    return (_stream(people, rng.uniform(0.5, 0.8) * wait_s),)


def _stream(people: float, for_s: float) -> Arrivals:
    return Arrivals("poisson", per_s=people / for_s, for_s=for_s)


ARRIVALS = {
    "spike": _spike,
    "spike, then nobody": _only_spike,
    "waves": _waves,
    "trickle": _trickle,
}

LIMITS = "places", "pace", "both", "entries"
CHANGES = *["none"] * 10, *_UNKNOWABLE
"""Two rooms of three are left alone."""

ABSENCE = "all there", "no-shows", "ghosts"


def drawn(rng: random.Random, most: int = MOST, least: int = FEWEST) -> Room:
    """Draw a room."""
    people = round(exp(rng.uniform(log(least), log(most))))
    families = {
        "limit": rng.choice(LIMITS),
        "sessions": rng.choice(sorted(SESSIONS)),
        "arrivals": rng.choice(sorted(ARRIVALS)),
        "giving up": rng.choice(sorted(GIVING_UP)),
        "absence": rng.choice(ABSENCE),
        "change": rng.choice(CHANGES),
        "size": "below 1,000"
        if people < 1_000
        else "below 10,000"
        if people < 10_000
        else "larger",
    }
    wait_s = rng.uniform(1_200, 4_200)
    if families["change"].startswith("pace") and families["limit"] == "places":
        families["limit"] = "pace"
    if families["change"].startswith("capacity") and families["limit"] in ("pace", "entries"):
        families["limit"] = "places"
    return _room(rng, families, people, wait_s)


def _room(rng: random.Random, families: dict[str, str], people: int, wait_s: float) -> Room:
    rate = people / wait_s
    mean_s = max(1.5 / rate, rng.uniform(45, 400))
    fields = _limits(rng, families["limit"], rate, mean_s)
    used_up = families["sessions"] == "all used up"
    fields["session_s"] = mean_s if used_up else mean_s * rng.uniform(2.5, 6)
    fields["enter_within_s"] = 120
    absence = families["absence"]
    gives_up = GIVING_UP[families["giving up"]]
    patience = None if gives_up is None else gives_up(rng, wait_s)
    behaviour = Behaviour(
        patience=None if patience is None else Spread("csv", values=tuple(patience)),
        leaves=rng.random(),
        ghosts=rng.uniform(0.1, 0.6) if absence == "ghosts" else 0.0,
        closes_tab=rng.uniform(0, 0.1),
        no_shows=rng.uniform(0.03, 0.25) if absence == "no-shows" else 0.0,
        session=_spread(SESSIONS[families["sessions"]](rng, mean_s)),
        finishes=0.0 if used_up else rng.uniform(0.85, 1.0),
    )
    scenario = Scenario(
        name="drawn",
        title="A drawn room",
        policy=Policy(**fields),
        arrivals=ARRIVALS[families["arrivals"]](rng, people, wait_s),
        lasts_s=3 * wait_s,
        people=behaviour,
        changes=_changes(rng, families["change"], fields, wait_s),
    )
    words = ", ".join(word for name, word in families.items() if name != "size")
    return Room(f"{people:,} people: {words}", scenario, families)


def _spread(values: list[float]) -> Spread:
    return fixed(values[0]) if len(values) == 1 else Spread("csv", values=tuple(values))


def _limits(rng: random.Random, kind: str, rate: float, mean_s: float) -> dict[str, Any]:
    every_s = rng.choice((5, 10, 30)) if rate > 0.2 else 60
    pace = {"batch": max(1, round(rate * every_s)), "every_s": every_s}
    places = {"capacity": max(2, round(rate * mean_s))}
    if kind == "places":
        return places
    if kind == "pace":
        return pace
    if kind == "entries":
        return {"max_entries": max(1, round(60 * rate)), "per_s": 60}
    return pace | {"capacity": max(2, round(rate * mean_s * rng.uniform(0.8, 1.4)))}


def _changes(
    rng: random.Random, kind: str, fields: dict[str, Any], wait_s: float
) -> tuple[Change, ...]:
    at_s = wait_s * rng.uniform(0.2, 0.6)
    if kind == "none":
        return ()
    if kind == "pause":
        ends_s = at_s + rng.uniform(60, 300)
        return Change(at_s, {"mode": Mode.PAUSED}), Change(ends_s, {"mode": Mode.OPEN})
    factor = 0.5 if kind.endswith("halved") else 2.0
    names = ("capacity",) if kind.startswith("capacity") else ("batch", "max_entries")
    scaled = {
        name: max(1, round(fields[name] * factor)) for name in names if fields.get(name) is not None
    }
    return (Change(at_s, scaled),)
