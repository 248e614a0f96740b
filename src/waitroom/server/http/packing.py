"""Compression of pages, scripts and styles: a crowd on phones loads them in the same minute.

Answers of the API stay as they are: they are small, and most go to programs on the same network.
"""

from __future__ import annotations

import gzip
import re

_LEVEL = 9
_GZIP = re.compile(r"(?:^|,)\s*(?:gzip|\*)\s*(?!;\s*q=0(?:\.0*)?\s*(?:,|$))(?:;|,|$)")


def takes_gzip(accept_encoding: str | None) -> bool:
    """Tell whether a client takes gzip; only those that say so do."""
    return accept_encoding is not None and _GZIP.search(accept_encoding.lower()) is not None


def packed(content: bytes) -> bytes:
    """Return content as gzip has it; without a time, so that the same stays the same."""
    return gzip.compress(content, _LEVEL, mtime=0)
