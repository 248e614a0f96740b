"""Gates that renew, finish, check and announce sessions: JavaScript, Go and Java."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx2
import jwt
import pytest

from tests.gates.test_loss import fragile, numbers, store
from tests.stacks import tools
from tests.stacks.conftest import Inside, come_in
from tests.stacks.tools import ROOM, Stack, let_in
from tests.support.clients import Reply
from tests.support.links import linked
from tests.support.servers import Server, wait_for
from tests.support.serving import SECRET, Serving
from waitroom.passes import PassKeys

__all__ = ["fragile", "store"]  # fixtures

Start = Callable[..., contextlib.AbstractContextManager[Stack]]
SCRIPTS = {
    "node": "server.mjs",
    "express": "express.mjs",
    "hono": "hono.mjs",
    "web": "web.mjs",
}
ORDER = "/concert/order"


@pytest.fixture(params=[*SCRIPTS, "go", "java"])
def start(request: pytest.FixtureRequest) -> Start:
    """Return a function that runs a site in front of a Waitroom on a port."""
    name = request.param

    def run(
        port: int, *, strict: bool = False, when_away: str = "closed"
    ) -> contextlib.AbstractContextManager[Stack]:
        if name in ("go", "java"):
            start = {"go": tools.go, "java": tools.java}[name]
            folder: Path = request.getfixturevalue(f"{name}_folder")
            return start(folder, port, when_away, strict=strict)
        folder = request.getfixturevalue("node_folder")
        return tools.node(folder, port, when_away, script=SCRIPTS[name], strict=strict)

    return run


@pytest.fixture
def stack(start: Start, served: Serving) -> Iterator[Stack]:
    """Run a site that checks passes offline."""
    with start(served.port) as stack:
        yield stack


def cookies(reply: Reply) -> dict[str, str]:
    """Return the cookies that a reply sets, by name."""
    pairs = (line.partition(";")[0].partition("=") for line in reply.all("set-cookie"))
    return {name: value for name, _, value in pairs}


def is_inside(served: Serving, person: Inside) -> bool:
    """Tell whether Waitroom still knows a session."""
    bearer = {"authorization": f"Bearer {person.pass_}"}
    url = f"{served.base}/v1/check?room={ROOM}"
    return httpx2.get(url, headers=bearer, timeout=20).status_code == 204


def test_a_session_is_renewed_after_half(served: Serving, stack: Stack) -> None:
    """The new pass is a cookie next to the site's own, valid, and of the same session."""
    person = come_in(served)
    claims = jwt.decode(person.pass_, options={"verify_signature": False})
    # The same pass, made so long ago that half of its time is over.
    began_s = int(time.time()) - 2 * (claims["exp"] - int(time.time()))
    old = PassKeys.derive(SECRET).sign(
        ROOM, claims["sub"], int(claims["jti"]), began_s, claims["exp"], claims["iss"]
    )
    given: dict[str, str] = {}

    def renewed() -> bool:
        reply = stack.ask("/concert", old)
        assert let_in(reply)
        given.update(cookies(reply))
        return f"waitroom-pass-{ROOM}" in given

    wait_for(renewed, "the new pass")
    assert "1" == given["basket"]
    fresh = given[f"waitroom-pass-{ROOM}"]
    again = jwt.decode(fresh, options={"verify_signature": False})
    assert (claims["jti"], True) == (again["jti"], again["iat"] > began_s)
    reply = stack.ask("/concert", fresh)
    assert (True, {"basket"}) == (let_in(reply), set(cookies(reply))), "a new one is left alone"


def test_an_order_ends_the_session(served: Serving, stack: Stack) -> None:
    """Here at once, at Waitroom too; cookies go. A failed order ends nothing."""
    person = come_in(served)
    failed = stack.ask(f"{ORDER}?fail", person.pass_, method="POST")
    assert (500, {"basket"}) == (failed.status, set(cookies(failed)))
    assert let_in(stack.ask("/concert", person.pass_))
    done = stack.ask(ORDER, person.pass_, method="POST")
    gone = {f"waitroom-pass-{ROOM}": "", f"waitroom-ticket-{ROOM}": ""}
    assert (True, gone | {"basket": "1"}) == (let_in(done), cookies(done))
    assert 303 == stack.ask("/concert", person.pass_).status
    wait_for(lambda: not is_inside(served, person), "Waitroom to hear of it")


def test_a_strict_gate_asks(start: Start, served: Serving) -> None:
    """A session finished elsewhere is refused, and stays out while Waitroom is away."""
    with contextlib.ExitStack() as link:
        port = link.enter_context(linked(served.port)).port
        with start(port, strict=True, when_away="open") as stack:
            person, other = come_in(served), come_in(served)
            for one in (person, other):
                wait_for(lambda: let_in(stack.ask("/concert", one.pass_)), "the first visit")  # noqa: B023
            bearer = {"authorization": f"Bearer {person.pass_}"}
            url = f"{served.base}/v1/passes/finish"
            httpx2.post(url, headers=bearer, timeout=20).raise_for_status()
            wait_for(lambda: stack.ask("/concert", person.pass_).status == 303, "the refusal")
            link.close()
            wait_for(lambda: let_in(stack.ask("/concert")), "that Waitroom is away")
            assert (503, True) == (
                stack.ask("/concert", person.pass_).status,
                let_in(stack.ask("/concert", other.pass_)),
            )


@pytest.mark.parametrize("start", ["node", "go", "java"], indirect=True)
def test_sessions_are_announced_after_a_loss(start: Start, fragile: Serving, store: Server) -> None:
    """A gate notices the loss by itself, and says who is inside."""
    fragile.new_room(ROOM, capacity=3, session_s=600, recover_s=600)
    people = [come_in(fragile) for _ in range(3)]
    with start(fragile.port) as stack:

        def all_are_back() -> bool:
            for person in people:
                wait_for(lambda: let_in(stack.ask("/concert", person.pass_)), "a visit")  # noqa: B023
            return numbers(fragile.base) == (0, 0, 3)

        wait_for(all_are_back, "everybody")
        store.command("FLUSHALL")
        wait_for(lambda: numbers(fragile.base) == (0, 0, 0), "the loss")
        wait_for(all_are_back, "everybody, after the loss")
