"""`waitroom claim-key`: the key with which a room's gates say whose place it is."""

from __future__ import annotations

from typing import Annotated

from waitroom.cli.command import RoomName, Session, option
from waitroom.operations import claim_keys

Renewed = Annotated[str | None, option("The claim key that it replaces.", "KEY", "--renew")]


async def claim_key(cli: Session, name: RoomName, renew: Renewed = None) -> None:
    """Make the key with which the gates of a room sign whose place it is; keep it secret.

    It follows from the server's secret, so it is not stored, and the same command shows the same
    key again. After a new secret was put in front, renew it with the key that the gates have: then
    everybody keeps their place, whichever of the two keys a gate uses.

    Example:

      waitroom claim-key concert
      waitroom claim-key concert --renew wrc_AbCd…
    """
    async with cli.engine() as engine:
        text = await claim_keys.make(engine, cli.trail(engine), name, renew)
    cli.out.show({"name": name, "claim_key": text}, text)
