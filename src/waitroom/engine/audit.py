"""The audit log: who changed what, when and from where. Newest first; no secrets in it.

Entries are numbered by the server's clock. After a lost reply an entry may appear twice. Entries
are lost only with the server's data; the process log has every entry too.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import Any

from waitroom.engine import keys
from waitroom.engine.inputs import check_count
from waitroom.engine.runner import Runner
from waitroom.errors import InvalidInput

KEPT = 10_000
_PAGE = 500
_CURSOR = re.compile(r"\d{1,16}-\d{1,16}", re.ASCII)
_MOST_DETAIL = 8_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One thing that somebody did; `id` and `at_ms` are given when it is written."""

    key_id: str
    key_name: str
    role: str
    action: str
    way: str = ""
    """How they reached us: api, page, cli or config; empty in entries of older versions."""

    room: str | None = None
    detail: dict[str, Any] = field(default_factory=dict)
    address: str = ""
    id: str = ""
    at_ms: int = 0


@dataclass(frozen=True, slots=True)
class AuditPage:
    """A page of the log, newest first; `before` is the cursor of the next one, None on the last."""

    entries: tuple[Entry, ...]
    before: str | None


class Audit:
    """The log of one server."""

    def __init__(self, runner: Runner) -> None:
        self._runner = runner

    async def append(self, entry: Entry) -> str:
        """Write an entry; return its id."""
        text = json.dumps(_document(entry), ensure_ascii=False)
        if len(text) > _MOST_DETAIL:
            text = json.dumps(_document(entry, detail={"cut": len(text)}), ensure_ascii=False)
        reply = await self._runner.command(
            "XADD", keys.AUDIT, "MAXLEN", "~", KEPT, "*", "entry", text
        )
        return str(reply.decode())

    async def get(self, entry_id: str) -> Entry | None:
        """Return one entry, if it is still kept."""
        if not _CURSOR.fullmatch(entry_id):
            return None
        raw = await self._runner.command("XRANGE", keys.AUDIT, entry_id, entry_id)
        return _entry(raw[0]) if raw else None

    async def page(
        self, *, before: str | None = None, limit: int = 50, room: str | None = None
    ) -> AuditPage:
        """Return entries older than `before`, of all rooms or of one."""
        check_count("limit", limit, _PAGE)
        if before is not None and not _CURSOR.fullmatch(before):
            raise InvalidInput("before", "must be the cursor of an earlier page")
        kept: list[Entry] = []
        top = f"({before}" if before else "+"
        while len(kept) <= limit:
            raw = await self._runner.command("XREVRANGE", keys.AUDIT, top, "-", "COUNT", _PAGE)
            entries = [entry for line in raw if (entry := _entry(line)) is not None]
            kept += [entry for entry in entries if room is None or entry.room == room]
            if len(raw) < _PAGE:
                break
            top = f"({raw[-1][0].decode()}"
        more = len(kept) > limit
        return AuditPage(tuple(kept[:limit]), kept[limit - 1].id if more else None)


def _document(entry: Entry, **instead: Any) -> dict[str, Any]:
    return {
        "key": [entry.key_id, entry.key_name, entry.role],
        "way": entry.way,
        "action": entry.action,
        "room": entry.room,
        "detail": instead.get("detail", entry.detail),
        "address": entry.address,
    }


def _entry(line: Any) -> Entry | None:
    """Read one entry of the stream; skip what somebody else wrote there."""
    name, fields = line[0].decode(), line[1]
    try:
        document = json.loads(fields[b"entry"])
        key_id, key_name, role = document["key"]
        return Entry(
            key_id=key_id,
            key_name=key_name,
            role=role,
            way=document.get("way", ""),
            action=document["action"],
            room=document["room"],
            detail=document["detail"],
            address=document["address"],
            id=name,
            at_ms=int(name.partition("-")[0]),
        )
    except (ValueError, KeyError, TypeError, AttributeError):
        return None
