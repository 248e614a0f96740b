"""What the site tells about concerts, dates, seats and bookings; the API sends these as JSON."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal

SeatState = Literal["free", "held", "mine", "sold"]


def moment(at_ms: int) -> str:
    """Return a time as RFC 3339."""
    return datetime.fromtimestamp(at_ms / 1000, UTC).isoformat(timespec="milliseconds")


@dataclass(frozen=True, slots=True)
class ConcertView:
    """A concert."""

    id: int
    title: str
    hall: str


@dataclass(frozen=True, slots=True)
class DateView:
    """A date of a concert, and how many of its seats can still be chosen."""

    id: int
    concert: int
    starts_at: datetime
    seats: int
    free: int


@dataclass(frozen=True, slots=True)
class SeatView:
    """A seat as the asking visitor sees it."""

    id: int
    row: str
    number: int
    price: int
    state: SeatState


@dataclass(frozen=True, slots=True)
class HoldView:
    """A seat that is held for the asking visitor, until a given time."""

    seat: int
    until: str


@dataclass(frozen=True, slots=True)
class ReservationView:
    """A seat in the visitor's name: reserved, or paid."""

    reservation: str
    title: str
    hall: str
    starts_at: datetime
    date: int
    seat: int
    place: str
    name: str
    price: int
    pay_by: str
    paid_at: str | None
