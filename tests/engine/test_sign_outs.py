"""Sign-outs of operators: every process refuses the session soon, and Redis forgets it in time."""

from __future__ import annotations

import secrets
import time
from collections.abc import AsyncIterator

import pytest

from tests.support.clock import open_engine
from tests.support.servers import Server
from waitroom.credentials import sign_outs as module
from waitroom.engine import Engine, keys
from waitroom.engine.sign_outs import OperatorSignOuts


@pytest.fixture
async def plain(server: Server) -> AsyncIterator[Engine]:
    """Connect an engine on the server's own clock."""
    async with open_engine(server.url) as engine:
        yield engine


@pytest.mark.attack
async def test_every_process_refuses_the_session(
    plain: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It counts at once where they signed out, elsewhere as soon as the copy is not fresh."""
    monkeypatch.setattr(module, "FRESH_S", 0.0)  # copies elsewhere are stale at once
    here, elsewhere = OperatorSignOuts(plain._runner), OperatorSignOuts(plain._runner)
    session, other = secrets.token_hex(8), secrets.token_hex(8)
    assert [False, False] == [await here.has(session), await elsewhere.has(session)]
    await here.add(session, int(time.time()) + 60)
    assert await here.has(session)
    assert await elsewhere.has(session)
    assert not await elsewhere.has(other)


async def test_a_sign_out_lasts_as_long_as_its_session(plain: Engine) -> None:
    """Redis keeps it until then; nothing is kept of a session that is over."""
    signed_out = OperatorSignOuts(plain._runner)
    session, over = secrets.token_hex(8), secrets.token_hex(8)
    await signed_out.add(session, int(time.time()) + 60)
    await signed_out.add(over, int(time.time()) - 60)
    assert 55 <= await plain._runner.command("TTL", keys.SIGN_OUT + session) <= 62
    assert 0 == await plain._runner.command("EXISTS", keys.SIGN_OUT + over)


async def test_what_a_process_remembers_is_bounded(
    plain: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """This holds however many sessions are shown."""
    monkeypatch.setattr(module, "_MOST_KEPT", 3)
    signed_out = OperatorSignOuts(plain._runner)
    for _ in range(10):
        assert not await signed_out.has(secrets.token_hex(8))
        assert len(signed_out._good_until) <= 3
