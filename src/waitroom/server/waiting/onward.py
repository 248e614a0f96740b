"""Where people go once they are inside: the room's own address, or the page they came from.

Anybody can write `?return=`, so it is used only if it leads to this host or to the origin of the
room's `go_to`, and then rebuilt from its parts: nothing in it can become a host, a scheme or a
header. Pure.
"""

from __future__ import annotations

from typing import NamedTuple
from urllib.parse import urlsplit

from waitroom.web import return_urls
from waitroom.web.return_urls import LONGEST_RETURN, origin_of, without_default_port


class Onward(NamedTuple):
    """An address to go to, and whether it needs a one-time code to take the session there."""

    url: str
    hand_off: bool


def returning(text: str | None, host: str | None, go_to: str | None) -> str | None:
    """Return where a visitor came from, rebuilt; None unless it is here or where the room leads.

    `host` is ours, as the visitor's browser names it. An address on it becomes a path, so that a
    forged host name leads nowhere else.
    """
    parts = return_urls.split(text or "")
    if parts is None:
        return None
    scheme, netloc = parts.scheme, parts.netloc
    origin = origin_of(parts) if netloc else ""
    if (
        host
        and netloc
        and without_default_port(scheme, netloc) == without_default_port(scheme, host)
    ):
        origin = ""
    target = return_urls.split(go_to or "")
    if origin and (target is None or origin != origin_of(target)):
        return None
    url = f"{origin}{return_urls.on_site(parts.path, parts.query, parts.fragment, decoded=False)}"
    return url if len(url) <= LONGEST_RETURN else None


def onward(back: str | None, host: str | None, go_to: str | None, *, secure: bool) -> Onward | None:
    """Return where to go: back, if `returning` accepted it, else to the room's `go_to`.

    The cookie of the pass reaches every port of our host, but only https if it was set over https.
    """
    url = back or go_to
    if url is None:
        return None
    parts = urlsplit(url)
    if not parts.netloc:
        return Onward(url, hand_off=False)
    known = host is not None and return_urls.is_host(host.lower())
    ours = urlsplit(f"//{host}").hostname if known else None
    reached = parts.hostname == ours and (parts.scheme == "https" or not secure)
    return Onward(url, hand_off=not reached)
