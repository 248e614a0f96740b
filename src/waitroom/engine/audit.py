"""The audit log: who changed what, when and from where. It contains no secrets.

Entries are numbered by the server's clock. After a lost reply an entry may appear twice. An entry
is kept for `audit_days`, unless more than `MOST` newer ones follow; then only the process log has
it. Sign-ins have a stream of their own, so that nobody can push actions out by signing in.
"""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from waitroom.engine import keys
from waitroom.engine.inputs import check_count
from waitroom.engine.runner import Runner
from waitroom.errors import InvalidInput

SIGN_IN = "sign_in"
"""The action recorded when somebody signs in to a page."""

LONGEST_ENTRY = 8_000
"""Characters of an entry; longer details are shortened here and kept whole in the process log."""

_PAGE = 500
_PAGES = 20
"""Most stream pages read for one page of a room: a room without entries costs no more."""

_DAY_MS = 86_400_000
_CURSOR = re.compile(r"\d{1,16}-\d{1,16}", re.ASCII)
_SHORT_TEXT = 40
_SHORT_LIST = 20


class Log(StrEnum):
    """The two streams: what somebody did, and who signed in."""

    ACTIONS = "actions"
    SIGN_INS = "sign_ins"


_KEYS = {Log.ACTIONS: keys.AUDIT, Log.SIGN_INS: keys.SIGN_INS}
MOST = {Log.ACTIONS: 200_000, Log.SIGN_INS: 50_000}
"""Most entries of a stream: entries of usual size take 70 MB and 10 MB of server memory."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One action of somebody; `id` and `at_ms` are set when it is written."""

    key_id: str
    key_name: str
    role: str
    action: str
    way: str = ""
    """Which way they used: api, page, cli or config; empty in entries of older versions."""

    room: str | None = None
    detail: dict[str, Any] = field(default_factory=dict)
    address: str = ""
    id: str = ""
    at_ms: int = 0


@dataclass(frozen=True, slots=True)
class AuditPage:
    """A page of the log, newest first; `before` is the cursor of the next one, None on the last.

    A page of one room may be short, or empty, even if another page follows.
    """

    entries: tuple[Entry, ...]
    before: str | None


class Audit:
    """The log of one server; with `days`, each write removes entries that are older."""

    def __init__(self, runner: Runner, days: int | None = None) -> None:
        self._runner = runner
        self._days = days

    async def append(self, entry: Entry) -> str:
        """Write an entry; return its id."""
        log = Log.SIGN_INS if entry.action == SIGN_IN else Log.ACTIONS
        reply = await self._runner.command(
            "XADD", _KEYS[log], "MAXLEN", "~", MOST[log], "*", "entry", _text(entry)
        )
        entry_id = str(reply.decode())
        if self._days is not None:  # `~` drops whole nodes only: cheap, and never too early
            oldest_ms = int(entry_id.partition("-")[0]) - self._days * _DAY_MS
            await self._runner.command("XTRIM", _KEYS[log], "MINID", "~", max(0, oldest_ms))
        return entry_id

    async def get(self, entry_id: str) -> Entry | None:
        """Return one action, if it is still kept."""
        if not _CURSOR.fullmatch(entry_id):
            return None
        raw = await self._runner.command("XRANGE", keys.AUDIT, entry_id, entry_id)
        return _entry(raw[0]) if raw else None

    async def page(
        self,
        *,
        before: str | None = None,
        limit: int = 50,
        room: str | None = None,
        log: Log = Log.ACTIONS,
        since_ms: int = 0,
    ) -> AuditPage:
        """Return entries older than `before` but not older than a moment, of all rooms or one."""
        check_count("limit", limit, _PAGE)
        if before is not None and not _CURSOR.fullmatch(before):
            raise InvalidInput("before", "must be the cursor of an earlier page")
        kept: list[Entry] = []
        for _ in range(_PAGES):
            top = f"({before}" if before else "+"
            bottom = f"{max(0, since_ms)}-0"
            raw = await self._runner.command("XREVRANGE", _KEYS[log], top, bottom, "COUNT", _PAGE)
            entries = [entry for line in raw if (entry := _entry(line)) is not None]
            kept += [entry for entry in entries if room is None or entry.room == room]
            if len(kept) > limit:
                return AuditPage(tuple(kept[:limit]), kept[limit - 1].id)
            if len(raw) < _PAGE:
                return AuditPage(tuple(kept), None)
            before = raw[-1][0].decode()
        return AuditPage(tuple(kept), before)

    async def since(
        self, since_ms: int = 0, *, log: Log = Log.ACTIONS
    ) -> AsyncIterator[tuple[Entry, ...]]:
        """Yield all entries from a moment on, oldest first, up to 500 at a time."""
        bottom = f"{max(0, since_ms)}-0"
        while True:
            raw = await self._runner.command("XRANGE", _KEYS[log], bottom, "+", "COUNT", _PAGE)
            yield tuple(entry for line in raw if (entry := _entry(line)) is not None)
            if len(raw) < _PAGE:
                return
            bottom = f"({raw[-1][0].decode()}"


def _text(entry: Entry) -> str:
    """Return an entry as JSON; an entry that is too long keeps all its fields, shortened."""
    for detail in (entry.detail, _short(entry.detail) | {"shortened": True}):
        text = json.dumps(_document(entry, detail), ensure_ascii=False)
        if len(text) <= LONGEST_ENTRY:
            return text
    return json.dumps(_document(entry, {"cut": len(text)}), ensure_ascii=False)


def _short(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _short(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_short(inner) for inner in value[:_SHORT_LIST]]
    if isinstance(value, str) and len(value) > _SHORT_TEXT:
        return f"{value[:_SHORT_TEXT]}…"
    return value


def _document(entry: Entry, detail: dict[str, Any]) -> dict[str, Any]:
    return {
        "key": [entry.key_id, entry.key_name, entry.role],
        "way": entry.way,
        "action": entry.action,
        "room": entry.room,
        "detail": detail,
        "address": entry.address,
    }


def _entry(line: Any) -> Entry | None:
    """Read one entry of the stream; skip entries that somebody else wrote there."""
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
