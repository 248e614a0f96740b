"""The six booking calls as JSON, and the receipt."""

from __future__ import annotations

import secrets
from typing import Annotated

from fastapi import APIRouter, Cookie, Depends, Path, Request, Response
from pydantic import BaseModel, StringConstraints

from .booking import Booking
from .views import ConcertView, DateView, HoldView, ReservationView, SeatView

VISITOR = "concert-visitor"
_DAY_S = 86_400
router = APIRouter(prefix="/api", tags=["booking"])


def booking_of(request: Request) -> Booking:
    """Return the desk of this site."""
    booking: Booking = request.app.state.booking
    return booking


def visitor_of(
    request: Request,
    response: Response,
    known: Annotated[str | None, Cookie(alias=VISITOR, max_length=64)] = None,
) -> str:
    """Return who is asking; a newcomer gets an identifying cookie."""
    if known:
        return known
    made = secrets.token_urlsafe(16)
    secure = request.url.scheme == "https"
    response.set_cookie(VISITOR, made, max_age=_DAY_S, httponly=True, samesite="lax", secure=secure)
    return made


Desk = Annotated[Booking, Depends(booking_of)]
Visitor = Annotated[str, Depends(visitor_of)]
Number = Annotated[int, Path(ge=1, le=2**31)]
Code = Annotated[str, Path(max_length=64)]
Name = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=60)]
Card = Annotated[str, StringConstraints(pattern=r"^(?:[0-9] ?){12,19}$", max_length=40)]


class Wish(BaseModel):
    """Which held seat, in whose name."""

    seat: Annotated[int, Path(ge=1, le=2**31)]
    name: Name


class Payment(BaseModel):
    """The card to pay with. Its number is not stored."""

    card: Card


@router.get("/concerts")
def concerts(desk: Desk) -> list[ConcertView]:
    """Return the concerts."""
    return desk.concerts()


@router.get("/concerts/{concert}/dates")
def dates(desk: Desk, concert: Number) -> list[DateView]:
    """Return the dates of a concert."""
    return desk.dates(concert)


@router.get("/dates/{date}/seats")
def seats(desk: Desk, visitor: Visitor, date: Number) -> list[SeatView]:
    """Show the seat map."""
    return desk.seats(date, visitor)


@router.post("/seats/{seat}/hold", status_code=201)
def hold(desk: Desk, visitor: Visitor, seat: Number) -> HoldView:
    """Keep a seat for a few minutes."""
    return desk.hold(seat, visitor)


@router.post("/reservations", status_code=201)
def reserve(desk: Desk, visitor: Visitor, wish: Wish) -> ReservationView:
    """Put the held seat in a name."""
    return desk.reserve(wish.seat, visitor, wish.name)


@router.post("/reservations/{reservation}/payment", status_code=201)
def pay(desk: Desk, visitor: Visitor, reservation: Code, payment: Payment) -> ReservationView:
    """Buy it. `GET /orders/{reservation}` is the receipt, and ends the visit."""
    return desk.pay(reservation, visitor, payment.card)
