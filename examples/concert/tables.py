"""The tables. A unique index enforces that a seat is sold once."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import ForeignKey, Index, UniqueConstraint, text
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column


class Base(DeclarativeBase):
    """The base of all tables."""


class Concert(Base):
    """What is played."""

    __tablename__ = "concerts"

    id: Mapped[int] = mapped_column(primary_key=True)
    title: Mapped[str]
    hall: Mapped[str]


class Evening(Base):
    """One date of a concert. `starts_at` is the hall's local time."""

    __tablename__ = "dates"

    id: Mapped[int] = mapped_column(primary_key=True)
    concert_id: Mapped[int] = mapped_column(ForeignKey(Concert.id), index=True)
    starts_at: Mapped[datetime]


class Seat(Base):
    """A seat on one date, and what it costs (in won)."""

    __tablename__ = "seats"
    __table_args__ = (UniqueConstraint("date_id", "row", "number"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    date_id: Mapped[int] = mapped_column(ForeignKey(Evening.id))
    row: Mapped[str]
    number: Mapped[int]
    price: Mapped[int]


class Reservation(Base):
    """A seat in somebody's name; sold once it is paid. Its id is the only key to it."""

    __tablename__ = "reservations"
    __table_args__ = (
        Index("sold_once", "seat_id", unique=True, sqlite_where=text("paid_at_ms IS NOT NULL")),
    )

    id: Mapped[str] = mapped_column(primary_key=True)
    seat_id: Mapped[int] = mapped_column(ForeignKey(Seat.id))
    visitor: Mapped[str]
    name: Mapped[str]
    price: Mapped[int]
    pay_by_ms: Mapped[int]
    paid_at_ms: Mapped[int | None]


class Hold(Base):
    """A seat kept for somebody until a moment; the key ensures that only one person can have it."""

    __tablename__ = "holds"

    seat_id: Mapped[int] = mapped_column(ForeignKey(Seat.id), primary_key=True, autoincrement=False)
    visitor: Mapped[str] = mapped_column(unique=True)  # nobody holds two seats
    ends_at_ms: Mapped[int]
    reservation_id: Mapped[str | None] = mapped_column(ForeignKey(Reservation.id))
