"""Solves the proof of work that a room may ask of newcomers: ALTCHA's format, version 2. Pure.

For clients in Python, which need no other package for it; `static/work.js` is for browsers.
"""

from __future__ import annotations

import json
import time
from base64 import b64decode, b64encode
from collections.abc import Mapping
from hashlib import pbkdf2_hmac
from typing import Any

from waitroom.errors import InvalidInput

KIND = "work"
LONGEST_S = 120.0
"""When to give up: no challenge of ours takes that long on any machine."""

_DIGESTS = {"PBKDF2/SHA-256": "sha256"}


def solve(challenge: Mapping[str, Any], longest_s: float = LONGEST_S) -> str:
    """Return the solution of the `challenge` in a problem `challenge_required`, as a join takes it.

    This keeps one core busy: in a program with an event loop, do it in a thread.
    """
    try:
        parameters = challenge["parameters"]
        digest = _DIGESTS[parameters["algorithm"]]
        nonce, salt = bytes.fromhex(parameters["nonce"]), bytes.fromhex(parameters["salt"])
        prefix = bytes.fromhex(parameters["keyPrefix"])
        cost, length = int(parameters["cost"]), int(parameters["keyLength"])
        signed = {"parameters": parameters, "signature": challenge["signature"]}
    except (KeyError, TypeError, ValueError) as error:
        raise InvalidInput("challenge", f"cannot be solved here: {error!r:.100}") from None
    until = time.monotonic() + longest_s
    for counter in range(1 << 32):
        key = pbkdf2_hmac(digest, nonce + counter.to_bytes(4, "big"), salt, cost, length)
        if key.startswith(prefix):
            payload = {
                "challenge": signed,
                "solution": {"counter": counter, "derivedKey": key.hex()},
            }
            return b64encode(json.dumps(payload, separators=(",", ":")).encode()).decode()
        if not counter & 0xFF and time.monotonic() > until:
            break
    raise InvalidInput("challenge", f"was not solved within {longest_s:g} s")


def read(solution: str) -> dict[str, Any]:
    """Return what a solution says: its challenge, the counter and the key."""
    document: dict[str, Any] = json.loads(b64decode(solution))
    return document
