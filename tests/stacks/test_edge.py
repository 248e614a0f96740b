"""The package `@waitroom/gate` without a Node server: in Workers and in Next.js."""

from __future__ import annotations

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import jwt
import pytest

from tests.stacks import tools
from tests.stacks.conftest import Inside, come_in
from tests.stacks.forgeries import forgeries
from tests.stacks.test_paths import free_to_all, tricks
from tests.stacks.test_sessions import ORDER, cookies, is_inside
from tests.stacks.tools import ROOM, Stack, let_in
from tests.support.attacks import tried
from tests.support.servers import wait_for
from tests.support.serving import SECRET, Serving
from waitroom.passes import PassKeys

BROWSER = {"accept": "text/html"}


@pytest.fixture(scope="module")
def edge_folder(node_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder in which the package is installed with the runtimes."""
    (tarball,) = (node_folder / "packed").glob("*.tgz")
    return tools.edge(tmp_path_factory.mktemp("edge"), tarball)


@pytest.fixture(scope="module", params=["workers", "proxy", "middleware"])
def stack(request: pytest.FixtureRequest, served: Serving, edge_folder: Path) -> Iterator[Stack]:
    """Run a site in each runtime."""
    if request.param == "workers":
        running = tools.workers(edge_folder, served.port)
    else:
        running = tools.next_js(edge_folder, served.port, request.param)
    with running as stack:
        yield stack


def test_many_come_at_once_to_a_gate_without_keys(stack: Stack, inside: Inside) -> None:
    """A request to Waitroom that one visitor started and others wait for answers all of them."""
    with ThreadPoolExecutor(20) as pool:
        shown = [inside.pass_, None] * 10
        replies = list(pool.map(lambda text: stack.ask("/concert", text, BROWSER), shown))
    assert [200, 303] * 10 == [reply.status for reply in replies]


def test_without_a_pass(stack: Stack) -> None:
    """A browser is sent to the waiting page, with its return address; a free page is free."""
    reply = stack.ask("/concert/seats?date=3", None, BROWSER | {"x-forwarded-host": "evil.test"})
    assert (303, "no-store") == (reply.status, reply.header("cache-control"))
    where = urlsplit(reply.header("location") or "")
    assert f"/rooms/{ROOM}" == where.path
    assert [f"{stack.site}/concert/seats?date=3"] == parse_qs(where.query)["return"]
    program = stack.ask("/concert", None, {"accept": "application/json"})
    assert (429, "waiting") == (program.status, program.json()["code"])
    assert let_in(stack.ask("/free"))


def test_a_good_pass(stack: Stack, inside: Inside) -> None:
    """In the room's cookie or as Waitroom-Pass, for any method."""
    replies = [
        stack.ask("/concert", inside.pass_),
        stack.ask("/concert/seats/5?date=3", inside.pass_),
        stack.ask("/concert", None, {"waitroom-pass": inside.pass_}),
        stack.ask("/concert", inside.pass_, method="POST"),
    ]
    assert [(200, True)] * 4 == [(reply.status, let_in(reply)) for reply in replies]


@pytest.mark.attack
def test_no_forgery_is_taken(stack: Stack, inside: Inside) -> None:
    """Anybody who shows one is sent away."""
    texts = forgeries(SECRET, inside.pass_, inside.ticket, ROOM)
    got = {name: stack.ask("/concert", text, BROWSER).status for name, text in texts.items()}
    assert dict.fromkeys(texts, 303) == got
    tried(len(texts))
    assert let_in(stack.ask("/concert", inside.pass_)), "and the good one is taken still"


@pytest.mark.attack
def test_no_spelling_leads_past_the_gate(stack: Stack) -> None:
    """Runtimes read an address before the gate does: what reaches the site is free as it reads."""
    paths = tricks()
    got = [reply.body for path in paths if let_in(reply := stack.ask(path))]
    read = [body.removeprefix(b"the site, at ").rstrip(b"\n") for body in got]
    assert [] == [path for path in read if not free_to_all(path)]
    tried(len(paths))


@pytest.mark.attack
def test_the_data_of_a_page_of_next_js_is_behind_the_gate(stack: Stack, edge_folder: Path) -> None:
    """Its scripts load a page's data from a separate address; nor is there a way by header."""
    builds = [path.read_text("utf-8") for path in edge_folder.glob("built-*/BUILD_ID")]
    names = [f"/_next/data/{build}/concert.json" for build in builds]
    for headers in ({}, {"x-nextjs-data": "1"}, {"x-middleware-subrequest": "middleware"}):
        replies = [stack.ask(path, None, BROWSER | headers) for path in [*names, "/concert"]]
        assert 303 == replies[-1].status
        assert stack.name == "workers" or not any(map(let_in, replies))
    tried(3 * (len(names) + 1))


def test_a_session_is_renewed_after_half(served: Serving, stack: Stack) -> None:
    """The new pass comes as a cookie next to the site's own."""
    person = come_in(served)
    claims = jwt.decode(person.pass_, options={"verify_signature": False})
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


def test_an_order_ends_the_session(served: Serving, stack: Stack) -> None:
    """Here at once, at Waitroom soon, though the answer is sent before the request ends."""
    person = come_in(served)
    done = stack.ask(ORDER, person.pass_, method="POST")
    gone = {f"waitroom-pass-{ROOM}": "", f"waitroom-ticket-{ROOM}": ""}
    assert (True, gone | {"basket": "1"}) == (let_in(done), cookies(done))
    assert 303 == stack.ask("/concert", person.pass_, BROWSER).status
    wait_for(lambda: not is_inside(served, person), "Waitroom to hear of it")
