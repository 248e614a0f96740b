"""Whether our own page sent a request: against cross-site request forgery. Pure.

Browsers say it in two headers that no page can set. `Sec-Fetch-Site` comes first: the browser
itself has compared the origins, and a proxy that rewrites `Host` cannot spoil it. `Origin` is for
browsers and connections (plain http) without it. Current browsers send at least one of them with
a form; and the cookies are SameSite anyway.
"""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Iterable
from typing import Self
from urllib.parse import urlsplit

from waitroom.errors import InvalidInput
from waitroom.web.return_urls import origin_of

SITE_HEADER, ORIGIN_HEADER = "sec-fetch-site", "origin"
_OWN = ("same-origin", "none")  # `none`: the user did it, for example with the reload button
_OWN_BYTES = tuple(word.encode() for word in _OWN)
_SAFE_METHODS, _SCHEMES = ("GET", "HEAD"), (b"http", b"https")
_READ = frozenset({b"sec-fetch-site", b"sec-fetch-mode", b"sec-fetch-dest", b"origin", b"host"})


class Origins:
    """Our own origin, as named by `Host` and the public address, and others that are listed."""

    __slots__ = ("_host", "_listed")

    def __init__(self, public_url: str | None = None, listed: Iterable[str] = ()) -> None:
        self._host = urlsplit(public_url or "").netloc.encode()
        self._listed = frozenset(text.encode() for text in listed_origins(listed, "origins"))

    @classmethod
    def of_settings(cls, public_url: str | None, origins: str | None) -> Self:
        """Make them from the settings `public_url` and `origins`, which are split at commas."""
        return cls(public_url, (origins or "").replace(",", " ").split())

    def may_use_cookies(self, method: str, headers: Iterable[tuple[bytes, bytes]]) -> bool:
        """Return whether a request may read and set visitors' cookies; headers are as in ASGI.

        Our own pages and those of listed origins may, and so may every link and redirect to a page,
        like a gate's: those only look. A form or script of another site, or of a neighbour on the
        same site, may not: it would act for the visitor, or replace their place with a new one.
        """
        known = {name: value for name, value in headers if name in _READ}
        site, origin = known.get(b"sec-fetch-site"), known.get(b"origin")
        if site is None:  # plain http, or not a browser
            return origin is None or origin in self._listed or self._is_ours(origin, known)
        if site in _OWN_BYTES or origin in self._listed:
            return True
        looks = known.get(b"sec-fetch-mode") == b"navigate" and method in _SAFE_METHODS
        return looks and known.get(b"sec-fetch-dest") == b"document"

    def _is_ours(self, origin: bytes, known: dict[bytes, bytes]) -> bool:
        scheme, _, host = origin.partition(b"://")
        return scheme in _SCHEMES and bool(host) and host in (known.get(b"host"), self._host)


def listed_origins(texts: Iterable[str], field: str) -> list[str]:
    """Return origins as browsers write them; a text that is none is refused, as every wildcard."""
    return [_origin(text, field) for text in texts]


def _origin(text: str, field: str) -> str:
    with contextlib.suppress(ValueError):  # of an address like http://[
        parts = urlsplit(text)
        origin = origin_of(parts)
        if origin is not None and not (parts.path.strip("/") or parts.query or parts.fragment):
            return origin
    example = "is not an origin like https://app.example.com; list each one in full"
    raise InvalidInput(field, f"{text!r:.80} {example}")


def is_own_form(
    site: str | None, origin: str | None, hosts: Collection[str | None], *, origin_must_match: bool
) -> bool:
    """Return whether `Sec-Fetch-Site` and `Origin` are those of our own form.

    `hosts` are our names, from `Host` and the public address. With `origin_must_match` an `Origin`
    also counts beside a good `Sec-Fetch-Site`: for forms of operators and hosts. A visitor's form
    works behind a proxy that rewrites `Host`, where `Origin` can never match.
    """
    if site is not None:
        if site not in _OWN:
            return False
        if not origin_must_match:
            return True
    if origin is None:
        return True
    try:
        host = urlsplit(origin).netloc
    except ValueError:
        return False
    return bool(host) and host in hosts
