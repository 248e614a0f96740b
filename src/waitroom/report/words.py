"""How a report writes numbers, shares and times. Pure."""

from __future__ import annotations

from waitroom.moments import from_ms


def count(number: int) -> str:
    """Return 5021 as 5,021."""
    return f"{number:,}"


def people(number: int) -> str:
    """Return '1 person' or '5,021 people'."""
    return "1 person" if number == 1 else f"{number:,} people"


def percent(share: float) -> str:
    """Return a share of 0 to 1 as people read it."""
    return f"{100 * share:.1f} %"


def clock(ms: int) -> str:
    """Return the time of day in UTC."""
    return f"{from_ms(ms):%H:%M:%S}"


def moment(ms: int) -> str:
    """Return the day and the time in UTC."""
    return f"{from_ms(ms):%Y-%m-%d %H:%M:%S}"


def span(seconds: float) -> str:
    """Return a duration as people read it: two units at most, and no zeros."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    units = ((hours, "h"), (minutes, "min")) if hours else ((minutes, "min"), (rest, "s"))
    return " ".join(f"{number} {unit}" for number, unit in units if number) or "0 s"
