"""The operator calls, from both clients, against a real server."""

from __future__ import annotations

import inspect
import re
from collections.abc import AsyncIterator, Iterator
from typing import Any

import httpx2
import pytest

from tests.client.test_clients import stumbling
from tests.support.serving import ADMIN_KEY, Serving
from waitroom import errors
from waitroom.client import Client, SyncClient
from waitroom.client.operator import calls
from waitroom.client.operator.clients import Operator, SyncOperator
from waitroom.client.operator.events import Stream
from waitroom.client.steps import Request, Target
from waitroom.models import Mode, Policy, Reason, State


class Ask:
    """An operator with either client: `await ask.stats("concert")`."""

    def __init__(self, operator: Operator | SyncOperator) -> None:
        self.operator = operator

    def __getattr__(self, name: str) -> Any:
        async def asked(*args: Any, **kwargs: Any) -> Any:
            result = getattr(self.operator, name)(*args, **kwargs)
            return await result if inspect.isawaitable(result) else result

        return asked


@pytest.fixture(params=[Client, SyncClient])
async def ask(served: Serving, request: pytest.FixtureRequest) -> AsyncIterator[Ask]:
    """Return an operator of that server."""
    client: Client | SyncClient = request.param(served.base, key=ADMIN_KEY)
    yield Ask(client.operator)
    if isinstance(client, SyncClient):
        client.close()
    else:
        await client.aclose()


@pytest.fixture
def visitors(served: Serving) -> Iterator[SyncClient]:
    """Return somebody who joins."""
    with SyncClient(served.base, key=ADMIN_KEY) as client:
        yield client


async def test_the_life_of_a_room(ask: Ask, request: pytest.FixtureRequest) -> None:
    """Created, shown, changed, undone, listed and removed; its answers have types."""
    name = f"made-{abs(hash(request.node.name)) % 10**8}"
    made = await ask.create_room(name, "slots", capacity=5, opens_at="2030-03-01T20:00:00Z")
    assert (name, 5, 0) == (made.name, made.policy.capacity, made.stats.waiting)
    assert isinstance(made.policy, Policy)
    assert made.policy.opens_at is not None
    paused = await ask.set_mode(name, Mode.PAUSED)
    assert ({"mode": ("open", "paused")}, Mode.PAUSED) == (paused.changed, paused.policy.mode)
    wider = await ask.change_room(name, capacity=9, version=paused.version)
    with pytest.raises(errors.VersionConflict):
        await ask.change_room(name, capacity=10, version=paused.version)
    undone = await ask.undo(name, version=wider.version)
    assert 5 == undone.policy.capacity
    assert undone.undoes is not None
    assert undone.policy == (await ask.room(name)).policy
    page = await ask.rooms(limit=500)
    assert name in {room.name for room in page.rooms}
    entries = (await ask.audit(room=name)).entries
    assert "room.create" in {entry.action for entry in entries}
    noted = await ask.note(name, "The band is late")
    newest = (await ask.audit(room=name, limit=1)).entries[0]
    assert (noted, "note") == (newest.id, newest.action)
    await ask.drop_room(name)
    with pytest.raises(errors.UnknownRoom):
        await ask.room(name)


async def test_people(ask: Ask, served: Serving, visitors: SyncClient) -> None:
    """Listed, called, found, kicked, given their place back, counted, and removed."""
    room = served.new_room(mode="manual", capacity=10, session_s=60)
    for who in ("ada", "bob", "cyd", "dee"):
        visitors.join(room, visitor=who)
    page = await ask.tickets(room, limit=3)
    assert ([State.WAITING] * 3, True) == ([line.state for line in page.tickets], page.ordered)
    rest = await ask.tickets(room, after=page.after)
    assert 1 == len(rest.tickets)
    ada, bob, cyd = page.tickets
    admitted = await ask.admit(room, 1)
    assert (1, 3) == (admitted.called, admitted.waiting)
    assert cyd.id == (await ask.call(room, cyd.short_code)).ticket_id
    called = await ask.tickets(room, State.CALLED)
    assert {ada.id, cyd.id} == {line.id for line in called.tickets}
    assert [bob] == [line for line in await ask.short_code(room, bob.short_code) if line == bob]
    kicked = await ask.kick(room, [bob.id], ban=True)
    assert (1, 1, False) == (kicked.found, kicked.kicked, kicked.more)
    (sighting,) = [found for found in await ask.find(bob.id) if found.room == room]
    assert (Reason.KICKED, True) == (sighting.reason, sighting.banned)
    way = await ask.person(room, bob.id)
    assert ("gone", "kicked") == (way["state"], way["steps"][-1]["reason"])
    with pytest.raises(errors.Banned):
        await ask.reinstate(room, bob.id)
    back = await ask.reinstate(room, bob.id, lift_ban=True)
    assert (bob.id, 1, 2) == (back.ticket_id, back.position, back.waiting)
    numbers = await ask.stats(room)
    assert (2, 2, 4) == (numbers.waiting, numbers.called, numbers.counters["joined"])
    assert 2 == (await ask.kick_by_age(room, newer_than_s=3600)).kicked
    assert isinstance(await ask.series(room), tuple)
    assert "at_ms" in await ask.history(room)
    assert 2 == await ask.clear(room)


async def test_keys_and_webhooks(ask: Ask, served: Serving) -> None:
    """Their secrets are shown once; a viewer's key may read and do no more."""
    made = await ask.create_key("box office")
    async with Client(served.base, key=made["key"]) as viewer:
        assert (await viewer.operator.rooms(limit=1)).rooms is not None
        with pytest.raises(errors.Forbidden):
            await viewer.operator.create_key("mine", "admin")
    assert made["id"] in {key["id"] for key in await ask.keys()}
    await ask.revoke_key(made["id"])
    assert made["id"] not in {key["id"] for key in await ask.keys()}
    hook = await ask.create_webhook("http://127.0.0.1:9/hook", types=["people.called"])
    assert hook["secret"] != (await ask.rotate_webhook(hook["id"]))["secret"]
    assert not (await ask.switch_webhook(hook["id"], enabled=False))["enabled"]
    assert (await ask.switch_webhook(hook["id"], enabled=True))["enabled"]
    assert "" != await ask.test_webhook(hook["id"]), "nobody listens there"
    assert hook["id"] in {webhook["id"] for webhook in await ask.webhooks()}
    await ask.delete_webhook(hook["id"])
    assert hook["id"] not in {webhook["id"] for webhook in await ask.webhooks()}


async def test_a_lost_answer_admits_nobody_twice(served: Serving, visitors: SyncClient) -> None:
    """`admit` is repeated with its key, and returns the first result."""
    room = served.new_room(mode="manual")
    for _ in range(4):
        visitors.join(room)
    async with stumbling(served.port, b"") as base, Client(base, key=ADMIN_KEY) as unlucky:
        assert 2 == (await unlucky.operator.admit(room, 2)).called
    with SyncClient(served.base, key=ADMIN_KEY) as client:
        assert 2 == client.operator.stats(room).called


async def test_a_lost_undo_is_not_repeated(served: Serving) -> None:
    """A second undo would revert the first: it is sent once, and the caller has to check."""
    room = served.new_room(capacity=1)
    with SyncClient(served.base, key=ADMIN_KEY) as client:
        client.operator.change_room(room, capacity=2)
        async with stumbling(served.port, b"") as base, Client(base, key=ADMIN_KEY) as unlucky:
            with pytest.raises(errors.BackendUnavailable):
                await unlucky.operator.undo(room)
        assert 1 == client.operator.room(room).policy.capacity


async def test_a_key_is_needed(served: Serving) -> None:
    """Without one, or with a wrong one, the error says so."""
    for key in (None, "wr_wrong"):
        async with Client(served.base, key=key) as nobody:
            with pytest.raises(errors.Unauthorized):
                await nobody.operator.rooms()


def test_every_route_of_operators_has_its_call(served: Serving) -> None:
    """A route added to the API is missed here until there is a call for it."""
    with httpx2.Client(base_url=served.base) as http:
        paths = http.get("/openapi.json").json()["paths"]
    target = Target("", "wr_key", 0, 1)
    sent = {first_request(getattr(calls, name), target) for name in names()}
    sent.add(("GET", str(Stream(target, [], [], "").request()["url"])))
    routes = {
        (method.upper(), path)
        for path, methods in paths.items()
        if path.startswith("/v1/admin")
        for method in methods
    }
    assert 20 < len(routes)
    missing = {route for route in routes if not any(matches(route, request) for request in sent)}
    assert set() == missing
    assert set() == {
        request for request in sent if not any(matches(route, request) for route in routes)
    }


def names() -> list[str]:
    """Return the names of the calls."""
    functions = inspect.getmembers(calls, inspect.isfunction)
    ours = [name for name, function in functions if function.__module__ == calls.__name__]
    return [name for name in ours if not name.startswith("_")]


def first_request(function: Any, target: Target) -> tuple[str, str]:
    """Return the method and path of the first request of a call."""
    needed = [
        "x"
        for parameter in [*inspect.signature(function).parameters.values()][1:]
        if parameter.default is parameter.empty
        and parameter.kind is parameter.POSITIONAL_OR_KEYWORD
    ]
    request = next(function(target, *needed))
    assert isinstance(request, Request)
    return request.method, request.url


def matches(route: tuple[str, str], request: tuple[str, str]) -> bool:
    """Tell whether a request goes to a route."""
    pattern = re.sub(r"\\{\w+\\}", "x", re.escape(route[1]))
    return route[0] == request[0] and re.fullmatch(pattern, request[1]) is not None
