"""The Python client, against real servers."""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import subprocess
import sys
import uuid
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import httpx2
import pytest

from tests.support.clients import HOST
from tests.support.serving import ADMIN, ADMIN_KEY, Serving
from waitroom import errors
from waitroom.client import Client, Place, SyncClient, Ticket, reason_of
from waitroom.client.operator.clients import Operator, SyncOperator
from waitroom.client.refusals import kinds
from waitroom.models import Mode, Reason, State


@pytest.fixture
async def client(served: Serving) -> AsyncIterator[Client]:
    """Return a client of that server."""
    async with Client(served.base) as connection:
        yield connection


@pytest.fixture
def sync_client(served: Serving) -> Iterator[SyncClient]:
    """Return a client of that server for code without `await`."""
    with SyncClient(served.base) as connection:
        yield connection


@pytest.fixture
async def operator(served: Serving) -> AsyncIterator[httpx2.AsyncClient]:
    """Return somebody with the admin key."""
    async with httpx2.AsyncClient(base_url=served.base, headers=ADMIN, timeout=60) as connection:
        yield connection


@pytest.fixture
def place(served: Serving) -> str:
    """Return a room for one, where sessions may be renewed."""
    return served.new_room(capacity=1, session_s=60, renewable=True, max_defers=1)


async def change(operator: httpx2.AsyncClient, room: str, **policy: Any) -> None:
    """Change fields of a room's policy."""
    answer = await operator.patch(f"/v1/admin/rooms/{room}", json={"policy": policy})
    answer.raise_for_status()


async def test_a_whole_visit(client: Client, place: str) -> None:
    """Join, follow, enter, renew, check, finish: the next person gets the freed place."""
    first = await client.join(place)
    assert State.CALLED is first.state
    inside = await client.enter(first)
    assert inside.session_ends_at is not None
    assert 50 < (inside.session_ends_at - datetime.now(UTC)).total_seconds() <= 61
    assert inside.pass_ is not None
    assert await client.check(inside.pass_, place)
    assert not await client.check(inside.pass_ + "x", place)
    assert not await client.check(inside.pass_, "another")
    second = await client.join(place)
    assert (State.WAITING, 1, 1) == (second.state, second.position, second.waiting)
    assert State.INSIDE is (await client.renew(inside)).state
    await client.finish(inside)
    assert not await client.check(inside.pass_, place)
    seen = []
    async for view in client.follow(second):
        seen.append(view.state)
        if view.state is State.CALLED:
            break
    assert [State.WAITING, State.CALLED] == seen
    assert State.INSIDE is (await client.enter(view)).state


def test_a_whole_visit_without_await(sync_client: SyncClient, place: str) -> None:
    """The synchronous client has the same calls, and `follow` is a plain iterator."""
    first = sync_client.enter(sync_client.join(place))
    assert first.pass_ is not None
    assert sync_client.check(first.pass_, place)
    second = sync_client.join(place)
    assert 1 == sync_client.room(place).waiting
    sync_client.finish(sync_client.renew(first))
    seen = []
    for view in sync_client.follow(Place(place, second.ticket)):
        seen.append(view.state)
        if view.state is State.CALLED:
            break
    assert State.CALLED is seen[-1]
    sync_client.leave(second)
    with pytest.raises(errors.TurnPassed) as gone:
        sync_client.status(second)
    assert Reason.PASSED is reason_of(gone.value), "it was called, so its place is behind"
    with pytest.raises(errors.UnknownRoom):
        sync_client.room("nobody-made-this-room")


@pytest.mark.parametrize(("ours", "theirs"), [(Client, SyncClient), (Operator, SyncOperator)])
def test_both_clients_have_the_same_calls(ours: type, theirs: type) -> None:
    """Their names and arguments are equal; only how they are closed differs."""

    def calls(kind: type) -> dict[str, list[str]]:
        methods = inspect.getmembers(kind, inspect.isfunction)
        public = [(name, method) for name, method in methods if not name.startswith("_")]
        own = {"aclose", "close", "run", "http_client"}
        return {
            name: [str(parameter) for parameter in inspect.signature(method).parameters.values()]
            for name, method in public
            if name not in own
        }

    assert calls(ours) == calls(theirs)
    assert "join" in calls(ours) or "admit" in calls(ours)


async def test_without_await_a_moment_away_is_waited_out_too(served: Serving, place: str) -> None:
    """A lost answer is requested again, here from a thread: one place is taken."""
    async with stumbling(served.port, b"", PROXY) as base:
        with SyncClient(base) as unlucky:
            ticket = await asyncio.to_thread(unlucky.join, place)
            assert State.CALLED is (await asyncio.to_thread(unlucky.status, ticket)).state
    async with Client(served.base) as client:
        assert 0 == (await client.room(place)).waiting, "somebody else stands in line"


async def test_a_ticket_of_before(client: Client, place: str) -> None:
    """Room and text are enough to continue; `follow` then fetches the view."""
    joined = await client.join(place)
    known = Place(place, joined.ticket)
    assert State.CALLED is (await client.status(known)).state
    async for view in client.follow(known):
        assert isinstance(view, Ticket)
        break


async def test_the_room(client: Client, place: str) -> None:
    """The public view has types, not texts."""
    info = await client.room(place)
    assert (place, Mode.OPEN, 0, True) == (info.room, info.mode, info.waiting, info.accepts)
    assert info.now.tzinfo is not None


async def test_defer_and_leave(client: Client, place: str) -> None:
    """Going back gives a new ticket; anybody who leaves is gone, and the error says how."""
    await client.join(place)
    two, _ = [await client.join(place) for _ in range(2)]
    later = await client.defer(two, 1)
    assert (2, True) == (later.position, later.ticket != two.ticket)
    with pytest.raises(errors.DefersUsedUp):
        await client.defer(later, 1)
    await client.leave(later)
    with pytest.raises(errors.TurnPassed) as gone:
        await client.status(later)
    assert Reason.LEFT is reason_of(gone.value)
    following = aiter(client.follow(replace(later, poll_after_ms=1)))
    assert State.WAITING is (await anext(following)).state, "what was known"
    with pytest.raises(errors.TurnPassed):
        await anext(following)


async def test_a_hand_off(client: Client, served: Serving, place: str) -> None:
    """The code can be redeemed for the pass."""
    inside = await client.join(place, enter=True)
    made = await client.handoff(inside)
    assert 0 < (made.expires_at - datetime.now(UTC)).total_seconds() <= 61
    async with httpx2.AsyncClient(base_url=served.base) as site:
        redeemed = await site.post("/v1/redeem", json={"code": made.code})
    assert inside.pass_ == redeemed.json()["pass"]


async def test_one_visitor_one_place(served: Serving, client: Client, place: str) -> None:
    """With a key people can be named; without one, an idempotency key repeats a join."""
    async with Client(served.base, key=ADMIN_KEY) as desk:
        states = [(await desk.join(place, visitor="ada")).state for _ in range(3)]
    assert [State.CALLED] * 3 == states
    with pytest.raises(errors.Unauthorized):
        await client.join(place, visitor="ada")
    mine = uuid.uuid4().hex
    views = [await client.join(place, idempotency_key=mine) for _ in range(2)]
    assert [1, 1] == [view.waiting for view in views]


async def test_errors_have_their_class(
    client: Client, operator: httpx2.AsyncClient, place: str
) -> None:
    """A refusal is the same class as in the engine, with its details."""
    with pytest.raises(errors.UnknownRoom):
        await client.room("nobody-made-this-room")
    with pytest.raises(errors.InvalidTicket) as forged:
        await client.status(Place(place, "forged"))
    assert "ticket" == forged.value.field
    await client.join(place)
    waits = await client.join(place)
    with pytest.raises(errors.NotYourTurn):
        await client.enter(waits)
    await change(operator, place, queue_limit=1)
    with pytest.raises(errors.RoomFull):
        await client.join(place)
    await change(operator, place, mode="closed")
    with pytest.raises(errors.RoomClosed):
        await client.join(place)
    with pytest.raises(errors.InvalidInput) as short:
        await client.join(place, idempotency_key="short")
    assert "Idempotency-Key" == short.value.field


def test_every_code_is_known() -> None:
    """Each of our errors is found by its code, whatever its constructor takes."""
    assert len(kinds()) > 30
    assert {code: kind.code for code, kind in kinds().items()} == {code: code for code in kinds()}


@contextlib.asynccontextmanager
async def stumbling(target: int, *answers: bytes) -> AsyncIterator[str]:
    """Run a link that first answers by itself; an empty answer hangs up after the request."""
    todo = list(answers)

    async def carry(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked = await reader.readuntil(b"\r\n\r\n")
        length = [line for line in asked.lower().split(b"\r\n") if b"content-length:" in line]
        if length:
            asked += await reader.readexactly(int(length[0].partition(b":")[2]))
        answer = todo.pop(0) if todo else None
        if not answer:
            there, back = await asyncio.open_connection(HOST, target)
            back.write(asked.replace(b"\r\n", b"\r\nConnection: close\r\n", 1))
            reply = await there.read()
            back.close()
            answer = b"" if answer == b"" else reply  # the result is not sent
        writer.write(answer)
        writer.close()

    server = await asyncio.start_server(carry, HOST, 0)
    async with server:
        yield f"http://{HOST}:{server.sockets[0].getsockname()[1]}"


AWAY = (
    b"HTTP/1.1 503 x\r\ncontent-type: application/problem+json\r\nretry-after: 1\r\n"
    b'connection: close\r\n\r\n{"code":"backend_unavailable","detail":"away","status":503}'
)
PROXY = b"HTTP/1.1 502 x\r\nconnection: close\r\n\r\n<html>"


@pytest.mark.parametrize("answers", [(AWAY,), (PROXY,), (b"",), (b"", PROXY)])
async def test_a_moment_away_is_waited_out(
    served: Serving, place: str, answers: tuple[bytes, ...]
) -> None:
    """A 503 is waited out as long as it says, a lost answer requested again: one place is taken."""
    async with stumbling(served.port, *answers) as base, Client(base) as client:
        loop = asyncio.get_running_loop()
        began = loop.time()
        ticket = await client.join(place)
        assert (1.0 if AWAY in answers else 0.2) <= loop.time() - began
    async with Client(served.base) as client:
        assert 0 == (await client.room(place)).waiting, "somebody else stands in line"
        await client.leave(ticket)


@pytest.mark.parametrize("verb", ["finish", "leave"])
async def test_what_ends_a_ticket_may_be_repeated(served: Serving, place: str, verb: str) -> None:
    """If the answer to an end is lost, the second try says that it is done."""
    async with Client(served.base) as client:
        inside = await client.join(place, enter=True)
        async with stumbling(served.port, b"") as base, Client(base) as unlucky:
            await getattr(unlucky, verb)(inside)
        with pytest.raises((errors.SessionOver, errors.TurnPassed)):
            await client.finish(inside)


@pytest.mark.parametrize("answers", [[AWAY] * 9, [PROXY] * 9])
async def test_patience_ends(served: Serving, place: str, answers: Any) -> None:
    """A server that stays away is an error in the end."""
    async with stumbling(served.port, *answers) as base, Client(base, patience_s=0.3) as client:
        with pytest.raises(errors.BackendUnavailable):
            await client.join(place)


async def test_nobody_there() -> None:
    """So is one that cannot be reached."""
    async with Client("http://127.0.0.1:9", patience_s=0) as client:
        with pytest.raises(errors.BackendUnavailable, match=r"127\.0\.0\.1:9"):
            await client.room("concert")


def test_the_http_client_is_loaded_when_used() -> None:
    """Importing the module is cheap and needs no extra package."""
    code = "import sys, waitroom.client; print('httpx2' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "False" == done.stdout.strip()


async def test_a_proof_of_work_is_solved(
    client: Client, sync_client: SyncClient, served: Serving
) -> None:
    """Both clients solve what the room asks of newcomers, and get a place each."""
    room = served.new_room(mode="paused", challenge="work")
    first = await client.join(room)
    second = await asyncio.to_thread(sync_client.join, room)
    assert [1, 2] == [first.position, second.position]


async def test_a_widget_is_left_to_the_caller(client: Client, served: Serving) -> None:
    """What needs a person is raised, with what a page needs to show it."""
    room = served.new_room(mode="paused", challenge="siteverify", when_unverified="refuse")
    with pytest.raises(errors.ChallengeRequired) as refused:
        await client.join(room)
    assert "siteverify" == refused.value.challenge["kind"]
