"""Calls to Waitroom: within their deadline, never raising, and not asked for while it is away."""

from __future__ import annotations

import os
import socket
import threading
import time
from collections.abc import Iterator

import pytest

from tests.support.clients import HOST
from tests.support.links import linked
from tests.support.servers import free_port
from tests.support.serving import Serving
from waitroom.gates import remote as module
from waitroom.gates.remote import Remote, Reply

JWKS = "/.well-known/jwks.json"


@pytest.fixture
def remote(waitroom: Serving) -> Iterator[Remote]:
    """Return the way to a real Waitroom."""
    remote = Remote(waitroom.base, 2.0)
    yield remote
    remote.close()


def ask(remote: Remote, path: str = JWKS) -> Reply | None:
    """Ask and wait."""
    return remote.ask("GET", path).result(5)


def test_an_answer_has_status_headers_and_body(remote: Remote) -> None:
    """Header names in lower case, JSON read on request."""
    answer = ask(remote)
    assert answer is not None
    assert (200, "application/json") == (answer.status, answer.headers["content-type"])
    assert 1 == len(answer.json()["keys"])
    problem = ask(remote, "/v1/rooms/nowhere")
    assert problem is not None
    assert (404, "unknown_room") == (problem.status, problem.json()["code"])


def test_a_connection_is_kept_and_replaced(remote: Remote) -> None:
    """Calls share one; a connection that the server has closed meanwhile is no outage."""
    for _ in range(3):
        assert ask(remote) is not None
    assert 1 == len(remote._idle)
    kept = remote._idle[0].sock
    kept.shutdown(socket.SHUT_RDWR)
    assert ask(remote) is not None
    assert not remote.down


def test_who_is_not_there_is_not_asked_all_the_time() -> None:
    """A refused connection is away at once, and for a second nobody tries."""
    remote = Remote(f"http://{HOST}:{free_port()}", 0.2)
    assert ask(remote) is None
    assert remote.down
    for _ in range(50):
        assert ask(remote) is None
    assert 1 == remote.calls
    remote.close()


def test_who_does_not_answer_is_away_by_the_deadline(waitroom: Serving) -> None:
    """A call ends in time; a second late one in a row is an outage, which ends with an answer."""
    with linked(waitroom.port) as link:
        remote = Remote(f"http://{HOST}:{link.port}", 0.2)
        link.cut(hangs=True)
        began = time.monotonic()
        assert ask(remote) is None
        assert 0.15 < time.monotonic() - began
        assert not remote.down
        assert ask(remote) is None
        assert remote.resting
        link.mend()
        remote._retry_at = 0
        remote.deadline_s = 2
        assert ask(remote) is not None
        assert not remote.down
        remote.close()


@pytest.mark.parametrize(
    "said",
    [
        b"",
        b"\0",
        b"HTTP/1.1 OK\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nx",
        b"x" * 99_999,
    ],
)
def test_nonsense_is_no_answer(said: bytes) -> None:
    """Whoever listens there, nothing raises."""
    with socket.create_server((HOST, 0)) as listener:

        def answer() -> None:
            client, _ = listener.accept()
            with client:
                client.recv(9_999)
                client.sendall(said)

        thread = threading.Thread(target=answer, daemon=True)
        thread.start()
        remote = Remote(f"http://{HOST}:{listener.getsockname()[1]}", 0.5)
        assert ask(remote) is None
        thread.join(5)
        remote.close()


def test_a_proxy_without_a_waitroom_behind_it_is_away() -> None:
    """502 and 504 are the words of another; what is no JSON object reads as an empty one."""
    assert {502, 504} == set(module._NOT_THERE)
    for body in (b"", b"[]", b"{", b"[" * 99_999, b"\xff"):
        assert {} == Reply(200, {}, body).json()


def test_what_is_done_with_an_answer_cannot_break_the_call(
    remote: Remote, caplog: pytest.LogCaptureFixture
) -> None:
    """It is logged, and whoever waits gets the answer."""

    def then(_: Reply | None) -> None:
        raise RuntimeError("no")

    assert remote.ask("GET", JWKS, then=then).result(5) is not None
    assert "could not be used" in caplog.text


def test_a_fork_gets_threads_of_its_own(remote: Remote) -> None:
    """A server may load the app, ask something, and fork; the child's calls work."""
    assert ask(remote) is not None
    threads = remote._pool
    remote._pid = os.getpid() + 1  # as a child sees it
    assert ask(remote) is not None
    assert threads is not remote._pool
    assert threads is not None
    threads.shutdown()
