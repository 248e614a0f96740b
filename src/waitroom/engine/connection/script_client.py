"""Runs visitors' scripts on one connection of our own, answered in the order they are sent.

For each call, redis-py takes a connection from a pool, with locks, timers and measurements around
it: eight times the work of the call itself, for every batch of the crowd. Here a call is packed,
written and awaited. Only for a single server without TLS; redis-py does everything else.
"""

from __future__ import annotations

import asyncio
import socket
from collections import deque
from typing import Any, cast

import hiredis
from redis import exceptions as redis_errors

from waitroom.engine.connection.address import Address

_ERRORS: dict[str, type[redis_errors.ResponseError | redis_errors.ConnectionError]] = {
    "ASK": redis_errors.AskError,
    "LOADING": redis_errors.BusyLoadingError,
    "MOVED": redis_errors.MovedError,
    "NOAUTH": redis_errors.AuthenticationError,
    "NOPERM": redis_errors.NoPermissionError,
    "NOSCRIPT": redis_errors.NoScriptError,
    "OOM": redis_errors.OutOfMemoryError,
    "READONLY": redis_errors.ReadOnlyError,
}
"""The codes that redis-py has a class for; `faults.py` knows the others by their text."""


def _error(text: str) -> Exception:
    """Return an error reply as redis-py would raise it."""
    code, _, rest = text.partition(" ")
    kind = _ERRORS.get(code)
    return redis_errors.ResponseError(text) if kind is None else kind(rest)


class _Link(asyncio.Protocol):
    """One connection, from its first byte to its last."""

    def __init__(self) -> None:
        self.lost = False
        self._transport: asyncio.Transport
        self._parser = hiredis.Reader(replyError=_error)
        self._due: deque[asyncio.Future[Any]] = deque()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Start."""
        self._transport = cast(asyncio.Transport, transport)

    def connection_lost(self, exc: Exception | None) -> None:
        """Fail all unanswered calls: each may have run or not, so callers repeat them."""
        self.lost = True
        while self._due:
            future = self._due.popleft()
            if not future.done():
                future.set_exception(redis_errors.ConnectionError(f"closed: {exc or 'the end'}"))

    def data_received(self, data: bytes) -> None:
        """Pass replies to their waiters."""
        try:
            self._parser.feed(data)
            while (reply := self._parser.gets()) is not False:
                self._answer(reply)
        except (hiredis.ProtocolError, IndexError):  # not a reply, or one that nobody asked for
            self.abort()

    def _answer(self, reply: Any) -> None:
        future = self._due.popleft()
        if isinstance(reply, redis_errors.ReadOnlyError):
            self.abort()  # it is a replica now: its name may lead to the new primary
        if future.done():
            return  # its caller gave up
        if isinstance(reply, Exception):
            future.set_exception(reply)
        else:
            future.set_result(reply)

    def ask(self, *args: Any) -> asyncio.Future[Any]:
        """Send a command; the future gets its reply."""
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._due.append(future)
        self._transport.write(hiredis.pack_command(args))
        return future

    def late(self, future: asyncio.Future[Any]) -> None:
        """Give up: a server that is late for one call is late for all calls behind it."""
        if not future.done():
            future.set_exception(redis_errors.TimeoutError("no answer in time"))
        self.abort()

    def abort(self) -> None:
        """Close at once."""
        self.lost = True
        self._transport.abort()


class ScriptClient:
    """Runs scripts as redis-py's client does; connects when needed, and again when it is lost."""

    def __init__(self, address: Address, timeout_s: float, client_name: str) -> None:
        self._address = address
        options = address.options
        self._timeout_s = options.get("socket_timeout", timeout_s)
        self._connect_s = options.get("socket_connect_timeout", timeout_s)
        self._client_name = client_name
        self._link: _Link | None = None
        self._connecting: asyncio.Task[_Link] | None = None

    @staticmethod
    def suits(address: Address) -> bool:
        """Return whether an address is a single server reached in plain text."""
        return address.kind in ("single", "unix") and not address.tls

    async def evalsha(self, sha: str, numkeys: int, *args: Any) -> Any:
        """Run a script that the server knows."""
        return await self._ask("EVALSHA", sha, numkeys, *args)

    async def eval(self, script: str, numkeys: int, *args: Any) -> Any:
        """Run a script, and let the server store it."""
        return await self._ask("EVAL", script, numkeys, *args)

    async def aclose(self) -> None:
        """Close the connection."""
        if self._connecting is not None:
            self._connecting.cancel()
            await asyncio.wait([self._connecting])
        if self._link is not None:
            self._link.abort()

    async def _ask(self, *args: Any) -> Any:
        link = self._link
        if link is None or link.lost:
            link = await self._connected()
        future = link.ask(*args)
        timer = asyncio.get_running_loop().call_later(self._timeout_s, link.late, future)
        try:
            return await future
        finally:
            timer.cancel()

    async def _connected(self) -> _Link:
        """Connect, once for all callers that ask meanwhile."""
        task = self._connecting
        if task is None:
            task = self._connecting = asyncio.create_task(self._connect())
            task.add_done_callback(self._forget)
        return await asyncio.shield(task)

    def _forget(self, task: asyncio.Task[_Link]) -> None:
        self._connecting = None
        if not task.cancelled():
            task.exception()  # its callers have the error, unless all of them gave up

    async def _connect(self) -> _Link:
        loop, address = asyncio.get_running_loop(), self._address
        async with asyncio.timeout(self._connect_s):
            if address.kind == "unix":
                transport, link = await loop.create_unix_connection(_Link, address.path)
            else:
                ((host, port),) = address.hosts
                transport, link = await loop.create_connection(_Link, host, port)
                connection = transport.get_extra_info("socket")
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
            try:
                for greeting in self._greetings():
                    await link.ask(*greeting)
            except BaseException:
                link.abort()
                raise
        self._link = link
        return link

    def _greetings(self) -> list[tuple[str, ...]]:
        options = self._address.options
        greetings: list[tuple[str, ...]] = [("CLIENT", "SETNAME", self._client_name)]
        user, password = options.get("username"), options.get("password")
        if user or password:
            greetings.insert(0, ("AUTH", *((user,) if user else ()), password or ""))
        if options.get("db"):
            greetings.append(("SELECT", str(options["db"])))
        return greetings
