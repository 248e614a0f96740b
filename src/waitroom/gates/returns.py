"""Where a gate sends visitors: the waiting page, and from there back to a listed host. Pure.

The host is one that the site has listed, or none is given. Only path and query are taken from the
request, encoded again, so that nothing in them can become a host, a scheme or a header.
"""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import quote, urlsplit

from waitroom.errors import InvalidInput
from waitroom.web.names import BROWSER
from waitroom.web.return_urls import (
    DEFAULT_PORTS,
    LONGEST_RETURN,
    is_host,
    on_site,
    without_default_port,
)


def origin(text: str, field: str) -> str:
    """Return an http URL without its last slash, or refuse the text."""
    parts = urlsplit(text if isinstance(text, str) else "")
    good = parts.scheme in DEFAULT_PORTS and is_host(parts.netloc.lower())
    if not good or parts.query or parts.fragment:
        raise InvalidInput(field, f"{text!r:.80} is not an address like https://wait.example.com")
    return f"{parts.scheme}://{parts.netloc.lower()}{parts.path.rstrip('/')}"


def listed(hosts: tuple[str, ...]) -> dict[str, str | None]:
    """Return the hosts that may be returned to, each with its origin if given."""
    origins: dict[str, str | None] = {}
    for text in hosts:
        given = text.lower().rstrip("/")
        host = given.partition("://")[2] if "://" in given else given
        if not is_host(host):
            raise InvalidInput("hosts", f"{text!r:.80} is not a host like shop.example.com")
        origins[host] = origin(given, "hosts") if "://" in given else None
    return origins


def return_to(
    hosts: Mapping[str, str | None], host: str, scheme: str, path: str, query: str
) -> str | None:
    """Return the URL to come back to, if the request's host is listed."""
    wanted = without_default_port(scheme, host.strip())
    if wanted not in hosts:
        return None
    base = hosts[wanted] or f"{'https' if scheme == 'https' else 'http'}://{wanted}"
    for shorter in ((path, query), (path, ""), ("/", "")):
        url = base + on_site(*shorter, decoded=True)
        if len(url) <= LONGEST_RETURN:
            return url
    return None


def waiting_page(public_url: str, room: str, back: str | None) -> str:
    """Return the URL of a room's waiting page, with where to go afterwards."""
    page = f"{public_url}/rooms/{quote(room, safe='')}"
    return page if back is None else f"{page}?return={quote(back, safe='')}"


def with_mark(page: str, mark: str) -> str:
    """Return the URL of a waiting page with the mark of the browser that is sent there."""
    return f"{page}{'&' if '?' in page else '?'}{BROWSER}={mark}"


def claims_at(page: str) -> str:
    """Return the URL that takes a claim, of the URL of a waiting page."""
    path, mark, query = page.partition("?")
    return f"{path}/claim{mark}{query}"


def needs_code(page: str, host: str, scheme: str) -> bool:
    """Tell whether a session comes from the waiting page by a code: its cookie does not reach."""
    parts = urlsplit(page)
    if parts.scheme == "https" != scheme:
        return True
    return not is_host(host) or parts.hostname != urlsplit(f"//{host}").hostname
