"""The calls of operators as methods, for both clients."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Iterator, Sequence

from waitroom.client.operator import calls
from waitroom.client.operator.events import Stream
from waitroom.client.operator.views import RoomEvent
from waitroom.client.sending import Asynchronous, Synchronous, at_once, awaited


class Operator:
    """The calls of operators: `client.operator`."""

    def __init__(self, connection: Asynchronous) -> None:
        self._connection = connection

    rooms = awaited(calls.rooms)
    create_room = awaited(calls.create_room)
    room = awaited(calls.room)
    change_room = awaited(calls.change_room)
    set_mode = awaited(calls.set_mode)
    undo = awaited(calls.undo)
    drop_room = awaited(calls.drop_room)
    clear = awaited(calls.clear)
    admit = awaited(calls.admit)
    call = awaited(calls.call_ticket)
    kick = awaited(calls.kick)
    kick_by_age = awaited(calls.kick_by_age)
    reinstate = awaited(calls.reinstate)
    codes = awaited(calls.codes)
    create_codes = awaited(calls.create_codes)
    revoke_codes = awaited(calls.revoke_codes)
    note = awaited(calls.note)
    tickets = awaited(calls.tickets)
    short_code = awaited(calls.short_code)
    find = awaited(calls.find)
    person = awaited(calls.person)
    stats = awaited(calls.stats)
    series = awaited(calls.series)
    history = awaited(calls.history)
    audit = awaited(calls.audit)
    keys = awaited(calls.keys)
    create_key = awaited(calls.create_key)
    revoke_key = awaited(calls.revoke_key)
    webhooks = awaited(calls.webhooks)
    create_webhook = awaited(calls.create_webhook)
    switch_webhook = awaited(calls.switch_webhook)
    rotate_webhook = awaited(calls.rotate_webhook)
    test_webhook = awaited(calls.test_webhook)
    delete_webhook = awaited(calls.delete_webhook)

    async def events(
        self, *rooms: str, types: Sequence[str] = (), cursor: str = ""
    ) -> AsyncIterator[RoomEvent]:
        """Yield what happens in rooms, or in all, from now on or from after a `cursor`.

        A stream that breaks goes on where it was, for up to `patience_s` at a time.
        """
        import httpx2

        connection = self._connection
        stream = Stream(connection.target, rooms, types, cursor)
        while True:
            try:
                async with connection.http_client().sse(**stream.request()) as source:
                    if source.response.is_success:
                        async for message in source:
                            if (event := stream.read(message)) is not None:
                                yield event
                        pause = stream.broken(None)
                    else:
                        await source.response.aread()
                        pause = stream.refused(source.response)
            except httpx2.TransportError as error:
                pause = stream.broken(error)
            await asyncio.sleep(pause.seconds)


class SyncOperator:
    """The calls of operators: `client.operator`, without `await`."""

    def __init__(self, connection: Synchronous) -> None:
        self._connection = connection

    rooms = at_once(calls.rooms)
    create_room = at_once(calls.create_room)
    room = at_once(calls.room)
    change_room = at_once(calls.change_room)
    set_mode = at_once(calls.set_mode)
    undo = at_once(calls.undo)
    drop_room = at_once(calls.drop_room)
    clear = at_once(calls.clear)
    admit = at_once(calls.admit)
    call = at_once(calls.call_ticket)
    kick = at_once(calls.kick)
    kick_by_age = at_once(calls.kick_by_age)
    reinstate = at_once(calls.reinstate)
    codes = at_once(calls.codes)
    create_codes = at_once(calls.create_codes)
    revoke_codes = at_once(calls.revoke_codes)
    note = at_once(calls.note)
    tickets = at_once(calls.tickets)
    short_code = at_once(calls.short_code)
    find = at_once(calls.find)
    person = at_once(calls.person)
    stats = at_once(calls.stats)
    series = at_once(calls.series)
    history = at_once(calls.history)
    audit = at_once(calls.audit)
    keys = at_once(calls.keys)
    create_key = at_once(calls.create_key)
    revoke_key = at_once(calls.revoke_key)
    webhooks = at_once(calls.webhooks)
    create_webhook = at_once(calls.create_webhook)
    switch_webhook = at_once(calls.switch_webhook)
    rotate_webhook = at_once(calls.rotate_webhook)
    test_webhook = at_once(calls.test_webhook)
    delete_webhook = at_once(calls.delete_webhook)

    def events(
        self, *rooms: str, types: Sequence[str] = (), cursor: str = ""
    ) -> Iterator[RoomEvent]:
        """Yield what happens in rooms, or in all, from now on or from after a `cursor`.

        A stream that breaks goes on where it was, for up to `patience_s` at a time.
        """
        import httpx2

        connection = self._connection
        stream = Stream(connection.target, rooms, types, cursor)
        while True:
            try:
                with connection.http_client().sse(**stream.request()) as source:
                    if source.response.is_success:
                        for message in source:
                            if (event := stream.read(message)) is not None:
                                yield event
                        pause = stream.broken(None)
                    else:
                        source.response.read()
                        pause = stream.refused(source.response)
            except httpx2.TransportError as error:
                pause = stream.broken(error)
            time.sleep(pause.seconds)
