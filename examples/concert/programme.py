"""What is on: three concerts on two evenings each, in a hall of 120 seats."""

from __future__ import annotations

from datetime import datetime, timedelta

from sqlalchemy import func, select

from .store import Store
from .tables import Concert, Evening, Seat

CONCERTS = (
    ("Night Lights · 밤의 빛", "Riverside Hall · 강변홀"),
    ("Winter Strings · 겨울 현악", "Riverside Hall · 강변홀"),
    ("Drums at Dawn · 새벽의 북소리", "Old Harbour Stage · 옛항구 무대"),
)
ROWS, NUMBERS = "ABCDEFGHIJKL", range(1, 11)
EVENINGS = (30, 31)
"""Days from today on which each concert is played, at 19:30."""

_PRICES = (154_000, 121_000, 99_000)
"""Per four rows, from the stage backwards, in won."""


def announce(store: Store, concerts: int = len(CONCERTS), rows: str = ROWS) -> None:
    """Put the programme into an empty database; an existing programme stays unchanged."""
    today = datetime.now().replace(hour=19, minute=30, second=0, microsecond=0)  # of the hall
    with store.writing() as db:
        if db.scalar(select(func.count(Concert.id))):
            return
        for title, hall in CONCERTS[:concerts]:
            concert = Concert(title=title, hall=hall)
            db.add(concert)
            db.flush()
            for day in EVENINGS:
                starts_at = today + timedelta(days=day + 7 * (concert.id - 1))
                evening = Evening(concert_id=concert.id, starts_at=starts_at)
                db.add(evening)
                db.flush()
                db.add_all(_seats(evening.id, rows))


def _seats(date: int, rows: str) -> list[Seat]:
    return [
        Seat(date_id=date, row=row, number=number, price=_PRICES[min(place // 4, 2)])
        for place, row in enumerate(rows)
        for number in NUMBERS
    ]
