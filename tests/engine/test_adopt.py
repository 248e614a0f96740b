"""adopt: who waited anonymously and then signs in has one place, the earlier one."""

from __future__ import annotations

import asyncio

import pytest

from tests.support.clock import START_US, Clock, crowd
from waitroom.engine import ClaimUse, Engine, keys
from waitroom.errors import Banned, ClaimRefused, CodeRefused, EnteredBefore, IdentityRequired
from waitroom.models import BeforeOpen, Mode, Needs, Policy, Reason, State, TicketView
from waitroom.moments import from_ms

PAUSED = Policy(mode=Mode.PAUSED)


def use(engine: Engine, room: str, who: str = "ann") -> ClaimUse:
    """Return a fresh claim of a user, in use."""
    key, now_s = engine.ring.claim_key(room), START_US // 10**6
    return engine.ring.read_claim(room, key.claim(room, key.account(room, who), now_s), now_s)


def another_use(claim: ClaimUse) -> ClaimUse:
    """Return the same claim as another call uses it."""
    nonce, score, salt = claim.text.split()
    return ClaimUse(claim.id, f"{nonce} {int(score) ^ 1} {salt}")


async def signed_in(engine: Engine, room: str, *, enter: bool = False) -> TicketView:
    """Let ann join on another device, where she is signed in."""
    return await engine.join(room, account=use(engine, room), enter=enter)


async def adopted(engine: Engine, room: str, ticket: TicketView) -> TicketView:
    """Let ann sign in on the device that has a ticket."""
    view = await engine.adopt(room, ticket.ticket, use(engine, room))
    assert view is not None
    return view


async def numbers(engine: Engine, room: str) -> tuple[int, int, int]:
    """Return how many wait, are called and are inside."""
    stats = await engine.stats(room)
    return stats.waiting, stats.called, stats.inside


async def test_an_account_without_a_place(engine: Engine, room: str) -> None:
    """The account takes over the ticket's place in the line; the ticket is gone."""
    await engine.create(room, PAUSED)
    first, second, third = await crowd(engine, room, 3)
    view = await adopted(engine, room, second)
    assert (State.WAITING, 2, use(engine, room).id) == (view.state, view.position, view.id)
    assert Reason.LEFT is (await engine.poll(room, second.ticket)).reason
    assert [1, 2, 3] == [
        (await engine.poll(room, ticket)).position
        for ticket in (first.ticket, view.ticket, third.ticket)
    ]
    assert (3, 0, 0) == await numbers(engine, room)


async def test_the_ticket_is_earlier(engine: Engine, room: str) -> None:
    """The account's own later place goes, and its ticket on the other device leads to this one."""
    await engine.create(room, PAUSED)
    old, other = await crowd(engine, room, 2)
    late = await signed_in(engine, room)
    view = await adopted(engine, room, old)
    assert (1, late.id) == (view.position, view.id)
    assert 1 == (await engine.poll(room, late.ticket)).position
    assert 2 == (await engine.poll(room, other.ticket)).position
    assert (2, 0, 0) == await numbers(engine, room)


async def test_the_account_is_earlier(engine: Engine, room: str) -> None:
    """The account keeps its place, and the ticket is gone."""
    await engine.create(room, PAUSED)
    own = await signed_in(engine, room)
    other, late = await crowd(engine, room, 2)
    view = await adopted(engine, room, late)
    assert (1, own.id) == (view.position, view.id)
    assert Reason.LEFT is (await engine.poll(room, late.ticket)).reason
    assert 2 == (await engine.poll(room, other.ticket)).position
    assert (2, 0, 0) == await numbers(engine, room)


async def test_a_ticket_that_was_called(engine: Engine, clock: Clock, room: str) -> None:
    """The account takes over the turn with its deadline, and enters."""
    await engine.create(room, Policy(capacity=1, enter_within_s=60))
    called = await engine.join(room)
    own = await signed_in(engine, room)
    clock.step(20)
    view = await adopted(engine, room, called)
    assert (State.CALLED, own.id) == (view.state, view.id)
    assert called.enter_by_ms == view.enter_by_ms
    assert Reason.PASSED is (await engine.poll(room, called.ticket)).reason
    assert State.INSIDE is (await engine.enter(room, view.ticket)).state
    assert (0, 0, 1) == await numbers(engine, room)


async def test_an_account_that_was_called(engine: Engine, room: str) -> None:
    """The account keeps its turn, and the ticket's place in the line goes."""
    await engine.create(room, Policy(capacity=1))
    own = await signed_in(engine, room)
    waiting = await engine.join(room)
    view = await adopted(engine, room, waiting)
    assert (State.CALLED, own.id) == (view.state, view.id)
    assert (0, 1, 0) == await numbers(engine, room)


async def test_both_were_called(engine: Engine, room: str) -> None:
    """One turn is left, and the other goes to the next person in the same call."""
    await engine.create(room, Policy(capacity=2))
    called, own = await engine.join(room), await signed_in(engine, room)
    waiting = await engine.join(room)
    assert [State.CALLED, State.WAITING] == [own.state, waiting.state]
    view = await adopted(engine, room, called)
    assert State.CALLED is view.state
    assert State.CALLED is (await engine.poll(room, waiting.ticket)).state
    assert (0, 2, 0) == await numbers(engine, room)


async def test_a_ticket_that_is_inside(engine: Engine, room: str) -> None:
    """The session goes on as the account's: the same session id and end."""
    await engine.create(room, Policy(capacity=1, session_s=600))
    inside = await engine.join(room, enter=True)
    own = await signed_in(engine, room)
    view = await adopted(engine, room, inside)
    assert (State.INSIDE, own.id) == (view.state, view.id)
    assert (inside.sid, inside.session_ends_at_ms) == (view.sid, view.session_ends_at_ms)
    assert [False, True] == [
        await engine.check(room, ticket_id, inside.sid or 0) for ticket_id in (inside.id, view.id)
    ]
    assert (0, 0, 1) == await numbers(engine, room)


async def test_an_account_that_is_inside(engine: Engine, room: str) -> None:
    """The account's session stays, and the ticket's place goes."""
    await engine.create(room, Policy(capacity=1))
    own = await signed_in(engine, room, enter=True)
    waiting = await engine.join(room)
    view = await adopted(engine, room, waiting)
    assert (State.INSIDE, own.sid) == (view.state, view.sid)
    assert (0, 0, 1) == await numbers(engine, room)


async def test_both_are_inside(engine: Engine, room: str) -> None:
    """The account's session stays; the other is over for gates, and its place is given away."""
    await engine.create(room, Policy(capacity=2))
    other, own = await engine.join(room, enter=True), await signed_in(engine, room, enter=True)
    waiting = await engine.join(room)
    view = await adopted(engine, room, other)
    assert (State.INSIDE, own.sid) == (view.state, view.sid)
    assert await engine.has_ended(room, other.id, other.sid or 0)
    assert State.CALLED is (await engine.poll(room, waiting.ticket)).state


async def test_a_turn_for_a_session(engine: Engine, room: str) -> None:
    """An account that was called takes over a session, and its turn goes to the next person."""
    await engine.create(room, Policy(capacity=2))
    inside, own = await engine.join(room, enter=True), await signed_in(engine, room)
    waiting = await engine.join(room)
    assert [State.CALLED, State.WAITING] == [own.state, waiting.state]
    view = await adopted(engine, room, inside)
    assert (State.INSIDE, own.id) == (view.state, view.id)
    assert State.CALLED is (await engine.poll(room, waiting.ticket)).state
    assert (0, 1, 1) == await numbers(engine, room)


@pytest.mark.attack
async def test_tickets_of_the_place_that_went(engine: Engine, room: str) -> None:
    """When the adopted place was used up, no ticket of the later one brings that back."""
    await engine.create(room, Policy(capacity=1, presence_s=None))
    guard, old = await crowd(engine, room, 2)
    late = await signed_in(engine, room)
    view = await adopted(engine, room, old)
    await engine.leave(room, guard.ticket)
    await engine.enter(room, view.ticket)
    await engine.finish(room, view.ticket)
    for ticket in (late.ticket, view.ticket, old.ticket):
        assert State.GONE is (await engine.poll(room, ticket)).state
    assert (0, 0, 0) == await numbers(engine, room)


async def test_a_closed_tab(engine: Engine, clock: Clock, room: str) -> None:
    """An adopted place survives a closed tab, though the account had a later one before."""
    await engine.create(room, Policy(mode=Mode.PAUSED, presence_s=10))
    old, _ = await crowd(engine, room, 2)
    await signed_in(engine, room)
    view = await adopted(engine, room, old)
    for _ in range(4):
        clock.step(4)
        await engine.advance(room)
    assert (0, 0, 0) == await numbers(engine, room)
    back = await engine.poll(room, view.ticket)
    assert (State.WAITING, 1) == (back.state, back.position)


async def test_an_account_comes_back_on_another_device(
    engine: Engine, clock: Clock, room: str
) -> None:
    """An account that was dropped for silence gets its place back where it has no ticket."""
    await engine.create(room, Policy(mode=Mode.PAUSED, presence_s=10))
    first = await signed_in(engine, room)
    for _ in range(4):
        clock.step(4)
        await engine.advance(room)
    behind = await engine.join(room)
    again = await signed_in(engine, room)
    assert (first.id, 1) == (again.id, again.position)
    assert 2 == (await engine.poll(room, behind.ticket)).position


async def test_a_ticket_that_was_dropped(engine: Engine, clock: Clock, room: str) -> None:
    """Somebody who was dropped for silence may still bring the place to their account."""
    await engine.create(room, Policy(mode=Mode.PAUSED, presence_s=10))
    old = await engine.join(room)
    for _ in range(4):
        clock.step(4)
        await engine.advance(room)
    other, own = await engine.join(room), await signed_in(engine, room)
    view = await adopted(engine, room, old)
    assert (1, own.id) == (view.position, view.id)
    assert Reason.LEFT is (await engine.poll(room, old.ticket)).reason
    assert 2 == (await engine.poll(room, other.ticket)).position


@pytest.mark.parametrize("how", ["left", "kicked"])
async def test_a_ticket_without_a_place(engine: Engine, room: str, how: str) -> None:
    """A ticket that is gone has nothing to give: the account joins at the end."""
    await engine.create(room, PAUSED)
    old, other = await crowd(engine, room, 2)
    if how == "left":
        await engine.leave(room, old.ticket)
    else:
        await engine.kick(room, [old.id])
    assert None is await engine.adopt(room, old.ticket, use(engine, room))
    view = await engine.join(room, account=use(engine, room))
    assert (2, True) == (view.position, view.new)
    assert 1 == (await engine.poll(room, other.ticket)).position


async def test_its_own_ticket(engine: Engine, room: str) -> None:
    """An account that shows its own ticket keeps its place."""
    await engine.create(room, PAUSED)
    own = await signed_in(engine, room)
    view = await adopted(engine, room, own)
    assert (own.ticket, 1) == (view.ticket, view.position)


@pytest.mark.attack
@pytest.mark.parametrize("state", [State.WAITING, State.CALLED, State.INSIDE])
@pytest.mark.parametrize("how", ["joined", "adopted", "deferred"])
async def test_another_accounts_ticket(engine: Engine, room: str, state: State, how: str) -> None:
    """It has nothing to give: ann keeps her place, turn or session, however ben got her ticket."""
    await engine.create(room, Policy(mode=Mode.MANUAL, max_defers=1))
    if how == "adopted":
        anns = await adopted(engine, room, (await crowd(engine, room, 1))[0])
    else:
        anns = await signed_in(engine, room)
    if how == "deferred":
        await crowd(engine, room, 1)
        anns = await engine.defer(room, anns.ticket, 1)
    if state is not State.WAITING:
        await engine.admit(room, 2)
    if state is State.INSIDE:
        await engine.enter(room, anns.ticket)
    before = await numbers(engine, room)
    assert await engine.adopt(room, anns.ticket, use(engine, room, "ben")) is None
    assert (state, before) == (
        (await engine.poll(room, anns.ticket)).state,
        await numbers(engine, room),
    )


async def test_twice(engine: Engine, room: str) -> None:
    """The same call again, after a lost reply, answers the same and changes nothing."""
    await engine.create(room, PAUSED)
    old, _ = await crowd(engine, room, 2)
    await signed_in(engine, room)
    claim = use(engine, room)
    first = await engine.adopt(room, old.ticket, claim)
    before = await engine.stats(room)
    again = await engine.adopt(room, old.ticket, claim)
    assert first is not None
    assert again is not None
    assert (first.id, first.position) == (again.id, again.position)
    assert before.counters == (await engine.stats(room)).counters


@pytest.mark.attack
async def test_a_claim_counts_once(engine: Engine, room: str) -> None:
    """The same claim in another call is refused, by `join` and by `adopt`, and nothing is done."""
    await engine.create(room, PAUSED)
    old, _ = await crowd(engine, room, 2)
    claim = use(engine, room)
    await engine.join(room, account=claim)
    stolen = another_use(claim)
    with pytest.raises(ClaimRefused):
        await engine.join(room, account=stolen)
    with pytest.raises(ClaimRefused):
        await engine.adopt(room, old.ticket, stolen)
    assert 1 == (await engine.poll(room, old.ticket)).position


async def test_a_claim_counts_once_in_one_batch(engine: Engine, room: str) -> None:
    """Of two uses that reach the server together, one counts."""
    await engine.create(room, PAUSED)
    claim = use(engine, room)
    twin = another_use(claim)
    answers = await asyncio.gather(
        *(engine.join(room, account=each) for each in (claim, twin)), return_exceptions=True
    )
    assert [TicketView, ClaimRefused] == [type(answer) for answer in answers]


# One salt ----------------------------------------------------------------------------------------


def other_use(engine: Engine, room: str) -> ClaimUse:
    """Return a claim of ann by a key of our own that has another salt."""
    key, now_s = engine.ring.claim_key(room), START_US // 10**6
    other = engine.ring.claim_key(room, key._replace(salt=b"another salt 16b"))
    claim = other.claim(room, other.account(room, "ann"), now_s)
    return engine.ring.read_claim(room, claim, now_s)


@pytest.mark.attack
async def test_one_salt(engine: Engine, room: str) -> None:
    """Gates with keys of two salts give nobody two places: the first one's accounts count."""
    await engine.create(room, PAUSED)
    old, _ = await crowd(engine, room, 2)
    first = await signed_in(engine, room)
    assert engine.ring.claim_key(room).salt_name == await engine.salt(room)
    with pytest.raises(ClaimRefused, match="another salt"):
        await engine.join(room, account=other_use(engine, room))
    with pytest.raises(ClaimRefused, match="another salt"):
        await engine.adopt(room, old.ticket, other_use(engine, room))
    assert [1, 3] == [(await engine.poll(room, view.ticket)).position for view in (old, first)]
    assert (3, 0, 0) == await numbers(engine, room)


async def test_adopting_binds_the_room_to_a_salt(engine: Engine, room: str) -> None:
    """So does the first claim of somebody who has waited before."""
    await engine.create(room, PAUSED)
    await adopted(engine, room, await engine.join(room))
    with pytest.raises(ClaimRefused, match="another salt"):
        await engine.join(room, account=other_use(engine, room))


async def test_one_salt_in_one_batch(engine: Engine, room: str) -> None:
    """Of two salts that reach the server together, the first counts."""
    await engine.create(room, PAUSED)
    uses = (use(engine, room), other_use(engine, room))
    answers = await asyncio.gather(
        *(engine.join(room, account=each) for each in uses), return_exceptions=True
    )
    assert [TicketView, ClaimRefused] == [type(answer) for answer in answers]


async def test_one_salt_in_an_idle_room(engine: Engine, clock: Clock, room: str) -> None:
    """Nobody has been there for long, and the room still keeps to its salt."""
    await engine.create(room, Policy(needs=Needs.IDENTITY, once=True, idle_ttl_s=60, session_s=60))
    view = await signed_in(engine, room, enter=True)
    await engine.finish(room, view.ticket)
    for _ in range(5):
        clock.step(100)
        await engine.advance(room)
    with pytest.raises(ClaimRefused, match="another salt"):
        await engine.join(room, account=other_use(engine, room))


@pytest.mark.parametrize("how", ["clear", "drop"])
async def test_another_salt(engine: Engine, room: str, how: str) -> None:
    """After `clear` and `drop` accounts may have another salt; it is refused no longer."""
    await engine.create(room, PAUSED)
    await signed_in(engine, room)
    if how == "clear":
        await engine.clear(room)
    else:
        await engine.drop(room)
        await engine.create(room, PAUSED)
    assert "" == await engine.salt(room)
    assert 1 == (await engine.join(room, account=other_use(engine, room))).position


async def test_used_claims_are_forgotten(engine: Engine, clock: Clock, room: str) -> None:
    """What has expired is no longer remembered: the key grows with a minute of joins, not more."""
    await engine.create(room, PAUSED)
    for number in range(3):
        await engine.join(room, account=use(engine, room, f"user {number}"))
    clock.step(61)
    ann, salt = use(engine, room).id, engine.ring.claim_key(room).salt_name
    later = ClaimUse(ann, f"later {(clock.now_us // 10**6 + 45) * 2**21} {salt}")
    await engine.join(room, account=later)
    key = keys.room_key(room, "claims")
    assert [b"later"] == await engine.backend.client.zrange(key, 0, -1)
    assert 0 < await engine.backend.client.ttl(key) <= 120


async def test_banned(engine: Engine, room: str) -> None:
    """A banned account takes over nothing, and the ticket keeps its place."""
    await engine.create(room, PAUSED)
    old = await engine.join(room)
    await engine.kick(room, [use(engine, room).id], ban=True)
    with pytest.raises(Banned):
        await adopted(engine, room, old)
    assert 1 == (await engine.poll(room, old.ticket)).position


@pytest.mark.attack
async def test_a_draw_knows_no_earlier_place(engine: Engine, clock: Clock, room: str) -> None:
    """While places are drawn, an account keeps its own lot, however many tickets it adopts."""
    opens_at = from_ms(clock.now_ms + 60_000)
    await engine.create(room, Policy(opens_at=opens_at, before_open=BeforeOpen.DRAW))
    own = await signed_in(engine, room)
    place = engine.ring.read(room, own.ticket).place
    tickets = [*await crowd(engine, room, 20)]
    while all(engine.ring.read(room, other.ticket).place > place for other in tickets):
        tickets += await crowd(engine, room, 20)  # one of them has to have a better lot
    for ticket in tickets:
        view = await adopted(engine, room, ticket)
        assert (place, None) == (engine.ring.read(room, view.ticket).place, view.position)
    assert 1 == (await engine.stats(room)).waiting


# needs = identity ------------------------------------------------------------------------------


@pytest.mark.attack
async def test_a_stranger_where_identity_is_needed(engine: Engine, room: str) -> None:
    """The room itself refuses whoever shows nothing, whatever policy a process remembers."""
    await engine.create(room, PAUSED)
    before = await engine.join(room, stranger=True)
    await engine.configure(room, needs=Needs.IDENTITY)
    for visitor in (None, "key:0123456789abcdef"):
        with pytest.raises(IdentityRequired):
            await engine.join(room, visitor=visitor, stranger=True)
    assert 1 == (await engine.join(room, before.ticket, stranger=True)).position
    assert 2 == (await signed_in(engine, room)).position
    assert 3 == (await engine.join(room, visitor="visitor:ben")).position
    await engine.leave(room, before.ticket)
    with pytest.raises(IdentityRequired):
        await engine.join(room, before.ticket, stranger=True)
    assert (2, 0, 0) == await numbers(engine, room)


# once ------------------------------------------------------------------------------------------

ONCE = Policy(needs=Needs.IDENTITY, once=True, capacity=5, session_s=60)


async def test_once(engine: Engine, room: str) -> None:
    """Whoever has been inside does not come back, and anybody else comes."""
    await engine.create(room, ONCE)
    view = await signed_in(engine, room, enter=True)
    assert State.INSIDE is (await signed_in(engine, room)).state  # on another device, meanwhile
    await engine.finish(room, view.ticket)
    with pytest.raises(EnteredBefore):
        await signed_in(engine, room)
    with pytest.raises(EnteredBefore):
        await engine.join(room, view.ticket)
    assert State.CALLED is (await engine.join(room, account=use(engine, room, "ben"))).state


async def test_once_counts_entries(engine: Engine, clock: Clock, room: str) -> None:
    """Who waited, or was called and never came, has not been inside."""
    await engine.create(room, ONCE)
    view = await signed_in(engine, room)
    await engine.leave(room, view.ticket)
    assert State.CALLED is (await signed_in(engine, room)).state
    clock.step(4_000)
    await engine.advance(room)
    assert State.CALLED is (await signed_in(engine, room)).state


@pytest.mark.attack
async def test_once_adopts_nothing(engine: Engine, room: str) -> None:
    """An account that was inside gets no second turn by adopting a ticket's place."""
    await engine.create(room, ONCE)
    view = await signed_in(engine, room, enter=True)
    await engine.finish(room, view.ticket)
    await engine.configure(room, mode=Mode.PAUSED)
    old = await engine.join(room)
    with pytest.raises(EnteredBefore):
        await adopted(engine, room, old)
    assert 1 == (await engine.poll(room, old.ticket)).position


async def test_once_knows_an_adopted_session(engine: Engine, room: str) -> None:
    """A session that an account took over counts as its own."""
    await engine.create(room, ONCE)
    inside = await engine.join(room, enter=True)
    view = await adopted(engine, room, inside)
    await engine.finish(room, view.ticket)
    with pytest.raises(EnteredBefore):
        await signed_in(engine, room)


async def test_once_survives_an_idle_room(engine: Engine, clock: Clock, room: str) -> None:
    """The room is empty for longer than `idle_ttl_s`, and still knows who has been inside."""
    await engine.create(room, Policy(needs=Needs.IDENTITY, once=True, idle_ttl_s=60, session_s=60))
    view = await signed_in(engine, room, enter=True)
    await engine.finish(room, view.ticket)
    for _ in range(5):
        clock.step(100)
        await engine.advance(room)
    assert not await engine.backend.client.exists(keys.room_key(room, "events"))
    with pytest.raises(EnteredBefore):
        await signed_in(engine, room)


@pytest.mark.parametrize("how", ["clear", "drop"])
async def test_once_ends(engine: Engine, room: str, how: str) -> None:
    """`clear` and `drop` forget who has been inside."""
    await engine.create(room, ONCE)
    view = await signed_in(engine, room, enter=True)
    await engine.finish(room, view.ticket)
    if how == "clear":
        await engine.clear(room)
    else:
        await engine.drop(room)
        await engine.create(room, ONCE)
    assert State.CALLED is (await signed_in(engine, room)).state


async def test_once_counts_from_when_it_is_set(engine: Engine, room: str) -> None:
    """Rooms without `once` note nobody, and cost no memory for it."""
    await engine.create(room, Policy(capacity=5))
    view = await signed_in(engine, room, enter=True)
    await engine.finish(room, view.ticket)
    assert not await engine.backend.client.exists(keys.room_key(room, "been"))


async def test_an_entry_code_goes_along(engine: Engine, room: str) -> None:
    """The use of a code stays with the place: the account holds it, and leaving gives it back."""
    await engine.create(room, Policy(mode=Mode.PAUSED, needs=Needs.CODE))
    (code,) = engine.codes(room, await engine.issue(room, 1))
    view = await adopted(engine, room, await engine.join(room, code=code))
    assert code.replace("-", "").startswith(engine.ring.read(room, view.ticket).code)
    with pytest.raises(CodeRefused):
        await engine.join(room, code=code)
    await engine.leave(room, view.ticket)
    assert State.WAITING is (await engine.join(room, code=code)).state


async def test_the_code_of_the_other_place_is_given_back(engine: Engine, room: str) -> None:
    """Whichever of two places goes, somebody else may use its code."""
    await engine.create(room, Policy(mode=Mode.PAUSED, needs=Needs.CODE))
    codes = list(engine.codes(room, await engine.issue(room, 2)))
    first = await engine.join(room, code=codes[0])
    await engine.join(room, account=use(engine, room), code=codes[1])
    assert 1 == (await adopted(engine, room, first)).position
    assert 1 == (await engine.batches(room))[0].used
    assert 2 == (await engine.join(room, code=codes[1])).position


async def test_an_account_keeps_the_code_of_its_own_place(engine: Engine, room: str) -> None:
    """When its own place is the earlier one, its new ticket names the code, for a total loss."""
    await engine.create(room, Policy(mode=Mode.PAUSED, needs=Needs.CODE))
    codes = list(engine.codes(room, await engine.issue(room, 2)))
    own = await engine.join(room, account=use(engine, room), code=codes[0])
    late = await engine.join(room, code=codes[1])
    view = await adopted(engine, room, late)
    assert (1, own.id) == (view.position, view.id)
    code = engine.ring.read(room, view.ticket).code
    assert code == engine.ring.read(room, own.ticket).code != ""
