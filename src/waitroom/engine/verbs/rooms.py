"""What can be done to rooms, without their people."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from waitroom.engine.protocol import calls, replies
from waitroom.engine.rooms import ForeignTickets
from waitroom.engine.verbs.base import Verbs
from waitroom.models import Policy, PolicyChange, Room, check_room_name


class RoomVerbs(Verbs):
    """Rooms: made, changed, emptied, dropped, remembered."""

    async def create(self, room: str, policy: Policy, *, op_id: str | None = None) -> Room:
        """Make a room."""
        return await self._rooms.create(room, policy, op_id)

    async def configure(
        self, room: str, *, version: int | None = None, op_id: str | None = None, **changes: Any
    ) -> PolicyChange:
        """Change fields of a policy atomically; with `version`, only if it is still current.

        Return the room immediately before and after. A repeat of an `op_id` changes nothing.
        """
        return await self._rooms.configure(room, version, op_id, changes)

    async def clear(self, room: str, *, op_id: str | None = None) -> int:
        """Empty a room and refuse all its tickets from now on; return how many it held."""
        cleared = replies.cleared(await self._once(room, calls.CLEAR, op_id))
        await self.push_subscriptions.forget(room)
        return cleared

    async def drop(self, room: str, *, op_id: str | None = None) -> bool:
        """Remove a room with everything in it; return whether it existed."""
        dropped = await self._rooms.drop(room, op_id)
        await self.push_subscriptions.forget(room)
        await self._history.forget(room)
        await self.marks.forget(room)
        return dropped

    async def room(self, room: str) -> Room:
        """Return a room with its policy as it is now."""
        return await self._rooms.get(room)

    async def rooms(self) -> tuple[str, ...]:
        """Return the names of all rooms; while a Cluster's index is away, only those known here."""
        return await self._rooms.names()

    async def occupied(self, rooms: Sequence[str]) -> list[str]:
        """Return the rooms with anybody in them; a cheap query for many rooms at once."""
        return await self._rooms.occupied(rooms)

    async def foreign_tickets(self, rooms: Sequence[str]) -> list[ForeignTickets]:
        """Return the rooms that were shown tickets of another deployment with our secret."""
        return await self._rooms.foreign_tickets(rooms)

    async def salt(self, room: str) -> str:
        """Return the salt of a room's accounts, as `ClaimKey.salt_name` has it; empty = any."""
        return await self._rooms.salt(check_room_name(room))

    async def note_kicks(self, rooms: Sequence[str]) -> None:
        """Learn whom anybody has kicked, banned or reinstated, so that it survives a loss."""
        await self._rooms.note_kicks(rooms)

    async def meet(self, rooms: Sequence[str]) -> list[str]:
        """Get to know rooms, so that they survive a loss; return the rooms that need cleanup."""
        return await self._rooms.meet(rooms)

    def remembered(self) -> set[str]:
        """Return the rooms that this process could bring back after a loss."""
        return {room for room in self._runner.memories if self._runner.knows(room)}

    def policy_of(self, room: str) -> Policy | None:
        """Return the policy that this process knows of a room, without asking the server."""
        memory = self._runner.memories.get(room)
        return memory.policy if memory is not None else None

    def declare(self, room: str, policy: Policy) -> None:
        """Remember a room from a configuration file: it survives a loss of data and our restart."""
        self._runner.declare(check_room_name(room), policy)
