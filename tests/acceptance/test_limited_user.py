"""Waitroom as the user of deploy/valkey.acl.example: all of it works, nothing else is allowed."""

from __future__ import annotations

import asyncio
import re
import subprocess
import time
from collections.abc import Iterator
from importlib import resources
from pathlib import Path
from typing import Any

import httpx2
import pytest
from redis import Redis
from redis import exceptions as redis_errors

from tests.cli.conftest import Cli
from tests.server.desk.conftest import shop_on
from tests.support.clients import HOST, live
from tests.support.clock import open_engine
from tests.support.limited_user import (
    PASSWORD,
    LimitedBackend,
    acl_text,
    commands,
    limited_backend,
    rules,
)
from tests.support.programs import needed
from tests.support.servers import Kind, start_cluster, start_server, wait_for
from tests.support.serving import SECRET, Serving, serving
from waitroom.credentials.roles import Role
from waitroom.engine import Engine, Settled
from waitroom.engine.audit import Entry
from waitroom.engine.handoffs import Handoff
from waitroom.engine.scripts import Verb
from waitroom.history import Step
from waitroom.models import Needs, Policy, State
from waitroom.ticker import Ticker

BY_CLIENT = {"asking", "client|setname", "cluster|slots", "command", "eval", "evalsha", "select"}
"""What redis-py and our own script client send by themselves."""

BY_METHOD = {"del": "delete", "info": "info", "xrange": "xrange", "xrevrange": "xrevrange"}
"""Commands that are sent by methods of redis-py."""

HARMLESS = {"client|setinfo", "config|get"}
"""Tried, but optional: redis-py's name for itself, and what `doctor` would like to know."""

KEPT_ROOM = """
[rooms.declared]
preset = "slots"
capacity = 5
"""


@pytest.fixture(scope="module", params=["valkey", "redis"])
def backend(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[LimitedBackend]:
    """Run a server of each kind with the file from deploy/."""
    kind: Kind = request.param
    with limited_backend(kind, tmp_path_factory.mktemp(kind)) as limited:
        yield limited


# What is needed ------------------------------------------------------------------------------


def test_the_line_has_what_scripts_call_and_no_more() -> None:
    """Every command of a script or of the engine is allowed, and no allowed one is unused."""
    package = resources.files("waitroom.engine")
    sources = [Path(str(package)) / "scripts.py", *Path(str(package), "lua").rglob("*.lua")]
    lua = "".join(path.read_text("utf-8") for path in sources)
    in_scripts = {name.lower() for name in re.findall(r"redis\.p?call\(\s*'(\w+)'", lua)}
    assert set() == in_scripts - commands(), "add it to deploy/valkey.acl.example and the docs"
    python = "".join(path.read_text("utf-8") for path in Path(str(package)).rglob("*.py"))
    spare = {
        name
        for name in commands() - in_scripts - BY_CLIENT
        if f'"{name.upper()}"' not in python and f".{BY_METHOD.get(name)}(" not in python
    }
    assert set() == spare


async def test_every_verb_runs(backend: LimitedBackend, room: str) -> None:
    """The whole engine works as that user: each verb, keys, audit log, codes, ticker, lines."""
    verbs: set[Verb] = set()
    async with open_engine(backend.url) as engine:
        engine.on_script(lambda verb, *_: verbs.add(verb))
        await engine.create(room, Policy(capacity=3, session_s=60, renewable=True, max_defers=3))
        await visit(engine, room)
        await operate(engine, room)
        ticked = asyncio.Event()
        engine.on_script(lambda verb, *_: ticked.set() if verb is Verb.ADVANCE else None)
        async with Ticker(engine), asyncio.timeout(60):
            await ticked.wait()
        await keep(engine, room)
        await engine.clear(room)
        await engine.drop(room)
    assert set(Verb) == verbs
    assert set() == backend.refused() - HARMLESS


async def visit(engine: Engine, room: str) -> None:
    """Do what visitors do."""
    views = [await engine.join(room) for _ in range(5)]
    await engine.advance(room)
    inside = await engine.enter(room, views[0].ticket)
    assert inside.sid is not None
    assert await engine.check(room, inside.id, inside.sid)
    await engine.renew(room, views[0].ticket)
    await engine.poll(room, views[1].ticket)
    await engine.defer(room, views[3].ticket, 1)
    await engine.leave(room, views[4].ticket)
    await engine.finish(room, views[0].ticket)
    key = engine.ring.claim_key(room)
    claim = key.claim(room, key.account(room, "ann"), time.time())
    await engine.adopt(room, views[3].ticket, engine.ring.read_claim(room, claim, time.time()))


async def operate(engine: Engine, room: str) -> None:
    """Do what operators and the desk do."""
    await engine.configure(room, capacity=4, needs=Needs.CODE, once=True)
    batch = await engine.issue(room, 1)
    (code,) = engine.codes(room, batch)
    await engine.leave(room, (await engine.join(room, code=code)).ticket)
    await engine.batches(room)
    await engine.revoke(room, batch.batch)
    await engine.configure(room, needs=Needs.NOTHING, once=False)
    views = [await engine.join(room) for _ in range(4)]
    await engine.admit(room, 1, force=True)
    await engine.call(room, views[-1].id, force=True)
    await engine.kick(room, [views[0].id])
    await engine.reinstate(room, views[0].id)
    await engine.settle(room, [Settled(views[1].id, "waiting", 7, 1)])
    await engine.list(room)
    await engine.stats(room)
    await engine.sample(room)
    await engine.series(room)
    await look_back(engine, room)
    await engine.events(room)
    await engine.line(room)
    await engine.line_counts([room])
    await engine.spot(room, views[1].id)
    await engine.revisions([room])
    assert room in await engine.rooms()


async def look_back(engine: Engine, room: str) -> None:
    """Write the room's history as if its first spans were over, and read it back."""
    now_ms = (await engine.stats(room)).now_ms
    for _ in range(2):  # the second run finds everything written
        await engine.keep_history(room, now_ms + Step.TEN.span_ms)
    for step in Step:
        assert await engine.history(room, now_ms - step.span_ms, now_ms, step)


async def keep(engine: Engine, room: str) -> None:
    """Use what is kept beside rooms."""
    _, key = await engine.api_keys.create("a", Role.VIEWER)
    assert key.id in {each.id for each in await engine.api_keys.list()}
    await engine.api_keys.revoke(key.id)
    entry = Entry(key_id="k", key_name="k", role="admin", action="test")
    assert await engine.audit.get(await engine.audit.append(entry))
    assert (await engine.audit.page()).entries
    code = await engine.handoffs.make(Handoff(room, "t", 1, None))
    assert room == (await engine.handoffs.redeem(code)).room
    await engine.declared.keep(room, Policy())
    assert await engine.declared.last(room)
    assert [room] == await engine.occupied([room])
    await engine.meet([room])


@pytest.fixture(scope="module")
def running(backend: LimitedBackend, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    """Run a server with the desk, two workers and a declared room."""
    folder = tmp_path_factory.mktemp("limited")
    config = folder / "waitroom.toml"
    config.write_text(KEPT_ROOM, "utf-8")
    settings: dict[str, Any] = {"desk": True, "workers": 2, "config": config}
    with serving(folder, redis_url=backend.url, **settings) as server:
        yield server


async def test_the_server_runs(backend: LimitedBackend, running: Serving) -> None:
    """A visitor joins, learns of the turn by a live event, enters, and an operator sees it."""
    room = running.new_room(capacity=1, session_s=60)
    tickets = f"/v1/rooms/{room}/tickets"
    async with httpx2.AsyncClient(base_url=running.base, timeout=60) as http:
        first, second = [(await http.post(tickets)).json()["ticket"] for _ in range(2)]
        await called(running, tickets, first)
        entered = (await http.post(f"{tickets}/{first}/enter")).json()
        bearer = {"authorization": f"Bearer {entered['pass']}"}
        assert 204 == (await http.get("/v1/check", headers=bearer)).status_code
        code = (await http.post(f"{tickets}/{first}/handoff")).json()["code"]
        assert 200 == (await http.post("/v1/redeem", json={"code": code})).status_code
        assert 204 == (await http.post("/v1/passes/finish", headers=bearer)).status_code
        await called(running, tickets, second)
    with running.operator() as operator:
        assert 200 == operator.get("/v1/admin/rooms/declared").status_code
        made = operator.post("/v1/admin/keys", json={"name": "a", "role": "viewer"})
        assert 201 == made.status_code
        actions = {entry["action"] for entry in operator.get("/v1/admin/audit").json()["entries"]}
        assert {"room.create", "key.create"} <= actions
    assert set() == backend.refused() - HARMLESS


async def called(running: Serving, tickets: str, ticket: str) -> None:
    """Wait until a live event says that a ticket is called; it may have been called already."""
    async with live(running.port, f"{tickets}/{ticket}/events") as events:
        await events.until("ticket", state="called")


def test_the_desk_runs(backend: LimitedBackend, running: Serving) -> None:
    """Parties join, are called, sent back and seated."""
    with shop_on(running) as shop:
        for _ in range(3):
            shop.join()
        party = shop.line()["parties"][0]["id"]
        for act in ("call", "undo", "call", "seat"):
            assert 200 == shop.do(act, party).status_code, act
        wait_for(lambda: 2 == len(shop.numbers()), "the line without the seated party")
    assert set() == backend.refused() - HARMLESS


def test_the_command_line_runs(backend: LimitedBackend, room: str) -> None:
    """Rooms, people and keys from the command line; `doctor` finds nothing that must be fixed."""
    cli = Cli(backend.url, {"WAITROOM_SECRET": SECRET})
    cli.text("room", "create", room, "--capacity", 2)
    assert room in cli.text("rooms")
    cli.text("stats", room)
    cli.text("key", "list")
    report = cli.json("doctor")
    assert report["ok"]
    cli.text("room", "drop", room, "--yes")
    assert set() == backend.refused() - HARMLESS


# What is not ---------------------------------------------------------------------------------

OTHERS = (
    ("FLUSHALL",),
    ("FLUSHDB",),
    ("CONFIG", "GET", "*"),
    ("CONFIG", "SET", "dir", "/"),
    ("KEYS", "*"),
    ("SCAN", "0"),
    ("RANDOMKEY",),
    ("GET", "another"),
    ("SET", "another", "x"),
    ("DEL", "another"),
    ("EVAL", "return redis.call('GET', 'another')", "0"),
    ("EVAL", "return redis.call('GET', KEYS[1])", "1", "another"),
    ("EVAL", "return redis.call('FLUSHALL')", "0"),
    ("EVAL", "return redis.call('CONFIG', 'GET', 'requirepass')", "0"),
    ("EVAL", "return redis.call('KEYS', '*')", "0"),
    ("SCRIPT", "FLUSH"),
    ("FUNCTION", "FLUSH"),
    ("ACL", "LIST"),
    ("ACL", "SETUSER", "waitroom", "+@all"),
    ("CLIENT", "LIST"),
    ("CLIENT", "KILL", "TYPE", "normal"),
    ("MONITOR",),
    ("DEBUG", "SLEEP", "0"),
    ("SHUTDOWN", "NOSAVE"),
    ("REPLICAOF", "127.0.0.1", "1"),
    ("MIGRATE", "127.0.0.1", "1", "wr:keys", "0", "10"),
    ("MODULE", "LIST"),
    ("DUMP", "wr:keys"),
    ("RENAME", "wr:keys", "wr:other"),
    ("PUBLISH", "news", "x"),
    ("SUBSCRIBE", "news"),
    ("SAVE",),
    ("BGREWRITEAOF",),
    ("SWAPDB", "0", "1"),
    ("CLUSTER", "RESET"),
)


@pytest.mark.attack
@pytest.mark.parametrize("words", OTHERS, ids=lambda words: " ".join(words)[:40])
def test_nothing_else_is_allowed(backend: LimitedBackend, words: tuple[str, ...]) -> None:
    """Somebody who steals Waitroom's password reads no other keys and gives no commands."""
    with backend.overseer() as overseer:
        overseer.set("another", "secret")
    with Redis.from_url(backend.url, protocol=2) as thief:
        with pytest.raises(redis_errors.ResponseError) as refused:
            thief.execute_command(*words)
        assert re.search(r"permissions|not allowed|can't (run|access)", str(refused.value))
    with backend.overseer() as overseer:
        assert b"secret" == overseer.get("another")
        overseer.acl_log_reset()


@pytest.mark.attack
def test_nobody_else_gets_in(backend: LimitedBackend) -> None:
    """No name, a wrong password, or the health check's user: nothing is allowed."""
    url = f"redis://{{}}{HOST}:{backend.server.port}?protocol=2"
    for login in ("", "waitroom:wrong@", f":{PASSWORD}@", "nobody:any@"):
        with Redis.from_url(url.format(login)) as stranger, pytest.raises(redis_errors.RedisError):
            stranger.get("wr:keys")
    with Redis.from_url(url.format("health:any@")) as health:
        assert health.ping()
        with pytest.raises(redis_errors.NoPermissionError):
            health.get("wr:keys")


def test_the_health_check_of_compose_works(backend: LimitedBackend) -> None:
    """The user `health` answers PING from the Redis command line, with no password to keep."""
    words = ["-p", str(backend.server.port), "--user", "health", "--pass", "none"]
    command = [needed("redis-cli", "redis-tools"), *words, "--no-auth-warning", "ping"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=20, check=True)
    assert "PONG\n" == done.stdout


# The same elsewhere --------------------------------------------------------------------------


def test_the_docs_show_the_line() -> None:
    """What readers copy from the docs is what was tested."""
    page = Path(__file__).parents[2] / "docs" / "howto-secure-backend.md"
    assert " ".join(rules()) in " ".join(page.read_text("utf-8").split())
    assert "PASSWORD_SHA256" not in acl_text()


async def test_by_acl_setuser(tmp_path: Path, room: str) -> None:
    """The same rules through `ACL SETUSER`, as for a managed service."""
    with start_server("valkey", tmp_path / "s") as server:
        reply = server.command("ACL", "SETUSER", "waitroom", "on", ">pw", *rules())
        assert b"+OK\r\n" == reply
        async with open_engine(server.url.replace("//", "//waitroom:pw@")) as engine:
            await engine.create(room, Policy(capacity=1))
            assert State.CALLED == (await engine.join(room)).state


async def test_on_a_cluster(tmp_path: Path) -> None:
    """The same rules on every node: rooms on all nodes are found, filled and listed."""
    with start_cluster(tmp_path) as cluster:
        for node in cluster.nodes:
            assert b"+OK\r\n" == node.command("ACL", "SETUSER", "waitroom", "on", ">pw", *rules())
        names = [f"room-{number}" for number in range(8)]
        async with open_engine(cluster.url.replace("//", "//waitroom:pw@")) as engine:
            for name in names:
                await engine.create(name, Policy(capacity=1))
                await engine.join(name)
            assert names == sorted(await engine.rooms())
            assert names == sorted(await engine.occupied(names))
            for name in names:
                assert await engine.sample(name)
                await look_back(engine, name)
