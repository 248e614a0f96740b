"""The parts of a load test that need no server: which limits count, and effects of changes."""

from __future__ import annotations

import pytest

from waitroom.load.checks import Verdict
from waitroom.load.outcome import Noted
from waitroom.load.plan import Limits
from waitroom.load.run import _chosen, _judged
from waitroom.load.visits import End, Visit

OWN = Limits(capacity=5, known=True, in_order=False)


@pytest.mark.parametrize(
    ("given", "chosen"),
    [
        (None, OWN),
        (Limits(), OWN),
        (Limits(capacity=9), Limits(capacity=9, known=True, in_order=False)),
        (Limits(None, 3, 60), Limits(5, 3, 60, known=True, in_order=False)),
    ],
)
def test_given_limits_override_those_of_the_room(given: Limits | None, chosen: Limits) -> None:
    """Each given limit counts; the others, and the meaning of the room's mode, stay."""
    assert chosen == _chosen(given, OWN)


def test_a_changed_policy_makes_the_limits_unsure() -> None:
    """Positions and lost people are still judged, because no policy allows faults there."""
    noted = Noted()
    for called in (2.0, 2.1):
        noted.history.add(Visit(End.SERVED, 0.0, 0.1, 1.0, called, called, called, 9.0, 3))
    before, after = (_judged(noted, Limits(1, known=True), changed) for changed in (False, True))
    assert Verdict.FAILED in {check.verdict for check in before}
    unsure = {check.name for check in after if check.verdict is Verdict.UNKNOWN}
    assert {check.name for check in before} - {"positions", "nobody lost"} == unsure
