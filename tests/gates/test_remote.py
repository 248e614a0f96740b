"""Requests to Waitroom: a bounded queue, deadlines that start with the request, no exceptions."""

from __future__ import annotations

import errno
import os
import socket
import ssl
import threading
import time
from collections.abc import Iterator
from http.client import BadStatusLine, RemoteDisconnected

import pytest

from tests.support.clients import HOST
from tests.support.held import Held, holding
from tests.support.servers import free_port, wait_for
from tests.support.serving import Serving
from waitroom.gates import remote as module
from waitroom.gates import workers
from waitroom.gates.health import FEWEST_PROBES, State
from waitroom.gates.remote import Remote
from waitroom.gates.transport import NoAnswer, Outcome, Reply, failure_of
from waitroom.gates.workers import MOST_QUEUED, THREADS, Call

JWKS = "/.well-known/jwks.json"
LONG_S = 30.0


@pytest.fixture
def remote(waitroom: Serving) -> Iterator[Remote]:
    """Return the link to a real Waitroom."""
    remote = Remote(waitroom.base, 5.0, LONG_S)
    yield remote
    remote.close()


@pytest.fixture
def held() -> Iterator[Held]:
    """Return a server that answers when told to."""
    with holding() as held:
        yield held


def ask(remote: Remote, path: str = JWKS) -> Outcome:
    """Ask and wait."""
    return remote.ask("GET", path).future.result(LONG_S)


def crowd(remote: Remote, number: int, *, newcomers: bool = True) -> list[Call]:
    """Ask many times at once."""
    return [remote.ask("GET", "/", newcomer=newcomers, deadline_s=LONG_S) for _ in range(number)]


def test_an_answer_has_status_headers_and_body(remote: Remote) -> None:
    """Header names in lower case, JSON parsed on request."""
    answer = ask(remote)
    assert isinstance(answer, Reply)
    assert (200, "application/json") == (answer.status, answer.headers["content-type"])
    assert 1 == len(answer.json()["keys"])
    problem = ask(remote, "/v1/rooms/nowhere")
    assert isinstance(problem, Reply)
    assert (404, "unknown_room") == (problem.status, problem.json()["code"])


def test_a_connection_is_kept_and_replaced(remote: Remote) -> None:
    """Requests share one; a connection that the server has closed meanwhile is no outage."""
    for _ in range(3):
        assert isinstance(ask(remote), Reply)
    idle = remote._transport._idle
    assert 1 == len(idle)
    idle[0].sock.shutdown(socket.SHUT_RDWR)
    assert isinstance(ask(remote), Reply)
    assert State.UP is remote.health.state


def test_who_is_not_there_is_down_at_once_and_not_asked_again() -> None:
    """Only probes look, and they find out that somebody listens again."""
    port = free_port()
    remote = Remote(f"http://{HOST}:{port}", 5.0, LONG_S)
    assert NoAnswer.DOWN is ask(remote)
    assert State.DOWN is remote.health.state
    for _ in range(50):
        assert NoAnswer.DOWN is ask(remote)
    assert 1 == remote.calls
    with holding(port) as held:
        held.answers.set()
        held.is_well.set()
        wait_for(lambda: remote.health.state is State.UP, "its return")
        assert isinstance(ask(remote), Reply)
        remote.close()


def test_a_late_answer_is_slow_and_no_outage(held: Held) -> None:
    """Waitroom answers a probe, so it is there."""
    held.is_well.set()
    remote = Remote(held.base, 0.2, LONG_S)
    for _ in range(3):
        assert NoAnswer.SLOW is remote.ask("GET", "/", newcomer=True).future.result(LONG_S)
        wait_for(lambda: remote.health.state is State.UP, "a probe")
    assert 1 <= held.probed
    remote.close()


def test_silence_is_down_after_several_probes(held: Held) -> None:
    """During an outage a request is not sent: it is answered as if it had found nobody."""
    remote = Remote(held.base, 0.2, 0.5)
    assert NoAnswer.SLOW is remote.ask("GET", "/", newcomer=True).future.result(LONG_S)
    wait_for(lambda: remote.health.state is State.DOWN, "an outage")
    # The server counts on its own threads, which may be late.
    wait_for(lambda: held.probed >= FEWEST_PROBES and held.asked == 1, "its count")
    assert NoAnswer.DOWN is ask(remote)
    assert 1 == held.asked
    held.is_well.set()
    wait_for(lambda: remote.health.state is State.UP, "its return")
    remote.close()


def test_a_deadline_starts_when_the_call_starts(
    held: Held, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A request queued for longer than its deadline is still made, and answered."""
    monkeypatch.setattr(workers, "LONGEST_QUEUED_S", LONG_S)
    monkeypatch.setattr(module, "LONGEST_QUEUED_S", LONG_S)
    remote = Remote(held.base, 1.0, LONG_S)
    first = crowd(remote, THREADS)
    wait_for(lambda: held.asked == THREADS, "calls on every thread")
    queued = remote.ask("GET", "/", newcomer=True)
    wait_for(lambda: time.monotonic() > queued.asked_at + queued.patience_s, "its deadline")
    assert None is queued.started_at
    assert queued.left_s() > 0, "who waits for it waits on"
    held.answers.set()
    assert isinstance(queued.future.result(LONG_S), Reply)
    assert {Reply} == {type(call.future.result(LONG_S)) for call in first}
    assert State.UP is remote.health.state
    remote.close()


def test_a_full_queue_sheds(held: Held) -> None:
    """At once, and it says nothing about Waitroom; pass holders have their own queue."""
    remote = Remote(held.base, 5.0, LONG_S)
    calls = crowd(remote, THREADS + MOST_QUEUED)
    shed = crowd(remote, 20)
    assert {NoAnswer.SHED} == {call.future.result(0) for call in shed}
    assert State.UP is remote.health.state
    other = crowd(remote, 1, newcomers=False)[0]
    wait_for(lambda: held.asked == THREADS + 1, "the call for somebody with a pass")
    held.answers.set()
    assert isinstance(other.future.result(LONG_S), Reply)
    assert NoAnswer.DOWN not in [call.future.result(LONG_S) for call in calls]
    wait_for(lambda: remote._newcomers._pending == 0, "an empty queue")
    assert isinstance(crowd(remote, 1)[0].future.result(LONG_S), Reply)
    remote.close()


def test_who_was_queued_too_long_is_not_sent(held: Held, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its visitor has given up; requests in time are answered."""
    monkeypatch.setattr(module, "LONGEST_QUEUED_S", -1.0)
    monkeypatch.setattr(workers, "LONGEST_QUEUED_S", -1.0)
    remote = Remote(held.base, 5.0, LONG_S)
    call = crowd(remote, 1)[0]
    assert NoAnswer.SHED is call.future.result(LONG_S)
    queued = Call(5.0)
    assert queued.left_s() <= 0
    assert NoAnswer.SHED is remote.gave_up(queued)
    assert (0, State.UP) == (held.asked, remote.health.state)
    remote.close()


@pytest.mark.parametrize(
    ("error", "why"),
    [
        (ConnectionRefusedError(), NoAnswer.DOWN),
        (ConnectionResetError(), NoAnswer.DOWN),
        (RemoteDisconnected(""), NoAnswer.DOWN),
        (OSError(errno.EHOSTUNREACH, "no route"), NoAnswer.DOWN),
        (socket.gaierror(socket.EAI_NONAME, "no such name"), NoAnswer.DOWN),
        (ssl.SSLError("wrong version number"), NoAnswer.DOWN),
        (TimeoutError(), NoAnswer.SLOW),
        (BadStatusLine("x"), NoAnswer.SLOW),
        (ValueError(), NoAnswer.SLOW),
        (OSError(errno.EMFILE, "too many open files"), NoAnswer.SHED),
        (OSError(errno.EADDRNOTAVAIL, "no free port"), NoAnswer.SHED),
    ],
)
def test_what_an_error_means(error: Exception, why: NoAnswer) -> None:
    """Down means that nobody is there; our own shortage does not count."""
    assert why is failure_of(error)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (b"", NoAnswer.DOWN),
        (b"\0", NoAnswer.SLOW),
        (b"HTTP/1.1 OK\r\n\r\n", NoAnswer.SLOW),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nx", NoAnswer.SLOW),
        (b"x" * 99_999, NoAnswer.SLOW),
    ],
)
def test_nonsense_is_no_answer(text: bytes, why: NoAnswer) -> None:
    """Nothing raises; only a server that closes without a word is not there."""
    with socket.create_server((HOST, 0)) as listener:

        def answer() -> None:
            client, _ = listener.accept()
            with client:
                client.recv(9_999)
                client.sendall(text)

        thread = threading.Thread(target=answer, daemon=True)
        thread.start()
        remote = Remote(f"http://{HOST}:{listener.getsockname()[1]}", 0.5, LONG_S)
        # As long as it takes: an answer that is late would be slow in any case.
        call = remote.ask("GET", JWKS, deadline_s=LONG_S)
        assert why is call.future.result(LONG_S)
        thread.join(5)
        remote.close()


@pytest.mark.parametrize(("status", "why"), [(502, NoAnswer.DOWN), (504, NoAnswer.SLOW)])
def test_a_proxy_without_a_waitroom_behind_it(held: Held, status: int, why: NoAnswer) -> None:
    """It found nobody, or it waited in vain; a probe is judged the same way."""
    held.status = status
    held.answers.set()
    held.is_well.set()
    remote = Remote(held.base, 5.0, LONG_S)
    assert why is ask(remote)
    wait_for(lambda: held.probed > 1, "a second probe")
    assert State.UP is not remote.health.state
    held.status = 503
    wait_for(lambda: remote.health.state is State.UP, "an answer of Waitroom's own")
    remote.close()


def test_what_is_no_json_object_reads_as_an_empty_one() -> None:
    """Whatever happens."""
    for body in (b"", b"[]", b"{", b"[" * 99_999, b"\xff"):
        assert {} == Reply(200, {}, body).json()


def test_what_is_done_with_an_answer_cannot_break_the_call(
    remote: Remote, caplog: pytest.LogCaptureFixture
) -> None:
    """It is logged, and the caller gets the answer."""

    def then(_: Outcome) -> None:
        raise RuntimeError("no")

    assert isinstance(remote.ask("GET", JWKS, then=then).future.result(LONG_S), Reply)
    assert "could not be used" in caplog.text


def test_a_fork_gets_threads_and_probes_of_its_own(remote: Remote) -> None:
    """A server may load the app, ask something, and fork; the child's requests work."""
    assert isinstance(ask(remote), Reply)
    threads, health = remote._others, remote.health
    health.state = State.DOWN  # there are no probes in the child
    remote._pid = os.getpid() + 1  # as a child sees it
    assert isinstance(ask(remote), Reply)
    assert threads is not remote._others
    assert State.UP is remote.health.state
    threads.close()
