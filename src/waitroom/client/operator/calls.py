"""The calls of operators, each as steps that end with its result. All need an API key.

What cannot be told from a first try if it is repeated (to make a room or a key, to undo, to note)
is sent once: if its answer is lost, look before you try again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote

from waitroom import errors
from waitroom.client.operator import views
from waitroom.client.operator.views import (
    Admitted,
    AuditEntry,
    AuditPage,
    Called,
    Kicked,
    ListedTicket,
    MadeCodes,
    ManagedRoom,
    ManagedRooms,
    Numbers,
    Reinstated,
    Sighting,
    TicketPage,
)
from waitroom.client.steps import Steps, Target, call, new_id
from waitroom.client.views import made
from waitroom.models import CodeBatch, Mode, Sample, State

_ADMIN = "/v1/admin"
Json = dict[str, Any]


def rooms(
    target: Target, /, *, after: str | None = None, limit: int | None = None
) -> Steps[ManagedRooms]:
    """Return a page of rooms by name."""
    query = {"after": after, "limit": limit}
    body = yield from _get(target, "/rooms", query)
    problems = {problem["name"]: problem["detail"] for problem in body["problems"]}
    return ManagedRooms(tuple(map(views.managed_room, body["rooms"])), problems, body["after"])


def create_room(
    target: Target, /, name: str, preset: str | None = None, **policy: Any
) -> Steps[ManagedRoom]:
    """Make a room, from a preset or the defaults, with changes of its policy."""
    wish = {"name": name, "preset": preset, "policy": policy}
    return views.managed_room((yield from _post(target, "/rooms", wish, repeat=False)))


def room(target: Target, /, name: str) -> Steps[ManagedRoom]:
    """Show a room with its policy, version and numbers."""
    return views.managed_room((yield from _get(target, _room(name))))


def change_room(
    target: Target, /, name: str, *, version: int | None = None, **policy: Any
) -> Steps[ManagedRoom]:
    """Change fields of a policy, at once; with a `version`, only if nobody else was faster."""
    wish = {"policy": policy, "version": version}
    steps = call(
        target,
        "PATCH",
        _ADMIN + _room(name),
        bearer=target.key,
        body=wish,
        repeat=version is None,
    )
    return views.managed_room((yield from steps))


def set_mode(target: Target, /, name: str, mode: Mode) -> Steps[ManagedRoom]:
    """Open, pause, close or end a room, or change it to `bypass` or `manual`."""
    return (yield from change_room(target, name, mode=str(mode)))


def undo(
    target: Target, /, name: str, *, entry: str | None = None, version: int | None = None
) -> Steps[ManagedRoom]:
    """Take back the last change of a policy: the one of that entry or version, if it is given."""
    wish = {"entry": entry, "version": version}
    steps = _post(target, f"{_room(name)}/undo", wish, repeat=False)
    return views.managed_room((yield from steps))


def drop_room(target: Target, /, name: str) -> Steps[None]:
    """Remove a room with everybody in it."""
    path = _ADMIN + _room(name)
    yield from call(target, "DELETE", path, bearer=target.key, done=(errors.UnknownRoom,))


def clear(target: Target, /, name: str) -> Steps[int]:
    """Empty a room and refuse all its tickets; return how many it held. The policy stays."""
    steps = _post(target, f"{_room(name)}/clear", {"confirm": name}, once=new_id())
    return int((yield from steps)["cleared"])


def admit(target: Target, /, name: str, count: int, *, force: bool = False) -> Steps[Admitted]:
    """Call the first people of the line, as far as limits allow."""
    wish = {"count": count, "force": force}
    return made(Admitted, (yield from _post(target, f"{_room(name)}/admit", wish, once=new_id())))


def call_ticket(
    target: Target, /, name: str, ticket_id: str, *, force: bool = False
) -> Steps[Called]:
    """Call one ticket by its id or short code, wherever it stands."""
    wish = {"ticket_id": ticket_id, "force": force}
    return made(Called, (yield from _post(target, f"{_room(name)}/call", wish, once=new_id())))


def kick(
    target: Target, /, name: str, ticket_ids: Sequence[str], *, ban: bool = False
) -> Steps[Kicked]:
    """Remove tickets, up to 500, and revoke their sessions; with `ban` they cannot join again."""
    wish = {"ticket_ids": list(ticket_ids), "ban": ban}
    return made(Kicked, (yield from _post(target, f"{_room(name)}/kick", wish, once=new_id())))


def kick_by_age(
    target: Target,
    /,
    name: str,
    *,
    older_than_s: float | None = None,
    newer_than_s: float | None = None,
) -> Steps[Kicked]:
    """Remove those waiting by how long they have, up to 10,000; `more` says to call again."""
    wish = {"older_than_s": older_than_s, "newer_than_s": newer_than_s}
    return made(Kicked, (yield from _post(target, f"{_room(name)}/kick", wish)))


def reinstate(
    target: Target, /, name: str, ticket: str, *, lift_ban: bool = False, force: bool = False
) -> Steps[Reinstated]:
    """Give somebody their place back: by id, short code, account or the whole ticket."""
    wish = {"ticket": ticket, "lift_ban": lift_ban, "force": force}
    steps = _post(target, f"{_room(name)}/reinstate", wish, once=new_id())
    return made(Reinstated, (yield from steps))


def codes(target: Target, /, name: str) -> Steps[tuple[CodeBatch, ...]]:
    """Return the batches of entry codes of a room, oldest first."""
    body = yield from _get(target, f"{_room(name)}/codes")
    return tuple(made(CodeBatch, batch) for batch in body["batches"])


def create_codes(
    target: Target, /, name: str, count: int, *, uses: int = 1, note: str = ""
) -> Steps[MadeCodes]:
    """Make a batch of entry codes; they are shown only here."""
    wish = {"count": count, "uses": uses, "note": note}
    body = yield from _post(target, f"{_room(name)}/codes", wish, once=new_id())
    return MadeCodes(made(CodeBatch, body), tuple(body["codes"]))


def revoke_codes(
    target: Target, /, name: str, batch: str, *, force: bool = False
) -> Steps[CodeBatch]:
    """Revoke a batch of entry codes; with `force` also one that the room has forgotten."""
    path = f"{_ADMIN}{_room(name)}/codes/{quote(batch, safe='')}"
    query = {"force": "true" if force else None}
    return made(
        CodeBatch, (yield from call(target, "DELETE", path, bearer=target.key, query=query))
    )


def note(target: Target, /, name: str, text: str) -> Steps[str]:
    """Put a note on the timeline of a room; return the id of its entry in the audit log."""
    steps = _post(target, f"{_room(name)}/notes", {"text": text}, repeat=False)
    return str((yield from steps)["id"])


def tickets(
    target: Target,
    /,
    name: str,
    state: State = State.WAITING,
    *,
    after: str | None = None,
    limit: int | None = None,
    since_ms: int | None = None,
    until_ms: int | None = None,
) -> Steps[TicketPage]:
    """Return a page of tickets: those waiting in their order, others by their deadline."""
    query = {"state": str(state), "after": after, "limit": limit}
    query |= {"since": since_ms, "until": until_ms}
    body = yield from _get(target, f"{_room(name)}/tickets", query)
    return TicketPage(tuple(map(views.listed, body["tickets"])), body["after"], body["ordered"])


def short_code(target: Target, /, name: str, code: str) -> Steps[tuple[ListedTicket, ...]]:
    """Return everybody in a room who has a short code."""
    body = yield from _get(target, f"{_room(name)}/tickets", {"short_code": code})
    return tuple(map(views.listed, body["tickets"]))


def find(target: Target, /, words: str) -> Steps[tuple[Sighting, ...]]:
    """Find somebody in all rooms, here or gone, up to 50 times: as `reinstate` names them."""
    body = yield from _post(target, "/find", {"q": words})
    return tuple(map(views.sighting, body["matches"]))


def stats(target: Target, /, name: str) -> Steps[Numbers]:
    """Return a room at a glance, with what a newcomer would wait."""
    return views.numbers((yield from _get(target, f"{_room(name)}/stats")))


def series(target: Target, /, name: str, minutes: int = 60) -> Steps[tuple[Sample, ...]]:
    """Return samples of the last minutes, oldest first."""
    body = yield from _get(target, f"{_room(name)}/series", {"minutes": minutes})
    return tuple(made(Sample, sample) for sample in body["samples"])


def history(
    target: Target,
    /,
    name: str,
    *,
    since_ms: int | None = None,
    until_ms: int | None = None,
    step: str | None = None,
) -> Steps[Json]:
    """Return a room's past as columns, as the HTTP API has it: of the last hour unless said."""
    query = {"since_ms": since_ms, "until_ms": until_ms, "step": step}
    return (yield from _get(target, f"{_room(name)}/history", query))


def audit(
    target: Target,
    /,
    *,
    room: str | None = None,
    before: str | None = None,
    limit: int | None = None,
    log: str | None = None,
) -> Steps[AuditPage]:
    """Return who changed what, newest first; `log="sign_ins"` who signed in."""
    query = {"room": room, "before": before, "limit": limit, "log": log}
    body = yield from _get(target, "/audit", query)
    return AuditPage(tuple(made(AuditEntry, entry) for entry in body["entries"]), body["before"])


def person(target: Target, /, name: str, ticket_id: str) -> Steps[Json]:
    """Return one person of a room by ticket id, with what happened to them as far as it is kept."""
    return (yield from _get(target, f"{_room(name)}/people/{quote(ticket_id, safe='')}"))


def keys(target: Target, /) -> Steps[list[Json]]:
    """Return all API keys, without their secrets."""
    keys: list[Json] = (yield from _get(target, "/keys"))["keys"]
    return keys


def create_key(target: Target, /, name: str, role: str = "viewer") -> Steps[Json]:
    """Make an API key; `key` is its text, and shown only here."""
    return (yield from _post(target, "/keys", {"name": name, "role": role}, repeat=False))


def revoke_key(target: Target, /, key_id: str) -> Steps[None]:
    """Revoke an API key; every server refuses it within two seconds."""
    path = f"{_ADMIN}/keys/{quote(key_id, safe='')}"
    yield from call(target, "DELETE", path, bearer=target.key, repeat=False)


def webhooks(target: Target, /) -> Steps[list[Json]]:
    """Return all webhooks, and how each goes."""
    webhooks: list[Json] = (yield from _get(target, "/webhooks"))["webhooks"]
    return webhooks


def create_webhook(
    target: Target, /, url: str, *, rooms: Sequence[str] = (), types: Sequence[str] = ()
) -> Steps[Json]:
    """Make a webhook, of all rooms and types unless said; `secret` is shown only here."""
    wish = {"url": url, "rooms": list(rooms), "types": list(types)}
    return (yield from _post(target, "/webhooks", wish, repeat=False))


def switch_webhook(target: Target, /, webhook_id: str, enabled: bool) -> Steps[Json]:
    """Switch a webhook off or on; its receiver is told of the gap, not of what was missed."""
    path, wish = _ADMIN + _webhook(webhook_id), {"enabled": enabled}
    return (yield from call(target, "PATCH", path, bearer=target.key, body=wish))


def rotate_webhook(target: Target, /, webhook_id: str) -> Steps[Json]:
    """Give a webhook a new `secret`; for 24 hours the old one signs too."""
    return (yield from _post(target, f"{_webhook(webhook_id)}/rotate", repeat=False))


def test_webhook(target: Target, /, webhook_id: str) -> Steps[str]:
    """Send a message of the type `webhook.test` now; return why it was not taken, if so."""
    steps = _post(target, f"{_webhook(webhook_id)}/test", repeat=False)
    return str((yield from steps)["error"])


def delete_webhook(target: Target, /, webhook_id: str) -> Steps[None]:
    """Remove a webhook, with what waits for it."""
    path = _ADMIN + _webhook(webhook_id)
    yield from call(target, "DELETE", path, bearer=target.key, repeat=False)


def _get(
    target: Target, path: str, query: Mapping[str, str | int | None] | None = None
) -> Steps[Json]:
    return call(target, "GET", _ADMIN + path, bearer=target.key, query=query)


def _post(
    target: Target, path: str, body: Mapping[str, object] | None = None, **how: Any
) -> Steps[Json]:
    return call(target, "POST", _ADMIN + path, bearer=target.key, body=body, **how)


def _room(name: str) -> str:
    return f"/rooms/{quote(name, safe='')}"


def _webhook(webhook_id: str) -> str:
    return f"/webhooks/{quote(webhook_id, safe='')}"
