"""What visitors get while Waitroom is up, silent or gone: scenes played on real servers.

Each step first brings Waitroom into a state, then somebody asks. `soon`: a gate may take some
seconds to notice. Every scene starts with one good pass, which may be finished elsewhere. Where
Waitroom `asks`, it is up and the room has a challenge. `join`: the problem names the address of
the API at which a program joins by itself.
"""

from __future__ import annotations

from typing import Any


def step(
    waitroom: str,
    shows: str,
    status: int,
    *,
    soon: bool = False,
    program: bool = False,
    join: bool = False,
) -> dict[str, Any]:
    """Return what somebody gets with what they show."""
    given = {"soon": soon, "program": program, "join": join}
    more = {name: True for name, is_so in given.items() if is_so}
    return {"waitroom": waitroom, "shows": shows, **more, "status": status}


_LET_IN = [step("up", "pass", 200, soon=True), step("up", "nothing", 303)]
_OVER = [*_LET_IN, step("finished", "pass", 303, soon=True)]
_SCENES: list[tuple[str, bool, str, list[dict[str, Any]]]] = [
    (
        "gone, closed: 503 for newcomers, nothing new for who is inside; then it is back",
        False,
        "closed",
        [
            *_LET_IN,
            step("up", "forged", 303),
            step("gone", "nothing", 503, soon=True),
            step("gone", "nothing", 503, program=True),
            step("gone", "forged", 503),
            step("gone", "pass", 200),
            step("up", "nothing", 303, soon=True),
            step("up", "pass", 200),
        ],
    ),
    (
        "gone, open: everybody goes on until it is back",
        False,
        "open",
        [
            *_LET_IN,
            step("gone", "nothing", 200, soon=True),
            step("gone", "pass", 200),
            step("up", "nothing", 303, soon=True),
        ],
    ),
    (
        "silent, open: late is not gone, until it lasts",
        False,
        "open",
        [
            *_LET_IN,
            step("silent", "nothing", 303),
            step("silent", "pass", 200),
            step("silent", "nothing", 200, soon=True),
        ],
    ),
    (
        "strict: a session that was finished elsewhere is refused, and stays out while it is gone",
        True,
        "open",
        [*_OVER, step("gone", "nothing", 200, soon=True), step("gone", "pass", 503)],
    ),
    (
        "strict: a finished session stays out while Waitroom is silent",
        True,
        "closed",
        [*_OVER, step("silent", "pass", 303), step("silent", "pass", 503, soon=True)],
    ),
    (
        "strict: without an answer signature and end decide",
        True,
        "closed",
        [*_LET_IN, step("silent", "pass", 200), step("gone", "pass", 200)],
    ),
    (
        "a room with a challenge: programs are told where to join, and nobody that it is away",
        False,
        "closed",
        [
            *_LET_IN,
            step("asks", "nothing", 429, soon=True, program=True, join=True),
            step("asks", "nothing", 303),
            step("asks", "pass", 200),
            step("asks", "pass", 200, program=True),
        ],
    ),
]


def document() -> dict[str, Any]:
    """Return the file."""
    return {
        "about": "What visitors get while Waitroom is up, silent or gone; played on real servers.",
        "cases": [
            {"name": name, "strict": strict, "when_away": when_away, "steps": steps}
            for name, strict, when_away, steps in _SCENES
        ],
    }
