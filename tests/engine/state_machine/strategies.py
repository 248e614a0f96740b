"""Random inputs: changes of a policy, openings, time spans, and what a record tells."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st


def either(*values: Any) -> st.SearchStrategy[Any]:
    """Pick one of a few values that matter."""
    return st.sampled_from(values)


MODES = either("open", "open", "paused", "closed", "ended", "bypass", "manual")
CHANGES: st.SearchStrategy[dict[str, Any]] = st.one_of(
    st.fixed_dictionaries({"capacity": either(None, 1, 2, 4)}),
    st.fixed_dictionaries({"batch": either(1, 2, 3), "every_s": either(0.5, 2, 10)}),
    st.just({"batch": None, "every_s": None}),
    st.fixed_dictionaries({"max_entries": either(1, 2, 4), "per_s": either(2, 10, 60)}),
    st.just({"max_entries": None, "per_s": None}),
    st.fixed_dictionaries({"mode": MODES}),
    st.just({"mode": "open"}),
    st.fixed_dictionaries({"session_s": either(None, 0.4, 3, 40, 600)}),
    st.fixed_dictionaries({"renewable": st.booleans()}),
    st.fixed_dictionaries({"needs": st.just("identity"), "once": st.booleans()}),
    st.fixed_dictionaries({"longest_s": either(None, 2, 50)}),
    st.fixed_dictionaries({"presence_s": either(None, 6, 20, 150)}),
    st.fixed_dictionaries({"return_s": either(None, 3, 30)}),
    st.fixed_dictionaries({"recover_s": either(0, 4, 75)}),
    st.fixed_dictionaries({"queue_limit": either(None, 3)}),
    st.fixed_dictionaries({"max_defers": either(0, 2, 7)}),
    st.fixed_dictionaries({"ticket_ttl_s": either(120, 86_400)}),
    st.fixed_dictionaries({"idle_ttl_s": either(5, 21_600)}),
    st.just({"needs": "nothing", "once": False}),  # a room that knows nobody cannot say `once`
    st.just({"needs": "code"}),
)
OPENINGS = st.fixed_dictionaries(
    {
        "in_s": either(-5, 0.5, 5, 30, 100),
        "before_open": either("pass", "wait", "refuse", "draw", "draw"),
    }
)
ENDINGS = either(-5, 0.5, 5, 30)
"""In how many seconds the room ends."""

TOLD = st.fixed_dictionaries(
    {
        "who": st.integers(0, 8),
        "state": either("waiting", "waiting", "called", "finished", "left", "no_show"),
        "newer": either(-1, 0, 1, 1, 1),
        "near": st.integers(0, 8),
        "by": either(-8, -1, 0, 1, 8, 1_000_000),
    }
)
SECONDS = either(0.001, 0.1, 0.3, 0.7, 1, 1.5, 2, 4, 7, 15, 40, 130)
PEOPLE = st.integers(0, 40)
