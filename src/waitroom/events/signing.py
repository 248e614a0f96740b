"""A message in the format of Standard Webhooks: its body, and the headers that sign it."""

from __future__ import annotations

import base64
import json
import secrets as randomness
from collections.abc import Mapping, Sequence
from typing import Any

from standardwebhooks import Webhook as Signer

from waitroom.moments import from_ms, written


def new_secret() -> str:
    """Return a new secret."""
    return "whsec_" + base64.b64encode(randomness.token_bytes(32)).decode()


def body(kind: str, at_ms: int, data: Mapping[str, Any]) -> bytes:
    """Return the body of a message."""
    fields = {"type": kind, "timestamp": written(from_ms(at_ms)), "data": data}
    return json.dumps(fields, ensure_ascii=False, separators=(",", ":")).encode()


def headers(secrets: Sequence[str], message_id: str, now_ms: int, content: bytes) -> dict[str, str]:
    """Return the headers of a message, signed with each of the secrets."""
    now = from_ms(now_ms)
    signatures = (Signer(secret).sign(message_id, now, content.decode()) for secret in secrets)
    return {
        "Content-Type": "application/json",
        "webhook-id": message_id,
        "webhook-timestamp": str(now_ms // 1000),
        "webhook-signature": " ".join(signatures),
    }
