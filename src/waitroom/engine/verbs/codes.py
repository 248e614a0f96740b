"""Entry codes: batches are noted and revoked; the codes themselves are written, not stored."""

from __future__ import annotations

from collections.abc import Iterator

from waitroom import entry_codes
from waitroom.engine import inputs
from waitroom.engine.keys import room_key
from waitroom.engine.protocol import calls, replies
from waitroom.engine.verbs.base import Verbs
from waitroom.entry_codes import MOST_CODES, MOST_USES
from waitroom.errors import InvalidInput
from waitroom.models import LONGEST_CODE_NOTE, CodeBatch, check_room_name

_REVOKED = ":revoked"


class CodeVerbs(Verbs):
    """Batches of entry codes of a room."""

    async def issue(
        self,
        room: str,
        count: int,
        *,
        uses: int = 1,
        note: str = "",
        by: str = "",
        op_id: str | None = None,
    ) -> CodeBatch:
        """Note a new batch of `count` codes; `codes` writes them."""
        inputs.check_count("count", count, MOST_CODES)
        inputs.check_count("uses", uses, MOST_USES)
        if not isinstance(note, str) or len(note) > LONGEST_CODE_NOTE or not note.isprintable():
            text = f"takes at most {LONGEST_CODE_NOTE} characters without line breaks"
            raise InvalidInput("note", text)
        op_id = inputs.op_id_of(op_id)
        while True:  # of a million names, the room has one already
            call = calls.issue(entry_codes.new_batch(), count, uses, note, by)
            batch = replies.issued(await self._once(room, call, op_id))
            if batch is not None:
                await self._noted(room)
                return batch

    def codes(self, room: str, batch: CodeBatch) -> Iterator[str]:
        """Yield the codes of a batch, as people get them."""
        return entry_codes.write_batch(self.ring, room, batch.batch, batch.count, batch.uses)

    async def revoke(
        self, room: str, batch: str, *, force: bool = False, op_id: str | None = None
    ) -> CodeBatch:
        """Let nobody join any more with the codes of a batch; whoever has a place keeps it.

        `force` also revokes a batch that the room does not know, because a loss has forgotten it.
        """
        name = entry_codes.batch_of(batch) if isinstance(batch, str) else None
        if name is None:
            raise InvalidInput("batch", "must be four letters or digits, as its codes begin")
        replies.revoked_ms(await self._once(room, calls.revoke(name, force=force), op_id))
        return next(each for each in await self._noted(room) if each.batch == name)

    async def batches(self, room: str) -> tuple[CodeBatch, ...]:
        """Return the batches of a room, oldest first, with what is used of them."""
        await self._run(check_room_name(room), calls.STATS)  # does the room exist?
        return await self._noted(room)

    async def _noted(self, room: str) -> tuple[CodeBatch, ...]:
        noted = await self._runner.command("HGETALL", room_key(room, "batches"))
        self._runner.memory(room).batches |= noted
        fields = {name.decode(): value for name, value in noted.items()}
        names = sorted({name.removesuffix(_REVOKED) for name in fields})
        if not names:
            return ()
        used = await self._runner.command("HMGET", room_key(room, "codes"), *names)
        batches = [
            replies.code_batch(name, fields.get(name), fields.get(name + _REVOKED), int(uses or 0))
            for name, uses in zip(names, used, strict=True)
        ]
        return tuple(sorted(batches, key=lambda each: (each.made_ms or 0, each.batch)))
