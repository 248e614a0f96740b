"""Servers behind a real nginx are restarted one after another, and no visitor notices."""

from __future__ import annotations

import asyncio
import contextlib
import re
import signal
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from tests.stacks.tools import deployed_nginx
from tests.support.clients import HOST, Wire, ask, live, metric, request, scrape
from tests.support.counts import count
from tests.support.programs import needed
from tests.support.servers import start_server, wait_for
from tests.support.serving import ADMIN, Serving, await_ready, end, launch, serving

DRAIN_S = 4.0
LONGEST_S = 120
ROOM = "hall"
TICKETS = f"/v1/rooms/{ROOM}/tickets"
POLICY = b'{"name": "hall", "policy": {"capacity": 5, "presence_s": 600}}'
OPERATOR = ADMIN | {"content-type": "application/json"}


@dataclass(slots=True)
class Crowd:
    """Visitors behind the proxy: what failed for them, and how often they had to reconnect."""

    port: int
    failed: list[str] = field(default_factory=list)
    asked: int = 0
    reconnects: int = 0
    done: bool = False

    def note(self, what: str, status: int) -> None:
        """Count an answer; anything but a success is a failure."""
        self.asked += 1
        if not 200 <= status < 300:
            self.failed.append(f"{what}: {status}")

    async def ask_on(self) -> None:
        """Join, poll, view the page and the room, repeatedly, on one connection."""
        async with Wire(self.port) as wire:
            while not self.done:
                joined = await self._ask(wire, "POST", TICKETS, None, b"")
                ticket = f"{TICKETS}/{joined['ticket']}" if joined else f"/v1/rooms/{ROOM}"
                await self._ask(wire, "GET", ticket)
                await self._ask(wire, "GET", f"/v1/rooms/{ROOM}")
                await self._ask(wire, "GET", "/.well-known/jwks.json")
                await self._ask(wire, "DELETE", ticket)
                await asyncio.sleep(0.02)

    async def operate(self) -> None:
        """Send requests that only the framework answers, and that a proxy must not send twice."""
        async with Wire(self.port) as wire:
            while not self.done:
                change = b'{"policy": {"capacity": 5}}'
                await self._ask(wire, "PATCH", f"/v1/admin/rooms/{ROOM}", OPERATOR, change)
                await asyncio.sleep(0.05)

    async def _ask(
        self,
        wire: Wire,
        method: str,
        path: str,
        headers: dict[str, str] | None = None,
        body: bytes | None = None,
    ) -> dict[str, str]:
        try:
            answer = await wire.ask(method, path, headers, body)
        except (OSError, asyncio.IncompleteReadError) as error:
            self.failed.append(f"{method} {path}: {error!r}")
            await wire.aclose()
            return {}
        self.note(f"{method} {path} {answer.body[-200:]!r}", answer.status)
        return dict(answer.json()) if answer.body.startswith(b"{") else {}

    async def watch(self, ticket: str) -> int:
        """Follow live events as a browser does; return how often the place was sent."""
        events, headers = 0, {"authorization": f"Bearer {ticket}"}
        while not self.done:
            async with live(self.port, f"{TICKETS}/me/events", headers) as stream:
                self.note("GET events", stream.status)
                retry_s = 0.0
                while not self.done:
                    try:
                        event = await stream.next(1)
                    except TimeoutError:
                        continue
                    if event is None:
                        break
                    events += event.kind == "ticket"
                    retry_s = (event.retry_ms or 0) / 1000
                if not self.done and not retry_s:
                    self.failed.append("a stream ended without a word")
            if not self.done:
                self.reconnects += 1
                await asyncio.sleep(retry_s)
        return events


async def restart(server: Serving) -> Serving:
    """Stop a server and start it again at the same address; the proxy trusts it on return."""
    server.process.send_signal(signal.SIGTERM)
    assert 0 == await asyncio.to_thread(server.process.wait, LONGEST_S)
    again = relaunch(server)
    await asyncio.to_thread(await_ready, again, LONGEST_S)
    name = "waitroom_lane_requests_total"
    seen = await asyncio.to_thread(lambda: metric(scrape(again.port), name))
    more = lambda: metric(scrape(again.port), name) > seen + 10  # noqa: E731
    await asyncio.to_thread(wait_for, more, "requests by nginx")
    return again


def relaunch(server: Serving) -> Serving:
    """Start a server with another server's settings."""
    folder = server.log.parent
    url = (folder / "url").read_text()
    return launch(folder, redis_url=url, port=server.port, drain_s=DRAIN_S, proxies=HOST)


@contextlib.contextmanager
def fleet(folder: Path) -> Iterator[list[Serving]]:
    """Run servers that share a backend and a secret."""
    needed("nginx")
    with start_server("valkey", folder / "backend") as backend:
        (folder / "url").write_text(backend.url)
        settings = {"redis_url": backend.url, "drain_s": DRAIN_S, "proxies": HOST}
        servers = [launch(folder, **settings) for _ in range(count("rolling_servers"))]
        try:
            for server in servers:
                await_ready(server, LONGEST_S)
            yield servers
        finally:
            for server in servers:
                server.process.terminate()
            for server in servers:
                end(server)


async def test_rolling_restart(tmp_path: Path) -> None:
    """No request fails, every stream reconnects and continues, each server stops cleanly."""
    with (
        fleet(tmp_path) as servers,
        deployed_nginx(tmp_path, [server.port for server in servers]) as port,
    ):
        made = ask(servers[0].port, request("POST", "/v1/admin/rooms", OPERATOR, POLICY))
        assert 201 == made.status
        crowd, streams = Crowd(port), count("rolling_streams")
        joined = [ask(port, request("POST", TICKETS, body=b"")).json() for _ in range(streams)]
        watchers = [asyncio.create_task(crowd.watch(ticket["ticket"])) for ticket in joined]
        askers = [asyncio.create_task(crowd.ask_on()) for _ in range(6)]
        askers.append(asyncio.create_task(crowd.operate()))
        for restarted in range(count("rolling_restarts")):
            number = restarted % len(servers)
            servers[number] = await restart(servers[number])
        crowd.done = True
        counts = await asyncio.gather(*watchers)
        await asyncio.gather(*askers)
    assert [] == crowd.failed[:20]
    assert crowd.asked > 100
    # Each restart disconnects that server's share of the visitors; none of them is lost.
    assert crowd.reconnects >= streams * count("rolling_restarts") // (2 * len(servers))
    assert min(counts) >= 1


def test_a_busy_server_resets_nobody(tmp_path: Path) -> None:
    """While connections pour in, a stopping server handles each completely or not at all.

    wrk would report a connection that the kernel accepted and nobody answered as an error ("read").
    One that was refused outright ("write", to wrk) is simply opened elsewhere by a proxy.
    """
    wrk = needed("wrk")
    with serving(tmp_path, drain_s=1) as server:
        ask(server.port, request("POST", "/v1/admin/rooms", OPERATOR, POLICY))
        url = f"{server.base}/v1/rooms/hall"
        load = [wrk, "-t1", "-c200", "-d240s", "-H", "Connection: close", url]
        with subprocess.Popen(load, stdout=subprocess.PIPE, text=True) as process:
            wait_for(
                lambda: metric(scrape(server.port), "waitroom_lane_requests_total") > 200, "load"
            )
            assert 0 == server.stop(LONGEST_S)
            time.sleep(2)  # it meets the closed port, however long the stop took
            process.send_signal(signal.SIGINT)  # wrk then reports what it has seen
            output = process.communicate()[0]
    errors = re.search(r"Socket errors: connect \d+, read (\d+), write \d+", output)
    assert errors is not None, output
    assert 0 == int(errors[1]), output
