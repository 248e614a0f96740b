"""Booking the concert: a seat is sold once, held by one person, and holds end."""

from __future__ import annotations

import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from itertools import count as numbers
from pathlib import Path

import pytest
from examples.concert.booking import DECLINED, Booking
from examples.concert.problems import (
    BookingError,
    CardDeclined,
    HoldOver,
    NotThere,
    SeatHeld,
    SeatSold,
)
from examples.concert.programme import announce
from examples.concert.store import Store
from examples.concert.tables import Hold, Reservation
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    rule,
    run_state_machine_as_test,
)
from sqlalchemy import select, update
from sqlalchemy.exc import IntegrityError

from tests.examples.conftest import Clock
from tests.support.counts import count

CARD = "4242 4242 4242 4242"
DATE, SEAT = 1, 1


def state_of(desk: Booking, seat: int, visitor: str | None = None) -> str:
    """Return how a visitor sees a seat of the first date."""
    return next(view.state for view in desk.seats(DATE, visitor) if view.id == seat)


def buy(desk: Booking, seat: int, visitor: str) -> str:
    """Go through the last three calls; return the reservation."""
    desk.hold(seat, visitor)
    made = desk.reserve(seat, visitor, "Kim")
    return desk.pay(made.reservation, visitor, CARD).reservation


def test_the_six_calls(desk: Booking) -> None:
    """Concerts, dates, seats, hold, reserve, pay: each leads to the next."""
    (concert,) = desk.concerts()
    first, second = desk.dates(concert.id)
    assert (20, 20, 20) == (first.seats, first.free, second.free)
    seat = desk.seats(first.id, "ann")[0]
    assert ("A", 1, 154_000, "free") == (seat.row, seat.number, seat.price, seat.state)
    assert seat.id == desk.hold(seat.id, "ann").seat
    assert ("mine", "held") == (state_of(desk, SEAT, "ann"), state_of(desk, SEAT, "bob"))
    made = desk.reserve(seat.id, "ann", "Ann")
    assert ("A1", 154_000, None) == (made.place, made.price, made.paid_at)
    paid = desk.pay(made.reservation, "ann", CARD)
    assert paid.paid_at is not None
    assert ("sold", "sold") == (state_of(desk, SEAT, "ann"), state_of(desk, SEAT, "bob"))
    assert (19, 20) == tuple(date.free for date in desk.dates(concert.id))
    assert paid == desk.order(made.reservation)


def test_what_is_not_there(desk: Booking) -> None:
    """Unknown numbers and other people's reservations look the same: not found."""
    desk.hold(SEAT, "ann")
    made = desk.reserve(SEAT, "ann", "Ann").reservation
    for call in (
        lambda: desk.dates(99),
        lambda: desk.date(99),
        lambda: desk.seats(99, "ann"),
        lambda: desk.hold(9_999, "ann"),
        lambda: desk.pay("nothing", "ann", CARD),
        lambda: desk.pay(made, "bob", CARD),
        lambda: desk.reservation(made, "bob"),
        lambda: desk.order(made),  # not yet paid, so there is no receipt
    ):
        with pytest.raises(NotThere):
            call()


def test_a_hold_ends_to_the_millisecond(desk: Booking, clock: Clock) -> None:
    """Before the hold ends a seat is refused to others; from then on anybody may have it."""
    desk.hold(SEAT, "ann")
    clock.ms += 180_000 - 1
    with pytest.raises(SeatHeld):
        desk.hold(SEAT, "bob")
    clock.ms += 1
    assert ("free", 20) == (state_of(desk, SEAT, "ann"), desk.dates(1)[0].free)
    with pytest.raises(HoldOver):
        desk.reserve(SEAT, "ann", "Ann")
    desk.hold(SEAT, "bob")
    assert "mine" == state_of(desk, SEAT, "bob")


def test_holding_again_does_not_prolong(desk: Booking, clock: Clock) -> None:
    """Nobody can keep a seat for ever by asking for it repeatedly."""
    first = desk.hold(SEAT, "ann")
    clock.pass_s(100)
    assert first == desk.hold(SEAT, "ann")


def test_one_seat_at_a_time(desk: Booking) -> None:
    """Taking another seat gives the first one back, together with its reservation."""
    desk.hold(SEAT, "ann")
    made = desk.reserve(SEAT, "ann", "Ann")
    desk.hold(SEAT + 1, "ann")
    assert ("free", "mine") == (state_of(desk, SEAT, "ann"), state_of(desk, SEAT + 1, "ann"))
    with pytest.raises(HoldOver):
        desk.pay(made.reservation, "ann", CARD)


def test_reserving_gives_time_to_pay_once(desk: Booking, clock: Clock) -> None:
    """From the reservation on there are 120 s; reserving again gives the same, not more."""
    desk.hold(SEAT, "ann")
    clock.pass_s(179)
    made = desk.reserve(SEAT, "ann", "Ann")
    ends = datetime.fromtimestamp(clock.ms / 1000 + 120, UTC)
    assert ends == datetime.fromisoformat(made.pay_by)
    clock.pass_s(100)
    assert made == desk.reserve(SEAT, "ann", "Somebody else")
    clock.pass_s(20)
    with pytest.raises(HoldOver):
        desk.pay(made.reservation, "ann", CARD)
    assert "free" == state_of(desk, SEAT)


def test_a_lapsed_reservation_is_not_revived(desk: Booking, clock: Clock) -> None:
    """Holding the same seat again does not make the old reservation payable."""
    desk.hold(SEAT, "ann")
    old = desk.reserve(SEAT, "ann", "Ann")
    clock.pass_s(121)
    desk.hold(SEAT, "ann")
    with pytest.raises(HoldOver):
        desk.pay(old.reservation, "ann", CARD)
    new = desk.reserve(SEAT, "ann", "Ann")
    assert desk.pay(new.reservation, "ann", CARD).paid_at is not None


def test_a_declined_card_keeps_the_hold(desk: Booking) -> None:
    """The seat stays held, and another card buys it."""
    desk.hold(SEAT, "ann")
    made = desk.reserve(SEAT, "ann", "Ann")
    with pytest.raises(CardDeclined):
        desk.pay(made.reservation, "ann", DECLINED)
    assert "mine" == state_of(desk, SEAT, "ann")
    assert desk.pay(made.reservation, "ann", CARD).paid_at is not None


def test_paying_twice_is_paying_once(desk: Booking, clock: Clock) -> None:
    """A repeated payment returns the same, even much later."""
    made = buy(desk, SEAT, "ann")
    first = desk.order(made)
    clock.pass_s(10_000)
    assert first == desk.pay(made, "ann", CARD)


def test_a_sold_seat_stays_sold(desk: Booking, clock: Clock) -> None:
    """No passing of time makes it free again."""
    buy(desk, SEAT, "ann")
    clock.pass_s(10**7)
    with pytest.raises(SeatSold):
        desk.hold(SEAT, "bob")
    assert "sold" == state_of(desk, SEAT)


def test_the_database_refuses_a_second_sale(desk: Booking, store: Store) -> None:
    """Even a program without any checks could not sell a seat twice."""
    buy(desk, SEAT, "ann")
    desk.hold(SEAT + 1, "bob")
    other = desk.reserve(SEAT + 1, "bob", "Bob").reservation
    wrong = update(Reservation).where(Reservation.id == other).values(seat_id=SEAT, paid_at_ms=1)
    with pytest.raises(IntegrityError), store.writing() as db:
        db.execute(wrong)
    with store.reading() as db:
        paid = db.scalars(select(Reservation).where(Reservation.paid_at_ms.is_not(None)))
        assert ["ann"] == [reservation.visitor for reservation in paid]


def test_an_error_undoes_everything(store: Store, desk: Booking) -> None:
    """What a failed transaction had written is gone afterwards."""

    desk.hold(SEAT, "ann")

    def fail() -> None:
        with store.writing() as db:
            db.delete(db.get_one(Hold, SEAT))
            db.flush()
            raise SeatSold

    with pytest.raises(SeatSold):
        fail()
    assert "mine" == state_of(desk, SEAT, "ann")


def test_fifty_hands_for_one_seat(desk: Booking) -> None:
    """Fifty threads hold, reserve and pay for one seat at once: exactly one gets it."""
    people = 50
    ready = threading.Barrier(people)

    def attempt(number: int) -> str:
        ready.wait(30)
        try:
            return "bought " + buy(desk, SEAT, f"visitor {number}")
        except BookingError as error:
            return error.code

    with ThreadPoolExecutor(people) as pool:
        outcomes = list(pool.map(attempt, range(people)))
    assert 1 == sum(outcome.startswith("bought") for outcome in outcomes), outcomes
    assert {"seat_held", "seat_sold"} >= {
        outcome for outcome in outcomes if not outcome.startswith("bought")
    }


def test_a_crowd_for_few_seats(desk: Booking) -> None:
    """Sixteen threads want all twenty seats: each is sold once, and none is lost."""
    seats = [seat.id for seat in desk.seats(DATE, None)]

    def take_all(number: int) -> Counter[int]:
        got: Counter[int] = Counter()
        for seat in seats[number:] + seats[:number]:
            try:
                buy(desk, seat, f"visitor {number}")
                got[seat] += 1
            except BookingError:
                continue
        return got

    with ThreadPoolExecutor(16) as pool:
        sold = sum(pool.map(take_all, range(16)), Counter())
    assert dict.fromkeys(seats, 1) == dict(sold)


def test_two_desks_on_one_file(store: Store, clock: Clock, tmp_path: Path) -> None:
    """Two processes' worth of connections agree: what one holds, the other sees as held."""
    other_store = Store(tmp_path / "concert.db")
    try:
        first, other = Booking(store, clock), Booking(other_store, clock)
        first.hold(SEAT, "ann")
        with pytest.raises(SeatHeld):
            other.hold(SEAT, "bob")
    finally:
        other_store.close()


class Hall(RuleBasedStateMachine):
    """Three people do anything in any order; a few dictionaries know the expected result."""

    folder: Path
    # An id of a hall may come again once the hall is gone, and its file would still be there.
    halls = numbers()
    people = st.sampled_from(["ann", "bob", "cho"])
    seats = st.integers(1, 3)

    def __init__(self) -> None:
        super().__init__()
        self.clock = Clock()
        self.store = Store(self.folder / f"{next(self.halls)}.db")
        announce(self.store, concerts=1, rows="A")
        self.desk = Booking(self.store, self.clock, hold_s=10, pay_s=5)
        self.holds: dict[int, tuple[str, int]] = {}
        self.made: dict[str, tuple[int, str]] = {}
        self.current: dict[int, str] = {}
        self.sold: dict[int, str] = {}

    def teardown(self) -> None:
        """Close the hall."""
        self.store.close()

    def alive(self, seat: int) -> str | None:
        """Return who holds a seat now."""
        who, ends = self.holds.get(seat, ("", 0))
        return who if ends > self.clock.ms else None

    @initialize()
    def opens(self) -> None:
        """Begin with nothing taken."""
        assert {"free"} == {seat.state for seat in self.desk.seats(DATE, None)}

    @rule(seconds=st.sampled_from([1, 4, 5, 9, 10]))
    def time_passes(self, seconds: int) -> None:
        """Wait a while."""
        self.clock.pass_s(seconds)

    @rule(who=people, seat=seats)
    def hold(self, who: str, seat: int) -> None:
        """Hold a seat, or be told why not."""
        try:
            self.desk.hold(seat, who)
        except SeatSold:
            assert seat in self.sold
        except SeatHeld:
            assert self.alive(seat) not in (None, who)
        else:
            assert seat not in self.sold
            if self.alive(seat) != who:
                self.holds = {key: hold for key, hold in self.holds.items() if hold[0] != who}
                self.holds[seat] = (who, self.clock.ms + 10_000)
                self.current.pop(seat, None)

    @rule(who=people, seat=seats)
    def reserve(self, who: str, seat: int) -> None:
        """Reserve a held seat."""
        try:
            made = self.desk.reserve(seat, who, who).reservation
        except HoldOver:
            assert self.alive(seat) != who
        else:
            assert self.alive(seat) == who
            if seat not in self.current:
                self.holds[seat] = (who, self.clock.ms + 5_000)
                self.current[seat] = made
                self.made[made] = (seat, who)
            assert self.current[seat] == made

    @rule(data=st.data(), payer=people)
    def pay(self, data: st.DataObject, payer: str) -> None:
        """Pay any reservation ever made, as anybody."""
        if not self.made:
            return
        reservation = data.draw(st.sampled_from(sorted(self.made)))
        seat, who = self.made[reservation]
        try:
            self.desk.pay(reservation, payer, CARD)
        except NotThere:
            assert who != payer
        except HoldOver:
            assert self.alive(seat) != who or self.current.get(seat) != reservation
        else:
            assert who == payer
            if self.sold.get(seat) != reservation:
                assert self.alive(seat) == who
                assert self.current[seat] == reservation
                assert seat not in self.sold
                self.sold[seat] = reservation
                del self.holds[seat], self.current[seat]

    @invariant()
    def the_map_is_true(self) -> None:
        """Everybody sees each seat as it is."""
        for viewer in ("ann", "bob"):
            for seat in self.desk.seats(DATE, viewer)[:3]:
                holder = self.alive(seat.id)
                expected = "held" if holder else "free"
                if holder == viewer:
                    expected = "mine"
                assert ("sold" if seat.id in self.sold else expected) == seat.state


def test_any_order_of_calls(tmp_path: Path) -> None:
    """Whatever three people do in whatever order, the hall and its model agree."""
    hall = type("Hall", (Hall,), {"folder": tmp_path})
    run_state_machine_as_test(
        hall,
        settings=settings(
            max_examples=count("concert_examples"), stateful_step_count=25, deadline=None
        ),
    )
