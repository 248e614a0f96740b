"""The planner: settings of a room from the figures of the site behind it. It must do no I/O.

It computes what a document about a concert's queue computes on paper (recipe 000 of
docs/from-the-seeds.md), and then what the document left out: how many people a pace puts inside at
once. The document's pace does not depend on its target (the target cancels out of its formulas), so
it always fills the origin.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from waitroom.models import Policy, check_room_name, preset
from waitroom.planner import advice, verdict
from waitroom.planner.formulas import EXAMPLE_BATCH, Chain, exact_chain, rounded_chain
from waitroom.planner.inputs import Inputs
from waitroom.planner.outcome import BYTES_PER_WAITER, POLL_IN_FRONT_S, POLL_S, Outcome, outcome
from waitroom.planner.verdict import Word

__all__ = ["Chain", "Inputs", "Outcome", "Plan", "Word", "plan"]


@dataclass(frozen=True, slots=True)
class Plan:
    """The result of planning."""

    room: str
    inputs: Inputs
    exact: Chain
    rounded: Chain
    judged: Outcome
    recommended: Outcome
    word: Word
    verdict: str
    notes: list[str]
    policy: Policy
    toml: str
    command: str

    def as_dict(self) -> dict[str, Any]:
        """Return the plan for `--json`; the dataclasses in it become objects."""
        return {
            "inputs": self.inputs,
            "document": {"exact": self.exact, "rounded": self.rounded},
            "judged": self.judged,
            "recommended": self.recommended,
            "verdict": {"word": self.word, "text": self.verdict, "notes": self.notes},
            "settings": {
                "room": self.room,
                "policy": self.policy.as_dict(),
                "toml": self.toml,
                "command": self.command,
            },
            "assumed": {
                "bytes_per_waiter": BYTES_PER_WAITER,
                "poll_s": POLL_S,
                "poll_in_front_s": POLL_IN_FRONT_S,
            },
        }


def plan(given: Inputs, room: str = "concert") -> Plan:
    """Return the plan; figures that contradict each other raise InvalidInput with the remedy.

    The judged pace is `given.batch`, or otherwise that of the document's formulas; for its own
    example that is the 1,400 which it chose.
    """
    check_room_name(room)
    verdict.check_capacity(given)
    verdict.check_batch(given)
    rounded = rounded_chain(given)
    limits = capacity, target = int(rounded.concurrent), int(rounded.target)
    best = outcome(given, verdict.recommended_batch(given, capacity, target))
    verdict.check_line(given, best)
    judged = outcome(given, _to_judge(given, rounded))
    word = verdict.judge(given, judged, best, *limits)
    changed = advice.changes(given, best, capacity)
    return Plan(
        room=room,
        inputs=given,
        exact=exact_chain(given),
        rounded=rounded,
        judged=judged,
        recommended=best,
        word=word,
        verdict=verdict.sentence(word, judged, best, *limits),
        notes=verdict.notes(given, word, best, target),
        policy=preset(advice.PRESET, **changed),
        toml=advice.as_toml(room, changed),
        command=advice.as_command(room, changed),
    )


def _to_judge(given: Inputs, rounded: Chain) -> int:
    if given.batch is not None:
        return given.batch
    return EXAMPLE_BATCH if given.is_the_example() else int(rounded.per_slot)
