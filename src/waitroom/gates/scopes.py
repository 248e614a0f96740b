"""ASGI scopes: what is known of a request."""

from __future__ import annotations

from collections.abc import Iterable, MutableMapping
from typing import Any

from waitroom.gates.facts import Facts


def facts_of(scope: MutableMapping[str, Any]) -> Facts:
    """Return the facts of a request."""
    headers, client = scope["headers"], scope.get("client")

    def header(name: str) -> str | None:
        if name == "cookie":
            return cookie_of(headers).decode("latin-1")
        values = [value for key, value in headers if key == name.encode("latin-1")]
        return b", ".join(values).decode("latin-1") if values else None

    scheme = "https" if scope["scheme"] in ("https", "wss") else "http"
    method, query = scope.get("method", "GET"), scope["query_string"].decode("latin-1")
    path, root = scope["path"], scope.get("root_path")
    inner = path[len(root) :] if root and path.startswith(root) else None
    return Facts(method, path, query, scheme, client[0] if client else "", header, inner)


def cookie_of(headers: Iterable[tuple[bytes, bytes]]) -> bytes:
    """Return the Cookie header; HTTP/2 may send it in pieces."""
    cookie = b""
    for name, value in headers:
        if name == b"cookie":
            cookie = cookie + b"; " + value if cookie else value
    return cookie
