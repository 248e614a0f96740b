"""What the past of a room says about its places: who holds one since when, and for how long.

Pure, stdlib only.
"""

from __future__ import annotations

from math import inf

from waitroom.estimate.durations import USUAL, Counts, fitted
from waitroom.estimate.forecast import Held, Slot
from waitroom.estimate.intervals import Past, Span
from waitroom.estimate.rates import Track
from waitroom.models import Mode, Policy

_KEPT_FULL = 0.85  # a host who leaves more places free than this goes by something else
_FEWEST = 3  # places given back, where nothing else tells how long they are held
_PER_SESSION = 6  # bins
_FEW, _MOST = 10, 30  # bins in all
_CALLS, _MOST_CALLS = 20, 100  # that tell how people answer them now


class Places:
    """The places of a room with `capacity`, by as much of its past as has no gap."""

    def __init__(self, policy: Policy, past: Past, called: int, inside: int) -> None:
        self._policy, self._past = policy, past
        self._called, self._inside = called, inside
        self._spans = past.spans[: past.whole]
        self._seconds = sum([span.seconds for span in self._spans])

    def tell(self) -> bool:
        """Tell whether places are what people wait for, and something is known of them."""
        spans, capacity = self._spans, self._policy.capacity
        if capacity is None or not spans:
            return False
        released = sum([span.released for span in spans])
        if self._policy.session_s is None and released < _FEWEST:
            return False
        if self._policy.mode is not Mode.MANUAL:
            return True
        seconds = sum([span.seconds for span in spans if span.busy])
        held = sum([span.occupied * span.seconds for span in spans if span.busy])
        return held > _KEPT_FULL * capacity * seconds

    def seen(self) -> tuple[Slot, Held]:
        """Return how long places are held, and who has one since when."""
        rough_s = self._rough_s()
        width_s = min(rough_s / _PER_SESSION, self._seconds / _FEW)
        number = min(_MOST, round(self._seconds / width_s))
        fresh = self._past.fresh and number < _MOST
        if number < _MOST:
            width_s = self._seconds / number
        began, ended, calls, released = (
            Track(
                [(span.seconds, each) for span, each in zip(self._spans, found, strict=True)]
            ).bins(width_s, number)
            for found in _columns(self._spans)
        )
        inside = max(0.0, self._inside - sum(began) + sum(ended))
        before = max(0.0, self._called + self._inside - sum(calls) + sum(released))
        if fresh:  # who had a place when it began had just been called
            began[0], inside = began[0] + inside, 0.0
            calls[0], before = calls[0] + before, 0.0
        slot = self._slot(Counts(width_s, began, ended, inside), rough_s)
        return slot, Held(width_s, calls, before, self._called + self._inside)

    def _rough_s(self) -> float:
        """Return about how long a place is held, by Little's law: held ÷ given back per second."""
        session_s = self._policy.session_s
        held = released = 0.0
        for span in self._spans:
            held += span.occupied * span.seconds
            released += span.released
            if released > 8 * span.occupied:
                break
        if session_s is None:
            return max(0.01, held / (released + 0.5))
        found = (held + _FEWEST * USUAL * session_s) / (released + _FEWEST)
        return max(0.01, min(session_s, found))

    def _slot(self, counts: Counts, rough_s: float) -> Slot:
        policy = self._policy
        session_s, within_s = policy.session_s, policy.enter_within_s
        sessions = fitted(
            counts,
            rough_s=rough_s,
            usual_s=None if session_s is None else USUAL * session_s,
            most_s=inf if session_s is None or policy.renewable else session_s,
        )
        return Slot(sessions, *self._answers(within_s or 0.0))

    def _answers(self, within_s: float) -> tuple[float, float, float]:
        """Return how people answer a call now: a share never comes, and the others take a while."""
        entered = no_shows = calls = 0
        seconds = called_s = 0.0
        for span in self._spans:
            if seconds >= within_s:  # who was called later may still come
                calls += span.calls
            seconds += span.seconds
            entered += span.entered
            no_shows += span.no_shows
            called_s += span.called * span.seconds
            if calls >= _MOST_CALLS:
                break
        else:
            calls += self._first() if seconds >= within_s else 0
        if calls < _CALLS or not entered:
            return 0.0, 0.0, 0.0
        enter_s = max(0.0, (called_s - no_shows * within_s) / entered)
        absent = min(0.98, no_shows / (calls + _CALLS / 2))
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
