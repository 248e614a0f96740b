"""The last change of a room can be undone, and so can the undo."""

from __future__ import annotations

import pytest

from tests.operations.test_people import entries, trail
from tests.support.clock import crowd
from waitroom.engine import Engine
from waitroom.engine.audit import Entry
from waitroom.errors import CannotUndo, Forbidden, VersionConflict
from waitroom.models import Mode, Policy
from waitroom.operations import people, rooms
from waitroom.operations.trail import Actor, Trail, Way
from waitroom.operations.undo import LastChanges, can_undo, last_change, undo


async def test_undo_and_undo_again(engine: Engine, room: str) -> None:
    """Whatever came between, if it was not a change: an undo names what it undoes, and so on."""
    await engine.create(room, Policy(capacity=5, mode=Mode.PAUSED, presence_s=None))
    log = trail(engine)
    _, first_id = await rooms.change(
        engine, log, room, {"capacity": 9, "batch": 3, "every_s": 10, "message": "Late"}
    )
    await crowd(engine, room, 4)
    await people.admit(engine, log, room, 2, force=True)
    change, second_id, undone = await undo(engine, trail(engine, "other"), room)
    assert first_id == undone.id
    old = change.new.policy
    assert (5, None, None, None) == (old.capacity, old.batch, old.every_s, old.message)
    assert [None, first_id] == [
        entry.detail.get("undoes")
        for entry in await entries(engine, room)
        if entry.action == "room.change"
    ]
    change, _, undone = await undo(engine, log, room, entry_id=second_id, version=3)
    assert (second_id, 9, "Late") == (undone.id, change.new.policy.capacity, "Late")


async def test_only_the_last_change(engine: Engine, room: str) -> None:
    """A change that another one followed stays, and nothing is written."""
    await engine.create(room, Policy(capacity=5))
    log = trail(engine)
    _, first_id = await rooms.change(engine, log, room, {"capacity": 9})
    await rooms.change(engine, log, room, {"queue_limit": 100})
    with pytest.raises(VersionConflict):
        await undo(engine, log, room, entry_id=first_id)
    with pytest.raises(VersionConflict):
        await undo(engine, log, room, version=2)
    now = await engine.room(room)
    assert (3, 9, 100) == (now.version, now.policy.capacity, now.policy.queue_limit)


@pytest.mark.parametrize(
    ("action", "remedy"),
    [("admit", "pause the room"), ("kick", "give them their place back"), ("room.clear", "join")],
)
async def test_what_cannot_be_undone(engine: Engine, room: str, action: str, remedy: str) -> None:
    """What people went through stays, and the error says what to do instead."""
    await engine.create(room, Policy(mode=Mode.PAUSED, presence_s=None))
    ids = [view.id for view in await crowd(engine, room, 2)]
    log = trail(engine)
    if action == "admit":
        await people.admit(engine, log, room, 1, force=True)
    elif action == "kick":
        await people.kick(engine, log, room, ids)
    else:
        await rooms.clear(engine, log, room)
    entry = (await entries(engine, room))[-1]
    with pytest.raises(CannotUndo, match=remedy):
        await undo(engine, log, room, entry_id=entry.id)


async def test_nothing_to_undo(engine: Engine, room: str) -> None:
    """A room that nobody changed has nothing to undo, nor has another room's entry."""
    await engine.create(room, Policy())
    await engine.create(f"{room}-b", Policy())
    log = trail(engine)
    _, other_id = await rooms.change(engine, log, f"{room}-b", {"capacity": 3})
    for entry_id in (None, other_id, "0-0", "nonsense"):
        with pytest.raises(CannotUndo):
            await undo(engine, log, room, entry_id=entry_id)


async def test_texts_come_back_whole_or_not_at_all(engine: Engine, room: str) -> None:
    """Texts by language come back too; a picture that the log cut stays, and the error names it."""
    texts = {"ko": {"message": "가" * 900, "title": "제목"}, "en": {"message": "Late…"}}
    logo = "data:image/png;base64," + "A" * 4_000
    await engine.create(room, Policy(message="…", texts=texts, logo=logo))
    log = trail(engine)
    await rooms.change(engine, log, room, {"message": "Now"})
    assert {"ko": {"title": "제목"}} == (await engine.room(room)).policy.texts
    change, _, _ = await undo(engine, log, room)
    assert ("…", texts) == (change.new.policy.message, change.new.policy.texts)
    await rooms.change(engine, log, room, {"logo": None})
    with pytest.raises(CannotUndo, match="logo was too long"):
        await undo(engine, log, room)


async def test_a_shortened_entry_is_not_undone(engine: Engine, room: str) -> None:
    """If a whole entry was too long for the log, none of its cut texts is restored."""
    texts = {"ko": {"message": "다" * 1_000, "ended_text": "라" * 700}}
    old = Policy(footer="가" * 500, message="나" * 1_000, ended_text="마" * 1_000, texts=texts)
    await engine.create(room, old)
    log = trail(engine)
    new = {"footer": "바" * 500, "message": "사" * 1_000, "ended_text": "아" * 1_000}
    local = {"en": {"message": "b" * 1_000, "ended_text": "c" * 700}}
    await rooms.change(engine, log, room, {**new, "texts": local})
    entry = await last_change(engine.audit, room, 2)
    assert entry is not None
    assert (True, False) == (entry.detail["shortened"], can_undo(entry, 2))


async def test_an_operator_undoes_no_address(engine: Engine, room: str) -> None:
    """Only admins set where people are sent, even backwards."""
    await engine.create(room, Policy())
    admin = Trail(engine.audit, Actor("a", "chief", "admin", Way.API))
    await rooms.change(engine, admin, room, {"go_to": "/shop"})
    with pytest.raises(Forbidden):
        await undo(engine, trail(engine), room)
    change, _, _ = await undo(engine, admin, room)
    assert change.new.policy.go_to is None


async def test_the_last_change_is_read_once(engine: Engine, room: str) -> None:
    """A live page asks every second; the log is only read again when the room has changed."""
    await engine.create(room, Policy())
    reads = []

    class Counted:
        async def page(self, **options: object) -> object:
            reads.append(options)
            return await engine.audit.page(**options)  # type: ignore[arg-type]

    last = LastChanges(Counted())  # type: ignore[arg-type]
    seen: list[Entry | None] = []
    for capacity in (3, 4):
        change, _ = await rooms.change(engine, trail(engine), room, {"capacity": capacity})
        seen += [await last.of(room, change.new.version) for _ in range(3)]
    assert 2 == len(reads)
    assert [3, 3, 3, 4, 4, 4] == [e and e.detail["changed"]["capacity"]["new"] for e in seen]
