"""The pace that keeps the target, and the verdict on another pace, in words."""

from __future__ import annotations

import math
from enum import StrEnum
from fractions import Fraction

from waitroom.errors import InvalidInput
from waitroom.planner.formulas import concurrent_users, nearest
from waitroom.planner.inputs import MOST_PEOPLE, MOST_SECONDS, Inputs, exact
from waitroom.planner.outcome import Outcome, slots_inside

TOLERANCE = Fraction(1, 1_000)
"""The recommended batch is rounded to the nearest if that is at most this far above target."""


class Word(StrEnum):
    """The verdict on a pace, best first."""

    HOLDS = "holds"
    ABOVE_TARGET = "above_target"
    ABOVE_CAPACITY = "above_capacity"
    ABOVE_ORIGIN = "above_origin"


def check_capacity(given: Inputs) -> None:
    """Refuse figures that leave no room for anybody, or for more people than a room can have."""
    capacity = concurrent_users(given) * (1 - exact(given.headroom))
    if capacity > MOST_PEOPLE:
        raise InvalidInput(
            "tps",
            f"with this session_s and calls more than {MOST_PEOPLE:,} people would be inside at "
            "once, which no room allows; check the three",
        )
    if math.floor(capacity) * exact(given.target) < 1:
        raise InvalidInput(
            "tps",
            "with these figures the target is less than one person inside at once; raise tps, "
            "session_s or target, or lower calls or headroom",
        )


def check_batch(given: Inputs) -> None:
    """Refuse to judge a batch that alone is more than the origin can serve at once."""
    most = math.floor(concurrent_users(given))
    if given.batch is not None and given.batch > most:
        raise InvalidInput(
            "batch",
            f"{given.batch:,} people let in together are more than the {most:,} that the origin "
            f"can serve at once; give at most {most:,}, or leave it out to get one that holds",
        )


def recommended_batch(given: Inputs, capacity: int, target: int) -> int:
    """Return the batch that puts as many people inside at once as the target says.

    It is rounded to the nearest (1,066.67 is 1,067: 32,010 inside for 32,000), but down if that
    would be more than 0.1 % above the target, or above the capacity.
    """
    slots = slots_inside(given)
    if target < slots:
        least = math.ceil(exact(given.session_s) / target * 1_000) / 1_000
        raise InvalidInput(
            "every_s",
            f"a target of {target:,} inside and sessions of {given.session_s:g} s leave less than "
            f"one person per {given.every_s:g} s; give {least:g} or more",
        )
    batch = nearest(Fraction(target, slots))
    inside = batch * slots
    if inside > capacity or inside > target * (1 + TOLERANCE):
        batch = target // slots
    return batch


def check_line(given: Inputs, best: Outcome) -> None:
    """Refuse a crowd that the recommended pace cannot serve within a year."""
    if best.queue_lives_s > MOST_SECONDS:
        raise InvalidInput(
            "crowd",
            f"at {best.batch:,} per {given.every_s:g} s the last of {given.crowd:,} people would "
            "wait for more than 366 days; expect fewer people or raise tps",
        )


def judge(given: Inputs, judged: Outcome, best: Outcome, capacity: int, target: int) -> Word:
    """Return the verdict on a pace; the rounding of `best` is not held against it."""
    if judged.inside > concurrent_users(given):  # the same as a load above `tps`
        return Word.ABOVE_ORIGIN
    if judged.inside > capacity:
        return Word.ABOVE_CAPACITY
    return Word.ABOVE_TARGET if judged.inside > max(target, best.inside) else Word.HOLDS


def sentence(word: Word, judged: Outcome, best: Outcome, capacity: int, target: int) -> str:
    """Return the verdict in words."""
    puts = f"{_pace(judged)} puts {judged.inside:,} people inside at once"
    limits = f"your target is {target:,}"
    if word in (Word.ABOVE_CAPACITY, Word.ABOVE_ORIGIN):
        limits += f" and your capacity {capacity:,}"
    if word is not Word.HOLDS:
        return f"{puts}; {limits}; use {best.batch:,}."
    if judged.batch < best.batch:
        return f"{puts}; {limits}, so it holds; {best.batch:,} would hold, too, and be faster."
    return f"{puts}; {limits}, so it holds."


def notes(given: Inputs, word: Word, best: Outcome, target: int) -> list[str]:
    """Return what the reader should know in addition to the verdict."""
    notes = []
    if given.batch is None and word is not Word.HOLDS:
        notes.append("The target cancels out of the formulas: their pace is the same for any.")
    if best.inside > target:
        wanted = Fraction(target, slots_inside(given))
        notes.append(
            f"{best.batch:,} is {float(wanted):,.2f} rounded to the nearest: it is "
            f"{best.inside - target:,} above the target; {best.batch - 1:,} stays below it."
        )
    if best.inside - best.inside_average >= 1:
        notes.append(
            f"Sessions of {given.session_s:g} s are not a multiple of slots of {given.every_s:g} s"
            f": {best.inside_average:,.0f} people are inside on average, {best.inside:,} at most."
        )
    if given.crowd <= target:
        notes.append("The whole crowd is within the target; it would fit without a waiting room.")
    notes.append(
        f"`session_s` ends every session after {given.session_s:g} s; if that is an average, set "
        "a longer one. `capacity` still holds."
    )
    return notes


def _pace(outcome: Outcome) -> str:
    return f"{outcome.batch:,} per {outcome.every_s:g} s"
