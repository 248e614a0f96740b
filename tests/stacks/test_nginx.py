"""What is special about nginx: how it handles the answers of the check, and what it skips."""

from __future__ import annotations

import contextlib
import json
import subprocess
from pathlib import Path

import httpx2
import pytest

from tests.stacks.conftest import Inside, come_in
from tests.stacks.tools import (
    EXAMPLES,
    GATES_ONLY,
    ROOM,
    Quiet,
    Stack,
    let_in,
    nginx,
    spellings,
    upstream,
)
from tests.support.clients import ask, request
from tests.support.programs import needed
from tests.support.servers import wait_for
from tests.support.serving import Serving

PROGRAM = {"accept": "application/json"}


def opened(text: str) -> str:
    """Return the file for a site that stays open while Waitroom is away."""
    assert "default closed;" in text
    return text.replace("default closed;", "default open;")


def saying(status: int, kind: str = "text/html") -> contextlib.AbstractContextManager[int]:
    """Run a server that gives one answer to everything, in place of Waitroom."""

    class Says(Quiet):
        def do_GET(self) -> None:  # noqa: N802 - the name that http.server looks for
            if status:
                self.send_response(status)
                self.send_header("Content-Length", "0")
                self.send_header("Content-Type", kind)
                self.end_headers()

    return upstream(Says)


def test_nginx_takes_the_file_as_it_is(tmp_path: Path) -> None:
    """The real nginx finds nothing wrong with it, not even a warning."""
    config = str(EXAMPLES / "nginx" / "nginx.conf")
    command = [needed("nginx"), "-t", "-p", str(tmp_path), "-c", config]
    done = subprocess.run(command, capture_output=True, text=True, timeout=20, check=False)
    assert "test is successful" in done.stderr, done.stderr
    assert "[warn]" not in done.stderr.replace('[warn] the "user"', "")


@pytest.mark.parametrize("status", [400, 404, 429, 431, 500])
def test_an_odd_answer_of_the_check_lets_nobody_in(status: int, site: int, tmp_path: Path) -> None:
    """nginx turns a 429 into a 500: people get the page that retries, and open is only for away."""
    with saying(status) as port, nginx(tmp_path, port, site, opened) as stack:
        page, problem = stack.ask("/concert", "a.b.c"), stack.ask("/concert", "a.b.c", PROGRAM)
        assert [(503, "5")] * 2 == [
            (reply.status, reply.header("retry-after")) for reply in (page, problem)
        ]
        assert b"tries again" in page.body
        assert "waitroom_away" == problem.json()["code"]


@pytest.mark.parametrize("status", [0, 502, 503, 504])
def test_open_means_open_when_away(status: int, site: int, tmp_path: Path) -> None:
    """No answer, or a proxy's answer for a Waitroom that is away: everybody gets in."""
    with saying(status) as port, nginx(tmp_path, port, site, opened) as stack:
        assert let_in(stack.ask("/concert"))


def test_a_busy_waitroom_opens_nothing(site: int, tmp_path: Path) -> None:
    """Its own 503 says that it is there: only a proxy's means that nobody is."""
    with (
        saying(503, "application/problem+json") as port,
        nginx(tmp_path, port, site, opened) as stack,
    ):
        assert 503 == stack.ask("/concert").status


def test_a_finished_session_is_refused(nginx_stack: Stack, served: Serving) -> None:
    """A check is believed for a second at most, while Waitroom is there."""
    visitor = come_in(served)
    assert let_in(nginx_stack.ask("/concert", visitor.pass_))
    bearer = {"authorization": f"Bearer {visitor.pass_}"}
    done = httpx2.post(f"{served.base}/v1/passes/finish", headers=bearer, timeout=20)
    assert 204 == done.status_code
    wait_for(lambda: nginx_stack.ask("/concert", visitor.pass_).status == 303, "the check")


def test_another_name_is_not_answered(nginx_stack: Stack) -> None:
    """A request for a foreign host gets no answer, so no address is built from it."""
    data = b"GET /concert HTTP/1.1\r\nHost: evil.test\r\nConnection: close\r\n\r\n"
    with pytest.raises(AssertionError, match="no answer"):
        ask(nginx_stack.port, data)


def test_waitroom_itself_is_open_and_its_office_is_not(nginx_stack: Stack) -> None:
    """Nobody needs a pass to join; operators' pages and metrics are not public."""
    assert 200 == nginx_stack.ask(f"/rooms/{ROOM}").status
    assert 200 == nginx_stack.ask("/.well-known/jwks.json").status
    assert 201 == nginx_stack.ask(f"/v1/rooms/{ROOM}/tickets", method="POST").status
    shut = ("/admin", "/v1/admin/rooms", "/metrics", "/healthz", "/readyz", "/v1/../admin")
    assert {403} == {nginx_stack.ask(path).status for path in shut}
    assert 404 == nginx_stack.ask("/_waitroom_check").status


@pytest.mark.attack(14)
@pytest.mark.parametrize("path", GATES_ONLY)
def test_only_gates_reach_their_calls(nginx_stack: Stack, path: str) -> None:
    """Nobody outside reaches a gate's route, however they spell it."""
    statuses = {
        (spelling, method): nginx_stack.ask(spelling, method=method).status
        for spelling in spellings(path)
        for method in ("GET", "POST")
    }
    assert {} == {tried: status for tried, status in statuses.items() if status != 403}


def test_gates_announce_passes_inside(served: Serving, inside: Inside) -> None:
    """On the inner address the gates' routes work."""
    body = json.dumps({"passes": [inside.pass_]}).encode()
    sent = request("POST", GATES_ONLY[0], {"content-type": "application/json"}, body)
    assert {"inside": 1} == ask(served.port, sent).json()


def test_the_sites_own_bearer_is_left_alone(nginx_stack: Stack, inside: Inside) -> None:
    """A site with its own logins gets them, and they do not interfere with the pass."""
    reply = nginx_stack.ask("/concert", inside.pass_, {"authorization": "Bearer the-sites-own"})
    assert (True, "Bearer the-sites-own") == (let_in(reply), reply.header("saw-authorization"))


def test_several_rooms_refuse_what_is_odd(served: Serving, site: int, tmp_path: Path) -> None:
    """With `default odd`, an oddly spelled address is 403: no room is guessed."""

    def several(text: str) -> str:
        return text.replace("default concert;", "default odd;")

    with nginx(tmp_path, served.port, site, several) as stack:
        statuses = [stack.ask(path).status for path in ("//concert", "/%63oncert", "/free;a")]
        assert [403] * 3 == statuses
        assert [303, 200] == [stack.ask("/Concert").status, stack.ask("/free").status]


def test_return_skips_the_check(served: Serving, site: int, tmp_path: Path) -> None:
    """Why the docs warn about it: nginx answers a `return` before it asks for a pass."""

    def careless(text: str) -> str:
        lines = "location = /concert/sold-out { return 200 'the site'; }\n        location / {"
        return text.replace("location / {", lines, 1)

    with nginx(tmp_path, served.port, site, careless) as stack:
        assert let_in(stack.ask("/concert/sold-out"))
        assert not let_in(stack.ask("/concert"))
