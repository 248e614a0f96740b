"""API keys of operators: what a key is, and the key from the settings.

The bootstrap key comes from the settings and is never stored: a lost Redis locks nobody out.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from waitroom.credentials.bearer_keys import LONGEST, BearerKey, Stored, digest_of, mark_of
from waitroom.credentials.roles import Role
from waitroom.errors import InvalidInput

PREFIX = "wr_"
BOOTSTRAP_ID = "settings"
"""The id of the key from the settings; no created key can have it."""

SHORTEST_BOOTSTRAP = 24
_NAME = re.compile(r"[^\x00-\x1f\x7f\u2028\u2029]{1,80}")


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiKey(BearerKey):
    """A key of an operator or a program."""

    role: Role


def bootstrap_key(text: str) -> Stored[ApiKey]:
    """Return the key from the settings: an admin key."""
    if not SHORTEST_BOOTSTRAP <= len(text) <= LONGEST:
        raise InvalidInput(
            "admin_key",
            f"takes {SHORTEST_BOOTSTRAP} to {LONGEST} characters; make one with "
            "`echo wr_$(openssl rand -hex 32)`",
        )
    digest = digest_of(text)
    key = ApiKey(
        id=BOOTSTRAP_ID, name=BOOTSTRAP_ID, created_ms=0, mark=mark_of(digest), role=Role.ADMIN
    )
    return Stored(key, digest)


def check_key_name(name: str) -> str:
    """Return a name that is safe in lists and logs."""
    if not isinstance(name, str) or not _NAME.fullmatch(name) or name != name.strip():
        raise InvalidInput("name", "takes 1 to 80 printable characters, like 'box office'")
    return name
