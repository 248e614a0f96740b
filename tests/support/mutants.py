"""Lua that is wrong on purpose: each variant must make a named test fail.

`WAITROOM_TEST_MUTANT=<name>` makes every process of a test run use it. `tests/test_mutants.py` does
this, and so proves that the tests can fail.
"""

from __future__ import annotations

import os
from dataclasses import dataclass

from waitroom.engine import scripts

VARIABLE = "WAITROOM_TEST_MUTANT"


@dataclass(frozen=True, slots=True)
class Change:
    """A change to one Lua file: `old` must be there, so that no variant goes stale unnoticed."""

    file: str
    old: str
    new: str


@dataclass(frozen=True, slots=True)
class Mutant:
    """A variant, and the test that must fail with it."""

    test: str
    changes: tuple[Change, ...]


def _mutant(test: str, *changes: tuple[str, str, str], file: str = "promises_small") -> Mutant:
    node = f"tests/engine/test_{file}.py::{test}"
    return Mutant(node, tuple(Change(*change) for change in changes))


_BUCKET = "string.format('%.0f', R.now - R.now % R.bucket_ms)"
_ONE_MORE = "redis.call('HINCRBY', K.entries, bucket, n) > n"

MUTANTS: dict[str, Mutant] = {
    "gives_two_places_for_a_code": _mutant(
        "test_a_place_for_a_code",
        ("parts/codes", "#ids + 1 >= uses * (#id + 1)", "false"),
        file="codes",
    ),
    "burns_a_code_by_a_repeat": _mutant(
        "test_abandoned",
        (
            "parts/codes",
            "if holders[id] == name or redis.call('HGET', K.coded, id) == name",
            "if false",
        ),
        file="codes",
    ),
    "keeps_the_code_of_who_left": _mutant(
        "test_leave_gives_it_back",
        (
            "parts/endings",
            "    if reason == 'left' then give_back(id) end\n    note_gone(score",
            "    note_gone(score",
        ),
        file="codes",
    ),
    "gives_back_the_code_of_who_was_called": _mutant(
        "test_no_show",
        ("parts/calling", "redis.call('HDEL', K.coded, unpack(ids))", ""),
        file="codes",
    ),
    "gives_back_the_code_of_who_was_kicked": _mutant(
        "test_kicked",
        (
            "parts/endings",
            "    if reason == 'left' then give_back(id) end\n    note_gone(score",
            "    give_back(id)\n    note_gone(score",
        ),
        file="codes",
    ),
    "takes_revoked_codes": _mutant(
        "test_revoked",
        (
            "parts/codes",
            "if is_revoked(string.sub(name, 1, BATCH)) then return 'code_revoked' end",
            "",
        ),
        file="revoke",
    ),
    "lets_anybody_in_without_a_code": _mutant(
        "test_without",
        ("parts/codes", "R.p.needs == 'code' and 'code_required' or nil", "nil"),
        file="codes",
    ),
    "forgets_the_code_of_a_restored_place": _mutant(
        "test_after_a_loss",
        ("join", "  take_code(id, code)\n", ""),
        file="codes",
    ),
    "gives_back_a_finished_code_after_a_loss": _mutant(
        "test_finished_before_a_loss",
        (
            "parts/after_loss",
            "if reason == 'finished' then redis.call('HDEL', K.coded, id) end",
            "",
        ),
        file="codes",
    ),
    "forgets_used_codes_when_idle": _mutant(
        "test_idle_room",
        (
            "advance",
            "K.seen, K.record, K.swept,\n    K.swept_at)",
            "K.seen, K.record, K.swept,\n    K.swept_at, K.codes)",
        ),
        file="codes",
    ),
    "admits_one_too_many": _mutant(
        "test_capacity_is_never_passed",
        ("parts/budget", "R.capacity - live_called()", "R.capacity + 1 - live_called()"),
    ),
    "forgets_a_person": _mutant(
        "test_nobody_is_forgotten",
        ("parts/admission", "mark_called(take, t", "take[2] = nil\n    mark_called(take, t"),
    ),
    "ignores_order": _mutant(
        "test_the_first_are_called_first",
        (
            "parts/admission",
            "seen_n + n - 1, 'WITHSCORES')",
            "seen_n + n - 1, 'REV', 'WITHSCORES')",
        ),
    ),
    "tells_positions_in_half_a_line": _mutant(
        "test_positions_are_hidden_until_the_hold_is_over",
        ("parts/clock", "return R.restoring_until > R.now", "return false"),
        file="restoring",
    ),
    "hides_positions_after_an_outage": _mutant(
        "test_an_outage_hides_nothing",
        ("parts/clock", "if silent_from and R.restoring_until <= silent_from then return end", ""),
        file="restoring",
    ),
    "counts_calls_instead_of_entries": _mutant(
        "test_late_enterers_and_new_calls_share_the_window",
        ("parts/sessions", _ONE_MORE, "bucket"),
        (
            "parts/calling",
            "count('called_total', #ids)",
            f"count('called_total', #ids)\n  redis.call('HINCRBY', K.entries, {_BUCKET}, #ids)",
        ),
        ("parts/budget", "entries_in_window() - live_called())", "entries_in_window())"),
        ("enter", "entries_in_window() + #goes >= R.max_entries", "false"),
    ),
    "restores_the_gone": _mutant(
        "test_who_left_stays_gone",
        ("parts/nowhere", "if left and left >= place and", "if false and"),
    ),
    # More than the five that were asked for.
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
        ("parts/nowhere", "is_overdue(id) and 'abandoned' or 'absent'", "'absent'"),
        file="hoarding",
    ),
    "drops_who_is_cut_off": _mutant(
        "test_visitors_cut_off_lose_nothing",
        ("parts/cut_off", "if polled < MANY then return false end", "do return false end"),
        file="hoarding",
    ),
    "renews_for_ever": _mutant(
        "test_never_past_longest_s",
        ("parts/deadlines", "min(ends, began + R.longest)", "ends"),
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
        ("parts/after_loss", "stand_again(id, place)\n  note_place(place)", "note_place(place)"),
        file="reinstate",
    ),
    "takes_a_kick_for_a_place": _mutant(
        "test_kicked_before_others_joined",
        ("reinstate", " and (ended > 0 or named or not is_stranger(id, gone))", ""),
        file="reinstate",
    ),
    "believes_events_of_before_a_clear": _mutant(
        "test_a_clear_while_events_are_read",
        ("reinstate", "if tonumber(ARGV[11]) ~= R.epoch then told = '' end", ""),
        file="reinstate",
    ),
    "adopts_a_later_place": _mutant(
        "test_the_account_is_earlier",
        ("adopt", "its_score < my_score", "its_score > my_score"),
        file="adopt",
    ),
    "keeps_both_places": _mutant(
        "test_both_are_inside",
        ("adopt", "  take_out(id, 'left', claim)\n", ""),
        file="adopt",
    ),
    "draws_the_best_of_many_lots": _mutant(
        "test_a_draw_knows_no_earlier_place",
        ("adopt", "not R.hidden and its_score", "its_score"),
        file="adopt",
    ),
    "brings_back_the_place_that_went": _mutant(
        "test_tickets_of_the_place_that_went",
        ("adopt", "note_gone(my_score, account)", "forget_swept(account)"),
        file="adopt",
    ),
    "loses_an_adopted_place_with_its_tab": _mutant(
        "test_a_closed_tab",
        ("parts/nowhere", "(left == place or given_up ~= string.format('0:%.0f', left))", "true"),
        file="adopt",
    ),
    "takes_a_claim_twice": _mutant(
        "test_a_claim_counts_once",
        ("parts/claims", "(spent[nonce] or score) ~= score", "false"),
        file="adopt",
    ),
    "takes_accounts_of_two_salts": _mutant(
        "test_one_salt",
        ("parts/claims", "salt ~= '' and salt ~= its_salt", "false"),
        file="adopt",
    ),
    "lets_strangers_in_who_must_sign_in": _mutant(
        "test_a_stranger_where_identity_is_needed",
        ("join", "use == STRANGER and R.p.needs == 'identity'", "false"),
        file="adopt",
    ),
    "lets_everybody_in_twice": _mutant(
        "test_once",
        (
            "join",
            "(R.once and redis.call('SISMEMBER', K.been, id) == 1 and 'entered_before')",
            "false",
        ),
        file="adopt",
    ),
    "forgets_who_was_inside": _mutant(
        "test_once_survives_an_idle_room",
        ("advance", "K.record, K.swept,\n    K.swept_at)", "K.record, K.swept,\n    K.been)"),
        file="adopt",
    ),
    "ignores_the_deadline": _mutant(
        "test_a_turn_ends_at_its_deadline_without_a_sweep",
        ("parts/deadlines", "if score > called_cutoff() then return", "if score then return"),
    ),
}


def apply() -> None:
    """Use the variant named by the environment, if any, in this process."""
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
