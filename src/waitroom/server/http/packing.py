"""Compression of pages, scripts, styles and the data of charts.

A crowd on phones loads the pages in the same minute. Answers of the API stay as they are: they are
small, and most go to programs on the same network. So do pages of operators: they hold a secret,
the token of their forms, which the length of a compressed answer could betray (BREACH).
"""

from __future__ import annotations

import gzip
import re

from fastapi import Request, Response

_LEVEL = 9
_QUICK_LEVEL = 4
_GZIP = re.compile(r"(?:^|,)\s*(?:gzip|\*)\s*(?!;\s*q=0(?:\.0*)?\s*(?:,|$))(?:;|,|$)")


def takes_gzip(accept_encoding: str | None) -> bool:
    """Return whether a client takes gzip; only clients that say so do."""
    return accept_encoding is not None and _GZIP.search(accept_encoding.lower()) is not None


def packed(content: bytes) -> bytes:
    """Return content as gzip; without a time, so that equal content gives equal bytes."""
    return gzip.compress(content, _LEVEL, mtime=0)


def packed_json(request: Request, content: bytes, headers: dict[str, str]) -> Response:
    """Return long JSON without secrets, compressed if the browser takes it."""
    data, all_headers = content, {**headers, "vary": "Accept-Encoding"}
    if takes_gzip(request.headers.get("accept-encoding")):
        data = gzip.compress(data, _QUICK_LEVEL, mtime=0)
        all_headers["content-encoding"] = "gzip"
    return Response(data, media_type="application/json", headers=all_headers)
