"""Waitroom from Python, over HTTP: for services, scripts and tests.

    async with Client("http://localhost:8080") as client:
        ticket = await client.join("concert")
        async for view in client.follow(ticket):
            if view.state is State.CALLED:
                inside = await client.enter(view)
                break

`SyncClient` has the same calls without `await`; `client.operator` those that need an API key. A
refusal is raised as the error of `waitroom.errors` that has its code. Each call is written once, as
a generator of requests; the clients differ in how they send. Nothing here imports the server.
"""

from __future__ import annotations

from waitroom.client.clients import Client, SyncClient
from waitroom.client.refusals import reason_of
from waitroom.client.views import Code, Place, Room, Ticket

__all__ = ["Client", "Code", "Place", "Room", "SyncClient", "Ticket", "reason_of"]
