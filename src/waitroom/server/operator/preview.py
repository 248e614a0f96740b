"""What a lever will do, told before it is pulled: the change, and what it does to the wait.

The estimate that people see follows what was observed, which a change has not yet had time to
alter. So both policies are projected by their limits and the length of sessions seen, and the
estimate of now is scaled by how far the two are apart.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from waitroom.errors import InvalidInput, InvalidPolicy
from waitroom.estimate.flow import History
from waitroom.estimate.methods import estimator
from waitroom.models import Eta, Mode, Policy
from waitroom.server.rooms.board import Board

_MOST_ADMITTED = 1_000_000
_NUMBER = re.compile(r"\d{1,12}(?:\.\d{1,3})?", re.ASCII)


class Lever(StrEnum):
    """What the page can do."""

    MODE = "mode"
    PACE = "pace"
    CAPACITY = "capacity"
    MESSAGE = "message"
    ADMIT = "admit"
    CALL = "call"
    KICK = "kick"


FIELDS = {
    Lever.MODE: ("mode",),
    Lever.PACE: ("batch", "every_s"),
    Lever.CAPACITY: ("capacity",),
    Lever.MESSAGE: ("message",),
}
"""The fields of the policy that a lever changes."""

DRAFTS = ("delay", "part_sold_out", "technical", "goes_on", "thanks")
"""Messages to begin with; the texts `draft_…` name them, and `draft_…_text` is what they say."""


@dataclass(frozen=True, slots=True)
class Wish:
    """What the form asked for."""

    lever: Lever
    changes: dict[str, Any]
    count: int = 0
    force: bool = False
    ticket: str = ""
    ban: bool = False

    @property
    def inputs(self) -> dict[str, str]:
        """The same as fields of the form that confirms it."""
        shown = {name: "" if v is None else str(v) for name, v in self.changes.items()}
        if self.lever is Lever.ADMIT:
            shown["count"] = str(self.count)
        if self.ticket:
            shown["ticket"] = self.ticket
        return shown | ({"force": "1"} if self.force else {})


@dataclass(frozen=True, slots=True)
class Preview:
    """What would change, and what that does to the last in line."""

    changed: dict[str, tuple[Any, Any]]
    before_s: float | None
    after_s: float | None
    notes: tuple[tuple[str, int], ...] = ()

    @property
    def same(self) -> bool:
        """Whether the wait stays, as far as anybody would notice."""
        if self.before_s is None or self.after_s is None:
            return False
        return abs(self.before_s - self.after_s) <= max(5.0, 0.03 * self.before_s)


def read(form: Mapping[str, str]) -> Wish:
    """Read what was filled in; an empty field means no limit."""
    try:
        lever = Lever(form.get("do", ""))
    except ValueError:
        raise InvalidInput("do", f"must be one of {', '.join(Lever)}") from None
    force = form.get("force") == "1"
    if form.get("remove") == "1" and lever is Lever.MESSAGE:
        return Wish(lever, {"message": None})
    if lever in FIELDS:
        changes = {name: _value(name, form.get(name, "")) for name in FIELDS[lever]}
        if lever is Lever.MODE and "ends_at" in form:  # no mode holds after it, so it goes
            changes["ends_at"] = None
        return Wish(lever, changes)
    if lever is Lever.ADMIT:
        text = form.get("count", "").replace(",", "").strip()
        if not text.isascii() or not text.isdecimal() or not 1 <= int(text[:9]) <= _MOST_ADMITTED:
            raise InvalidInput("count", f"takes a whole number from 1 to {_MOST_ADMITTED:,}")
        return Wish(lever, {}, int(text[:9]), force)
    return Wish(lever, {}, 1, force, form.get("ticket", "")[:64], form.get("ban") == "1")


def _value(name: str, text: str) -> Any:
    if name == "message":  # a form sends its lines with CR LF
        return "\n".join(text.strip().splitlines()) or None
    text = text.strip().replace(",", "")
    if name == "mode":
        return text
    if not text:
        return None
    if not _NUMBER.fullmatch(text):
        raise InvalidPolicy(name, f"{text!r:.40} is not a number; leave it empty for no limit")
    number = float(text)
    return int(number) if number == int(number) else number


def preview(board: Board, wish: Wish) -> Preview:
    """Return what a wish would do to a room as it is now."""
    before = board.wait(max(1, board.stats.waiting))
    before_s = None if before is None else float(before.likely)
    if wish.lever is Lever.ADMIT:
        return _admission(board, wish, before_s)
    if wish.lever not in FIELDS:
        return Preview({}, before_s, before_s)
    changed = board.policy.change(**wish.changes)  # the policy itself says what is not allowed
    old, new = board.policy.as_dict(), changed.as_dict()
    differ = {name: (old[name], new[name]) for name in old if old[name] != new[name]}
    after_s = _scaled(board, changed, before_s)
    return Preview(differ, before_s, after_s, tuple(_notes(board, changed)))


def _admission(board: Board, wish: Wish, before_s: float | None) -> Preview:
    """Calling people by hand moves everybody behind them up by as many places."""
    policy, stats = board.policy, board.stats
    count, notes = min(wish.count, stats.waiting), []
    if wish.count > stats.waiting:
        notes.append(("note_fewer", stats.waiting))
    if policy.capacity is not None:
        room = max(0, policy.capacity - stats.called - stats.inside)
        if count > room:
            notes.append(("note_forced" if wish.force else "note_room", room))
            count = count if wish.force else room
    if not wish.force and stats.mode in (Mode.PAUSED, Mode.CLOSED, Mode.ENDED):
        notes, count = [("note_refused", 0)], 0
    after = board.wait(stats.waiting - count) if count < stats.waiting else None
    after_s = 0.0 if 0 < stats.waiting == count else None if after is None else float(after.likely)
    return Preview({}, before_s, after_s, tuple(notes))


def _notes(board: Board, policy: Policy) -> list[tuple[str, int]]:
    taken = board.stats.called + board.stats.inside
    notes = []
    if policy.mode is not board.policy.mode:
        notes.append((f"note_{policy.mode}", 0))
    lowered = policy.capacity is not None and policy.capacity != board.policy.capacity
    if lowered and policy.capacity is not None and taken > policy.capacity:
        notes.append(("note_over", taken - policy.capacity))
    if policy.batch is None and board.policy.batch is not None:
        notes.append(("note_no_pace", 0))
    return notes


def _scaled(board: Board, changed: Policy, before_s: float | None) -> float | None:
    now_s, then_s = projected_s(board, board.policy), projected_s(board, changed)
    if then_s is None or before_s is None or not now_s:
        return then_s
    return before_s * then_s / now_s


def projected_s(board: Board, policy: Policy) -> float | None:
    """Return what the limits of a policy give for the last in line, judged by no past pace."""
    stats = board.stats
    holding_s, _ = History(board.policy, stats, board.samples).holding_s()
    plain: dict[str, Any] = {"eta": Eta.OBSERVED}
    if holding_s is not None:
        allowed = Policy.__dataclass_fields__["session_s"].metadata
        plain["session_s"] = max(allowed["low"], min(holding_s, allowed["high"]))
    with contextlib.suppress(ArithmeticError):
        wait = estimator(policy.change(**plain), stats, ()).wait(max(1, stats.waiting))
        return None if wait is None else float(wait.likely)
    return None
