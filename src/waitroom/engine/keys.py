"""The names of all keys, in one place. The top of `_common.lua` says what each holds."""

from __future__ import annotations

ROOMS = "wr:rooms"
"""SET of room names: an index for operators and the ticker, not the truth."""

KEYS = "wr:keys"
"""HASH of API keys: id → JSON with the hash of its secret, role, name and when it was made."""

AUDIT = "wr:audit"
"""STREAM of what operators did; trimmed by age, and capped."""

SIGN_INS = "wr:sign-ins"
"""STREAM of who signed in to a page; trimmed by age, and capped."""

HANDOFF = "wr:handoff:"
"""STRING, by the hash of a one-time code: the session that it hands to another host; expires."""

SIGN_OUT = "wr:sign-out:"
"""STRING, by the id of an operator's session that was signed out; expires with the session."""

USER_SESSION = "wr:user-session:"
"""STRING, by the hash of a user named by a proxy: their sign-in was noted; expires."""

DECLARED = "wr:declared"
"""HASH of room name → the policy that a file declared for it when a server last started."""

PUSH_ROOMS = "wr:push"
"""SET of the rooms in which somebody wants push messages: an index, not the truth.

Such a room has three more keys, which no script knows and which expire: `push`, HASH of ticket id →
subscription; `pushed`, HASH of messages already sent; `push_lap`, STRING, whose turn it is to look.
"""

WEBHOOKS = "wr:webhooks"
"""HASH of webhooks: id → JSON with address, secrets, rooms, types, and since when it is off."""

ARCHIVED = "wr:archived"
"""STRING: some server keeps an archive, so events about people are wanted; expires."""

RELAY_LAP = "wr:relay-lap"
"""STRING: whose turn it is to look at all rooms for events; expires.

For outgoing events each room has these keys, which no verb knows: `outbox`, STREAM of the last day;
`relay`, HASH of how far the room's events were copied there; `relay_turn`, STRING; `readers`, HASH
of reader → how far it has read; `lease:<reader>`, STRING; `heard`, STRING: somebody follows its
people.
"""

ROOM_KEYS = (
    "config",
    "meta",
    "waiting",
    "seen",
    "called",
    "inside",
    "sids",
    "done",
    "gone",
    "moved",
    "entries",
    "events",
    "series",
    "record",
    "swept",
    "swept_at",
    "sources",
    "kicked",
    "codes",
    "coded",
    "batches",
    "been",
    "claims",
)
"""In the order in which every script takes them."""


def room_key(room: str, name: str) -> str:
    """Return one key of a room; the braces put all of them into one Cluster slot."""
    return f"wr:{{{room}}}:{name}"


def script_keys(room: str, op_id: str | None = None) -> list[str]:
    """Return the KEYS of a script call; the last one only if a repeat must be recognised."""
    keys = [room_key(room, name) for name in ROOM_KEYS]
    if op_id is not None:
        keys.append(room_key(room, f"op:{op_id}"))
    return keys
