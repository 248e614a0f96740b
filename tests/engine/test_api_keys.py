"""API keys: shown once, stored hashed, recognised without a round trip, gone within two seconds."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from tests.support.clock import open_engine
from tests.support.servers import Server
from waitroom.credentials.api_keys import BOOTSTRAP_ID
from waitroom.credentials.bearer_keys import FRESH_S
from waitroom.credentials.roles import Role
from waitroom.engine import Engine, keys
from waitroom.engine.api_keys import ApiKeys
from waitroom.errors import InvalidInput, UnknownKey

BOOTSTRAP = "wr_" + "b" * 40


@pytest.fixture
async def plain(server: Server) -> AsyncIterator[Engine]:
    """Connect an engine on the server's own clock."""
    async with open_engine(server.url) as engine:
        yield engine


async def test_a_key_is_shown_once_and_found_again(plain: Engine) -> None:
    """The text finds its record; the stored form does not contain it."""
    api_keys = ApiKeys(plain._runner)
    text, made = await api_keys.create("box office", Role.OPERATOR)
    assert text.startswith(f"wr_{made.id}_")
    assert made == await api_keys.find(text)
    assert made in await api_keys.list()
    stored = await plain._runner.command("HGET", keys.KEYS, made.id)
    secret = text.split("_", 2)[2]
    assert secret not in stored.decode()
    assert secret not in repr(made)


@pytest.mark.parametrize(
    "text",
    ["", "x", "wr_", "wr__", "wr_0123456789_" + "a" * 43, "wr_" + "x" * 5000, "대기열", "\ud800"],
)
async def test_what_is_no_key(plain: Engine, text: str) -> None:
    """Any other text belongs to nobody, whatever it looks like."""
    assert await ApiKeys(plain._runner, bootstrap=BOOTSTRAP).find(text) is None


async def test_one_wrong_character(plain: Engine) -> None:
    """Neither another secret with a known id nor a longer text is the key."""
    api_keys = ApiKeys(plain._runner)
    text, _ = await api_keys.create("a", Role.ADMIN)
    other = text[:-1] + ("a" if text[-1] != "a" else "b")
    assert [None, None] == [await api_keys.find(other), await api_keys.find(text + "a")]


async def test_a_check_costs_no_round_trip(plain: Engine) -> None:
    """While the keys are fresh, good and bad ones are told apart without asking the server."""
    api_keys = ApiKeys(plain._runner)
    text, made = await api_keys.create("a", Role.VIEWER)
    assert made == await api_keys.find(text)
    api_keys._fresh_until += 60  # longer than a machine stalls
    client, plain._runner.client = plain._runner.client, None
    try:
        assert made == await api_keys.find(text)
        assert await api_keys.find("wr_0123456789_" + "a" * 43) is None
    finally:
        plain._runner.client = client


async def test_revoked_elsewhere(plain: Engine) -> None:
    """Another process refuses a revoked key once its copy is older than `FRESH_S`."""
    here, there = ApiKeys(plain._runner), ApiKeys(plain._runner)
    text, made = await here.create("a", Role.VIEWER)
    assert made == await there.find(text)
    assert made == await here.revoke(made.id)
    assert await here.find(text) is None
    there._fresh_until -= FRESH_S
    assert [None, None] == [await there.find(text), await there.get(made.id)]
    with pytest.raises(UnknownKey, match="key list"):
        await here.revoke(made.id)


async def test_the_key_of_the_settings(plain: Engine) -> None:
    """It is an admin's, in no list, needs no server, and counts only where it is set."""
    api_keys = ApiKeys(plain._runner, bootstrap=BOOTSTRAP)
    client, plain._runner.client = plain._runner.client, None
    key = await api_keys.find(BOOTSTRAP)
    plain._runner.client = client
    assert key is not None
    assert (BOOTSTRAP_ID, Role.ADMIN) == (key.id, key.role)
    assert BOOTSTRAP_ID not in [listed.id for listed in await api_keys.list()]
    assert await ApiKeys(plain._runner).find(BOOTSTRAP) is None
    other = await ApiKeys(plain._runner, bootstrap=BOOTSTRAP + "c").get(BOOTSTRAP_ID)
    assert other is not None
    assert other.mark != key.mark
    with pytest.raises(InvalidInput, match="admin_key: takes 24 to 256"):
        ApiKeys(plain._runner, bootstrap="short")


@pytest.mark.parametrize("name", ["", " ", "a\nb", "x" * 81, "a\x00", " a"])
async def test_bad_names(plain: Engine, name: str) -> None:
    """A name is one short line, because lists and logs show it."""
    with pytest.raises(InvalidInput, match="name: takes 1 to 80"):
        await ApiKeys(plain._runner).create(name, Role.VIEWER)


async def test_what_somebody_else_wrote(plain: Engine) -> None:
    """A spoilt entry is not a key, and spoils no other."""
    api_keys = ApiKeys(plain._runner)
    text, made = await api_keys.create("a", Role.VIEWER)
    await plain._runner.command("HSET", keys.KEYS, "spoilt", "{")
    try:
        assert "spoilt" not in [listed.id for listed in await api_keys.list()]
        assert made == await api_keys.find(text)
    finally:
        await plain._runner.command("HDEL", keys.KEYS, "spoilt")
