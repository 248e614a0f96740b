"""Addresses that a visitor is sent to: always assembled here, never echoed. Pure.

A gate writes `?return=` and the waiting page reads it, so both use one form and one limit, the
stricter of the two: hosts are matched in full, default ports dropped, slashes and backslashes in
front become one slash, and a one-time code is removed however it is spelled. A URL that is longer
than `LONGEST_RETURN` once encoded is not used: it must fit into a query, encoded once more.
"""

from __future__ import annotations

import re
from urllib.parse import SplitResult, quote, unquote_plus, urlsplit

from waitroom.web.names import CODE

LONGEST_RETURN = 1_500
DEFAULT_PORTS = {"http": ":80", "https": ":443"}
_HOST = re.compile(
    r"(?:[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?|\[[0-9a-f:.]{2,45}\])(?::[0-9]{1,5})?"
)
# Browsers drop controls and read a backslash as a slash, and so would see another host.
_UNSAFE = re.compile(r"[\x00-\x1f\x7f-\xa0\\\u2028\u2029\ufeff]")
_IN_PATH = "/-._~!$&'()*+,;=:@"
_IN_QUERY = _IN_PATH + "?%"


def is_host(text: str) -> bool:
    """Return whether a text in lower case is a host, maybe with a port."""
    return _HOST.fullmatch(text) is not None


def without_default_port(scheme: str, netloc: str) -> str:
    """Return a host in lower case, without a default port."""
    return netloc.lower().removesuffix(DEFAULT_PORTS.get(scheme, ":"))


def origin_of(parts: SplitResult) -> str | None:
    """Return `https://shop.example` from an address; None if its scheme is not http or https."""
    if parts.scheme not in DEFAULT_PORTS or not is_host(parts.netloc.lower()):
        return None
    return f"{parts.scheme}://{without_default_port(parts.scheme, parts.netloc)}"


def split(text: str) -> SplitResult | None:
    """Split an address that somebody sent; None if a browser could read it differently."""
    if not text or _UNSAFE.search(text):
        return None
    is_path = text.startswith("/")
    if text.startswith("//") or not (is_path or text[:4].lower() == "http"):
        return None
    try:
        parts = urlsplit(text)
    except ValueError:
        return None
    if is_path:
        return None if parts.scheme or parts.netloc else parts
    return parts if origin_of(parts) else None


def on_site(path: str, query: str, fragment: str = "", *, decoded: bool) -> str:
    """Return an address without a host: one slash, the path, and the query without a code.

    `decoded` says that `path` no longer has escapes, as frameworks pass it: there a `%` is a
    literal one. Query and fragment are unchanged.
    """
    text = "/" + quote(
        path.lstrip("/\\"), safe=_IN_PATH if decoded else _IN_PATH + "%", errors="replace"
    )
    if rest := "&".join(part for part in query.split("&") if part and not _is_code(part)):
        text += "?" + quote(rest, safe=_IN_QUERY, errors="replace")
    if fragment:
        text += "#" + quote(fragment, safe=_IN_QUERY, errors="replace")
    return text


def with_code(url: str, code: str) -> str:
    """Add a one-time code to the query of an address."""
    main, sign, fragment = url.partition("#")
    return f"{main}{'&' if '?' in main else '?'}{CODE}={quote(code, safe='')}{sign}{fragment}"


def _is_code(part: str) -> bool:
    return unquote_plus(part.partition("=")[0]).strip().lower() == CODE
