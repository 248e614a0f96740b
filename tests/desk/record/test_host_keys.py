"""Host keys: created once, recognised, and valid for one store only."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from sqlalchemy import select

from tests.desk.guests import STORE
from tests.support.statements import statements
from waitroom.desk.models import Store
from waitroom.desk.record import host_keys as hostkeys
from waitroom.desk.record.database import Database
from waitroom.desk.record.host_keys import HostKeys
from waitroom.desk.record.record import Record
from waitroom.desk.record.tables import host_keys
from waitroom.errors import InvalidInput, UnknownKey, UnknownStore

pytestmark = pytest.mark.usefixtures("store")


@pytest.fixture
def hosts(database: Database) -> HostKeys:
    """Return the keys."""
    return HostKeys(database)


async def test_a_key_is_found(hosts: HostKeys, database: Database) -> None:
    """By its text, here and in another process; only its hash is stored."""
    text, key = await hosts.create(STORE, " front door ")
    assert (STORE, "front door") == (key.store, key.name)
    assert text.startswith(f"wrh_{key.id}_")
    for keys in (hosts, HostKeys(database)):
        assert key == await keys.find(text)
        assert key == await keys.get(key.id)
    async with database.look() as connection:
        (row,) = (await connection.execute(select(host_keys))).all()
    assert text[-43:] not in str(tuple(row))
    assert key.mark
    assert key.mark not in repr(key)


async def test_a_wrong_key_is_not(hosts: HostKeys) -> None:
    """Whatever is wrong with it."""
    text, key = await hosts.create(STORE, "front door")
    last = "A" if text[-1] != "A" else "B"
    wrong = ("", text[:-1], text[:-1] + last, text + "x", f"wrh_{key.id}_", "wr_x", "x" * 9999)
    for bad in (*wrong, "\x00", "\ud800", text.upper()):
        assert None is await hosts.find(bad)


async def test_keys_are_of_one_store(hosts: HostKeys, record: Record, store: Store) -> None:
    """Each store lists and revokes its own."""
    await record.add_store(Store(id="other", title="Other", types=store.types))
    _, mine = await hosts.create(STORE, "front door")
    text, theirs = await hosts.create("other", "front door")
    assert (mine,) == await hosts.list(STORE)
    assert (theirs,) == await hosts.list("other")
    with pytest.raises(UnknownKey, match="host key"):
        await hosts.revoke(STORE, theirs.id)
    assert theirs == await hosts.find(text)
    with pytest.raises(UnknownStore):
        await hosts.create("nowhere", "front door")
    with pytest.raises(UnknownStore):
        await hosts.list("nowhere")


async def test_a_revoked_key_opens_nothing(hosts: HostKeys) -> None:
    """At once in this process."""
    text, key = await hosts.create(STORE, "front door")
    assert key == await hosts.find(text)
    assert key == await hosts.revoke(STORE, key.id)
    assert None is await hosts.find(text)
    assert None is await hosts.get(key.id)
    with pytest.raises(UnknownKey):
        await hosts.revoke(STORE, key.id)


async def test_checks_ask_the_database_once(hosts: HostKeys, database: Database) -> None:
    """This holds for many callers and bad keys at once."""
    text, _ = await hosts.create(STORE, "front door")
    with statements(database.engine) as asked:
        await asyncio.gather(
            *(hosts.find(key_text) for key_text in (text, "bad", text[:-1]) for _ in range(50))
        )
    assert 1 == len([statement for statement in asked if "host_keys" in statement])


async def test_names_are_checked(hosts: HostKeys, monkeypatch: pytest.MonkeyPatch) -> None:
    """A host cannot use the name that histories give to guests, and keys are limited."""
    wrong: list[Any] = ["", " ", "a" * 81, "a\nb", "guest", "Guest", None, 7]
    for name in wrong:
        with pytest.raises(InvalidInput, match="name"):
            await hosts.create(STORE, name)
    monkeypatch.setattr(hostkeys, "MOST_KEYS", 2)
    await hosts.create(STORE, "a")
    await hosts.create(STORE, "b")
    with pytest.raises(InvalidInput, match="revoke"):
        await hosts.create(STORE, "c")
