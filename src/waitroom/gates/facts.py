"""What a gate knows about a request, the same for every framework."""

from __future__ import annotations

import re
from collections.abc import Callable

_TRACE = re.compile(r"[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}", re.ASCII)
"""A `traceparent` of W3C Trace Context. Nothing else of a stranger's header is passed on."""


class Facts:
    """What is known about a request. `header` gives a header by its name in lower case.

    `inner` is the path as the app sees it, if it is mounted below another path; `user` is who has
    signed in at the site, if the gate was told how to know that.
    """

    __slots__ = ("address", "header", "inner", "method", "path", "query", "scheme", "user")

    def __init__(
        self,
        method: str,
        path: str,
        query: str,
        scheme: str,
        address: str,
        header: Callable[[str], str | None],
        inner: str | None = None,
    ) -> None:
        self.method = method
        self.path = path
        self.query = query
        self.scheme = scheme
        self.address = address
        self.header = header
        self.inner = inner
        self.user: str | None = None

    def cookies(self, *names: str) -> list[str]:
        """Return all cookies of these names, in the order of the names."""
        text, values = self.header("cookie") or "", []
        for name in names:
            if name in text:
                values += _cookies(text, name)
        return values

    def bearer(self) -> str | None:
        """Return the token of `Authorization: Bearer`; most often it is the site's own."""
        kind, _, token = (self.header("authorization") or "").partition(" ")
        return token.strip() if kind.lower() == "bearer" else None

    def trace(self) -> dict[str, str]:
        """Return the header that makes a call to Waitroom part of the request's trace, if any."""
        text = self.header("traceparent") or ""
        return {"traceparent": text} if _TRACE.fullmatch(text) else {}


def _cookies(text: str, name: str) -> list[str]:
    """Return all cookies of a name, in order: another page may have set a second one."""
    before, _, after = text.partition(name + "=")
    if name not in after and (not before or before.endswith("; ")):
        value = after.partition(";")[0].strip(' "')  # only one has that name, as nearly always
        return [value] if value else []
    values = []
    for part in text.split(";"):
        key, _, value = part.strip().partition("=")
        if key == name and value:
            values.append(value.strip(' "'))
    return values
