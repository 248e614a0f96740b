"""Where people go on to once they are inside: the room's own address, or the page they came from.

`?return=` is anybody's word, so it is taken only where it leads to this host or to the origin of
the room's `go_to`, and then put together again from its parts: nothing of it can become a host, a
scheme or a header. Pure.
"""

from __future__ import annotations

import re
from typing import NamedTuple
from urllib.parse import SplitResult, quote, unquote_plus, urlsplit

CODE = "waitroom_code"
LONGEST_RETURN = 2_000
_HOST = re.compile(
    r"(?:[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?|\[[0-9a-f:.]{2,45}\])(?::[0-9]{1,5})?"
)
# What browsers drop (controls) or read as a slash (a backslash) would make them see another host.
_UNSAFE = re.compile(r"[\x00-\x1f\x7f-\xa0\\\u2028\u2029\ufeff]")
_IN_PATH = "/%-._~!$&'()*+,;=:@"
_IN_QUERY = _IN_PATH + "?"
_PORTS = {"http": ":80", "https": ":443"}


class Onward(NamedTuple):
    """An address to go on to, and whether it needs a one-time code to take the session there."""

    url: str
    hand_off: bool


def returning(text: str | None, host: str | None, go_to: str | None) -> str | None:
    """Return where a visitor came from, rebuilt; None unless it is here or where the room leads.

    `host` is ours, as the visitor's browser names it. An address on it becomes a path, so that a
    forged name of the host leads nowhere else.
    """
    parts = _parts(text or "")
    if parts is None:
        return None
    if not parts.netloc:
        return _rebuilt(parts) if parts.path.startswith("/") else None
    if host and _bare(parts.scheme, parts.netloc) == _bare(parts.scheme, host):
        return _rebuilt(parts)
    origin = origin_of(parts)
    target = _parts(go_to or "")
    if origin is None or target is None or origin != origin_of(target):
        return None
    return origin + _rebuilt(parts)


def onward(back: str | None, host: str | None, go_to: str | None, *, secure: bool) -> Onward | None:
    """Return where to go: back, if `returning` took it, else to where the room leads.

    The cookie of the pass reaches every port of our host, but nothing that is not https if it came
    by https.
    """
    url = back or go_to
    if url is None:
        return None
    parts = urlsplit(url)
    if not parts.netloc:
        return Onward(url, hand_off=False)
    ours = urlsplit(f"//{host or ''}").hostname if host and _HOST.fullmatch(host.lower()) else None
    reached = parts.hostname == ours and (parts.scheme == "https" or not secure)
    return Onward(url, hand_off=not reached)


def with_code(url: str, code: str) -> str:
    """Add a one-time code to the query of an address."""
    main, sign, fragment = url.partition("#")
    return f"{main}{'&' if '?' in main else '?'}{CODE}={quote(code, safe='')}{sign}{fragment}"


def origin_of(parts: SplitResult) -> str | None:
    """Return `https://shop.example`, without a port that goes without saying."""
    netloc = parts.netloc.lower()
    if parts.scheme not in _PORTS or not _HOST.fullmatch(netloc):
        return None
    return f"{parts.scheme}://{_bare(parts.scheme, netloc)}"


def _bare(scheme: str, netloc: str) -> str:
    return netloc.lower().removesuffix(_PORTS.get(scheme, ":"))


def _parts(text: str) -> SplitResult | None:
    """Split an address; None for what is none, or what a browser could read in another way."""
    if not text or len(text) > LONGEST_RETURN or _UNSAFE.search(text):
        return None
    if text.startswith("//") or not (text.startswith("/") or text[:8].lower().startswith("http")):
        return None
    try:
        parts = urlsplit(text)
    except ValueError:
        return None
    if text.startswith("/"):
        return parts if not (parts.scheme or parts.netloc) else None
    return parts if origin_of(parts) else None


def _rebuilt(parts: SplitResult) -> str:
    """Return path, query and fragment; one slash in front, and without a code of somebody else."""
    path = "/" + parts.path.lstrip("/")
    query = "&".join(
        part
        for part in parts.query.split("&")
        if part and unquote_plus(part.partition("=")[0]).strip().lower() != CODE
    )
    made = quote(path, safe=_IN_PATH, errors="replace")
    if query:
        made += "?" + quote(query, safe=_IN_QUERY, errors="replace")
    if parts.fragment:
        made += "#" + quote(parts.fragment, safe=_IN_QUERY, errors="replace")
    return made
