"""Sign-outs from the operator page as stored in Redis: a key per session, until its end."""

from __future__ import annotations

from waitroom.credentials.sign_outs import SignOuts
from waitroom.engine import keys
from waitroom.engine.runner import Runner


class OperatorSignOuts(SignOuts):
    """Sign-outs of operators."""

    def __init__(self, runner: Runner) -> None:
        super().__init__()
        self._runner = runner

    async def write(self, session_id: str, lasts_s: int) -> None:
        """Store a sign-out; it expires with the session."""
        await self._runner.command("SET", keys.SIGN_OUT + session_id, "1", "EX", lasts_s)

    async def read(self, session_id: str) -> bool:
        """Return whether a sign-out is stored."""
        return await self._runner.command("GET", keys.SIGN_OUT + session_id) is not None
