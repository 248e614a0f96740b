"""What was planned for a sale, to compare with what happened. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from waitroom.errors import InvalidInput


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Figures of a rehearsal or of `waitroom plan`; None for missing ones."""

    name: str
    people: int | None = None
    called: int | None = None
    no_shows: int | None = None
    most_waiting: int | None = None
    most_held: int | None = None
    median_s: float | None = None
    p90_s: float | None = None
    longest_s: float | None = None


def read(document: Any) -> Plan:
    """Read what `waitroom rehearse --json` or `waitroom plan --json` printed."""
    try:
        if "scenario" in document:
            return of_rehearsal(document)
        return _of_planner(document)
    except (KeyError, TypeError, AttributeError):
        raise InvalidInput(
            "plan",
            "is neither a scenario nor what `waitroom rehearse --json` or `waitroom plan --json` "
            "printed",
        ) from None


def of_rehearsal(figures: Mapping[str, Any]) -> Plan:
    """Return the plan from a rehearsal's figures."""
    waits = figures["wait_s"]
    return Plan(
        name=f"rehearsal {figures['scenario']}",
        people=figures["people"],
        called=waits["called"],
        no_shows=figures["ended"].get("no_show"),
        most_waiting=figures["most_waiting"],
        most_held=figures["most_called_and_inside"],
        median_s=waits["median"],
        p90_s=waits["p90"],
        longest_s=waits["longest"],
    )


def _of_planner(document: Mapping[str, Any]) -> Plan:
    pace = document["recommended"]
    return Plan(
        name="waitroom plan",
        people=document["inputs"]["crowd"],
        most_waiting=pace["most_waiting"],
        most_held=pace["inside"],
        longest_s=pace["last_wait_s"],
    )
