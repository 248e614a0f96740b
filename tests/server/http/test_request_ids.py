"""Request ids: whose `traceparent` is believed, and where the id is shown."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import httpx2
import pytest

from tests.support.clients import ask
from tests.support.servers import wait_for
from tests.support.serving import ADMIN, Serving, serving
from waitroom.server.http.request_ids import of_headers

TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
SPAN = "00f067aa0ba902b7"
SENT = {"traceparent": f"00-{TRACE}-{SPAN}-01"}


@pytest.mark.parametrize(
    "value",
    [f"00-{TRACE}-{SPAN}-01", f"00-{TRACE}-{SPAN}-00", f"cc-{TRACE}-{SPAN}-01-what-comes-later"],
)
def test_a_trace_id_is_taken(value: str) -> None:
    """The id in a valid header becomes the request's, even in a future version of the format."""
    assert TRACE == of_headers([(b"host", b"x"), (b"traceparent", value.encode())])


@pytest.mark.attack
@pytest.mark.parametrize(
    "value",
    [
        "",
        TRACE,
        f"ff-{TRACE}-{SPAN}-01",
        f"00-{TRACE}-{SPAN}-01-more",
        f"00-{TRACE}-{SPAN}-01 ",
        f"00-{TRACE}-{SPAN}-01\n",
        f"00-{TRACE.upper()}-{SPAN}-01",
        f"00-{'0' * 32}-{SPAN}-01",
        f"00-{TRACE}-{'0' * 16}-01",
        f"00-{TRACE[1:]}-{SPAN}-01",
        f'00-{TRACE[:-3]}","-{SPAN}-01',
        f"cc-{TRACE}-{SPAN}-01.",
        f"cc-{TRACE}-{SPAN}-01-\r\nset-cookie: x",
    ],
)
def test_whatever_else_is_not(value: str) -> None:
    """Nothing but hexadecimal digits gets into a header, a document or the log."""
    made = of_headers([(b"traceparent", value.encode())])
    assert TRACE != made
    assert re.fullmatch(r"[0-9a-f]{32}", made)


def test_two_headers_are_none() -> None:
    """Two headers are ambiguous, so a new id is made, different each time."""
    twice = [(b"traceparent", SENT["traceparent"].encode())] * 2
    assert TRACE != of_headers(twice)
    assert of_headers([]) != of_headers([])


# Where it is shown ---------------------------------------------------------------------------


@pytest.fixture(scope="module", params=[True, False], ids=["lane", "plain"])
def server(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Serving]:
    """A server that logs every request, with and without the lane."""
    folder = tmp_path_factory.mktemp("ids")
    with serving(folder, lane=request.param, access_log=True, log_json=True) as running:
        running.new_room("hall", capacity=1)
        yield running


@pytest.fixture(scope="module")
def quiet(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    """A server with default settings."""
    with serving(tmp_path_factory.mktemp("quiet"), log_json=True) as running:
        running.new_room("hall", capacity=1)
        yield running


def lines(server: Serving, request_id: str) -> list[dict[str, Any]]:
    """Return what the log says about a request."""
    texts = [line for line in server.said().splitlines() if f'"{request_id}"' in line]
    return [json.loads(text) for text in texts]


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("POST", "/v1/rooms/hall/tickets", 201),
        ("GET", "/v1/rooms/hall", 200),
        ("GET", "/v1/rooms/none", 404),
        ("GET", "/v1/rooms/hall/tickets/me", 404),
        ("GET", "/v1/rooms/hall/tickets/forged/events", 404),
        ("GET", "/v1/check?room=hall", 401),
        ("GET", "/v1/admin/rooms", 401),
        ("GET", "/nowhere", 404),
        ("PUT", "/v1/rooms/hall", 405),
        ("GET", "/rooms/hall", 200),
        ("HEAD", "/nowhere", 404),
    ],
)
def test_an_answer_names_its_request(server: Serving, method: str, path: str, status: int) -> None:
    """Header, problem and log have the same id: the one that was sent, or else a new one."""
    with httpx2.Client(base_url=server.base) as client:
        answers = [client.request(method, path, headers=headers) for headers in (SENT, {})]
    assert [status] * 2 == [answer.status_code for answer in answers]
    shown = [answer.headers["x-request-id"] for answer in answers]
    assert TRACE == shown[0]
    assert re.fullmatch(r"[0-9a-f]{32}", shown[1])
    for answer, request_id in zip(answers, shown, strict=True):
        if method != "HEAD" and status >= 400:
            assert request_id == answer.json()["request_id"]
    wait_for(lambda: bool(lines(server, shown[1])), "the line in the log")
    (line,) = lines(server, shown[1])
    assert ("request", status) == (line["message"], line["status"])
    assert line["route"].startswith(method)


def test_a_refusal_before_any_route_has_one(server: Serving) -> None:
    """This includes what the connection itself refuses."""
    reply = ask(server.port, b"GET / HTTP/1.1\r\n\r\n")
    assert 400 == reply.status
    assert dict(reply.headers)["x-request-id"] == json.loads(reply.body)["request_id"]
    length = int(dict(reply.headers)["content-length"])
    assert len(reply.body) == length


@pytest.mark.attack
def test_the_access_log_holds_no_secret(server: Serving) -> None:
    """No ticket, query or visitor address gets into it."""
    with httpx2.Client(base_url=server.base, headers=SENT) as client:
        ticket = client.post("/v1/rooms/hall/tickets", json={}).json()["ticket"]
        client.cookies.clear()
        assert 200 == client.get(f"/v1/rooms/hall/tickets/{ticket}?hunter2=1").status_code
        client.get("/rooms/hall?hunter2=1&ticket=" + ticket)
    page = '"GET /rooms/{room}", "status": 200'
    wait_for(lambda: page in server.said(), "the line of the page")
    said = server.said()
    assert '"GET /v1/rooms/{room}/tickets/{ticket}", "status": 200' in said
    accesses = [text for text in said.splitlines() if '"waitroom.access"' in text]
    for secret in (ticket, "hunter2", "127.0.0.1", "?"):
        assert not [text for text in accesses if secret in text], secret


def test_nobody_pays_for_an_id_that_is_not_used(quiet: Serving) -> None:
    """The lane shows an id to clients that sent one, and on errors; nothing is logged."""
    with httpx2.Client(base_url=quiet.base) as client:
        assert "x-request-id" not in client.get("/v1/rooms/hall").headers
        assert TRACE == client.get("/v1/rooms/hall", headers=SENT).headers["x-request-id"]
        assert client.get("/v1/rooms/none").json()["request_id"]
        assert client.get("/v1/admin/rooms", headers=ADMIN).headers["x-request-id"]
    assert '"waitroom.access"' not in quiet.said()
