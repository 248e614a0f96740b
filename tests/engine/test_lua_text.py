"""What the text of the scripts guarantees: no write before the mark, and a correct map of R.

The checks read the Lua with regular expressions. They rely on its layout: a function begins with
`local function` and ends with `end`, both at the start of a line, or is inside a verb's file.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from tests.engine.lua_files import SHARED
from waitroom.engine.scripts import COMMON, READS, Verb, lua, parts_of

MARK = "-- First write: everything is checked."
# Every command that a script calls is in one of these two, so that a new one must be classified.
READING = {
    *("EXISTS", "GET", "HEXISTS", "HGET", "HGETALL", "HMGET", "HRANDFIELD", "TIME", "TYPE"),
    *("XREVRANGE", "ZCARD", "ZCOUNT", "ZMSCORE", "ZRANGE", "ZRANGEBYSCORE", "ZRANK", "ZSCAN"),
    *("HLEN", "SISMEMBER", "ZSCORE"),
}
WRITING = {
    *("EXPIRE", "HDEL", "HINCRBY", "HSET", "SADD", "SET", "UNLINK", "XADD"),
    *("ZADD", "ZPOPMIN", "ZREM", "ZREMRANGEBYRANK", "ZREMRANGEBYSCORE"),
}
FUNCTION = re.compile(r"^local function (\w+)\(.*?^end$", re.MULTILINE | re.DOTALL)
ASSIGNED = re.compile(r"((?:[\w.\[\]]+, )*[\w.\[\]]+) = ")


def without_comments(text: str) -> str:
    """Return Lua without its comments."""
    return re.sub(r"--.*", "", text)


def functions(name: str) -> dict[str, str]:
    """Return the functions of one Lua file by their names."""
    return {match[1]: match[0] for match in FUNCTION.finditer(without_comments(lua(name)))}


def writes(text: str, writers: set[str]) -> set[str]:
    """Return the commands and functions called in some Lua that write."""
    commands = WRITING & set(re.findall(r"redis\.call\('(\w+)'", text))
    return commands | (writers & set(re.findall(r"(?<!function )\b(\w+)\(", text)))


def writers(verb: Verb) -> set[str]:
    """Return the functions of a verb's script that write, directly or through others."""
    bodies: dict[str, str] = {}
    for name in (COMMON, *parts_of(verb), verb):
        bodies |= functions(name)
    known: set[str] = set()
    while True:
        more = {name for name, body in bodies.items() if writes(body, known)}
        if more == known:
            return known
        known = more


def body(verb: Verb) -> str:
    """Return what a verb's file does when it runs: its lines outside functions."""
    return FUNCTION.sub("", lua(verb))


def assigned(name: str) -> Iterator[tuple[str, str]]:
    """Return each field of R that a file sets, and where: the function, or the verb."""
    bodies = functions(name) if name in SHARED else {name: without_comments(lua(name))}
    for who, text in bodies.items():
        for left in ASSIGNED.findall(text):
            for field in re.findall(r"\bR\.(\w+)\b(?!\[)", left):
                yield field, who
    if name == "_common":
        meta = re.search(r"local META = \{(.*?)\}", lua(name), re.DOTALL)
        assert meta
        for field in re.findall(r"'(\w+)'", meta[1]):
            yield field, "open_room"


def described() -> dict[str, set[str]]:
    """Return the map of R: each field, and who sets it."""
    fields: dict[str, set[str]] = {}
    field = ""
    head, _, rows = lua("_common").partition(" what it is\n")
    setters = slice(head.splitlines()[-1].index("set by"), len(head.splitlines()[-1]))
    for line in rows.splitlines():
        if not line.startswith("--"):
            break
        if match := re.match(r"--   R\.(\w+)", line):
            field = match[1]
            fields[field] = set()
        fields[field] |= set(re.findall(r"\w+", line[setters]))
    return fields


def test_commands_are_known() -> None:
    """Every command in the scripts either reads or writes, and none does both."""
    used = {
        command
        for name in (*SHARED, *Verb)
        for command in re.findall(r"redis\.call\('(\w+)'", without_comments(lua(name)))
    }
    assert READING | WRITING == used
    assert set() == READING & WRITING


def test_a_room_is_read_without_a_write() -> None:
    """Reading a room and looking up an earlier reply write nothing: a script may still end."""
    write = set().union(*map(writers, Verb))
    assert set() == {"open_room", "replay", "locate", "judge_absent", "budget"} & write
    assert {"save", "no_change", "remember", "admission", "take_out"} <= write


@pytest.mark.parametrize("verb", sorted(set(Verb) - READS))
def test_first_write_is_marked(verb: Verb) -> None:
    """Before the mark a verb writes nothing, except to end a call that changes nobody."""
    before, mark, after = body(verb).partition(f"\n{MARK}\n")
    assert mark, f"{verb}.lua has no line {MARK!r}"
    assert MARK not in after
    ends = re.sub(r"return (remember\()?no_change\(", "return (", without_comments(before))
    assert set() == writes(ends, writers(verb))
    assert writes(without_comments(after), writers(verb))


@pytest.mark.parametrize("verb", sorted(READS))
def test_reads_write_nothing(verb: Verb) -> None:
    """A verb that reads calls nothing that writes, and has no mark."""
    assert set() == writes(without_comments(lua(verb)), writers(verb))
    assert MARK not in lua(verb)


def test_map_of_the_room() -> None:
    """The map of R has the fields that scripts use, each with the functions that set it."""
    used = {
        field
        for name in (*SHARED, *Verb)
        for field in re.findall(r"\bR\.(\w+)", without_comments(lua(name)))
    }
    setters: dict[str, set[str]] = {field: set() for field in used}
    for name in (*SHARED, *Verb):
        for field, who in assigned(name):
            if field in used:
                setters[field].add(who)
    assert setters == described()
