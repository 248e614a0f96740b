"""Promises are kept, and the checkers can fail: with wrong Lua each promise fails."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.rehearsal.scenes import BAD_DAY, PACED, ROLLING, SLOTS, scene
from waitroom.engine import scripts
from waitroom.rehearsal import Outcome, rehearse

Change = tuple[str, str, str]

WRONG: dict[str, tuple[str, str, Change]] = {
    # promise: scenario, what is done wrong, and where
    "capacity": (
        SLOTS,
        "admits one too many",
        ("parts/budget", "R.capacity - live_called()", "R.capacity + 1 - live_called()"),
    ),
    "pace": (
        PACED,
        "calls one too many in every slot",
        ("parts/budget", "return R.batch - R.slot_count", "return R.batch + 1 - R.slot_count"),
    ),
    "rolling limit": (
        ROLLING,
        "forgets the entries of a window",
        ("parts/window", "n = n + tonumber(pairs_[i + 1])", "n = n"),
    ),
    "order": (
        SLOTS,
        "takes them from the wrong end",
        (
            "parts/admission",
            "seen_n + n - 1, 'WITHSCORES')",
            "seen_n + n - 1, 'REV', 'WITHSCORES')",
        ),
    ),
    "nobody lost": (
        PACED,
        "forgets one person",
        (
            "parts/admission",
            "mark_called(take, take_places)",
            "table.remove(take, 2)\n    mark_called(take, take_places)",
        ),
    ),
    "places reused": (
        SLOTS,
        "leaves one place empty",
        ("parts/budget", "R.capacity - live_called()", "R.capacity - 1 - live_called()"),
    ),
}


@pytest.fixture
def broken(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Use a variant of the Lua, in this process, for one test."""
    file, old, new = request.param
    original = scripts.lua

    def lua(name: str) -> str:
        text = original(name)
        if name == file:
            assert text.count(old) == 1, f"{old!r} is not once in {name}.lua"
            text = text.replace(old, new)
        return text

    monkeypatch.setattr(scripts, "lua", lua)
    scripts.script.cache_clear()
    yield
    monkeypatch.undo()
    scripts.script.cache_clear()


def verdicts(outcome: Outcome) -> dict[str, str]:
    """Return the verdict of each promise, with what broke it."""
    return {
        promise.name: f"{promise.verdict} {promise.first}".strip() for promise in outcome.promises
    }


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    "text", [SLOTS, PACED, ROLLING, BAD_DAY], ids=["slots", "paced", "rolling", "bad day"]
)
async def test_right_lua_keeps_them(text: str) -> None:
    """Nothing is reported if nothing is wrong, even on a day with a loss and an outage."""
    outcome = await rehearse(scene(text))
    assert outcome.passed, verdicts(outcome)
    assert 0 == outcome.ended["lost"]
    assert outcome.people == sum(outcome.ended.values())


@pytest.mark.parametrize(
    ("promise", "broken"), [(name, each[2]) for name, each in WRONG.items()], indirect=["broken"]
)
@pytest.mark.usefixtures("broken")
async def test_wrong_lua_turns_its_promise_red(promise: str) -> None:
    """A room that does one thing wrong is found out, by the promise that it breaks."""
    outcome = await rehearse(scene(WRONG[promise][0]))
    failed = next(result for result in outcome.promises if result.name == promise)
    assert "FAIL" == failed.verdict, verdicts(outcome)
    assert failed.first
    assert not outcome.passed
