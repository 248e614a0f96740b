"""The loop that checks where subscribers stand, and sends due messages.

It runs in every process. Whichever process comes first checks a room, every few seconds; only its
subscribers are read, in bounded steps. Each message is claimed before it is sent, so two processes
never send the same one: a process that dies in between leaves its message unsent.
"""

from __future__ import annotations

import asyncio
import logging
import random

from waitroom.engine.push_subscriptions import PushSubscriptions, Subscriber
from waitroom.errors import UnknownRoom, WaitroomError
from waitroom.estimate.methods import Wait
from waitroom.push.sender import Outcome, Sender
from waitroom.push.subscription import Subscription
from waitroom.server.pages.languages import DEFAULT
from waitroom.server.pages.locales import Locales
from waitroom.server.push.messages import due, message, over
from waitroom.server.rooms.background import Background
from waitroom.server.rooms.board import Board, Boards

log = logging.getLogger("waitroom.push")

LAP_S = 5.0
AT_ONCE = 32
"""Messages under way; while a push service is slow, later ones wait."""


class PushWatch(Background):
    """Checks all rooms with subscribers, repeatedly."""

    def __init__(
        self,
        subscriptions: PushSubscriptions,
        boards: Boards,
        sender: Sender,
        locales: Locales,
        *,
        lap_s: float = LAP_S,
    ) -> None:
        super().__init__()
        self._subscriptions = subscriptions
        self._boards = boards
        self._sender = sender
        self._locales = locales
        self._lap_s = lap_s
        self._turns = asyncio.Semaphore(AT_ONCE)
        self._sending: set[asyncio.Task[None]] = set()

    async def run(self) -> None:
        """Run until it is cancelled."""
        while True:
            await asyncio.sleep(self._lap_s * random.uniform(0.8, 1.2))  # noqa: S311
            try:
                await self._lap()
            except WaitroomError as error:  # away: noticed elsewhere
                log.debug("could not look for push messages: %s", error)
            except Exception:
                log.exception("could not look for push messages")

    async def stop(self) -> None:
        """Stop; give up on messages under way."""
        await super().stop()
        for task in self._sending:
            task.cancel()
        if self._sending:
            await asyncio.wait(self._sending, timeout=1)

    async def _lap(self) -> None:
        turn_ms = int(self._lap_s * 700)  # less than the shortest pause, so that no room is skipped
        for room in await self._subscriptions.rooms():
            if await self._subscriptions.take_turn(room, turn_ms):
                await self.look(room)

    async def look(self, room: str) -> None:
        """Start to send due messages in a room, and forget who is gone."""
        try:
            board = await self._boards.get(room)
        except UnknownRoom:
            await self._subscriptions.forget(room)
            return
        holding = board.stats.hold_until_ms is not None
        async for subscribers in self._subscriptions.subscribers(room):
            gone = [each.id for each in subscribers if over(each, holding=holding)]
            await self._subscriptions.remove(room, gone)
            for subscriber in subscribers:
                await self._tell(board, subscriber)

    async def drain(self) -> None:
        """Wait until every message under way has its outcome."""
        while self._sending:
            await asyncio.wait(self._sending)

    async def _tell(self, board: Board, subscriber: Subscriber) -> None:
        kind = due(subscriber, _wait(board, subscriber))
        if kind is None:
            return
        await self._turns.acquire()
        try:
            claimed = await self._subscriptions.claim(board.room, subscriber.id, kind)
        except BaseException:
            self._turns.release()
            raise
        if not claimed:
            self._turns.release()
            return
        task = asyncio.create_task(self._send(board, subscriber, kind))
        self._sending.add(task)
        task.add_done_callback(self._sent)

    def _sent(self, task: asyncio.Task[None]) -> None:
        self._sending.discard(task)
        self._turns.release()
        if not task.cancelled() and (error := task.exception()) is not None:
            log.error("a push message failed", exc_info=error)

    async def _send(self, board: Board, subscriber: Subscriber, kind: str) -> None:
        subscription = Subscription.from_text(subscriber.subscription)
        text = self._locales.get(subscription.lang) or self._locales[DEFAULT]
        content = message(kind, text, board.room, board.policy)
        outcome = await self._sender.send(
            subscription,
            content.to_bytes(),
            ttl_s=content.ttl_s,
            subject=f"{board.room}:{subscriber.id}",
        )
        if outcome is Outcome.GONE:
            await self._subscriptions.remove(board.room, [subscriber.id])


def _wait(board: Board, subscriber: Subscriber) -> Wait | None:
    """Return how long somebody waits, unless that would reveal the order of a draw before it."""
    if board.stats.hidden or subscriber.position is None:
        return None
    return board.wait(subscriber.position)
