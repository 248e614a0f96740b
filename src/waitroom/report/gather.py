"""Makes a `Sale` from what others have written down: history, audit log and archive."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from waitroom.archive.reading import Limits, Progress, Reading
from waitroom.history import COUNTERS, HistoryPoint
from waitroom.models import Policy
from waitroom.moments import from_ms
from waitroom.report import estimates
from waitroom.report.hands import Action, Hands
from waitroom.report.plan import Plan
from waitroom.report.sale import Sale
from waitroom.report.witness import Witness

_DAY_MS = 86_400_000
_WRITTEN_WITHIN_MS = 60_000
"""An archive may begin this much later than its first event, because that is relayed first."""

TURN_ON = "set `archive` to a folder (docs/after-the-sale.md) before the next sale"


@dataclass(frozen=True, slots=True, kw_only=True)
class Records:
    """What Redis knows of a room from `since_ms` to `until_ms`."""

    room: str
    since_ms: int
    until_ms: int
    policy: Policy
    points: Sequence[HistoryPoint]
    actions: Sequence[Action]
    before: Mapping[str, int] | None
    """The counters at the start of the period; None if unknown."""

    after: Mapping[str, int] | None
    """The counters at its end."""

    exact: bool = True
    """Whether both are from exactly that moment; otherwise something happened around it."""

    ongoing: bool = False
    """Whether the period is not over yet, or only just."""

    def counts(self) -> dict[str, int] | None:
        """Return what was counted in the period; None if unknown."""
        if self.before is None or self.after is None:
            return None
        return {name: max(0, self.after[name] - self.before[name]) for name in COUNTERS}


def gather(
    records: Records,
    archive: Path | None,
    plan: Plan | None = None,
    limits: Limits | None = None,
    progress: Progress = lambda _done, _total: None,
) -> Sale:
    """Read the archive, and put everything together. It may take minutes for millions of people."""
    hands = Hands(records.actions)
    witness = Witness(records.policy, hands, records.since_ms, records.until_ms)
    missing: list[str] = []
    if archive is None:
        missing.append(f"there is no archive of events: {TURN_ON}")
    else:
        missing += _read(records, archive, witness, limits, progress)
    counts = records.counts() or _whole_life(records, witness)
    if counts is None:
        missing.append("the history of the room does not reach back to the beginning")
    elif archive is not None and not missing and records.exact:
        missing += _differences(counts, witness, records.ongoing)
    pairs = estimates.of_archive(records.points, witness.joined_ms, witness.called_ms)
    pairs = pairs or estimates.of_history(records.points)
    return Sale(
        room=records.room,
        since_ms=records.since_ms,
        until_ms=records.until_ms,
        policy=witness.policy if archive is not None else records.policy,
        counts=counts or _known(records, witness),
        points=records.points,
        missing=tuple(missing),
        promises=witness.promises.all(),
        actions=tuple(records.actions),
        most_held=max(witness.promises.most_held, _most_held(records.points)),
        forced=hands.forced,
        joined_ms=witness.joined_ms,
        called_ms=witness.called_ms,
        pairs=pairs,
        estimates=estimates.judge(pairs),
        flow=witness.flow(),
        gaps=witness.gaps,
        marks=witness.marks,
        plan=plan,
    )


def _read(
    records: Records,
    archive: Path,
    witness: Witness,
    limits: Limits | None,
    progress: Progress,
) -> list[str]:
    """Let the witness read the archive; return what could not be read."""
    lead_ms = _lead_ms(records.policy)
    reading = Reading(
        archive, records.room, records.since_ms - lead_ms, records.until_ms, limits, progress
    )
    for event in reading:
        witness.hear(event)
    witness.finish()
    if not reading.paths:
        return [f"the archive has nothing of this time: {TURN_ON}"]
    missing = [
        f"the archive has a gap from {_moment(gap.since_ms)} to {_moment(gap.until_ms)}"
        for gap in witness.gaps[:5]
    ]
    if len(witness.gaps) > 5:
        missing.append(f"and {len(witness.gaps) - 5} more gaps")
    if reading.broken:
        missing.append(f"{reading.broken:,} lines of the archive cannot be read")
    if reading.stopped:
        missing.append("the archive is too long for a page; `waitroom report` reads all of it")
    return missing + _late(records, witness)


def _late(records: Records, witness: Witness) -> list[str]:
    """Return whether the archive began after people had been called."""
    if witness.opened_ms is None:
        return ["the archive does not say how the room was set when it began"]
    earlier = [
        point
        for point in records.points
        if point.at_ms + point.span_ms < witness.opened_ms - _WRITTEN_WITHIN_MS
    ]
    if not earlier:
        return []
    before = records.before or {"called_total": earlier[0].called_total}
    calls = earlier[-1].called_total - before["called_total"]
    if calls <= 0:
        return []
    return [f"the archive begins at {_moment(witness.opened_ms)}, after {calls:,} calls"]


def _whole_life(records: Records, witness: Witness) -> dict[str, int] | None:
    """Return everything that the room ever counted, if the archive has all of it."""
    after = records.after or {}
    if not after or any(witness.counts[name] != after[name] for name in COUNTERS[1:]):
        return None
    return dict(after)


def _known(records: Records, witness: Witness) -> dict[str, int]:
    """Return what was counted as far as known: by the archive, or between two samples."""
    if witness.events or not records.points:
        return {name: witness.counts[name] for name in COUNTERS}
    first, last = records.points[0], records.points[-1]
    return {name: max(0, getattr(last, name) - getattr(first, name)) for name in COUNTERS}


def _differences(counts: Mapping[str, int], witness: Witness, ongoing: bool) -> list[str]:
    """Compare the room's counts with the archive's: nobody may be lost on the way."""
    different = [
        f"{witness.counts[name]:,} of {count:,} ({name})"
        for name, count in counts.items()
        if name != COUNTERS[0] and witness.counts[name] != count  # joins are not written down
    ]
    if not different:
        return []
    why = "; it may still be writing" if ongoing else ""
    return [f"the archive has {', '.join(different)} that the room counted{why}"]


def _lead_ms(policy: Policy) -> int:
    """Return how long before the start somebody may have been called who is still inside."""
    stay_s, within_s = policy.longest_stay_s, policy.enter_within_s
    if stay_s is None or within_s is None:
        return _DAY_MS
    window_s = max(policy.per_s or 0, policy.every_s or 0)
    return min(_DAY_MS, round(1000 * max(stay_s + within_s, window_s)))


def _most_held(points: Sequence[HistoryPoint]) -> int:
    return max((point.called + point.inside for point in points), default=0)


def _moment(ms: int) -> str:
    return f"{from_ms(ms):%Y-%m-%d %H:%M:%S} UTC"
