"""Lua that is wrong on purpose: each variant must turn a named test red.

`WAITROOM_TEST_MUTANT=<name>` makes every process of a test run use it. `tests/test_mutants.py` does
that, and so proves that the tests can fail.
"""

from __future__ import annotations

import os
from dataclasses import dataclass

from waitroom.engine import scripts

VARIABLE = "WAITROOM_TEST_MUTANT"


@dataclass(frozen=True, slots=True)
class Change:
    """A change of one Lua file: `old` must be there, so that a variant cannot go stale unseen."""

    file: str
    old: str
    new: str


@dataclass(frozen=True, slots=True)
class Mutant:
    """A variant, and the test that it must turn red."""

    test: str
    changes: tuple[Change, ...]


def _mutant(test: str, *changes: tuple[str, str, str], file: str = "promises_small") -> Mutant:
    node = f"tests/engine/test_{file}.py::{test}"
    return Mutant(node, tuple(Change(*change) for change in changes))


_BUCKET = "string.format('%.0f', R.now - R.now % R.bucket_ms)"
_ONE_MORE = "redis.call('HINCRBY', K.entries, bucket, n) > n"

MUTANTS: dict[str, Mutant] = {
    "admits_one_too_many": _mutant(
        "test_capacity_is_never_passed",
        ("_moves", "R.capacity - live_called()", "R.capacity + 1 - live_called()"),
    ),
    "forgets_a_person": _mutant(
        "test_nobody_is_forgotten",
        ("_moves", "mark_called(take, t", "take[2] = nil\n    mark_called(take, t"),
    ),
    "ignores_order": _mutant(
        "test_the_first_are_called_first",
        ("_moves", "seen_n + n - 1, 'WITHSCORES')", "seen_n + n - 1, 'REV', 'WITHSCORES')"),
    ),
    "tells_positions_in_half_a_line": _mutant(
        "test_positions_are_hidden_until_the_hold_is_over",
        ("_common", "return R.restoring_until > R.now", "return false"),
        file="restoring",
    ),
    "hides_positions_after_an_outage": _mutant(
        "test_an_outage_hides_nothing",
        ("_common", "if silent_from and R.restoring_until <= silent_from then return end", ""),
        file="restoring",
    ),
    "counts_calls_instead_of_entries": _mutant(
        "test_late_enterers_and_new_calls_share_the_window",
        ("_moves", _ONE_MORE, "bucket"),
        (
            "_moves",
            "count('called_total', #ids)",
            f"count('called_total', #ids)\n  redis.call('HINCRBY', K.entries, {_BUCKET}, #ids)",
        ),
        ("_moves", "entries_in_window() - live_called())", "entries_in_window())"),
        ("enter", "entries_in_window() + #goes >= R.max_entries", "false"),
    ),
    "restores_the_gone": _mutant(
        "test_who_left_stays_gone",
        ("_common", "if left and left >= place then", "if false then"),
    ),
    # Beyond the five that were asked for.
    "enters_without_a_limit": _mutant(
        "test_the_rolling_limit_holds_when_it_is_lowered",
        ("enter", "entries_in_window() + #goes >= R.max_entries", "false"),
    ),
    "enters_a_batch_above_the_limit": _mutant(
        "test_a_batch_keeps_the_rolling_limit",
        ("enter", "entries_in_window() + #goes >=", "entries_in_window() >="),
        file="enter",
    ),
    "settles_what_is_late": _mutant(
        "test_any_order_ends_in_the_newest",
        ("settle", "known > revision and not forced", "false"),
        file="settle",
    ),
    "lets_everybody_return": _mutant(
        "test_a_hoard_ends_with_return_s",
        ("_common", "is_overdue(id) and 'abandoned' or 'absent'", "'absent'"),
        file="hoarding",
    ),
    "drops_who_is_cut_off": _mutant(
        "test_visitors_cut_off_lose_nothing",
        ("_moves", "if polled < MANY then return false end", "do return false end"),
        file="hoarding",
    ),
    "renews_for_ever": _mutant(
        "test_never_past_longest_s",
        ("_moves", "min(ends, began + R.longest)", "ends"),
        file="renew",
    ),
    "reinstates_in_front": _mutant(
        "test_called_by_hand",
        ("reinstate", "place = max(old, R.watermark + 1)", "place = R.watermark + 1"),
        file="reinstate",
    ),
    "conjures_people_up": _mutant(
        "test_a_stranger",
        ("reinstate", "or (not known and not forced and 'unknown_ticket')", ""),
        file="reinstate",
    ),
    "forgets_who_was_reinstated": _mutant(
        "test_other_processes_learn",
        ("_moves", "stand_again(id, place)\n  note_place(place)", "note_place(place)"),
        file="reinstate",
    ),
    "ignores_the_deadline": _mutant(
        "test_a_turn_ends_at_its_deadline_without_a_sweep",
        ("_common", "if score > called_cutoff() then return", "if score then return"),
    ),
}


def apply() -> None:
    """Use the variant that the environment names, if any, in this process."""
    chosen = os.environ.get(VARIABLE)
    if not chosen:
        return
    mutant, original = MUTANTS[chosen], scripts.lua

    def lua(name: str) -> str:
        text = original(name)
        for change in mutant.changes:
            if change.file == name:
                count = text.count(change.old)
                assert count == 1, f"{chosen}: {change.old!r} is {count} times in {name}.lua"
                text = text.replace(change.old, change.new)
        return text

    scripts.lua = lua
    scripts.script.cache_clear()
