"""Sign-outs from hosts' consoles. In the record, so that a lost Redis brings no session back."""

from __future__ import annotations

import time

from sqlalchemy import delete, exc, insert, select

from waitroom.credentials.sign_outs import SignOuts
from waitroom.desk.record.database import Database
from waitroom.desk.record.tables import sign_outs


class HostSignOuts(SignOuts):
    """Sign-outs of the hosts of all stores."""

    def __init__(self, database: Database) -> None:
        super().__init__()
        self._database = database

    async def write(self, session_id: str, lasts_s: int) -> None:
        """Store a sign-out, and forget those whose sessions are over anyway."""
        now_s = int(time.time())
        try:
            async with self._database.change() as connection:
                await connection.execute(delete(sign_outs).where(sign_outs.c.ends_s < now_s))
                values = {"session": session_id, "ends_s": now_s + lasts_s}
                await connection.execute(insert(sign_outs).values(values))
        except exc.IntegrityError:  # the button was pressed twice: it is stored
            return

    async def read(self, session_id: str) -> bool:
        """Return whether a sign-out is stored."""
        query = select(sign_outs.c.session).where(sign_outs.c.session == session_id)
        async with self._database.look() as connection:
            return (await connection.execute(query)).first() is not None
