"""The six calls of a booking: concerts, dates, seats, hold a seat, reserve it, pay.

A seat is sold once and held by one person at a time; holds end by themselves. Each change is one
exclusive transaction (`Store.writing`), and the tables would refuse a second buyer even if this
module had a bug. Time comes from `clock`, so that tests need not wait.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable
from datetime import datetime

from sqlalchemy import Select, delete, func, select
from sqlalchemy.orm import Session

from .problems import CardDeclined, HoldOver, NotThere, SeatHeld, SeatSold
from .store import Store
from .tables import Concert, Evening, Hold, Reservation, Seat
from .views import ConcertView, DateView, HoldView, ReservationView, SeatState, SeatView, moment

HOLD_S = 180
PAY_S = 180
DECLINED = "4000000000000002"
"""A card number whose payment is declined, to try that out."""


def now_ms() -> int:
    """Return the time."""
    return time.time_ns() // 1_000_000


class Booking:
    """The desk of the hall. A visitor is identified by an unguessable text."""

    def __init__(
        self,
        store: Store,
        clock: Callable[[], int] = now_ms,
        hold_s: float = HOLD_S,
        pay_s: float = PAY_S,
    ) -> None:
        self._store = store
        self._clock = clock
        self._hold_ms = int(hold_s * 1000)
        self._pay_ms = int(pay_s * 1000)

    def concerts(self) -> list[ConcertView]:
        """Return the concerts."""
        with self._store.reading() as db:
            concerts = db.scalars(select(Concert).order_by(Concert.id))
            return [ConcertView(concert.id, concert.title, concert.hall) for concert in concerts]

    def dates(self, concert: int) -> list[DateView]:
        """Return the dates of a concert, and how many seats are free."""
        with self._store.reading() as db:
            if db.get(Concert, concert) is None:
                raise NotThere
            rows = db.execute(_dates(self._clock()).where(Evening.concert_id == concert))
            return [DateView(*row) for row in rows]

    def date(self, date: int) -> tuple[ConcertView, DateView]:
        """Return one date, with its concert."""
        with self._store.reading() as db:
            row = db.execute(_dates(self._clock()).where(Evening.id == date)).one_or_none()
            if row is None:
                raise NotThere
            concert = db.get_one(Concert, row[1])
            return ConcertView(concert.id, concert.title, concert.hall), DateView(*row)

    def seats(self, date: int, visitor: str | None) -> list[SeatView]:
        """Show the seat map of a date as a visitor may see it."""
        with self._store.reading() as db:
            rows = db.execute(_seats(self._clock()).where(Seat.date_id == date))
            seats = [
                SeatView(seat.id, seat.row, seat.number, seat.price, _state(sold, holder, visitor))
                for seat, sold, holder in rows
            ]
        if not seats:
            raise NotThere
        return seats

    def hold(self, seat: int, visitor: str) -> HoldView:
        """Keep a free seat for the visitor. Another seat they held is free again.

        Holding the same seat again does not extend the hold.
        """
        now = self._clock()
        with self._store.writing() as db:
            row = db.execute(_seats(now).where(Seat.id == seat)).one_or_none()
            if row is None:
                raise NotThere
            _, sold, holder = row
            if sold:
                raise SeatSold
            if holder == visitor:
                return HoldView(seat, moment(db.get_one(Hold, seat).ends_at_ms))
            if holder is not None:
                raise SeatHeld
            db.execute(delete(Hold).where((Hold.seat_id == seat) | (Hold.visitor == visitor)))
            db.add(Hold(seat_id=seat, visitor=visitor, ends_at_ms=now + self._hold_ms))
            return HoldView(seat, moment(now + self._hold_ms))

    def held_seat(self, seat: int, visitor: str) -> tuple[SeatView, int, HoldView]:
        """Return a seat that the visitor holds, its date, and until when."""
        with self._store.reading() as db:
            hold = self._own(db, seat, visitor)
            record = db.get_one(Seat, seat)
            view = SeatView(record.id, record.row, record.number, record.price, "mine")
            return view, record.date_id, HoldView(seat, moment(hold.ends_at_ms))

    def reserve(self, seat: int, visitor: str, name: str) -> ReservationView:
        """Put a held seat in a name; there is time to pay from now on, but only once."""
        with self._store.writing() as db:
            hold = self._own(db, seat, visitor)
            if hold.reservation_id is None:
                hold.ends_at_ms = self._clock() + self._pay_ms
                made = Reservation(
                    id=secrets.token_urlsafe(16),
                    seat_id=seat,
                    visitor=visitor,
                    name=name,
                    price=db.get_one(Seat, seat).price,
                    pay_by_ms=hold.ends_at_ms,
                )
                db.add(made)
                db.flush()  # the hold refers to it
                hold.reservation_id = made.id
            return _view(db, db.get_one(Reservation, hold.reservation_id))

    def pay(self, reservation: str, visitor: str, card: str) -> ReservationView:
        """Buy a reserved seat. Paying twice takes no money and returns the same.

        A real site would ask its bank before the transaction, with the reservation as the
        idempotency key: nobody may wait for a bank while holding the lock.
        """
        declined = "".join(card.split()) == DECLINED
        with self._store.writing() as db:
            record = _reservation(db, reservation, visitor)
            if record.paid_at_ms is None:
                hold = self._own(db, record.seat_id, visitor)
                if hold.reservation_id != reservation:
                    raise HoldOver
                if declined:
                    raise CardDeclined
                record.paid_at_ms = self._clock()
                db.delete(hold)
                db.flush()
            return _view(db, record)

    def reservation(self, reservation: str, visitor: str) -> ReservationView:
        """Return a visitor's own reservation."""
        with self._store.reading() as db:
            return _view(db, _reservation(db, reservation, visitor))

    def order(self, reservation: str) -> ReservationView:
        """Return what was bought, to anybody who has its id: the receipt."""
        with self._store.reading() as db:
            record = db.get(Reservation, reservation)
            if record is None or record.paid_at_ms is None:
                raise NotThere
            return _view(db, record)

    def _own(self, db: Session, seat: int, visitor: str) -> Hold:
        """Return the visitor's hold of a seat, if it has not ended."""
        hold = db.get(Hold, seat)
        if hold is None or hold.visitor != visitor or hold.ends_at_ms <= self._clock():
            raise HoldOver
        return hold


def _state(sold: str | None, holder: str | None, visitor: str | None) -> SeatState:
    if sold:
        return "sold"
    if holder is None:
        return "free"
    return "mine" if holder == visitor else "held"


def _seats(now: int) -> Select[Seat, str, str]:
    """Select seats in order, each with its sale and the visitor of its current hold, if any."""
    sold = (Reservation.seat_id == Seat.id) & Reservation.paid_at_ms.is_not(None)
    is_held = (Hold.seat_id == Seat.id) & (Hold.ends_at_ms > now)
    query = select(Seat, Reservation.id, Hold.visitor).outerjoin(Reservation, sold)
    return query.outerjoin(Hold, is_held).order_by(Seat.date_id, Seat.row, Seat.number)


def _dates(now: int) -> Select[int, int, datetime, int, int]:
    """Select dates in order, each with its seats counted."""
    sold = (Reservation.seat_id == Seat.id) & Reservation.paid_at_ms.is_not(None)
    is_held = (Hold.seat_id == Seat.id) & (Hold.ends_at_ms > now)
    free = func.count(Seat.id) - func.count(Reservation.id) - func.count(Hold.seat_id)
    columns = (Evening.id, Evening.concert_id, Evening.starts_at, func.count(Seat.id), free)
    query = select(*columns).join(Seat, Seat.date_id == Evening.id).outerjoin(Reservation, sold)
    return query.outerjoin(Hold, is_held).group_by(Evening.id).order_by(Evening.starts_at)


def _reservation(db: Session, reservation: str, visitor: str) -> Reservation:
    record = db.get(Reservation, reservation)
    if record is None or record.visitor != visitor:  # do not reveal other people's reservations
        raise NotThere
    return record


def _view(db: Session, record: Reservation) -> ReservationView:
    seat = db.get_one(Seat, record.seat_id)
    evening = db.get_one(Evening, seat.date_id)
    concert = db.get_one(Concert, evening.concert_id)
    return ReservationView(
        reservation=record.id,
        title=concert.title,
        hall=concert.hall,
        starts_at=evening.starts_at,
        date=evening.id,
        seat=seat.id,
        place=f"{seat.row}{seat.number}",
        name=record.name,
        price=record.price,
        pay_by=moment(record.pay_by_ms),
        paid_at=None if record.paid_at_ms is None else moment(record.paid_at_ms),
    )
