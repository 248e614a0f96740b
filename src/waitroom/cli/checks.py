"""What `doctor` checks: each check returns lines with a verdict and, if needed, the remedy."""

from __future__ import annotations

import statistics
import time

from waitroom.cli.text import moment, number, size
from waitroom.cli.verdict import Check, fail, ok, warn
from waitroom.credentials.named_users import NamedUsers
from waitroom.engine import Engine
from waitroom.engine.connection.connect import ServerFacts
from waitroom.engine.connection.nodes import Node
from waitroom.errors import InvalidInput, UnknownRoom, WaitroomError
from waitroom.operations.overview import glance_at
from waitroom.settings import Settings

PINGS = 50
SLOW_MS = 5.0
SKEWED_S = 1.0
FOREIGN_DAYS = 7
"""How long tickets of another deployment are reported."""

_NEARLY_FULL, _FULL = 0.8, 0.95


def server(facts: ServerFacts) -> list[Check]:
    """What kind of server, and whether scripts may carry flags."""
    version = ".".join(map(str, facts.version))
    flags = "run with flags" if facts.scripts_take_flags else "run without flags, as before Redis 7"
    kind = f"{facts.flavour.capitalize()} {version}{', Cluster' if facts.cluster else ''}"
    return [ok("server", kind), ok("scripts", flags)]


def named_users(settings: Settings) -> list[Check]:
    """Whether the settings of named users are complete, where there are any."""
    try:
        users = NamedUsers.of_settings(settings)
    except InvalidInput as error:
        problem = str(error).removeprefix(f"{error.field}: ")
        return [fail(error.field, problem, "correct it: the server does not start like this")]
    if users is None:
        return []
    rules = users.roles
    count = len(rules.names) + len(rules.domains) + len(rules.groups)
    return [ok("named users", f"{number(count)} of `user_roles`, from {settings.user_peers}")]


def role(node: Node) -> Check:
    """Whether it is a primary, and who follows it."""
    replicas = int(node.info.get("connected_slaves", 0))
    noun = "replica" if replicas == 1 else "replicas"
    return ok(_named("role", node), f"primary with {number(replicas) if replicas else 'no'} {noun}")


def memory(node: Node, embedded: bool) -> list[Check]:
    """What happens when the memory is full, and how close that is."""
    name, policy = _named("memory policy", node), node.info.get("maxmemory_policy")
    limit, used = int(node.info.get("maxmemory", 0)), int(node.info.get("used_memory", 0))
    if policy is None:
        first = warn(name, "unknown, the service hides it", "make sure that it is noeviction")
    elif policy == "noeviction":
        first = ok(name, "noeviction")
    else:
        first = warn(
            name,
            f"{policy}, which loses people once a `maxmemory` is set",
            "run CONFIG SET maxmemory-policy noeviction, and set it in the configuration",
        )
    return [first, _room_left(_named("memory", node), used, limit, embedded)]


def _room_left(name: str, used: int, limit: int, embedded: bool) -> Check:
    if not limit:
        state = f"{size(used)} used, no limit"
        if embedded:
            return ok(name, state)
        return warn(name, state, "set `maxmemory`, or the system may kill a server that grows")
    state = f"{size(used)} of {size(limit)} used ({used / limit:.0%})"
    if used / limit < _NEARLY_FULL:
        return ok(name, state)
    fix = "raise `maxmemory`: nobody new can join a full server"
    return (fail if used / limit >= _FULL else warn)(name, state, fix)


async def persistence(node: Node) -> Check:
    """Whether a restart of the server keeps the line."""
    name, info = _named("persistence", node), node.info
    if info.get("aof_enabled"):
        if info.get("aof_last_write_status", "ok") != "ok":
            return fail(name, "the last write of the AOF failed", "check the server's disk and log")
        return ok(name, "AOF")
    saves = await node.saves()
    if saves is None:
        return warn(name, "no AOF; snapshots unknown, the service hides it", _AOF)
    if not saves:
        return warn(name, "off: a restart forgets everybody who does not poll again", _AOF)
    if info.get("rdb_last_bgsave_status", "ok") != "ok":
        return fail(name, "the last snapshot failed", "check the server's disk and log")
    return warn(name, "snapshots only: a crash loses the minutes since the last one", _AOF)


_AOF = "run CONFIG SET appendonly yes, and set it in the configuration"


async def coverage(node: Node) -> list[Check]:
    """Whether the rooms of a Cluster's node survive the loss of another node."""
    if not node.name or not await node.needs_all_slots():
        return []
    name = _named("coverage", node)
    fix = "run CONFIG SET cluster-require-full-coverage no, and set it in the configuration"
    return [warn(name, "one node that is away takes the rooms of all others with it", fix)]


async def latency(node: Node) -> Check:
    """How long a round trip takes."""
    times = []
    for _ in range(PINGS):
        start = time.perf_counter()
        await node.ping()
        times.append((time.perf_counter() - start) * 1000)
    median, p99 = statistics.median(times), statistics.quantiles(times, n=100)[98]
    name = _named("latency", node)
    measured = f"median {median:.2f} ms, p99 {p99:.2f} ms of {PINGS} PINGs"
    if median < SLOW_MS:
        return ok(name, measured)
    return warn(name, measured, "run Waitroom nearer to the server, or lighten its load")


async def clock(node: Node) -> Check:
    """How far this machine's clock is from the server's, whose time counts."""
    before = time.time()
    theirs = await node.clock_s()
    ahead = (before + time.time()) / 2 - theirs
    name = _named("clock", node)
    difference = f"this machine is {abs(ahead):.3f} s {'ahead' if ahead >= 0 else 'behind'}"
    if abs(ahead) < SKEWED_S:
        return ok(name, difference)
    return warn(
        name, difference, "run NTP on both: ages of tickets are judged by this machine's clock"
    )


async def rooms(engine: Engine) -> list[Check]:
    """Whether every room can be read, and every name in the index has a room."""
    names = await engine.rooms()
    glances = await glance_at(engine, names)
    errors = {name: glance for name, glance in glances.items() if isinstance(glance, WaitroomError)}
    orphans = [name for name, error in errors.items() if isinstance(error, UnknownRoom)]
    broken = {name: str(error) for name, error in errors.items() if name not in orphans}
    good = len(names) - len(orphans) - len(broken)
    checks = [ok("rooms", f"{number(good)}, and this version reads them all")]
    if not names:
        checks = [ok("rooms", "none yet; make one: waitroom room create NAME --preset slots")]
    if broken:
        checks = [ok("rooms", f"{number(good)} can be read")]
        checks += [fail(f"room {name}", "cannot be used", why) for name, why in broken.items()]
    if not orphans:
        return [*checks, ok("index of rooms", "every name has its room")]
    first = ", ".join(orphans[:5]) + (" …" if len(orphans) > 5 else "")
    noun = "name without a room" if len(orphans) == 1 else "names without a room"
    fix = f"remove them, as with `waitroom room drop {orphans[0]}`"
    return [*checks, warn("index of rooms", f"{number(len(orphans))} {noun}: {first}", fix)]


async def shared_secret(engine: Engine) -> Check:
    """Whether tickets of another deployment with our secret were shown here lately.

    Nothing else of that deployment is visible from here. Its tickets have an epoch later than any
    that the room has had.
    """
    since_ms = (time.time() - FOREIGN_DAYS * 86_400) * 1000
    shown = await engine.foreign_tickets(await engine.rooms())
    recent = [foreign for foreign in shown if foreign.last_ms >= since_ms]
    if not recent:
        return ok("shared secret", f"no ticket of another deployment in {FOREIGN_DAYS} days")
    last = max(recent, key=lambda foreign: foreign.last_ms)
    times = number(sum(foreign.shown for foreign in recent))
    return warn(
        "shared secret",
        f"tickets of another deployment with this secret were shown, number of times: {times}; "
        f"last in room {last.room} at {moment(last.last_ms)}",
        "give each deployment a secret of its own, made by `openssl rand -base64 32`",
    )


def _named(check: str, node: Node) -> str:
    return f"{check} of {node.name}" if node.name else check
