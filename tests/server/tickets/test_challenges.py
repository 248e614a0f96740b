"""Rooms that ask newcomers for a proof of work, over real sockets: who gets a place, who does not.

What was refused never asked the backend: its scripts are counted.
"""

from __future__ import annotations

import asyncio
import base64
import json
import secrets
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.support.attacks import tried
from tests.support.counts import count
from tests.support.in_process import serving_here
from tests.support.servers import Server as Backend
from tests.support.serving import ADMIN, Serving
from waitroom import work
from waitroom.engine import limited
from waitroom.models import Challenge, Mode, Policy
from waitroom.server.challenges import price, puzzles
from waitroom.server.challenges.work import LIFE_S
from waitroom.server.context import Server
from waitroom.server.http.rate_limits import Buckets
from waitroom.server.visitor.lane import LaneCall
from waitroom.web.names import TICKET_COOKIE

HOME, MOBILE = "192.0.2.1", "198.51.100.7"
EASY = 16
Solved = Callable[["Door"], Any]


@dataclass(slots=True)
class Door:
    """A room that asks newcomers, and a way to it."""

    server: Server
    http: httpx2.AsyncClient
    room: str

    async def join(
        self, address: str = HOME, headers: dict[str, str] | None = None, **body: Any
    ) -> httpx2.Response:
        """Join from an address."""
        given = {"x-forwarded-for": address, **(headers or {})}
        return await self.http.post(f"/v1/rooms/{self.room}/tickets", json=body, headers=given)

    async def challenge(self, address: str = HOME) -> dict[str, Any]:
        """Return a challenge, as the refusal of a join carries it."""
        refused = (await self.join(address, solution="?")).json()
        assert "challenge_required" == refused["code"], refused
        challenge: dict[str, Any] = refused["challenge"]
        return challenge

    async def solved(self, address: str = HOME) -> str:
        """Return a good solution."""
        return work.solve(await self.challenge(address))

    def counted(self) -> dict[str, int]:
        """Return what became of challenges so far."""
        rows = self.server.counters.snapshot()["challenges"]
        return {outcome: int(row[0]) for outcome, row in rows.items()}

    def scripts(self) -> int:
        """Return how many joins and polls were sent to the backend."""
        calls = self.server.counters.snapshot()["calls"]
        return sum(int(sum(calls.get(verb, [0, 0])[:-1])) for verb in ("join", "poll"))


@pytest.fixture(autouse=True)
def easy(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ask for little: these tests are about who is asked."""
    monkeypatch.setattr(price, "FLOOR", EASY)


@asynccontextmanager
async def door(
    valkey: Backend, folder: Path, *, per_minute: int = 6_000, **policy: Any
) -> AsyncIterator[Door]:
    """Serve a room with such a policy; `per_minute` new places for each address."""
    async with (
        serving_here(valkey.url, folder, proxies="127.0.0.1", joins_per_minute=per_minute) as at,
        httpx2.AsyncClient(base_url=at[1], timeout=30) as http,
    ):
        room = f"t-{secrets.token_hex(6)}"
        given = {"mode": Mode.PAUSED, "challenge": Challenge.WORK} | policy
        await at[0].engine.create(room, Policy(**given))
        await at[0].boards.get(room)
        yield Door(at[0], http, room)


@pytest.fixture
async def paid(valkey: Backend, tmp_path: Path) -> AsyncIterator[Door]:
    """Serve a room with `challenge = work`."""
    async with door(valkey, tmp_path) as made:
        yield made


async def test_a_newcomer_is_asked(paid: Door) -> None:
    """403 with a challenge in the problem; its solution gets a place, and both are counted."""
    refused = await paid.join()
    problem = refused.json()
    assert (403, "challenge_required") == (refused.status_code, problem["code"])
    assert {"kind", "parameters", "signature"} == set(problem["challenge"])
    parameters = problem["challenge"]["parameters"]
    data = {name: parameters["data"][name] for name in ("room", "counters")}
    assert {"room": paid.room, "counters": EASY} == data
    assert 0 < parameters["expiresAt"] - time.time() <= LIFE_S
    assert 0 == paid.scripts()
    joined = await paid.join(solution=work.solve(problem["challenge"]))
    assert (201, 1) == (joined.status_code, joined.json()["position"])
    assert {"issued": 1, "solved": 1} == paid.counted()


async def test_the_same_solution_is_the_same_place(paid: Door) -> None:
    """A replay, or a retry after a lost reply, gets the same place, in parallel too."""
    solution = await paid.solved()
    first = await paid.join(solution=solution)
    more = await asyncio.gather(*(paid.join(solution=solution) for _ in range(20)))
    again = await paid.join(solution=solution, headers={"idempotency-key": secrets.token_hex(16)})
    statuses = [reply.status_code for reply in (*more, again)]
    assert (201, [200] * 21) == (first.status_code, statuses)
    places = {reply.json()["ticket"][24:40] for reply in (first, *more, again)}
    assert 1 == len(places)
    assert 1 == (await paid.server.engine.stats(paid.room)).waiting


async def test_who_has_a_place_is_not_asked(paid: Door) -> None:
    """A ticket of the room is enough to come back with; one whose place is gone is not."""
    joined = await paid.join(solution=await paid.solved())
    mine = {"cookie": f"{TICKET_COOKIE}{paid.room}={joined.json()['ticket']}"}
    back = await paid.join(MOBILE, mine)
    assert (200, joined.json()["ticket"]) == (back.status_code, back.json()["ticket"])
    path = f"/v1/rooms/{paid.room}/tickets/me"
    assert 204 == (await paid.http.delete(path, headers=mine)).status_code
    assert 403 == (await paid.join(headers=mine)).status_code


async def test_a_site_that_names_its_visitors_is_not_asked(paid: Door) -> None:
    """`visitor` with an operator's key: the site knows who it is."""
    assert 201 == (await paid.join(headers=ADMIN, visitor="member 7")).status_code


@pytest.mark.attack
async def test_another_address_gets_a_new_challenge(paid: Door) -> None:
    """From Wi-Fi to mobile: the old solution is refused, with a challenge for the new address."""
    solution = await paid.solved(HOME)
    refused = await paid.join(MOBILE, solution=solution)
    assert (403, "challenge_required") == (refused.status_code, refused.json()["code"])
    assert "another address" in refused.json()["detail"]
    assert 0 == paid.scripts()
    again = await paid.join(MOBILE, solution=work.solve(refused.json()["challenge"]))
    assert 201 == again.status_code
    assert 201 == (await paid.join(HOME, solution=solution)).status_code, "at home it is good"


@pytest.mark.attack
async def test_a_phone_that_changes_its_address_in_its_network(paid: Door) -> None:
    """Another address of one's /64 is the same visitor."""
    solution = await paid.solved("2001:db8::1")
    assert 201 == (await paid.join("2001:db8::2", solution=solution)).status_code


async def _expired(door: Door) -> str:
    long_ago = time.time() - LIFE_S - 1
    to = door.server.challenges.binding(door.room, door.server.proxies.source(HOME))
    return work.solve(json.loads(door.server.challenges.work.issue(to, EASY, long_ago)))


async def _of_another_room(door: Door) -> str:
    to = door.server.challenges.binding("another", door.server.proxies.source(HOME))
    return work.solve(json.loads(door.server.challenges.work.issue(to, EASY)))


async def _too_easy(door: Door) -> str:
    to = door.server.challenges.binding(door.room, door.server.proxies.source(HOME))
    return work.solve(json.loads(door.server.challenges.work.issue(to, EASY // 2)))


async def _spliced(door: Door) -> str:
    first, second = [json.loads(base64.b64decode(await door.solved())) for _ in range(2)]
    first["solution"] = second["solution"]
    return base64.b64encode(json.dumps(first).encode()).decode()


async def _not_ripe(door: Door) -> str:
    to = door.server.challenges.binding(door.room, door.server.proxies.source(HOME))
    return door.server.challenges.ripening.begin(to, 60)


async def _of_mobile(door: Door) -> str:
    return await door.solved(MOBILE)


async def _nonsense(_: Door) -> str:
    return "eyJhIjoxfQ=="


@pytest.mark.attack
@pytest.mark.parametrize(
    "made",
    [_expired, _of_another_room, _too_easy, _spliced, _not_ripe, _of_mobile, _nonsense],
    ids=lambda made: made.__name__.strip("_"),
)
async def test_what_is_no_solution_never_reaches_redis(paid: Door, made: Solved) -> None:
    """It is refused with a fresh challenge that can be solved, before any script is called."""
    solution = await made(paid)
    refused = await paid.join(solution=solution)
    assert (403, "challenge_required") == (refused.status_code, refused.json()["code"])
    assert (0, 1) == (paid.scripts(), paid.counted()["refused"])
    fresh = work.solve(refused.json()["challenge"])
    assert 201 == (await paid.join(solution=fresh)).status_code


@pytest.mark.attack
async def test_a_flood_without_solutions_costs_no_script(paid: Door) -> None:
    """Thousands of joins that solve nothing call no script, whoever sends them."""
    flood = count("unsolved_joins")
    at_once = 16

    async def some(number: int) -> list[int]:
        replies = [
            await paid.join(f"10.{number}.{turn // 250}.{turn % 250}")
            for turn in range(flood // at_once)
        ]
        return [reply.status_code for reply in replies]

    statuses = await asyncio.gather(*(some(number) for number in range(at_once)))
    assert {403} == {status for group in statuses for status in group}
    assert 0 == paid.scripts()
    honest = await paid.join(solution=await paid.solved())
    assert (201, 1) == (honest.status_code, honest.json()["position"]), "and nobody is before them"
    tried(at_once * (flood // at_once))


@pytest.mark.attack
async def test_a_refusal_makes_no_task_and_waits_for_no_key(
    paid: Door, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The lane answers it at once, with a puzzle that was made ahead."""
    monkeypatch.setattr(puzzles, "EVERY_S", 0)
    before, ready = 20, paid.server.challenges.work.puzzles.ready
    await paid.join()
    while ready(EASY) < before:  # noqa: ASYNC110 - nothing says so but the number
        await asyncio.sleep(0)
    paid.server.challenges.work.close()  # from now on every key would be derived for a request
    monkeypatch.setattr(puzzles, "new_puzzle", None)
    monkeypatch.setattr(LaneCall, "_run", None)
    replies = [await paid.join() for _ in range(before)]
    assert [403] * before == [reply.status_code for reply in replies]
    nonces = {reply.json()["challenge"]["parameters"]["nonce"] for reply in replies}
    assert before == len(nonces)


@pytest.mark.attack
async def test_challenges_are_limited_per_address(paid: Door) -> None:
    """One address gets so many challenges, then 429 with Retry-After; others still get theirs."""
    paid.server.challenges.issues = Buckets(3, clock=lambda: 0.0)
    replies = [await paid.join() for _ in range(5)]
    assert [403] * 3 + [429] * 2 == [reply.status_code for reply in replies]
    assert "20" == replies[-1].headers["retry-after"]
    assert {"challenges": [2]} == paid.server.counters.snapshot()["limited"]
    assert 3 == paid.counted()["issued"], "past the limit none is made"
    assert 403 == (await paid.join(MOBILE)).status_code


async def test_a_ripe_mark_is_a_place(paid: Door) -> None:
    """What a page without a script has waited for: one place, however often it is shown."""
    to = paid.server.challenges.binding(paid.room, paid.server.proxies.source(HOME))
    mark = paid.server.challenges.ripening.begin(to, 0)
    replies = [await paid.join(solution=mark) for _ in range(2)]
    assert [201, 200] == [reply.status_code for reply in replies]


async def test_the_price_follows_the_joins(paid: Door) -> None:
    """In a rush a new challenge asks for more, and one of the quiet time is still enough."""
    quiet = await paid.solved()
    board = paid.server.boards.known[paid.room]
    now = board.samples[-1]
    board.samples.append(
        type(now)(
            **{name: getattr(now, name) for name in now.__slots__}
            | {
                "at_ms": board.stats.now_ms - price.WINDOW_MS,
                "joined": -10 * 100_000,
            }
        )
    )
    board.fresh_at += 1
    dear = (await paid.challenge())["parameters"]["data"]["counters"]
    assert price.CEILING == dear
    assert 201 == (await paid.join(solution=quiet)).status_code


@pytest.mark.parametrize("challenge", [Challenge.OBSERVE_WORK, Challenge.OBSERVE_SITEVERIFY])
async def test_a_room_that_observes_refuses_nobody(
    valkey: Backend, tmp_path: Path, challenge: Challenge
) -> None:
    """Whoever shows nothing, or nonsense, gets a place and is counted."""
    async with door(valkey, tmp_path, challenge=challenge) as watched:
        replies = [await watched.join(), await watched.join(solution="nonsense", token="x")]
        assert [201, 201] == [reply.status_code for reply in replies]
        counted = watched.counted()
        assert 2 == counted.get("observed", 0) + counted.get("unverified", 0)


async def test_a_client_that_can_solve_is_observed(valkey: Backend, tmp_path: Path) -> None:
    """Our page asks to be asked: so the counts say how many browsers would have solved it."""
    async with door(valkey, tmp_path, challenge=Challenge.OBSERVE_WORK) as watched:
        assert 201 == (await watched.join(solution=await watched.solved())).status_code
        assert {"issued": 1, "solved": 1} == watched.counted()


async def test_the_framework_answers_the_same(served: Serving) -> None:
    """A real server with the floor as it is: refused, solved, joined; the metrics tell it."""
    room = served.new_room(mode="paused", challenge="work")
    async with httpx2.AsyncClient(base_url=served.base, timeout=60) as http:
        path = f"/v1/rooms/{room}/tickets"
        refused = await http.post(path)
        solution = work.solve(refused.json()["challenge"])
        joined = await http.post(path, json={"solution": solution})
        assert (403, 201) == (refused.status_code, joined.status_code)
        assert "application/problem+json" == refused.headers["content-type"]


@pytest.mark.attack
async def test_a_solution_after_leaving_is_a_new_place_at_the_end(paid: Door) -> None:
    """Until it expires it counts again, for one place, behind everybody who came in between.

    However often somebody leaves and comes back with it, they never hold two places.
    """
    solution = await paid.solved()
    first = (await paid.join(solution=solution)).json()
    other = (await paid.join(solution=await paid.solved())).json()
    for _ in range(3):
        path = f"/v1/rooms/{paid.room}/tickets/{first['ticket']}"
        assert 204 == (await paid.http.delete(path)).status_code
        again = await paid.join(solution=solution)
        assert (201, 2) == (again.status_code, again.json()["position"]), "the other is before them"
        assert first["ticket"][24:40] == again.json()["ticket"][24:40], "the same id: one place"
        assert 2 == (await paid.http.get(path)).json()["position"], "the old ticket shows it too"
        first = again.json()
    there = await paid.http.get(f"/v1/rooms/{paid.room}/tickets/{other['ticket']}")
    assert 1 == there.json()["position"]
    assert 2 == (await paid.server.engine.stats(paid.room)).waiting


@pytest.mark.attack
async def test_a_new_place_by_an_old_solution_counts_for_its_address(
    valkey: Backend, tmp_path: Path
) -> None:
    """Leaving and coming back with one solution is charged as a new place each time."""
    statuses = []
    async with door(valkey, tmp_path, per_minute=2) as paid:
        solution = await paid.solved()
        for _ in range(3):
            joined = await paid.join(solution=solution)
            statuses.append(joined.status_code)
            if joined.status_code == 201:
                await paid.http.delete(f"/v1/rooms/{paid.room}/tickets/{joined.json()['ticket']}")
    assert [201, 201, 429] == statuses


async def coded(room: Door, uses: int) -> str:
    """Return a code for so many people."""
    engine = room.server.engine
    return next(engine.codes(room.room, await engine.issue(room.room, 1, uses=uses)))


async def test_a_code_for_one_is_price_enough(paid: Door) -> None:
    """It needs no solution: there are as many places as codes."""
    code, key = await coded(paid, 1), {"idempotency-key": secrets.token_hex(16)}
    assert 201 == (await paid.join(headers=key, code=code)).status_code
    assert {} == paid.counted()


@pytest.mark.attack
async def test_a_code_for_many_is_no_way_around(paid: Door) -> None:
    """Each of its places takes a solution, for the key that asked; a key is one place."""
    code = await coded(paid, 5)
    ours, theirs = ({"idempotency-key": secrets.token_hex(16)} for _ in range(2))
    asked = await paid.join(headers=ours, code=code)
    assert (403, 0) == (asked.status_code, paid.scripts())
    solution = work.solve(asked.json()["challenge"])
    strangers = [
        await paid.join(headers=theirs, code=code, solution=solution),
        await paid.join(solution=solution),
        await paid.join(headers=ours, code=code, solution=await paid.solved()),
    ]
    assert ([403] * 3, 0) == ([reply.status_code for reply in strangers], paid.scripts())
    first = await paid.join(headers=ours, code=code, solution=solution)
    again = work.solve((await paid.join(headers=ours, code=code)).json()["challenge"])
    second = await paid.join(headers=ours, code=code, solution=again)
    assert (201, 200) == (first.status_code, second.status_code), "after a reload"
    assert 1 == (await paid.server.engine.batches(paid.room))[0].used


@pytest.mark.attack
async def test_a_dead_code_is_no_way_to_the_backend(
    paid: Door, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first join with it asks the room, the next ones are answered from memory."""
    monkeypatch.setattr(limited, "CODE_REFUSED_S", 600.0)
    code = await coded(paid, 1)
    replies = [
        await paid.join(headers={"idempotency-key": secrets.token_hex(16)}, code=code)
        for _ in range(12)
    ]
    assert [201] + [403] * 11 == [reply.status_code for reply in replies]
    assert {"used"} == {reply.json()["reason"] for reply in replies[1:]}
    assert 2 == paid.scripts()
