"""Lua and Python agree: files, headers, keys, arguments, words and field names.

The arguments are those of real calls: a recording client sits in front of the server.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.tools import dump
from tests.engine.lua_files import LUA, PARTS, SHARED
from tests.support.clock import Clock, crowd
from waitroom.engine import ClaimUse, Engine, Settled, keys, policies
from waitroom.engine.endings import FOREVER
from waitroom.engine.memory import REV_JUMP
from waitroom.engine.policies import STORED
from waitroom.engine.protocol import refusals, replies
from waitroom.engine.scripts import READS, WANTS_MEMORY, Verb, lua, needs, parts_of, script
from waitroom.errors import UpgradeNeeded
from waitroom.models import Mode, Policy, State, TicketView

pytestmark = pytest.mark.every_kind

TESTS = Path(__file__).parent
COMMON = lua("_common")
HEADER = ("Needs", "KEYS", "ARGV", "Returns")
FIRST_OWN = 6
HEAD = ("now", "epoch", "rev", "watermark", "last")
# Fields that are shown to people, or that apply while there is no server.
ONLY_PYTHON = {"ended_text", "ended_picture", "ended_link"} | {
    "eta",
    "when_away",
    "challenge",
    "when_unverified",
    "time_zone",
    "title",
    "message",
    "ready",
    "logo",
    "colour",
    "go_to",
    *("picture", "event_date", "event_place", "background", "font", "footer", "help_link", "texts"),
}
HANDLED = {
    *("ok", "room_exists", "version_conflict", "lost", "unknown_room"),
    *("absent", "enter_later", "limited", "redraw", "not_due", "upgrade_needed", "nothing"),
    "batch_taken",
}
STATES = {"waiting", "called", "inside", "finished", "left"}
EVERY_VERB = pytest.mark.parametrize("verb", list(Verb))


@dataclass(slots=True)
class Recorder:
    """A client that records every script call on its way to the server."""

    client: Any
    verbs: dict[str, Verb]
    calls: dict[Verb, tuple[list[str], list[Any]]] = field(default_factory=dict)

    async def evalsha(self, sha: str, numkeys: int, *args: Any) -> Any:
        """Record the call, and make it."""
        self.calls[self.verbs[sha]] = (list(args[:numkeys]), list(args[numkeys:]))
        return await self.client.evalsha(sha, numkeys, *args)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.client, name)


def header(verb: Verb) -> dict[str, str]:
    """Return the parts of a script's header, each as one line of text."""
    parts, part = {"purpose": ""}, "purpose"
    for line in lua(verb).splitlines():
        if not line.startswith("--"):
            break
        text = line.removeprefix("--").strip()
        if match := re.match(rf"({'|'.join(HEADER)}): ?(.*)", text):
            part, text = match.groups()
            parts[part] = ""
        parts[part] = f"{parts[part]} {text}".strip()
    return parts


def code(name: str) -> str:
    """Return a Lua file without its comments."""
    return re.sub(r"--.*", "", lua(name))


def documented(verb: Verb) -> tuple[dict[int, str], list[str]]:
    """Return the numbered ARGV of a header, and the names of those that repeat."""
    text = re.sub(r"\([^)]*\)", "", header(verb)["ARGV"])
    if text == "none of its own":
        return {}, []
    fixed, _, group = text.partition("for each ticket:")
    repeated = [name.strip().removeprefix("6.. ") for name in group.split(",") if name.strip()]
    numbered: dict[int, str] = {}
    # Numbers are searched in order, so that "at most 500" is not one of them.
    number = FIRST_OWN
    while match := re.search(rf"(?:^|\s){number}(\.\.)? ", fixed):
        fixed = fixed[match.end() :]
        following = re.search(rf"\s{number + 1}(\.\.)? ", fixed)
        name = fixed[: following.start()] if following else fixed
        if match[1]:
            parts = name.partition(":")[2] or name.partition(",")[0]
            repeated = [part.strip() for part in parts.split(",")]
        else:
            numbered[number] = name.strip()
        number += 1
    return numbered, repeated


def table(name: str) -> list[str]:
    """Return the words of a list in `_common.lua`."""
    match = re.search(rf"local {name} = \{{(.*?)\}}", COMMON, re.DOTALL)
    assert match, name
    return re.findall(r"'(\w+)'", match[1])


# Files ----------------------------------------------------------------------------------------


def test_verbs_are_lua_files() -> None:
    """Every verb has its Lua file, and every Lua file is a verb's."""
    assert sorted([*Verb, "_common"]) == sorted(path.stem for path in LUA.glob("*.lua"))


@EVERY_VERB
def test_verbs_are_methods_and_test_files(verb: Verb) -> None:
    """Every verb is a method of the engine, and has a test file with its name."""
    assert callable(getattr(Engine, verb))
    assert (TESTS / f"test_{verb}.py").is_file()


@EVERY_VERB
def test_scripts_are_short(verb: Verb) -> None:
    """A verb's script has fewer than 90 lines of code, not counting comments."""
    assert sum(bool(line.strip()) for line in code(verb).splitlines()) < 90


@EVERY_VERB
def test_headers(verb: Verb) -> None:
    """A header has purpose, Needs, KEYS, ARGV and Returns, in this order, and none is empty."""
    parts = header(verb)
    assert ["purpose", *HEADER] == list(parts)
    assert all(parts.values())
    assert parts["purpose"].startswith(f"{verb}: ")


# Parts ----------------------------------------------------------------------------------------


def defined(name: str) -> set[str]:
    """Return the functions and values that a part provides to those after it."""
    text = re.sub(r"\{.*?\}", "", code(name), flags=re.DOTALL)
    names = re.findall(r"^local (?:function )?([\w, ]+)", text, re.MULTILINE)
    return {each for found in names for each in re.findall(r"\w+", found)}


def used(name: str) -> set[str]:
    """Return the words of a file that may be another's: not strings, fields or its own locals."""
    text = re.sub(r"'[^']*'", "", code(name))
    own = re.findall(r"\blocal (?:function )?([\w, ]+)", text)
    words = set(re.findall(r"(?<![\w.])[a-zA-Z_]\w*", text))
    return words - {each for found in own for each in re.findall(r"\w+", found)}


@pytest.mark.parametrize("name", [*PARTS, *Verb])
def test_a_file_names_the_parts_that_it_uses(name: str) -> None:
    """Needs names exactly the parts in use: a script defines all its functions on every call."""
    users = {part for part in PARTS if part != name and defined(part) & used(name)}
    assert sorted(users) == needs(name)


def test_every_part_is_needed() -> None:
    """Each part is in some script, and only one part provides each name."""
    assert set(PARTS) == {part for verb in Verb for part in parts_of(verb)}
    names = [each for part in SHARED for each in defined(part)]
    assert len(names) == len(set(names))


@EVERY_VERB
def test_parts_follow_what_they_need(verb: Verb) -> None:
    """In a script each part comes once, after those it needs; polls and checks have few."""
    parts = parts_of(verb)
    assert len(parts) == len(set(parts))
    for n, part in enumerate(parts):
        assert set(needs(part)) <= set(parts[:n])
    if verb in (Verb.POLL, Verb.CHECK):
        assert not {"parts/admission", "parts/endings", "parts/calling"} & set(parts)


# Keys -----------------------------------------------------------------------------------------


def test_key_map() -> None:
    """The key map at the top of `_common.lua` has the keys of `keys.py`, in the same order."""
    lines = re.findall(r"^-- +(\d+) (\w+) +([A-Z]+) ", COMMON, re.MULTILINE)
    assert [*keys.ROOM_KEYS, "op"] == [name for _, name, _ in lines]
    assert [str(n) for n in range(1, len(keys.ROOM_KEYS) + 2)] == [number for number, _, _ in lines]


def test_key_types() -> None:
    """The types checked before the first write are those of the key map."""
    described = {
        name: kind.lower() for name, kind in re.findall(r"^-- +\d+ (\w+) +([A-Z]+) ", COMMON, re.M)
    }
    block = re.search(r"local TYPES = \{(.*?)\}", COMMON, re.DOTALL)
    assert block
    checked = dict(re.findall(r"(\w+) = '(\w+)'", block[1]))
    described.pop("series")  # only `sample` writes it, and checks it
    assert described == checked
    own = re.search(r"open_room\(\{(.*?)\}\)", lua(Verb.SAMPLE), re.DOTALL)
    assert own
    sampled = dict(re.findall(r"(\w+) = '(\w+)'", own[1]))
    assert {**described, "series": "stream"}.items() >= sampled.items()
    assert {"config", "meta", "waiting", "called", "inside", "series"} == set(sampled)


def test_keys_have_names() -> None:
    """Each of KEYS is named once, by its number; nothing else reads KEYS."""
    named = re.findall(r"(\w+) = KEYS\[(\d+)\]", COMMON)
    assert [(name, str(n)) for n, name in enumerate([*keys.ROOM_KEYS, "op"], 1)] == named
    assert len(named) == sum(code(name).count("KEYS[") for name in (*SHARED, *Verb))


@pytest.mark.parametrize("name", [*SHARED, *Verb])
def test_calls_use_named_keys(name: str) -> None:
    """Every command works on a key from K (or a parameter that receives one): no name is built."""
    text = code(name)
    for command, first in re.findall(r"redis\.call\('(\w+)'(?:,\s*([^\s,)]+))?", text):
        assert command not in {"KEYS", "SCAN", "HSCAN", "SSCAN", "SELECT", "FLUSHALL"}
        # ZSCAN walks a set by the hash of its ids: this is how `list` shows people unordered.
        assert command != "ZSCAN" or name is Verb.LIST
        good = first.startswith(("K.", "K[")) or first == "key"
        assert good or (command, first) == ("TIME", ""), f"{name}: {command} {first}"
    assert "wr:" not in text
    for given in re.findall(r"(?<!function )\b(?:sweep|end_all|first)\(([^,)]+)", text):
        assert re.search(r"\bK\.\w+$", given) or given == "key", f"{name}: {given}"
    for value in re.findall(r"local key = (.*)", text):
        assert ["K.seen", "K.sids"] == re.findall(r"K\.\w+", value)


@pytest.mark.parametrize("name", [*SHARED, *Verb])
def test_every_call_is_literal(name: str) -> None:
    """Commands are written out, so that the checks of this file can read them."""
    text = code(name)
    assert text.count("redis.call") == len(re.findall(r"redis\.call\('[A-Z]+'", text))
    assert "redis.pcall" not in text


# Names ----------------------------------------------------------------------------------------


def test_policy_fields() -> None:
    """Lua reads the fields of `Policy`, except those that only Python uses, and the version."""
    assert {"version", *STORED.values()} - ONLY_PYTHON == set(table("POLICY"))


def test_policy_fields_are_used() -> None:
    """Some script uses every field that Lua reads."""
    text = "".join(code(name) for name in (*SHARED, *Verb))
    for name in table("POLICY"):
        used = re.search(rf"(R\.p\.|R\.|\bp\.){name}\b", text)
        assert used, name


def test_counters() -> None:
    """The lifetime counters have the same names in both languages."""
    assert list(replies.COUNTERS) == table("COUNTERS")


@pytest.mark.parametrize("name", [*SHARED, *Verb])
def test_fields_of_meta(name: str) -> None:
    """Everything that a script sets or counts in meta is listed."""
    written = re.findall(r"\bset\('(\w+)'", code(name))
    counted = re.findall(r"\bcount\('(\w+)'", code(name))
    assert set(written) <= set(table("META"))
    assert set(counted) <= set(table("COUNTERS"))


def test_numbers() -> None:
    """Both languages have the same jump of `rev` after a loss, and the same moment of a ban."""
    assert f"local REV_JUMP = {REV_JUMP} " in COMMON
    assert f"local FOREVER = {FOREVER:.0e} ".replace("e+", "e") in COMMON


def test_names_do_not_clash() -> None:
    """No counter has the name of another field of meta: they share one hash."""
    names = [*table("META"), *table("COUNTERS")]
    assert len(names) == len(set(names))


# Words ----------------------------------------------------------------------------------------


def words(verb: Verb) -> set[str]:
    """Return the literal words that a script answers."""
    return set(re.findall(r"(?:reply|failed)\('(\w+)'", code(verb)))


@EVERY_VERB
def test_words_are_documented(verb: Verb) -> None:
    """Each word that a script answers is in its header."""
    returns = set(re.findall(r"\w+", header(verb)["Returns"]))
    assert set() == words(verb) - returns


@EVERY_VERB
def test_words_are_understood(verb: Verb) -> None:
    """Python has an error, a reason or a state for each word."""
    known = HANDLED | STATES | set(refusals.GONE) | set(refusals._REFUSALS)
    assert set() == words(verb) - known


def test_refusals_are_answered() -> None:
    """No refusal is left in Python that no script answers."""
    text = "".join(code(name) for name in (*SHARED, *Verb))
    assert set() == {word for word in refusals._REFUSALS if f"'{word}'" not in text}


# Arguments ------------------------------------------------------------------------------------

Sent = tuple[list[str], list[Any]]


@dataclass(slots=True)
class Scene:
    """A room with one inside, one called, two waiting and one gone; a recorder sees all calls."""

    engine: Engine
    recorder: Recorder
    room: str
    inside: TicketView
    called: TicketView
    waiting: TicketView
    last: TicketView
    gone: TicketView

    async def sent(self, verb: Verb) -> Sent:
        """Make one call of a verb; return its KEYS and ARGV."""
        self.recorder.calls.clear()
        await CALLS[verb](self)
        return self.recorder.calls[verb]

    def claim(self, view: TicketView) -> str:
        """Return what a ticket says about its own place."""
        ticket = self.engine.ring.read(self.room, view.ticket)
        return f"{ticket.place}:{ticket.epoch}"


@pytest.fixture
async def scene(engine: Engine, room: str) -> Scene:
    """Set the scene."""
    client = engine.backend.client
    recorder = Recorder(client, {script(v, engine._runner.flags).sha: v for v in Verb})
    for verb in Verb:
        await client.script_load(script(verb, engine._runner.flags).source)
    policy = Policy(mode=Mode.MANUAL, renewable=True, max_defers=1)
    await engine.create(room, policy)
    people = await crowd(engine, room, 5)
    await engine.admit(room, 2)
    inside = await engine.enter(room, people[0].ticket)
    await engine.leave(room, people[4].ticket)
    engine._runner.client = engine._runner.visitors = recorder
    return Scene(engine, recorder, room, inside, *people[1:])


CALLS: dict[Verb, Callable[[Scene], Awaitable[Any]]] = {
    Verb.CONFIGURE: lambda s: s.engine.configure(s.room, capacity=7, op_id="it"),
    Verb.JOIN: lambda s: s.engine.join(s.room, s.last.ticket, enter=True),
    Verb.ADOPT: lambda s: s.engine.adopt(s.room, s.last.ticket, ClaimUse("a" * 16, "n 5")),
    Verb.POLL: lambda s: s.engine.poll_many(s.room, [s.waiting.ticket, s.last.ticket]),
    Verb.ADVANCE: lambda s: s.engine.advance(s.room, 77),
    Verb.ENTER: lambda s: s.engine.enter(s.room, s.called.ticket),
    Verb.RENEW: lambda s: s.engine.renew(
        s.room, s.inside.ticket, sid=s.inside.sid, vouched_until_ms=99
    ),
    Verb.FINISH: lambda s: s.engine.finish(s.room, s.inside.ticket, sid=s.inside.sid, op_id="it"),
    Verb.LEAVE: lambda s: s.engine.leave(s.room, s.waiting.ticket, op_id="it"),
    Verb.ADMIT: lambda s: s.engine.admit(s.room, 2, force=True, op_id="it"),
    Verb.CALL: lambda s: s.engine.call(s.room, s.last.id, force=True, op_id="it"),
    Verb.KICK: lambda s: s.engine.kick(s.room, [s.waiting.id, s.last.id], ban=True, op_id="it"),
    Verb.DEFER: lambda s: s.engine.defer(s.room, s.waiting.ticket, 3, op_id="it"),
    Verb.REINSTATE: lambda s: s.engine.reinstate(
        s.room, s.gone.ticket, lift_ban=True, force=True, op_id="it"
    ),
    Verb.LIST: lambda s: s.engine.list(
        s.room, State.WAITING, after="5", limit=9, since_ms=1, until_ms=2
    ),
    Verb.STATS: lambda s: s.engine.stats(s.room),
    Verb.SAMPLE: lambda s: s.engine.sample(s.room, told_s=90),
    Verb.CHECK: lambda s: s.engine.check_many(
        s.room, [(s.inside.id, s.inside.sid or 0), (s.last.id, 5)]
    ),
    Verb.SETTLE: lambda s: s.engine.settle(
        s.room,
        [Settled(s.waiting.id, "called", 5, 1), Settled(s.last.id, "left", 6, 2)],
        turnover="1:2.0",
        forced=True,
    ),
    Verb.ISSUE: lambda s: s.engine.issue(
        s.room, 50, uses=3, note="fan club", by="key:1", op_id="it"
    ),
    Verb.REVOKE: lambda s: s.engine.revoke(s.room, "k7q2", force=True, op_id="it"),
    Verb.CLEAR: lambda s: s.engine.clear(s.room, op_id="it"),
    Verb.DROP: lambda s: s.engine.drop(s.room),
}

# What each numbered argument of a header must be in the call above: the first words of its
# description, and the value.
NUMBERED: dict[Verb, Callable[[Scene], list[tuple[str, Any]]]] = {
    Verb.CONFIGURE: lambda _: [
        ("'create', 'update' or", "update"),
        ("update: the version", 1),
        ("restore: the epoch", ""),
        ("restore: endings", ""),
        ("restore: when the message", ""),
    ],
    Verb.JOIN: lambda _: [("'1' = restore only", 0), ("new places per minute", 0)],
    Verb.ADOPT: lambda s: [
        ("id of the account", "a" * 16),
        ("id of the ticket", s.last.id),
        ("claim", s.claim(s.last)),
        ("use of the gate", "n 5"),
    ],
    Verb.POLL: lambda s: [
        ("the ids of all tickets", s.waiting.id + s.last.id),
        ("their claims", f"{s.claim(s.waiting)} {s.claim(s.last)}"),
    ],
    Verb.ADVANCE: lambda _: [("most members", 77)],
    Verb.ENTER: lambda _: [],
    Verb.RENEW: lambda s: [
        ("id", s.inside.id),
        ("sid", s.inside.sid),
        ("wall-clock ms", 99),
        ("claim", s.claim(s.inside)),
    ],
    Verb.FINISH: lambda s: [("id", s.inside.id), ("sid", s.inside.sid)],
    Verb.LEAVE: lambda s: [("id", s.waiting.id), ("claim", s.claim(s.waiting))],
    Verb.ADMIT: lambda _: [("how many", 2), ("'1' = forced", 1)],
    Verb.CALL: lambda s: [("id", s.last.id), ("'1' = forced", 1)],
    Verb.KICK: lambda _: [("'1' = ban", 1)],
    Verb.DEFER: lambda s: [("id", s.waiting.id), ("how many places", 3)],
    Verb.REINSTATE: lambda s: [
        ("id", s.gone.id),
        ("claim", s.claim(s.gone)),
        ("what events tell", ""),
        ("'1' = lift a ban", 1),
        ("'1' = somebody whom nothing knows", 1),
        ("the epoch whose events were read", 0),
    ],
    Verb.LIST: lambda _: [
        ("state", "waiting"),
        ("cursor", "5"),
        ("most lines", 9),
        ("arrived at or after", 1_000),
        ("arrived at or before", 2_000),
    ],
    Verb.STATS: lambda _: [],
    Verb.SAMPLE: lambda _: [("seconds that a newcomer", 90)],
    Verb.CHECK: lambda s: [
        ("the ids of all tickets", s.inside.id + s.last.id),
        ("their session ids", f"{s.inside.sid} 5"),
    ],
    Verb.SETTLE: lambda _: [("'1' = whatever", 1), ("what the record says", "1:2.0")],
    Verb.ISSUE: lambda s: [
        ("batch", s.recorder.calls[Verb.ISSUE][1][FIRST_OWN - 1]),
        ("how many codes", 50),
        ("uses of each", 3),
        ("note", "fan club"),
        ("who made it", "key:1"),
    ],
    Verb.REVOKE: lambda _: [("batch", "K7Q2"), ("'1' = also one", 1)],
    Verb.CLEAR: lambda _: [],
    Verb.DROP: lambda _: [],
}
REPEATED: dict[Verb, tuple[list[str], int]] = {
    Verb.CONFIGURE: (["name", "value"], len(STORED)),
    Verb.JOIN: (["id", "claim", "draw", "enter", "source", "code", "use"], 1),
    Verb.ENTER: (["id", "claim"], 1),
    Verb.KICK: (["ids"], 2),
    Verb.LIST: (["ids"], 0),
    Verb.SETTLE: (["id", "state", "place", "revision"], 2),
}


@EVERY_VERB
async def test_arguments(scene: Scene, verb: Verb) -> None:
    """The engine sends what the header documents: the same number, in the same order."""
    _, argv = await scene.sent(verb)
    own = argv[FIRST_OWN - 1 :]
    numbered, repeated = documented(verb)
    expected = NUMBERED[verb](scene)
    assert list(range(FIRST_OWN, FIRST_OWN + len(expected))) == list(numbered)
    for (begin, value), documentation, sent in zip(expected, numbered.values(), own, strict=False):
        assert documentation.startswith(begin), f"{verb}: {documentation!r} is sent as {begin!r}"
        assert value == sent
    names, times = REPEATED.get(verb, ([], 0))
    assert names == repeated
    assert len(expected) + len(names) * times == len(own)


@EVERY_VERB
async def test_head_of_arguments(scene: Scene, clock: Clock, verb: Verb) -> None:
    """The first five are those of `_common.lua`: now, epoch, rev, watermark, last."""
    match = re.search(r"ARGV, the same.*?Reply:", COMMON, re.DOTALL)
    assert match
    order = [match[0].index(f"{n} {name}") for n, name in enumerate(HEAD, 1)]
    assert sorted(order) == order
    memory = scene.engine._runner.memory(scene.room)
    expected = [clock.now_us, memory.epoch, memory.rev, memory.watermark, memory.last]
    _, argv = await scene.sent(verb)
    if verb is not Verb.JOIN and verb is not Verb.CONFIGURE:  # these may ask for the policy first
        assert expected == argv[: FIRST_OWN - 1]
    assert expected[:2] == argv[:2]


@EVERY_VERB
async def test_keys(scene: Scene, verb: Verb) -> None:
    """All keys are sent, in the one order; the last carries the `op_id` where documented."""
    names, _ = await scene.sent(verb)
    text = header(verb)["KEYS"]
    assert "as in _common" in text
    assert [keys.room_key(scene.room, name) for name in keys.ROOM_KEYS] == names[
        : len(keys.ROOM_KEYS)
    ]
    has_op = ":op:" in names[-1]
    op = f"{len(keys.ROOM_KEYS) + 1} op"
    assert (op in text, op in text) == (has_op, "replay()" in code(verb))
    assert 1 == len({re.search(r"\{(.*)\}", name)[1] for name in names})  # type: ignore[index]


@EVERY_VERB
def test_no_undocumented_argument(verb: Verb) -> None:
    """A script reads no ARGV by a number that its header does not name."""
    numbered, repeated = documented(verb)
    first_repeated = FIRST_OWN + len(numbered) if repeated else 10**9
    for number in map(int, re.findall(r"ARGV\[(\d+)\]", code(verb))):
        assert number < FIRST_OWN or number in numbered or number >= first_repeated


async def test_policy_as_sent(scene: Scene) -> None:
    """A policy is sent by the names of its fields."""
    _, argv = await scene.sent(Verb.CONFIGURE)
    expected = policies.write((await scene.engine.room(scene.room)).policy)
    assert expected == argv[FIRST_OWN + 4 :]


# Flags ----------------------------------------------------------------------------------------


@EVERY_VERB
def test_flags(verb: Verb) -> None:
    """Verbs that only read say so, and verbs that free memory work when it is full."""
    first, _, _ = script(verb, flags=True).source.partition("\n")
    if verb in READS:
        assert "#!lua flags=no-writes" == first
    elif verb in WANTS_MEMORY:
        assert "#!lua" == first
    else:
        assert "#!lua flags=allow-oom" == first


# The schema ------------------------------------------------------------------------------------


async def schema_of(scene: Scene) -> int:
    """Return the schema of the stored room."""
    return int(await scene.recorder.hget(keys.room_key(scene.room, "meta"), "schema"))


def known_schema() -> int:
    """Return the newest schema that the scripts know."""
    match = re.search(r"^local SCHEMA = (\d+)$", COMMON, re.M)
    assert match
    return int(match[1])


@EVERY_VERB
async def test_no_verb_raises_the_schema(verb: Verb, scene: Scene) -> None:
    """A room keeps the oldest schema that can hold it, so the previous version can read it."""
    before = await schema_of(scene)
    await CALLS[verb](scene)
    assert (1, 1) == (before, await schema_of(scene))


@EVERY_VERB
async def test_a_newer_schema_is_left_alone(verb: Verb, scene: Scene) -> None:
    """Every verb refuses what a newer Waitroom wrote, and changes nothing of it."""
    meta = keys.room_key(scene.room, "meta")
    await scene.recorder.hset(meta, "schema", known_schema() + 1)
    before = await dump(scene.recorder.client, scene.room)
    with pytest.raises(UpgradeNeeded, match=f"schema {known_schema() + 1}"):
        await CALLS[verb](scene)
    assert before == await dump(scene.recorder.client, scene.room)
