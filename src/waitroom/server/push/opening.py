"""Opens what sends push messages, for a server whose settings ask for it."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator

from waitroom.credentials.secret import secret_text
from waitroom.push.sender import Sender
from waitroom.push.subscription import PushHosts
from waitroom.push.vapid import VapidKey
from waitroom.server.context import Server
from waitroom.server.pages.locales import load_locales
from waitroom.server.push.watch import PushWatch
from waitroom.settings import Settings


def load_key(settings: Settings) -> VapidKey:
    """Return the key by which push services know us."""
    contact = settings.push or ""
    if settings.push_key is not None:
        return VapidKey.from_pem(settings.push_key, contact)
    return VapidKey.derived(secret_text(settings), contact)


@contextlib.asynccontextmanager
async def opened(server: Server) -> AsyncIterator[None]:
    """Send push messages until the end."""
    settings = server.settings
    key, hosts = load_key(settings), PushHosts.from_text(settings.push_hosts)
    async with contextlib.aclosing(Sender(key, hosts)) as sender:
        locales = load_locales(settings.locales)
        watch = PushWatch(server.engine.push_subscriptions, server.boards, sender, locales)
        watch.start()
        server.push_key = key.public
        try:
            yield
        finally:
            await watch.stop()
