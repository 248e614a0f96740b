"""The Lua scripts: found, assembled, and sent by their hash.

A script is a line of flags, `_common.lua`, the files of `parts` that its verb needs, and
`<verb>.lua`. A file says in its header what it needs. `write_out` writes whole scripts, which the
linter reads.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any, Protocol

from redis.exceptions import NoScriptError


class Verb(StrEnum):
    """One verb = one Lua file = one `Engine` method = one test file."""

    CONFIGURE = "configure"
    JOIN = "join"
    ADOPT = "adopt"
    POLL = "poll"
    ADVANCE = "advance"
    ENTER = "enter"
    RENEW = "renew"
    FINISH = "finish"
    LEAVE = "leave"
    ADMIT = "admit"
    CALL = "call"
    KICK = "kick"
    DEFER = "defer"
    REINSTATE = "reinstate"
    LIST = "list"
    STATS = "stats"
    SAMPLE = "sample"
    CHECK = "check"
    SETTLE = "settle"
    ISSUE = "issue"
    REVOKE = "revoke"
    CLEAR = "clear"
    DROP = "drop"


COMMON = "_common"
READS = frozenset({Verb.LIST, Verb.STATS, Verb.CHECK})
OF_VISITORS = frozenset(
    {
        *(Verb.JOIN, Verb.ADOPT, Verb.POLL, Verb.ENTER, Verb.CHECK),
        *(Verb.RENEW, Verb.FINISH, Verb.LEAVE, Verb.DEFER),
    }
)
"""Verbs that use the connections of visitors, and so cannot use up those of the ticker."""

WANTS_MEMORY = frozenset({Verb.CONFIGURE, Verb.JOIN, Verb.ISSUE})
"""Verbs that a full server refuses. The others free memory or need almost none, and still run."""

_NEEDS = re.compile(r"^-- Needs: ([^.]+)\.$", re.MULTILINE)
# Servers without flags do not stop a script for lack of memory once it has written. So a write that
# changes nothing has the same effect as `allow-oom`.
_GO_ON_WHEN_FULL = "redis.pcall('HDEL', KEYS[2], '')\n"
# A script that must not run on a full server checks before it writes; this check writes nothing.
_STOP_WHEN_FULL = """local full = redis.pcall('SETRANGE', KEYS[2], 0, '')
if type(full) == 'table' and string.find(full.err or '', 'OOM', 1, true) then return full end
"""


@dataclass(frozen=True, slots=True)
class Script:
    """A whole script and the hash by which the server knows it."""

    source: str
    sha: str


class Client(Protocol):
    """The two redis-py calls that scripts need; Redis and RedisCluster both have them."""

    async def evalsha(self, sha: str, numkeys: int, *args: Any) -> Any:
        """Run a script that the server knows."""

    async def eval(self, script: str, numkeys: int, *args: Any) -> Any:
        """Run a script, and let the server store it."""


def lua(name: str) -> str:
    """Return the text of one Lua file."""
    return (resources.files(__package__) / "lua" / f"{name}.lua").read_text("utf-8")


def needs(name: str) -> list[str]:
    """Return the parts that a Lua file names in its header, as files."""
    match = _NEEDS.search(lua(name))
    words = re.findall(r"\w+", match[1]) if match else []
    return [f"parts/{word}" for word in words if word != "nothing"]


@cache
def parts_of(name: str) -> tuple[str, ...]:
    """Return all the parts that a file needs, each after those that it needs itself.

    An unused part would slow a script down: the server creates its functions at every call.
    """
    parts: dict[str, None] = {}
    for part in needs(name):
        parts |= dict.fromkeys([*parts_of(part), part])
    return tuple(parts)


@cache
def script(verb: Verb, flags: bool) -> Script:
    """Assemble a verb's script, for a server that takes `#!lua` flags or for an older one."""
    shared = "\n".join(lua(name) for name in (COMMON, *parts_of(verb)))
    return whole(verb, shared, lua(verb), flags)


def whole(verb: Verb, shared: str, own: str, flags: bool) -> Script:
    """Join the parts of a script."""
    if verb in WANTS_MEMORY:
        first = "#!lua\n" if flags else _STOP_WHEN_FULL
    elif verb in READS:
        first = "#!lua flags=no-writes\n" if flags else ""
    else:
        first = "#!lua flags=allow-oom\n" if flags else _GO_ON_WHEN_FULL
    source = f"{first}{shared}\n{own}"
    return Script(source, hashlib.sha1(source.encode(), usedforsecurity=False).hexdigest())


async def run(client: Client, script: Script, keys: list[str], args: list[Any]) -> Any:
    """Run a script by its hash; if the server has forgotten it, by its text."""
    try:
        return await client.evalsha(script.sha, len(keys), *keys, *args)
    except NoScriptError:  # it did not run, so this is not a repeat
        return await client.eval(script.source, len(keys), *keys, *args)


@cache
def outbox_script(name: str, flags: bool) -> Script:
    """Return a script of the outbox: it stands alone, and a full server refuses it."""
    source = f"{'#!lua' if flags else ''}\n{lua(f'outbox/{name}')}"
    return Script(source, hashlib.sha1(source.encode(), usedforsecurity=False).hexdigest())


def write_out(folder: Path) -> None:
    """Write every whole script, as a server without flags gets it."""
    folder.mkdir(parents=True, exist_ok=True)
    for verb in Verb:
        (folder / f"{verb}.lua").write_text(script(verb, flags=False).source, "utf-8")
    for name in ("append", "commit"):
        source = outbox_script(name, flags=False).source
        (folder / f"outbox_{name}.lua").write_text(source, "utf-8")
