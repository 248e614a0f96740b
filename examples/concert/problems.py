"""Why a booking can fail, each with a word for programs and a status for HTTP."""

from __future__ import annotations

from typing import ClassVar


class BookingError(Exception):
    """A problem that the visitor can be told about."""

    code: ClassVar[str] = "booking_error"
    status: ClassVar[int] = 409
    detail: ClassVar[str] = "this cannot be booked"

    def __str__(self) -> str:
        return self.detail


class NotThere(BookingError):
    """No such concert, date, seat or reservation, or it is somebody else's."""

    code, status, detail = "not_there", 404, "there is no such thing here"


class SeatHeld(BookingError):
    """Somebody else is about to buy the seat."""

    code, detail = "seat_held", "somebody else holds this seat; it may become free again"


class SeatSold(BookingError):
    """The seat was bought."""

    code, detail = "seat_sold", "this seat has been sold"


class HoldOver(BookingError):
    """The time to reserve or to pay has passed, or another seat was chosen meanwhile."""

    code, detail = "hold_over", "the seat is no longer held for you; choose it again"


class CardDeclined(BookingError):
    """The bank said no; the seat stays held, and another card may be tried."""

    code, status, detail = "card_declined", 402, "the card was declined; try another one"
