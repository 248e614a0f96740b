"""Addresses that a visitor is sent to: always put together here, never echoed. Pure.

The host is one that the site has listed, or none is named. Of the request only the path and the
query are taken, encoded anew, so that nothing in them can become a host, a scheme or a header.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from urllib.parse import quote, urlsplit

from waitroom.errors import InvalidInput

CODE = "waitroom_code"
LONGEST_RETURN = 1_500
_HOST = re.compile(r"(?:[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?|\[[0-9a-f:.]+\])(?::[0-9]{1,5})?")
_IN_PATH = "/-._~!$&'()*+,;=:@"
_IN_QUERY = _IN_PATH + "?%"
_DEFAULT_PORTS = {"http": ":80", "https": ":443"}


def origin(text: str, field: str) -> str:
    """Return an http address without its last slash, or say that it is none."""
    parts = urlsplit(text if isinstance(text, str) else "")
    good = parts.scheme in _DEFAULT_PORTS and _HOST.fullmatch(parts.netloc.lower())
    if not good or parts.query or parts.fragment:
        raise InvalidInput(field, f"{text!r:.80} is no address like https://wait.example.com")
    return f"{parts.scheme}://{parts.netloc.lower()}{parts.path.rstrip('/')}"


def listed(hosts: tuple[str, ...]) -> dict[str, str | None]:
    """Return the hosts that may be returned to, with the origin of those that were given one."""
    found: dict[str, str | None] = {}
    for text in hosts:
        given = text.lower().rstrip("/")
        host = given.partition("://")[2] if "://" in given else given
        if not _HOST.fullmatch(host):
            raise InvalidInput("hosts", f"{text!r:.80} is no host like shop.example.com")
        found[host] = origin(given, "hosts") if "://" in given else None
    return found


def on_site(path: str, query: str) -> str:
    """Return an address on the same host: one slash, the path, and the query without the code."""
    text = "/" + quote(path.lstrip("/\\"), safe=_IN_PATH, errors="replace")
    rest = "&".join(
        part for part in query.split("&") if part and part.partition("=")[0].strip() != CODE
    )
    if not rest:
        return text
    return f"{text}?{quote(rest, safe=_IN_QUERY, errors='replace')}"


def return_to(
    hosts: Mapping[str, str | None], host: str, scheme: str, path: str, query: str
) -> str | None:
    """Return the address to come back to, if the request's host is one of the listed ones."""
    wanted = host.strip().lower().removesuffix(_DEFAULT_PORTS.get(scheme, ":"))
    for one, given in hosts.items():
        if one == wanted:
            base = given or f"{'https' if scheme == 'https' else 'http'}://{one}"
            whole = base + on_site(path, query)
            return whole if len(whole) <= LONGEST_RETURN else base + on_site(path, "")[:200]
    return None


def waiting_page(public_url: str, room: str, back: str | None) -> str:
    """Return the address of a room's waiting page, with where to go afterwards."""
    page = f"{public_url}/rooms/{quote(room, safe='')}"
    return page if back is None else f"{page}?return={quote(back, safe='')}"
