"""The solver for Python: what it cannot solve, it says."""

from __future__ import annotations

import json
from typing import Any

import pytest

from waitroom.errors import InvalidInput
from waitroom.server.challenges.work import Binding, Work
from waitroom.tickets import KeyRing
from waitroom.work import solve

CHALLENGE = json.loads(
    Work(KeyRing([b"only-for-tests-" * 3])).issue(Binding("concert", "x" * 12), 50_000_000)
)


@pytest.mark.parametrize(
    "challenge",
    [
        {},
        {"kind": "siteverify"},
        CHALLENGE | {"parameters": None},
        CHALLENGE | {"parameters": CHALLENGE["parameters"] | {"algorithm": "ARGON2ID"}},
        CHALLENGE | {"parameters": CHALLENGE["parameters"] | {"nonce": "xyz"}},
    ],
)
def test_what_cannot_be_solved(challenge: dict[str, Any]) -> None:
    """Another kind or algorithm is refused at once."""
    with pytest.raises(InvalidInput, match="cannot be solved here"):
        solve(challenge)


def test_it_gives_up() -> None:
    """Nobody can keep a client busy for ever."""
    with pytest.raises(InvalidInput, match="within 0 s"):
        solve(CHALLENGE, longest_s=0)
