"""Since when and for how long the places of a room are held, from the room's past.

A place here is one of the `capacity`. Pure, stdlib only.
"""

from __future__ import annotations

from math import inf

from waitroom.estimate.durations import Counts, sessions_of
from waitroom.estimate.forecast import Holding, Occupants
from waitroom.estimate.intervals import Past, Span
from waitroom.estimate.rates import Track
from waitroom.estimate.tuning import TUNING
from waitroom.models import Mode, Policy


class Occupancy:
    """The places of a room with `capacity`, from the part of its past that has no gap."""

    def __init__(self, policy: Policy, past: Past, called: int, inside: int) -> None:
        self._policy, self._past = policy, past
        self._called, self._inside = called, inside
        self._spans = past.spans[: past.whole]
        self._seconds = sum([span.seconds for span in self._spans])

    def is_known(self) -> bool:
        """Return whether people wait for places, and something is known about these places."""
        spans, capacity = self._spans, self._policy.capacity
        if capacity is None or not spans:
            return False
        released = sum([span.released for span in spans])
        if self._policy.session_s is None and released < TUNING.few_releases:
            return False
        if self._policy.mode is not Mode.MANUAL:
            return True
        seconds = sum([span.seconds for span in spans if span.busy])
        occupied_s = sum([span.occupied * span.seconds for span in spans if span.busy])
        # A host who leaves more places free than this does not fill the room to capacity.
        return occupied_s > TUNING.kept_full * capacity * seconds

    def held(self) -> tuple[Holding, Occupants] | None:
        """Return what was measured, or what the policy says while nothing has happened.

        None if neither says how long a place is held.
        """
        session_s, occupied = self._policy.session_s, self._called + self._inside
        released = sum([span.released for span in self._spans])
        if session_s is None and released < TUNING.few_releases:
            return None
        if self._spans:
            return self.measured()
        rough_s = TUNING.usual_share * (session_s or 0.0)
        width_s = rough_s / TUNING.bins_per_session
        holding = self._holding(Counts(width_s, [0.0], [0.0], 0.0), rough_s)
        return holding, Occupants(width_s, [0.0], float(occupied), occupied)

    def measured(self) -> tuple[Holding, Occupants]:
        """Return how long places are held, and who has held one since when."""
        rough_s, most = self._rough_s(), TUNING.most_bins
        width_s = min(rough_s / TUNING.bins_per_session, self._seconds / TUNING.fewest_bins)
        width_s = max(width_s, self._longest_s(rough_s) / TUNING.most_lengths)
        number = max(1, min(most, round(self._seconds / width_s)))
        fresh = self._past.fresh and number < most
        if number < most:
            width_s = self._seconds / number
        began, ended, calls, released = (
            Track(
                [(span.seconds, people) for span, people in zip(self._spans, column, strict=True)]
            ).bins(width_s, number)
            for column in _columns(self._spans)
        )
        inside = max(0.0, self._inside - sum(began) + sum(ended))
        before = max(0.0, self._called + self._inside - sum(calls) + sum(released))
        if fresh:  # people with a place at the beginning had just been called
            began[0], inside = began[0] + inside, 0.0
            calls[0], before = calls[0] + before, 0.0
        holding = self._holding(Counts(width_s, began, ended, inside), rough_s)
        return holding, Occupants(width_s, calls, before, self._called + self._inside)

    def _longest_s(self, rough_s: float) -> float:
        """Return the longest session that is looked for: the bins must reach so far."""
        session_s = self._policy.session_s
        usual_s = rough_s if session_s is None else TUNING.usual_share * session_s
        return min(
            self._policy.longest_stay_s or inf, TUNING.longest_session * max(usual_s, rough_s)
        )

    def _rough_s(self) -> float:
        """Return about how long a place is held, by Little's law: held ÷ given back per second."""
        session_s = self._policy.session_s
        occupied_s = released = 0.0
        for span in self._spans:
            occupied_s += span.occupied * span.seconds
            released += span.released
            if released > TUNING.rough_turnovers * span.occupied:
                break
        if session_s is None:
            return max(0.01, occupied_s / (released + 0.5))
        few, usual = TUNING.few_releases, TUNING.usual_share
        rough_s = (occupied_s + few * usual * session_s) / (released + few)
        return max(0.01, min(session_s, rough_s))

    def _holding(self, counts: Counts, rough_s: float) -> Holding:
        policy = self._policy
        session_s, within_s = policy.session_s, policy.enter_within_s
        usual_s = rough_s if session_s is None else TUNING.usual_share * session_s
        most_s = policy.longest_stay_s or inf
        sessions = sessions_of(counts, usual_s=usual_s, most_s=most_s)
        return Holding(sessions, *self._answers(within_s or 0.0))

    def _answers(self, within_s: float) -> tuple[float, float, float]:
        """Return how people react to a call: the share who never come, and the others' delay.

        Somebody called within the last `within_s` may still come, so those who did not come are
        compared with calls that were made so much earlier.
        """
        spans = self._spans
        calls, no_shows, entered, called_s = (
            Track(list(zip([span.seconds for span in spans], column, strict=True)))
            for column in (
                [span.calls for span in spans],
                [span.no_shows for span in spans],
                [span.entered for span in spans],
                [span.called * span.seconds for span in spans],
            )
        )
        first = self._first()
        reach_s = min(self._seconds - within_s, TUNING.answers_s)
        if reach_s <= 0:
            return 0.0, 0.0, 0.0
        made = calls.within(within_s + reach_s) - calls.within(within_s)
        if within_s + reach_s >= self._seconds:
            made += first
        came = entered.within(reach_s)
        if made < TUNING.few_calls or not came:
            return 0.0, 0.0, 0.0
        missed = no_shows.within(reach_s)
        enter_s = max(0.0, (called_s.within(reach_s) - missed * within_s) / came)
        absent = min(TUNING.most_absent, missed / (made + TUNING.few_calls / 2))
        return absent, within_s, min(within_s, enter_s) if within_s else enter_s

    def _first(self) -> int:
        """Return how many had just been called when the past began."""
        if not self._past.fresh:
            return 0
        since = sum([span.calls - span.released for span in self._spans])
        return max(0, self._called + self._inside - since)


def _columns(spans: list[Span]) -> tuple[list[int], ...]:
    return (
        [span.entered for span in spans],
        [max(0, span.released - span.no_shows) for span in spans],
        [span.calls for span in spans],
        [span.released for span in spans],
    )
