"""A room as commands show it: as JSON, and its live numbers at a glance."""

from __future__ import annotations

from typing import Any

from rich.table import Table

from waitroom.cli.output import table
from waitroom.cli.text import moment, number, span
from waitroom.models import Policy, Room, Stats


def document(room: Room, stats: Stats) -> dict[str, Any]:
    """Return a room with its numbers as JSON."""
    return {
        "name": room.name,
        "version": room.version,
        "epoch": room.epoch,
        "policy": room.policy.as_dict(),
        "stats": stats,
    }


def glance(stats: Stats, policy: Policy) -> Table:
    """Return the live numbers, each beside its limit."""
    lines = table("what", "count", "note", right=("count",), header=False)
    oldest = f"longest wait {span(stats.oldest_wait_ms / 1000)}" if stats.oldest_wait_ms else ""
    full = _of(policy.queue_limit)
    lines.add_row("waiting", number(stats.waiting), ", ".join(filter(None, (full, oldest))))
    if stats.may_return:
        lines.add_row("may return", number(stats.may_return), "dropped for silence")
    lines.add_row("called", number(stats.called), "")
    used = f"{_of(policy.capacity)} with those called" if policy.capacity else ""
    lines.add_row("inside", number(stats.inside), used)
    if policy.per_s is not None:
        window = f"entries in {span(policy.per_s)}"
        lines.add_row(window, number(stats.entries_in_window), _of(policy.max_entries))
    if stats.hold_until_ms is not None:
        lines.add_row("on hold", "", f"nobody is called until {moment(stats.hold_until_ms)}")
    return lines


def _of(limit: int | None) -> str:
    return "" if limit is None else f"of {number(limit)}"
