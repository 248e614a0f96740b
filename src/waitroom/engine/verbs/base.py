"""What all verbs use: the parts of an engine, and how a script is called."""

from __future__ import annotations

from waitroom.engine import inputs
from waitroom.engine.api_keys import ApiKeys
from waitroom.engine.audit import Audit
from waitroom.engine.connection.connect import Backend
from waitroom.engine.crowd import Crowd
from waitroom.engine.declared import Declared
from waitroom.engine.handoffs import Handoffs
from waitroom.engine.history import RoomHistory
from waitroom.engine.joins import Joins
from waitroom.engine.lines import Lines
from waitroom.engine.marks import Marks
from waitroom.engine.outbox import Outbox
from waitroom.engine.protocol.calls import ScriptCall
from waitroom.engine.protocol.reply import Reply
from waitroom.engine.push_subscriptions import PushSubscriptions
from waitroom.engine.rooms import Rooms
from waitroom.engine.runner import Clock, Runner
from waitroom.engine.search import Search
from waitroom.engine.sign_outs import OperatorSignOuts
from waitroom.engine.ticket_reader import TicketReader
from waitroom.engine.user_sessions import UserSessions
from waitroom.engine.webhooks import Webhooks
from waitroom.models import check_room_name
from waitroom.tickets import KeyRing


class Verbs:
    """The parts of one engine: those that verbs use, and those that others use directly."""

    def __init__(
        self,
        backend: Backend,
        ring: KeyRing,
        *,
        clock: Clock | None = None,
        patience_s: float | None = None,
        admin_key: str | None = None,
        audit_days: int | None = None,
        joins_per_minute: int = 0,
    ) -> None:
        self.backend = backend
        self.ring = ring
        flags = backend.facts.scripts_take_flags
        self._runner = Runner(backend.clients, flags=flags, clock=clock, patience_s=patience_s)
        self._rooms = Rooms(self._runner)
        self._tickets = TicketReader(self._runner, ring)
        self._joins = Joins(self._runner, ring, self._tickets, joins_per_minute)
        self._crowd = Crowd(self._runner, self._tickets, self._joins)
        self._lines = Lines(self._runner)
        self._search = Search(self._runner)
        self._history = RoomHistory(self._runner)
        self.api_keys = ApiKeys(self._runner, bootstrap=admin_key)
        self.audit = Audit(self._runner, audit_days)
        self.declared = Declared(self._runner)
        self.handoffs = Handoffs(self._runner)
        self.outbox = Outbox(self._runner)
        self.webhooks = Webhooks(self._runner)
        self.marks = Marks(self._runner)
        self.push_subscriptions = PushSubscriptions(self._runner)
        self.sign_outs = OperatorSignOuts(self._runner)
        self.user_sessions = UserSessions(self._runner)

    async def _run(self, room: str, call: ScriptCall) -> Reply:
        return await self._runner.run(check_room_name(room), call)

    async def _single(self, room: str, call: ScriptCall, op_id: str | None = None) -> Reply:
        return await self._crowd.single(check_room_name(room), call, op_id)

    async def _once(self, room: str, call: ScriptCall, op_id: str | None) -> Reply:
        """Run a call that counts something: a repeat with the same `op_id` changes nothing."""
        op_id = inputs.op_id_of(op_id)
        return await self._runner.run(check_room_name(room), call, op_id=op_id)
