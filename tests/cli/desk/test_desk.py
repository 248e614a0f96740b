"""`desk store`, `desk host` and `desk rebuild`, on a real database and a real server."""

from __future__ import annotations

import asyncio
import importlib.util
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import SECRET, Cli
from tests.support.clock import open_engine
from tests.support.servers import Server
from waitroom.desk.inputs import Wish
from waitroom.desk.live.line import room_of
from waitroom.desk.models import Store
from waitroom.desk.record.database import open_database
from waitroom.desk.record.host_keys import HostKey, HostKeys
from waitroom.desk.record.record import Record
from waitroom.tickets import KeyRing


@pytest.fixture
def cli(valkey: Server, tmp_path: Path) -> Cli:
    """Run commands with their own data folder, so that there are no other stores."""
    return Cli(valkey.url, {"WAITROOM_DATA_DIR": str(tmp_path)})


@pytest.fixture
def store(cli: Cli, room: str) -> str:
    """Create a store with two lines."""
    cli.json("desk", "store", "create", room, "--type", "dine-in=Table", "--type", "takeout")
    return room


def kept(tmp_path: Path, store: str) -> Store:
    """Return a store as the record has it."""

    async def read() -> Store:
        async with open_database(None, tmp_path) as database:
            return await Record(database).store(store)

    return asyncio.run(read())


def host_key(tmp_path: Path, text: str) -> HostKey | None:
    """Return what a server would make of a host's key."""

    async def read() -> HostKey | None:
        async with open_database(None, tmp_path) as database:
            return await HostKeys(database).find(text)

    return asyncio.run(read())


def test_create(cli: Cli, room: str, tmp_path: Path) -> None:
    """A store is created with all the given fields, and the next step is shown."""
    words = ["--title", "한강국수", "--type", "dine-in=매장", "--type", "takeout", "--no-remote"]
    more = [
        "--time-zone",
        "Asia/Tokyo",
        "--country",
        "jp",
        "--closes-at",
        "22:00",
        "--queue-limit",
        "30",
    ]
    last = ["--largest-party", "8", "--max-defers", "1", "--keep-phones-days", "2"]
    text = cli.text("desk", "store", "create", room, *words, *more, *last)
    assert f"Created store {room}, dine-in, takeout." in text
    assert f"/desk/{room}/host" in text
    assert "whsec_" not in text
    made = kept(tmp_path, room)
    assert ("한강국수", "Asia/Tokyo", "22:00") == (made.title, made.time_zone, made.closes_at)
    assert "JP" == made.country
    assert (1, 2, False) == (made.max_defers, made.keep_phones_days, made.remote)
    assert [("dine-in", "매장", 30, 8), ("takeout", "takeout", 30, 8)] == [
        (line.name, line.title, line.queue_limit, line.largest_party) for line in made.types
    ]


def test_who_may_join(cli: Cli, store: str, tmp_path: Path) -> None:
    """How guests prove that they are there, and how many join from one address."""
    made = kept(tmp_path, store)
    assert ("poster", 20) == (made.on_site, made.joins_per_hour)
    cli.text("desk", "store", "set", store, "--on-site", "rotating", "--joins-per-hour", "none")
    made = kept(tmp_path, store)
    assert ("rotating", None) == (made.on_site, made.joins_per_hour)


def test_create_plainly(cli: Cli, room: str) -> None:
    """An id is enough: one line, and the defaults."""
    made = cli.json("desk", "store", "create", room)
    assert (room, room, ["dine-in"]) == (
        made["id"],
        made["title"],
        [line["name"] for line in made["types"]],
    )
    assert "webhook_secret" not in made
    code, text = cli.error("desk", "store", "create", room)
    assert (1, True) == (code, room in text)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["Big Store"], "id: takes 1 to 30 small letters"),
        (["s", "--country", "Mars"], "country: 'Mars' is not known; take two letters"),
        (["s", "--time-zone", "Mars/Base"], "time_zone: 'Mars/Base' is not known"),
        (["s", "--closes-at", "25:00"], "closes_at: takes a time of the day"),
        (["s", "--queue-limit", "many"], "queue_limit: 'many' is neither a whole number nor none"),
        (["s", "--type", "Dine In"], "type: takes 1 to 20 small letters"),
        (["s", "--webhook-url", "ftp://x"], "webhook_url: takes an address like"),
        (["s", "--max-defers", "99"], "max_defers: 99 is not allowed"),
        (["s", "--on-site", "shout"], "on_site: 'shout' is not one of none, poster, rotating"),
        (["s", "--joins-per-hour", "few"], "joins_per_hour: 'few' is neither a whole number"),
    ],
)
def test_bad_stores(cli: Cli, words: list[str], message: str) -> None:
    """Invalid store input is refused in one sentence, and nothing is created."""
    code, text = cli.error("desk", "store", "create", *words)
    assert (2, True) == (code, message in text), text
    assert {"stores": []} == cli.json("desk", "store", "list")


def test_list(cli: Cli, store: str) -> None:
    """Stores are listed, without secrets."""
    cli.text("desk", "store", "set", store, "--webhook-url", "https://sms.example/x")
    (listed,) = cli.json("desk", "store", "list")["stores"]
    assert (store, "open", 0) == (listed["id"], listed["mode"], listed["notices_late"])
    assert "webhook_secret" not in listed
    text = cli.text("desk", "store", "list")
    assert "dine-in, takeout" in text
    assert "whsec_" not in text


def test_no_stores_yet(cli: Cli) -> None:
    """An empty list says how to make the first one."""
    assert "waitroom desk store create" in cli.text("desk", "store", "list")


def test_set(cli: Cli, store: str, tmp_path: Path) -> None:
    """Given fields are changed, `none` removes, and a version guards."""
    words = ["--mode", "paused", "--reason", "Back at 18:00", "--closes-at", "21:30"]
    assert "is now at version 2" in cli.text("desk", "store", "set", store, *words)
    made = kept(tmp_path, store)
    assert ("paused", "Back at 18:00", "21:30") == (made.mode, made.reason, made.closes_at)
    cli.text("desk", "store", "set", store, "--reason", "none", "--closes-at", "none")
    made = kept(tmp_path, store)
    assert (None, None, "paused") == (made.reason, made.closes_at, made.mode)
    code, text = cli.error("desk", "store", "set", store, "--mode", "open", "--if-version", "1")
    assert (1, True) == (code, "version" in text)
    assert 2 == cli.error("desk", "store", "set", store)[0]
    assert 2 == cli.error("desk", "store", "set", store, "--mode", "ajar")[0]
    assert 1 == cli.error("desk", "store", "set", "no-such", "--mode", "open")[0]


def test_set_lines(cli: Cli, store: str, tmp_path: Path) -> None:
    """Limits apply to the named line, or to all; a new line is added."""
    cli.text("desk", "store", "set", store, "--type", "takeout", "--queue-limit", "5")
    cli.text("desk", "store", "set", store, "--type", "bar=Bar", "--largest-party", "2")
    lines = [
        (line.name, line.queue_limit, line.largest_party) for line in kept(tmp_path, store).types
    ]
    assert [("dine-in", None, 20), ("takeout", 5, 20), ("bar", None, 2)] == lines
    cli.text("desk", "store", "set", store, "--queue-limit", "none", "--largest-party", "6")
    lines = [
        (line.name, line.queue_limit, line.largest_party) for line in kept(tmp_path, store).types
    ]
    assert [("dine-in", None, 6), ("takeout", None, 6), ("bar", None, 6)] == lines


def test_webhook(cli: Cli, store: str, tmp_path: Path) -> None:
    """Its secret is created with the first address, shown once, kept, and renewed on request."""
    url = "https://sms.example/hook"
    first = cli.json("desk", "store", "set", store, "--webhook-url", url)["webhook_secret"]
    assert (url, first) == (kept(tmp_path, store).webhook_url, kept(tmp_path, store).webhook_secret)
    again = cli.json("desk", "store", "set", store, "--webhook-url", f"{url}/2")
    assert "webhook_secret" not in again
    text = cli.text("desk", "store", "set", store, "--new-secret")
    secret = next(line for line in text.splitlines() if line.startswith("whsec_"))
    assert (True, secret) == (secret != first, kept(tmp_path, store).webhook_secret)
    cli.text("desk", "store", "set", store, "--webhook-url", "none")
    assert kept(tmp_path, store).webhook_url is None
    assert 2 == cli.error("desk", "store", "set", store, "--new-secret")[0]


def test_hosts(cli: Cli, store: str, tmp_path: Path) -> None:
    """A key is shown once, works for its store, is listed without its secret, and revoked."""
    lines = cli.text("desk", "host", "create", store, "--name", "front tablet").splitlines()
    (text,) = (line for line in lines if line.startswith("wrh_"))
    key = host_key(tmp_path, text)
    assert key is not None
    assert (store, "front tablet") == (key.store, key.name)
    listed = cli.json("desk", "host", "list", store)["keys"]
    assert [key.id] == [host["id"] for host in listed]
    assert text.split("_", 2)[2] not in cli.text("desk", "host", "list", store)
    refused = cli.run("desk", "host", "revoke", store, key.id, typed="n\n")
    assert (1, True) == (refused.exit_code, host_key(tmp_path, text) is not None)
    shown = cli.text("desk", "host", "revoke", store, key.id, typed="y\n")
    assert f"Revoked key {key.id} of front tablet.\n" == shown
    assert host_key(tmp_path, text) is None
    assert f"waitroom desk host create {store}" in cli.text("desk", "host", "list", store)


def test_hosts_of_no_store(cli: Cli, store: str) -> None:
    """A key belongs to an existing store, and can only be revoked there."""
    assert 1 == cli.error("desk", "host", "create", "no-such", "--name", "x")[0]
    assert 1 == cli.error("desk", "host", "list", "no-such")[0]
    made = cli.json("desk", "host", "create", store, "--name", "x")
    cli.json("desk", "store", "create", f"{store}-b")
    assert 1 == cli.error("desk", "host", "revoke", f"{store}-b", made["id"], "--yes")[0]


def test_stores_and_hosts_need_no_redis(
    cli: Cli, store: str, caplog: pytest.LogCaptureFixture
) -> None:
    """While Redis is away keys can be created and stores listed; only the audit log is missing."""
    cli.env["WAITROOM_REDIS_URL"] = "redis://127.0.0.1:1"
    assert [store] == [listed["id"] for listed in cli.json("desk", "store", "list")["stores"]]
    cli.json("desk", "host", "create", store, "--name", "x")
    assert "the audit log could not be written" in caplog.text


async def _waiting(tmp_path: Path, store: str, parties: int) -> None:
    """Write parties only to the record, as after a loss of Redis."""
    ring = KeyRing([SECRET.encode()])
    async with open_database(None, tmp_path) as database:
        record = Record(database)
        for _ in range(parties):
            await record.register(store, "dine-in", Wish(size=2), ring.new_id())
        await record.call_next(store, "dine-in", by="host")


def test_rebuild(cli: Cli, store: str, tmp_path: Path) -> None:
    """The live lines are rebuilt from the record, in its order, and counted."""
    asyncio.run(_waiting(tmp_path, store, 4))
    done = cli.json("desk", "rebuild", store)
    assert {"lines": 2, "waiting": 3, "called": 1, "settled": 4, "removed": 0} == done

    async def live_line() -> Any:
        async with open_engine(cli.url) as engine:
            return await engine.line(room_of(store, "dine-in"))

    line = asyncio.run(live_line())
    assert (3, 1) == (len(line.waiting), len(line.called))
    text = cli.text("desk", "rebuild")
    assert "Compared 2 lines with the record: 3 parties wait and 1 are called." in text
    assert 1 == cli.error("desk", "rebuild", "no-such")[0]


@pytest.mark.parametrize("group", ["desk", "desk store", "desk host"])
def test_nothing_typed_is_help(cli: Cli, group: str) -> None:
    """A group alone shows its help."""
    assert cli.text(*group.split(), "--help") == cli.text(*group.split())


def test_packages_that_are_missing(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the extra it says what to install."""
    real = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name: None if name == "alembic" else real(name)
    )
    code, text = cli.error("desk", "store", "list")
    assert (2, True) == (code, "alembic is missing; run `pip install 'waitroom[desk]'`" in text)
