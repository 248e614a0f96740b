"""Addresses that a visitor is sent to: always put together here, never echoed. Pure.

A gate writes `?return=` and the waiting page reads it, so both keep to one form and one limit, the
stricter ones of the two: hosts are matched in full, default ports dropped, slashes and backslashes
in front become one slash, a one-time code is removed however it is spelled, and what is longer than
`LONGEST_RETURN` once it is encoded is not used: it must fit into a query, encoded once more.
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
# What browsers drop (controls) or read as a slash (a backslash) would make them see another host.
_UNSAFE = re.compile(r"[\x00-\x1f\x7f-\xa0\\\u2028\u2029\ufeff]")
_IN_PATH = "/-._~!$&'()*+,;=:@"
_IN_QUERY = _IN_PATH + "?%"


def is_host(text: str) -> bool:
    """Tell whether a text in lower case is a host, maybe with a port."""
    return _HOST.fullmatch(text) is not None


def without_default_port(scheme: str, netloc: str) -> str:
    """Return a host in lower case, without a port that goes without saying."""
    return netloc.lower().removesuffix(DEFAULT_PORTS.get(scheme, ":"))


def origin_of(parts: SplitResult) -> str | None:
    """Return `https://shop.example` of an address; None if its scheme is not http or https."""
    if parts.scheme not in DEFAULT_PORTS or not is_host(parts.netloc.lower()):
        return None
    return f"{parts.scheme}://{without_default_port(parts.scheme, parts.netloc)}"


def split(text: str) -> SplitResult | None:
    """Split an address that somebody sent; None for one that a browser could read differently."""
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

    `decoded` says that `path` has no escapes any more, as frameworks hand it on: there a `%` is
    one. Query and fragment are as they came.
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
