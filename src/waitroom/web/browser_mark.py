"""Binds a one-time code to the browser that asked for it. Pure.

A gate gives each browser a random secret as a cookie and gives the waiting page its hash, the mark.
A code is made for a mark, and is worthless to a browser without the secret. So a link with somebody
else's code leads nobody into that session.
"""

from __future__ import annotations

import hmac
import re
import secrets
from base64 import urlsafe_b64encode
from hashlib import sha256

_SECRET = re.compile(r"[A-Za-z0-9_-]{32}", re.ASCII)
_MARK = re.compile(r"[A-Za-z0-9_-]{43}", re.ASCII)


def new_secret() -> str:
    """Return the secret of a browser."""
    return secrets.token_urlsafe(24)


def is_secret(text: str) -> bool:
    """Return whether a text may be a secret."""
    return _SECRET.fullmatch(text) is not None


def mark_of(secret: str) -> str:
    """Return the mark of a secret, which the waiting page may know."""
    digest = sha256(b"waitroom browser " + secret.encode()).digest()
    return urlsafe_b64encode(digest).rstrip(b"=").decode()


def is_mark(text: str) -> bool:
    """Return whether a text may be a mark."""
    return _MARK.fullmatch(text) is not None


def fits(mark: str | None, secret: str | None) -> bool:
    """Return whether a code with this mark is for a browser with this secret; both may be none."""
    if mark is None or secret is None:
        return mark is secret
    return hmac.compare_digest(mark, mark_of(secret))
