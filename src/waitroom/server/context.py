"""What one process of the server holds. `lifecycle.py` opens it; routes get it with `Here`.

Only fields: nothing here knows a route or a page, and its parts never see the `Server`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any, Protocol

from fastapi import Depends, Request

from waitroom.credentials.named_users import NamedUsers
from waitroom.credentials.sign_outs import SignOuts
from waitroom.engine import Engine
from waitroom.engine.api_keys import ApiKeys
from waitroom.engine.audit import Audit
from waitroom.engine.handoffs import Handoffs
from waitroom.operations.undo import LastChanges
from waitroom.server.challenges.holder import Challenges
from waitroom.server.counters.shared import SharedCounters
from waitroom.server.counters.worker import Counters
from waitroom.server.http.cors import Cors
from waitroom.server.http.event_stream import OpenStreams
from waitroom.server.http.proxies import TrustedProxies
from waitroom.server.http.rate_limits import Buckets
from waitroom.server.http.under_way import UnderWay
from waitroom.server.process.logs import AccessLog
from waitroom.server.rooms.backend_health import BackendHealth
from waitroom.server.rooms.board import Boards
from waitroom.server.rooms.live_streams import LiveStreams
from waitroom.server.rooms.passes import Passes
from waitroom.settings import Settings
from waitroom.tickets import KeyRing
from waitroom.web.origins import Origins

if TYPE_CHECKING:
    from waitroom.desk.desk import Desk  # its packages may be missing


class DeskStreams(Protocol):
    """The live streams of the desk, as far as their connections need them."""

    def open(self, listener: Any, /) -> None:
        """Add a stream, unless there are too many."""

    def close(self, listener: Any, /) -> None:
        """Remove a stream."""


@dataclass(slots=True)
class Server:
    """One process: its engine, and what the routes need."""

    settings: Settings
    engine: Engine
    ring: KeyRing
    passes: Passes
    keys: ApiKeys
    audit: Audit
    last_changes: LastChanges
    handoffs: Handoffs
    sign_outs: SignOuts
    boards: Boards
    backend_health: BackendHealth
    counters: Counters
    shared_counters: SharedCounters
    proxies: TrustedProxies
    origins: Origins
    cors: Cors | None
    """Who may call from pages elsewhere, if the settings list somebody."""

    joins: Buckets
    """Limits joins that no room counts: at the desk, and while the backend is away."""

    challenges: Challenges
    bad_keys: Buckets
    under_way: UnderWay
    announces: Buckets
    open_streams: OpenStreams
    live_streams: LiveStreams
    named_users: NamedUsers | None = None
    """Who may name the users of the operator page in a header, if the settings list any proxy."""

    desk: Desk | None = None
    """The restaurants' waitlists, if this server has them (`settings.desk`)."""

    desk_streams: DeskStreams | None = None
    push_key: str = ""
    """The key with which browsers subscribe to push messages; empty if this server sends none."""

    operator_streams: set[object] = field(default_factory=set)
    """The open streams of operators, which have a limit of their own."""

    access_log: AccessLog | None = None
    """Where each request of the lane is written, if the settings ask for that."""

    draining: bool = False


def server_of(request: Request) -> Server:
    """Return the server that a request came to."""
    server: Server = request.app.state.server
    return server


Here = Annotated[Server, Depends(server_of)]
