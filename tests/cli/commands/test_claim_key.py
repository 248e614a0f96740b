"""`waitroom claim-key`: the key with which a room's gates say whose place it is."""

from __future__ import annotations

from tests.cli.conftest import Cli
from waitroom.accounts import ClaimKey, ClaimUse
from waitroom.models import Policy
from waitroom.tickets import KeyRing


def test_claim_key(cli: Cli, room: str) -> None:
    """The same key is shown each time, a renewed one knows the same accounts; both are audited."""
    cli.engine(lambda engine: engine.create(room, Policy()))
    first = cli.text("claim-key", room).strip()
    assert first == cli.json("claim-key", room)["claim_key"]
    renewed = cli.text("claim-key", room, "--renew", first).strip()
    old, new = ClaimKey.parse(first), ClaimKey.parse(renewed)
    assert old.account(room, "ann") == new.account(room, "ann")
    entries = cli.engine(lambda engine: engine.audit.page(room=room, limit=9)).entries
    made = [entry.detail for entry in entries if entry.action == "claim_key.make"]
    assert [{"renewed": True}, {"renewed": False}, {"renewed": False}] == made
    assert first not in str(entries)


def test_one_salt(cli: Cli, room: str) -> None:
    """A key that would give everybody a second account is not made before `clear`."""
    cli.engine(lambda engine: engine.create(room, Policy()))
    foreign = KeyRing([b"the secret of another server, 32 b"]).claim_key(room)
    use = ClaimUse(foreign.account(room, "ann"), f"nonce 5 {foreign.salt_name}")
    cli.engine(lambda engine: engine.join(room, account=use))
    assert "--renew KEY" in cli.error("claim-key", room)[1]
    renewed = cli.text("claim-key", room, "--renew", foreign.text()).strip()
    assert foreign.salt == ClaimKey.parse(renewed).salt
    cli.engine(lambda engine: engine.clear(room))
    assert foreign.salt != ClaimKey.parse(cli.text("claim-key", room).strip()).salt


def test_mistakes(cli: Cli, room: str) -> None:
    """A room that is not there and a key that is none are said."""
    assert "there is no room" in cli.error("claim-key", "nowhere")[1]
    cli.engine(lambda engine: engine.create(room, Policy()))
    assert "waitroom claim-key ROOM" in cli.error("claim-key", room, "--renew", "wr_x")[1]
