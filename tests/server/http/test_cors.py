"""Pages of other origins: listed ones may use the visitors' API, all others may not."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.support.clients import Reply, Wire, live
from tests.support.in_process import serving_here
from tests.support.servers import Server as Backend
from tests.support.serving import ADMIN, SECRET
from waitroom.errors import InvalidInput
from waitroom.models import Mode, Policy
from waitroom.server.context import Server
from waitroom.server.http import answers
from waitroom.server.http.answers import Answer, Headers
from waitroom.server.http.connections import Connections
from waitroom.server.http.cors import Cors
from waitroom.server.process.preparation import check
from waitroom.settings import Settings

APP, SIBLING = "https://app.example", "https://shop.wait.example"
ALLOW, CREDENTIALS = "access-control-allow-origin", "access-control-allow-credentials"
PREFLIGHT = {"Access-Control-Request-Method": "POST"}
EVIL = [
    "null",
    "",
    "*",
    "https://evil.example",
    "https://app.example.evil.example",
    "https://evil-app.example",
    "https://evilapp.example",
    "https://x.app.example",
    "https://app.example.",
    "https://app.example:444",
    "https://app.example:443",
    "http://app.example",
    "https://app.example/",
    "https://app.example@evil.example",
    "https://user@app.example",
    "HTTPS://APP.EXAMPLE",
    "https://app.example https://evil.example",
    "https://app.example, https://evil.example",
    "https://app.exampl\xe9",
]


def origin_of(text: str) -> Headers:
    """Return the headers of a request from an origin."""
    return [(b"host", b"wait.example"), (b"origin", text.encode("latin-1"))]


@pytest.mark.attack
@pytest.mark.parametrize("origin", EVIL)
def test_origins_that_only_look_like_a_listed_one(origin: str) -> None:
    """Anything but exactly a listed origin is told nothing; caches learn that origins matter."""
    cors = Cors([APP], [APP])
    for headers in (answers.JSON, answers.EMPTY, [(b"x", b"y")]):
        told = cors.allow(origin_of(origin), Answer(200, headers, b"{}")).headers
        assert [*headers, (b"vary", b"Origin")] == told
    wish = [*origin_of(origin), (b"access-control-request-method", b"GET")]
    assert None is cors.preflight("OPTIONS", wish)


@pytest.mark.attack
def test_two_origins_are_none() -> None:
    """No browser sends two; a client that does is not treated as the first of them."""
    twice = [*origin_of(APP), *origin_of("https://evil.example")]
    told = Cors([APP]).allow(twice, Answer(200, answers.JSON, b"{}")).headers
    assert [*answers.JSON, (b"vary", b"Origin")] == told


@pytest.mark.attack
@pytest.mark.parametrize(
    "text",
    ["*", "https://*", "https://*.app.example", "null", f"{APP},*", "app.example", "file://"],
)
@pytest.mark.parametrize("cookies", [None, APP, "*"])
def test_wildcards_are_refused_at_the_start(tmp_path: Path, text: str, cookies: str | None) -> None:
    """A server that would open its API to everybody does not start, with cookies or without."""
    settings = Settings(data_dir=tmp_path, secret=SECRET, cors_origins=text, origins=cookies)
    with pytest.raises(InvalidInput, match="is not an origin like"):
        check(settings)
    with pytest.raises(InvalidInput, match="is not an origin like"):
        Cors.of_settings(text, cookies)


def test_origins_are_written_as_browsers_do(tmp_path: Path) -> None:
    """Capitals, a trailing slash and a default port in the setting do no harm."""
    check(Settings(data_dir=tmp_path, secret=SECRET, cors_origins=APP))
    for text in ("https://APP.example/", "https://app.example:443", f"http://a.test:81, {APP}"):
        cors = Cors.of_settings(text, None)
        assert cors is not None
        told = dict(cors.allow(origin_of(APP), Answer(200, answers.JSON, b"{}")).headers)
        assert APP.encode() == told[ALLOW.encode()]


def test_nothing_listed() -> None:
    """Then there is nothing to decide, and nothing that costs time."""
    assert None is Cors.of_settings(None, APP)


def test_usual_answers_are_prepared_for_every_origin() -> None:
    """The headers of polls are built once a second, not per answer, for every origin."""

    async def nobody(*_: object) -> None:
        """Answer nothing."""

    cors = Cors([APP, SIBLING], [SIBLING])
    heads = Connections(nobody, shared_headers=cors.shared_headers).heads
    for given in ([], origin_of(APP), origin_of(SIBLING), origin_of("https://evil.example")):
        for usual, status in ((answers.JSON, 200), (answers.JSON, 201), (answers.EMPTY, 204)):
            answer = cors.allow(given, Answer(status, usual, b""))
            head = heads[id(answer.headers), status]
            assert all(b"%b: %b\r\n" % header in head for header in answer.headers)


# As served -----------------------------------------------------------------------------------


@pytest.fixture
async def here(valkey: Backend, tmp_path: Path) -> AsyncIterator[tuple[Server, Wire]]:
    """Run a server that lists two origins, one of them with cookies."""
    listed = {"cors_origins": f"{APP}, {SIBLING}", "origins": SIBLING}
    async with (
        serving_here(valkey.url, tmp_path, **listed) as (server, base),
        Wire(int(base.rpartition(":")[2])) as wire,
    ):
        yield server, wire


def allowed(reply: Reply) -> tuple[str | None, str | None]:
    """Return which origin may read an answer, and whether with cookies."""
    assert ["Origin"] == reply.all("vary")
    return reply.header(ALLOW), reply.header(CREDENTIALS)


async def test_a_page_elsewhere_joins_and_polls(here: tuple[Server, Wire]) -> None:
    """It may read every answer, including refusals; cookies only go along where allowed."""
    server, wire = here
    room = (await server.engine.create("cors-hall", Policy(mode=Mode.PAUSED))).name
    tickets = f"/v1/rooms/{room}/tickets"
    for origin, cookies in ((APP, None), (SIBLING, "true")):
        page = {"Origin": origin, "Sec-Fetch-Site": "same-site"}
        asked = await wire.ask("OPTIONS", tickets, page | PREFLIGHT)
        assert (204, origin, cookies) == (asked.status, *allowed(asked))
        assert "GET, POST, DELETE" == asked.header("access-control-allow-methods")
        joined = await wire.ask("POST", tickets, page, b"{}")
        assert (201, origin, cookies) == (joined.status, *allowed(joined))
        assert (cookies is not None) == bool(joined.all("set-cookie"))
        mine = page | {"Authorization": f"Bearer {joined.json()['ticket']}"}
        for method, path, status in (
            ("GET", "/me", 200),
            ("POST", "/me/enter", 409),
            ("POST", "/me/handoff", 409),
            ("PUT", "/me", 405),
            ("GET", "/me/events/more", 404),
            ("DELETE", "/me", 204),
            ("GET", "/me", 410),
        ):
            reply = await wire.ask(method, tickets + path, mine)
            assert (status, origin, cookies) == (reply.status, *allowed(reply)), path
            if status != 204:
                assert "Retry-After, X-Request-Id" == reply.header("access-control-expose-headers")


async def test_live_events_for_a_page_elsewhere(here: tuple[Server, Wire]) -> None:
    """Listed pages may read the stream, and no others."""
    server, wire = here
    room = (await server.engine.create("cors-live", Policy(mode=Mode.PAUSED))).name
    ticket = (await server.engine.join(room)).ticket
    path = f"/v1/rooms/{room}/tickets/{ticket}/events"
    for origin, reads in ((APP, APP), ("https://evil.example", None), ("null", None)):
        async with live(wire.port, path, {"Origin": origin}) as stream:
            assert 200 == stream.status
            assert (reads, "Origin") == (
                dict(stream.headers).get(ALLOW),
                dict(stream.headers)["vary"],
            )
            await stream.until("ticket", state="waiting")


@pytest.mark.attack
async def test_a_page_that_is_not_listed(here: tuple[Server, Wire]) -> None:
    """It gets no permission, may read nothing, and no cookie is set or read for it."""
    server, wire = here
    room = (await server.engine.create("cors-evil", Policy(mode=Mode.PAUSED))).name
    ticket = (await server.engine.join(room)).ticket
    tickets = f"/v1/rooms/{room}/tickets"
    page = {"Origin": "https://app.example.evil.example", "Sec-Fetch-Site": "cross-site"}
    asked = await wire.ask("OPTIONS", tickets, page | PREFLIGHT)
    assert (405, None, None) == (asked.status, *allowed(asked))
    joined = await wire.ask("POST", tickets, page, b"{}")
    assert (201, None, None, []) == (joined.status, *allowed(joined), joined.all("set-cookie"))
    stolen = page | {"Cookie": f"waitroom-ticket-{room}={ticket}"}
    reply = await wire.ask("GET", f"{tickets}/me", stolen)
    assert (404, None, None) == (reply.status, *allowed(reply))


@pytest.mark.attack
@pytest.mark.parametrize(
    "path",
    ["/v1/admin/rooms", "/v1/check", "/v1/redeem", "/v1/passes/renew", "/v1/rooms", "/admin"],
)
async def test_what_is_not_for_visitors(here: tuple[Server, Wire], path: str) -> None:
    """A listed page has no permission for routes of operators and gates, whatever key it sends."""
    _, wire = here
    for method in ("GET", "POST", "OPTIONS"):
        reply = await wire.ask(method, path, {"Origin": APP} | ADMIN | PREFLIGHT)
        assert None is reply.header(ALLOW), method
