"""Who is still there, by age, told from counts alone: how many came, and how many went, when.

Counts do not say who went. So people are kept in cohorts, by the bin of time in which they came.
Whoever goes is divided among the cohorts by how likely each age goes, and that likelihood is told
from the result, in turns (expectation maximisation). No shape is assumed, and in each bin just as
many go as were counted, so Little's law holds by construction. It serves both those inside, who
leave, and those in line, who give up or are called from the head. Pure, stdlib only.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from operator import add, mul, sub
from typing import NamedTuple


class Counts(NamedTuple):
    """Counts per bin of time, oldest first; `before` came before them, oldest first, by bins."""

    came: Sequence[float]
    went: Sequence[Sequence[float]]  # for each way of going
    before: Sequence[float] = ()
    taken: Sequence[float] = ()  # from the head


class Seen(NamedTuple):
    """What became of the counts: by age in bins, unless said otherwise."""

    line: list[float]  # who is there now, oldest first; the last came in the last bin
    stood: list[float]  # people who were there at an age
    went: list[list[float]]  # people who went at an age, for each way of going


def divided(counts: Counts, odds: Sequence[Sequence[float]]) -> Seen:
    """Divide those who went among the cohorts; `odds` say how likely an age goes, for each way."""
    line, head = list(counts.before), 0
    lengths = len(line) + len(counts.came)
    # Oldest first, as the line is: turning every bin around would take half of the time.
    stood = [0.0] * lengths
    went = [[0.0] * lengths for _ in odds]
    likely = [list(reversed(each[:lengths])) for each in odds]
    highest = [list(accumulate(each[:lengths], max)) for each in odds]
    for at, came in enumerate(counts.came):
        line.append(came)
        if counts.taken:
            head = _take(line, head, counts.taken[at])
        there = line[head:]
        oldest = lengths - len(there)
        stood[oldest:] = map(add, stood[oldest:], there)
        for way, numbers in enumerate(counts.went):
            if numbers[at]:
                most = highest[way][len(there) - 1]
                gone = _share(there, likely[way][oldest:], most, numbers[at])
                there = list(map(sub, there, gone))
                went[way][oldest:] = map(add, went[way][oldest:], gone)
        line[head:] = there
    return Seen(line, stood[::-1], [each[::-1] for each in went])


def _take(line: list[float], head: int, number: float) -> int:
    """Take people from the head of a line; return where it begins now."""
    while number > 0 and head < len(line) - 1:
        if line[head] > number:
            line[head] -= number
            return head
        number -= line[head]
        line[head] = 0.0
        head += 1
    line[head] = max(0.0, line[head] - number)
    return head


def _share(there: list[float], likely: Sequence[float], most: float, number: float) -> list[float]:
    """Divide a number of people among cohorts, none of which can lose more than it has.

    `most` is the highest of how `likely` they are.
    """
    shares = list(map(mul, there, likely))
    whole = sum(shares)
    if 0 < number * most <= whole:
        part = number / whole
        return [part * share for share in shares]
    if whole <= 0:
        whole, shares = sum(there), there
    if whole <= 0:
        return [0.0] * len(there)
    part = number / whole
    # Not by `min`: it would be a call for every cohort of every bin.
    wanted = [part * share for share in shares]
    gone = [
        people if people < share else share for people, share in zip(there, wanted, strict=True)
    ]
    missing = number - sum(gone)
    left = sum(there) - sum(gone)
    if missing > 1e-6 and left > 1e-6:
        more = min(1.0, missing / left)
        gone = [out + more * (people - out) for out, people in zip(gone, there, strict=True)]
    return gone


def lasting(odds: Sequence[float]) -> list[float]:
    """Return the share that reaches each age, from the odds of going at the ages before it."""
    return list(accumulate((1.0 - share for share in odds), mul, initial=1.0))
