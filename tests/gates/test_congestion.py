"""A crowd at a gate is no outage: whatever it does to this process or to Waitroom, nobody gets in.

Threads and the event loop get the same load.
"""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import httpx2
import pytest

from tests.gates.conftest import Sign
from tests.support.clients import HOST
from tests.support.held import Held, holding
from tests.support.links import Link, linked
from tests.support.servers import wait_for
from tests.support.serving import Serving
from waitroom.gates import sessions
from waitroom.gates.answers import Answer
from waitroom.gates.facts import Facts
from waitroom.gates.gate import Gate, Visit
from waitroom.gates.health import State
from waitroom.gates.judging import settled, settled_async
from waitroom.gates.options import Options
from waitroom.gates.transport import NoAnswer
from waitroom.gates.workers import MOST_QUEUED, THREADS

pytestmark = pytest.mark.attack

Outcome = Visit | Answer
Judge = Callable[[Gate, list[Facts]], list[Outcome]]
FAST, LATE, SILENT = "fast", "late", "silent"
PAGE = "the protected page"
LONG_S = 60.0


def on_threads(gate: Gate, requests: list[Facts]) -> list[Outcome]:
    """Judge all at once, each on its own thread."""
    together = threading.Barrier(len(requests))

    def judge(facts: Facts) -> Outcome:
        together.wait()
        return settled(gate, facts)

    with ThreadPoolExecutor(len(requests)) as pool:
        return list(pool.map(judge, requests))


def on_a_loop(gate: Gate, requests: list[Facts]) -> list[Outcome]:
    """Judge all at once on an event loop."""

    async def judge() -> list[Outcome]:
        return await asyncio.gather(*(settled_async(gate, facts) for facts in requests))

    return asyncio.run(judge())


@pytest.fixture(params=[on_threads, on_a_loop])
def judge(request: pytest.FixtureRequest) -> Judge:
    """Run the test with both kinds of framework."""
    judge: Judge = request.param
    return judge


@pytest.fixture
def link(waitroom: Serving) -> Iterator[Link]:
    """Return the link to Waitroom."""
    with linked(waitroom.port) as link:
        yield link


@pytest.fixture
def held() -> Iterator[Held]:
    """Return a server that answers when told to; it answers probes at once."""
    with holding() as held:
        held.is_well.set()
        yield held


@pytest.fixture
def make_gate() -> Iterator[Callable[..., Gate]]:
    """Make gates that let everybody in while Waitroom is down."""
    gates: list[Gate] = []

    def make(url: str, room: str = "concert", **given: object) -> Gate:
        fields: dict[str, object] = {"when_away": "open", "away_after_s": LONG_S, **given}
        gates.append(Gate(Options(url, {"/concert": room}, **fields)))  # type: ignore[arg-type]
        return gates[-1]

    yield make
    for gate in gates:
        gate.close()


def facts(**headers: str) -> Facts:
    """Return a request for the protected page."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Facts("GET", "/concert", "", "http", "127.0.0.1", named.get)


def browser() -> Facts:
    """Return a browser's request without a pass."""
    return facts(accept="text/html")


def program() -> Facts:
    """Return a program's request."""
    return facts(accept="application/json")


def code_of(outcome: Outcome) -> str:
    """Return what a visitor got: a status, and the code of a problem."""
    if isinstance(outcome, Visit):
        return PAGE
    kinds = [value for name, value in outcome.headers if name == "content-type"]
    if kinds != ["application/problem+json"]:
        return str(outcome.status)
    return f"{outcome.status} {json.loads(outcome.body)['code']}"


@pytest.mark.parametrize("waitroom_is", [FAST, LATE, SILENT])
def test_no_newcomer_sees_the_page_of_a_paused_room(
    judge: Judge,
    waitroom_is: str,
    link: Link,
    make_room: Callable[..., str],
    make_gate: Callable[..., Gate],
) -> None:
    """400 at once, twice; browsers are sent to the waiting page, programs are told to wait."""
    gate = make_gate(f"http://{HOST}:{link.port}", make_room(mode="paused"))
    link.delay_s = 0.5 if waitroom_is == LATE else 0.0
    link.hangs = waitroom_is == SILENT
    for _ in range(2):
        outcomes = judge(gate, [browser(), program()] * 200)
        assert {"303"} == set(map(code_of, outcomes[::2]))
        assert {"429 waiting", "429 slow", "429 busy"} >= set(map(code_of, outcomes[1::2]))
    assert State.DOWN is not gate.remote.health.state


def fill(gate: Gate, *, newcomer: bool) -> None:
    """Keep every thread busy, and their queue full."""
    for _ in range(THREADS + MOST_QUEUED):
        gate.remote.ask("GET", "/", newcomer=newcomer, deadline_s=LONG_S)


def test_a_full_gate_sheds_programs(
    judge: Judge, held: Held, make_gate: Callable[..., Gate], pem: bytes
) -> None:
    """With a time to come back; queued requests wait for their answer."""
    gate = make_gate(held.base, keys=pem)
    fill(gate, newcomer=True)
    outcomes = judge(gate, [program()] * 20)
    assert {"429 busy": 20} == Counter(map(code_of, outcomes))
    for outcome in outcomes:
        assert isinstance(outcome, Answer)
        assert ("retry-after", "5") in outcome.headers
        assert {"room", "url"} <= json.loads(outcome.body).keys()
    held.answers.set()


def test_a_full_gate_shows_a_browser_a_page_and_keeps_its_code(
    judge: Judge, held: Held, make_gate: Callable[..., Gate], pem: bytes
) -> None:
    """The page requests the same address again, and the code in it is still valid."""
    gate = make_gate(held.base, keys=pem)
    fill(gate, newcomer=True)
    coded = facts(accept="text/html", cookie=f"waitroom-browser={'x' * 32}")
    coded.query = "waitroom_code=0123456789abcdefghijkl"
    (outcome,) = judge(gate, [coded])
    assert isinstance(outcome, Answer)
    assert 429 == outcome.status
    assert b"tries again" in outcome.body
    assert ("retry-after", "5") in outcome.headers
    held.answers.set()


def test_a_full_strict_gate_sheds_who_it_cannot_check(
    judge: Judge, held: Held, make_gate: Callable[..., Gate], sign: Sign, pem: bytes
) -> None:
    """An unchecked pass does not open the page just because the gate is busy."""
    gate = make_gate(held.base, strict=True, keys=pem)
    fill(gate, newcomer=False)
    outcomes = judge(gate, [facts(waitroom_pass=sign(sid=number)) for number in range(1, 9)])
    assert {"429 busy": 8} == Counter(map(code_of, outcomes))
    held.answers.set()


@pytest.mark.parametrize(
    ("code", "answer"),
    [
        ("busy", "429 busy"),
        ("slow", "429 slow"),
        ("backend_unavailable", "503 backend_unavailable"),
    ],
)
def test_what_waitroom_says_of_itself(
    judge: Judge, held: Held, make_gate: Callable[..., Gate], code: str, answer: str
) -> None:
    """A 503 is an answer: Waitroom is there, and programs are told which it is."""
    held.status, held.document = 503, {"code": code, "detail": "try again"}
    held.answers.set()
    gate = make_gate(held.base, deadline_s=5)
    outcomes = judge(gate, [browser(), program()])
    assert ["303", answer] == [code_of(outcome) for outcome in outcomes]
    assert State.UP is gate.remote.health.state


def settles(judge: Judge, gate: Gate, *texts: str) -> list[str]:
    """Return what browsers with these passes get."""
    cookies = [f"waitroom-pass-{gate.options.rooms[0]}={text}" for text in texts]
    return [code_of(outcome) for outcome in judge(gate, [facts(cookie=text) for text in cookies])]


@pytest.mark.parametrize("when_away", ["open", "closed"])
def test_a_kicked_pass_stays_out(
    judge: Judge,
    when_away: str,
    link: Link,
    waitroom: Serving,
    sign: Sign,
    operator: httpx2.Client,
    make_room: Callable[..., str],
    make_gate: Callable[..., Gate],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """While Waitroom is slow and while it is down, with every pass of that session."""
    monkeypatch.setattr(sessions, "CHECKED_S", 0.0)  # every request asks again
    room = make_room(session_s=900)
    mine, other = (_enter(waitroom, room) for _ in range(2))
    url = f"http://{HOST}:{link.port}"
    gate = make_gate(url, room, strict=True, when_away=when_away, away_after_s=2.0)
    wait_for(lambda: settles(judge, gate, mine, other) == [PAGE, PAGE], "two who are inside")
    kicked = gate.verifier.read(room, mine, time.time())
    assert kicked is not None
    body = {"ticket_ids": [kicked.ticket_id]}
    operator.post(f"/v1/admin/rooms/{room}/kick", json=body).raise_for_status()
    wait_for(lambda: settles(judge, gate, mine, other) == ["303", PAGE], "the kick")
    again = sign(room, kicked.ticket_id, kicked.sid, ends_s=int(time.time()) + 900)
    assert again != mine

    link.cut(hangs=True)

    def is_down() -> bool:
        out, inside = settles(judge, gate, mine, other)
        assert out in ("303", "503")
        assert PAGE == inside
        return gate.remote.health.state is State.DOWN

    wait_for(is_down, "the end of the patience")
    assert ["503", "503", PAGE] == settles(judge, gate, mine, again, other)
    link.cut(hangs=False)
    assert ["503", "503", PAGE] == settles(judge, gate, mine, again, other)

    link.mend()

    wait_for(lambda: settles(judge, gate, mine, other) == ["303", PAGE], "its return")


def test_a_slow_answer_still_ends_a_session(
    judge: Judge,
    held: Held,
    sign: Sign,
    pem: bytes,
    make_gate: Callable[..., Gate],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A visitor does not wait for it; it counts from when it arrives."""
    monkeypatch.setattr(sessions, "CHECKED_S", 0.0)
    held.status = 401
    gate = make_gate(held.base, strict=True, keys=pem, renew=False)
    gate.remote.background_s = LONG_S  # however long it takes
    mine = sign(ends_s=int(time.time()) + 900)
    assert [PAGE] == settles(judge, gate, mine), "signature and end decide"
    held.answers.set()
    wait_for(lambda: settles(judge, gate, mine) == ["303"], "the answer")


def test_refusals_are_bounded_and_the_newest_stay(
    held: Held,
    sign: Sign,
    pem: bytes,
    make_gate: Callable[..., Gate],
    judge: Judge,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Anybody refused last is still out when Waitroom goes silent."""
    monkeypatch.setattr(sessions, "_MOST", 4)
    monkeypatch.setattr(sessions, "CHECKED_S", 0.0)
    held.status = 401
    held.answers.set()
    gate = make_gate(held.base, strict=True, keys=pem, deadline_s=5, renew=False)
    texts = [sign(sid=number) for number in range(1, 21)]
    for text in texts:
        assert ["303"] == settles(judge, gate, text)
    assert len(gate.sessions._refused) <= 4
    held.is_well.clear()
    gate.remote.health.failed(NoAnswer.DOWN)
    assert ["503"] == settles(judge, gate, texts[-1])
    held.is_well.set()


def _enter(waitroom: Serving, room: str) -> str:
    """Go inside; return the pass."""
    view = httpx2.post(f"{waitroom.base}/v1/rooms/{room}/tickets", json={"enter": True}).json()
    return str(view["pass"])
