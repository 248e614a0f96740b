"""Imports point one way: server, gates, client, cli, desk, ticker → engine → the pure modules."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Mapping
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import waitroom
from waitroom import engine

ROOT = Path(waitroom.__file__).parent
CORE = {
    "version",
    "accounts",
    "models",
    "history",
    "errors",
    "moments",
    "secret_files",
    "settings",
    "texts",
    "tickets",
    "crockford",
    "short_codes",
    "entry_codes",
    "passes",
    "estimate",
    "web",
    "work",
}
# A core module imports no third-party package, except libraries that implement a standard.
# A gate adds to these only the framework that it is for.
PACKAGES = {
    "credentials": set[str](),
    "passes": {"jwt", "cryptography"},
    "client": {"httpx2"},
    "archive": set[str](),
    "posting": {"httpx2"},
    "push": {"jwt", "cryptography", "http_ece"},
    "load": set[str](),
    "gates": {"jwt", "cryptography", "django", "flask", "asgiref"},
}
# Besides itself and the core, a part may import these parts; an unlisted part may import none.
ALLOWED = {
    "credentials": set[str](),
    "engine": {"credentials"},
    "operations": {"archive", "credentials", "engine", "events", "posting", "desk", "report"},
    "ticker": {"engine"},
    "gates": set[str](),
    "client": set[str](),
    "archive": set[str](),
    "events": {"archive", "engine", "posting"},
    "posting": set[str](),
    "push": {"posting"},
    "desk": {"credentials", "engine", "events", "posting", "ticker"},
    "load": set[str](),
    "planner": set[str](),
    "charts": set[str](),
    "report": {"archive", "charts"},
    "rehearsal": {"engine", "report", "ticker"},
    "server": {
        "archive",
        "events",
        "charts",
        "credentials",
        "engine",
        "operations",
        "ticker",
        "desk",
        "planner",
        "posting",
        "push",
        "rehearsal",
        "report",
    },
    "cli": {
        "archive",
        "events",
        "credentials",
        "engine",
        "operations",
        "ticker",
        "server",
        "desk",
        "planner",
        "rehearsal",
        "report",
        "load",
    },
    "__main__": {"cli"},
}
# These import nothing else of Waitroom, and no third-party package.
PURE = {"planner": {"planner", "models", "errors"}, "web": {"web", "errors"}, "charts": {"charts"}}
# The engine is closed: others import what the package exports, and only these of its modules.
ENGINE_MODULES = {
    "api_keys",  # kept in Redis: operators' keys, ...
    "audit",  # ... who did what, ...
    "outbox",  # ... what happened, ...
    "webhooks",  # ... and who is told, ...
    "push_subscriptions",  # ... who wants a message, ...
    "handoffs",  # ... and one-time codes; an engine has one of each
    "connection.connect",  # `doctor` looks at a server before it is known to be fit, ...
    "connection.nodes",  # ... and asks each node of it
    "connection.embedded",  # the parent process runs an embedded server, a rehearsal another
}
# Names of its internals. If a test must do to Redis what the engine would not, it uses
# `engine.backend.client`; the tests of the engine and the benchmarks may also look inside.
REACH = re.compile(
    r"\bengine\._?(?:runner|visitors|crowd|lines|client)\b|\._runner\b|\brunner\.client\b"
)
CLIENT = re.compile(r"\bbackend\.client\b")
# The public API names what it offers; it is above everything, and nobody imports it.
PUBLIC = Path("__init__.py")
MODULES = sorted(path.relative_to(ROOT) for path in ROOT.rglob("*.py"))
DESK_ROUTES = {"desk/api", "desk/console", "desk/pages"}
# The server from below. A module may import what has its own name and everything further down;
# two names of one layer do not know each other. The longest matching name of a module counts.
FACES = {
    "visitor",
    "site",
    "operator",
    "waiting",
    "desk",
    "metrics",
    "apidocs",
    "push",
    "process/health",
}
SERVER_LAYERS = (
    {"counters", "process/logs"},
    {"http"},
    {"rooms"},
    {"challenges"},
    {"context"},
    {"http/auth"},
    {"tickets", "pages"},
    FACES,
    {"preview"},  # what operators see of the waiting page
    {"lifecycle"},
    {"app"},
    {"process"},
)


def part_of(module: Path) -> str:
    """Return the layer that a file belongs to: the first word after `waitroom`."""
    return module.parts[0].removesuffix(".py")


def imported(source: str, package: tuple[str, ...]) -> set[str]:
    """Return the full names that a module imports, at its top or within functions."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) - node.level + 1] if node.level else ()
            base = ".".join([*above, *([node.module] if node.module else [])])
            # `from waitroom import engine` imports a module too, so each name is checked.
            names |= {f"{base}.{alias.name}" for alias in node.names}
    return names


def wrong(source: str, module: Path) -> set[str]:
    """Return the imports that a module of Waitroom must not have."""
    part = part_of(module)
    below = PURE.get(part, CORE | {part} | ALLOWED.get(part, set()))
    alone = part in CORE or part in PURE or part in PACKAGES
    bad: set[str] = set()
    if module == PUBLIC:
        return bad
    for name in imported(source, ("waitroom", *module.parts[:-1])):
        top, *rest = name.split(".")
        if top != "waitroom":
            own = PACKAGES.get(part, set())
            fine = not alone or top in sys.stdlib_module_names or top in own
        else:
            fine = rest != [] and rest[0] in below
        bad |= set() if fine else {name}
    return bad


@pytest.mark.parametrize("module", MODULES, ids=str)
def test_imports_point_one_way(module: Path) -> None:
    """No module imports a layer above it, and a core module imports no third-party package."""
    assert set() == wrong((ROOT / module).read_text("utf-8"), module)


def test_every_part_is_known() -> None:
    """A new part of the package must get its place in the table above."""
    parts = {part_of(module) for module in MODULES if module != PUBLIC}
    assert set() == parts - CORE - set(ALLOWED)


@pytest.mark.parametrize(
    ("module", "source", "reported"),
    [
        ("models/policy.py", "import redis", "redis"),
        (
            "models/policy.py",
            "def f():\n    from waitroom.engine.engine import Engine",
            "waitroom.engine",
        ),
        ("tickets.py", "from waitroom import engine", "waitroom.engine"),
        ("tickets.py", "from . import ticker", "waitroom.ticker"),
        ("tickets.py", "import jwt", "jwt"),
        ("passes.py", "import jwt, redis", "redis"),
        ("passes.py", "from waitroom.credentials import secret", "waitroom.credentials"),
        ("engine/verbs/rooms.py", "import waitroom.cli", "waitroom.cli"),
        ("engine/engine.py", "from ..ticker import Ticker", "waitroom.ticker"),
        ("engine/engine.py", "from waitroom.server.app import app", "waitroom.server"),
        ("ticker.py", "from waitroom.cli import main", "waitroom.cli"),
        ("planner/formulas.py", "import rich", "rich"),
        (
            "gates/asgi.py",
            "from waitroom.server.http.request import VisitorRequest",
            "waitroom.server",
        ),
        ("gates/keys.py", "from waitroom.credentials import secret", "waitroom.credentials"),
        ("gates/decision.py", "import redis", "redis"),
        ("client.py", "import requests", "requests"),
        ("client.py", "from waitroom.server.http.request import VisitorRequest", "waitroom.server"),
        ("gates/remote.py", "import httpx2", "httpx2"),
        ("planner/advice.py", "from waitroom.settings import load", "waitroom.settings"),
        ("web/names.py", "from waitroom.models import State", "waitroom.models"),
        ("web/origins.py", "import starlette", "starlette"),
    ],
)
def test_a_wrong_import_is_found(module: str, source: str, reported: str) -> None:
    """The check can fail: forbidden imports in every form are reported."""
    (bad,) = wrong(source, Path(module))
    assert bad.startswith(reported)


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("models/policy.py", "from waitroom.errors import InvalidPolicy\nimport math"),
        ("passes.py", "import jwt\nfrom cryptography.hazmat.primitives import hashes"),
        (
            "engine/engine.py",
            "import redis\nfrom waitroom.version import __version__\nfrom .keys import x",
        ),
        ("ticker.py", "from waitroom.engine.engine import Engine"),
        ("gates/keys.py", "import jwt\nfrom waitroom.passes import PassKeys"),
        ("client.py", "import httpx2\nfrom waitroom.models import State"),
        ("gates/django.py", "import django\nfrom waitroom.gates.gate import Gate"),
        ("gates/decision.py", "from waitroom.web.addresses import Proxies"),
        ("planner/verdict.py", "import math\nfrom waitroom.planner.inputs import Inputs"),
        ("cli/main.py", "from waitroom.ticker import Ticker\nfrom waitroom.engine import connect"),
    ],
)
def test_a_right_import_is_not(module: str, source: str) -> None:
    """Imports that point down are allowed."""
    assert set() == wrong(source, Path(module))


# Inside the server --------------------------------------------------------------------------------


def place_of(module: str) -> tuple[int, str]:
    """Return the layer of a module of the server, and the name that it has there."""
    fits = [
        (len(name), level, name)
        for level, names in enumerate(SERVER_LAYERS)
        for name in names
        if module == name or module.startswith(f"{name}/")
    ]
    assert fits, f"server/{module} has no place in SERVER_LAYERS"
    _, level, name = max(fits)
    return level, name


def wrong_in_server(source: str, module: str) -> set[str]:
    """Return the server imports that one of its modules must not have."""
    level, own = place_of(module)
    bad: set[str] = set()
    for name in resolved(source, f"server/{module}", KNOWN):
        part = name.removeprefix("server/")
        if part == name or name not in KNOWN:
            continue
        other_level, other = place_of(part)
        bad |= set() if other == own or other_level < level else {part}
    return bad


def resolved(source: str, module: str, known: Mapping[str, object] | set[str]) -> set[str]:
    """Return the modules of Waitroom that one imports, as paths, without implied parents."""
    is_package = any(name.startswith(f"{module}/") for name in known)
    package = ("waitroom", *module.split("/")[: None if is_package else -1])
    names = {name.replace(".", "/") for name in imported(source, package)}
    names = {name.removeprefix("waitroom/") for name in names if name.startswith("waitroom/")}
    return {name if name in known else name.rpartition("/")[0] for name in names} - {module, ""}


def cycle(sources: Mapping[str, str]) -> list[str]:
    """Return modules that import each other in a circle, including late and type-only imports."""
    graph = {module: resolved(source, module, sources) for module, source in sources.items()}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        modules: list[str] = error.args[1]
        return modules
    return []


def named(module: Path) -> str:
    """Return a module by its path without a suffix; a package by its folder."""
    return module.with_suffix("").as_posix().removesuffix("/__init__").removesuffix("__init__")


SOURCES = {named(module): (ROOT / module).read_text("utf-8") for module in MODULES}
KNOWN = set(SOURCES)
SERVER = sorted(name.removeprefix("server/") for name in KNOWN if name.startswith("server/"))


@pytest.mark.parametrize("module", SERVER)
def test_the_server_has_layers(module: str) -> None:
    """Inside the server imports point down too, and no face knows another."""
    assert set() == wrong_in_server(SOURCES[f"server/{module}"], module)


@pytest.mark.parametrize(
    ("module", "source", "reported"),
    [
        ("context", "from waitroom.server.visitor import routes", "visitor/routes"),
        ("context", "def f():\n    from waitroom.server import desk", "desk"),
        ("context", "from waitroom.server.http.auth import Who", "http/auth"),
        ("http/request", "from waitroom.server.context import Server", "context"),
        ("rooms/board", "if TYPE_CHECKING:\n    from ..context import Server", "context"),
        ("waiting/facts", "from waitroom.server.visitor import lane", "visitor/lane"),
        ("visitor/lane", "from waitroom.server.site.check import check", "site/check"),
        ("desk/pages/base", "from waitroom.server.waiting.faces import Face", "waiting/faces"),
        ("metrics/routes", "from waitroom.server.lifecycle import drain", "lifecycle"),
        ("tickets/actions", "from waitroom.server.pages.text import Text", "pages/text"),
        ("app", "from waitroom.server.process.worker import Worker", "process/worker"),
    ],
)
def test_a_wrong_import_in_the_server_is_found(module: str, source: str, reported: str) -> None:
    """The check can fail: an import upwards or of a neighbour is reported, in any form."""
    assert {reported} == wrong_in_server(source, module)


def desk_routes(names: set[str]) -> set[str]:
    """Return which of the desk's three kinds of routes some modules belong to."""
    return {"/".join(name.split("/")[:2]) for name in names} & DESK_ROUTES


@pytest.mark.parametrize("module", [name for name in SERVER if name.startswith("desk/")])
def test_the_desks_routes_do_not_know_each_other(module: str) -> None:
    """API, console and pages of the desk share what is below them, which knows none of them."""
    parts = resolved(SOURCES[f"server/{module}"], f"server/{module}", KNOWN)
    used = desk_routes({part.removeprefix("server/") for part in parts})
    assert used <= desk_routes({module})


def verbs_used(source: str, module: str) -> set[str]:
    """Return the other verb modules that one of them imports, except their base."""
    parts = resolved(source, f"engine/verbs/{module}", KNOWN)
    return {part for part in parts if part.startswith("engine/verbs/")} - {"engine/verbs/base"}


def test_verbs_do_not_know_each_other() -> None:
    """What two actors of the engine share is in their base, or in a part of the engine."""
    modules = [name for name in SOURCES if name.startswith("engine/verbs/")]
    assert len(modules) > 3
    assert set() == set().union(
        *(verbs_used(SOURCES[name], name.removeprefix("engine/verbs/")) for name in modules)
    )
    source = "from waitroom.engine.verbs.rooms import RoomVerbs"
    assert {"engine/verbs/rooms"} == verbs_used(source, "visitors"), "the check is not blind"


def test_no_module_imports_itself_in_a_circle() -> None:
    """There is no import cycle, not even one hidden in a function or from the checker."""
    assert [] == cycle(SOURCES)


@pytest.mark.parametrize(
    "sources",
    [
        {"a": "import waitroom.b", "b": "from waitroom import a"},
        {"a": "from waitroom.b import x", "b": "def f():\n    from waitroom.a import y"},
        {"a": "import waitroom.b", "b": "if TYPE_CHECKING:\n    from waitroom.a import y"},
        {"p": "from waitroom.p.a import x", "p/a": "from waitroom.p import y"},
        {"a": "import waitroom.b", "b": "import waitroom.c", "c": "import waitroom.a"},
    ],
)
def test_a_cycle_is_found(sources: dict[str, str]) -> None:
    """The check can fail: late imports and those for the type checker count."""
    assert cycle(sources)


def test_a_parent_package_is_not_implied() -> None:
    """A package may import its modules, and they each other, as long as none imports it."""
    assert [] == cycle({"p": "from waitroom.p.a import x", "p/a": "import waitroom.p.b", "p/b": ""})


# The closed engine --------------------------------------------------------------------------------


def into_the_engine(source: str, module: Path) -> set[str]:
    """Return the imports of a module outside the engine that bypass its exports."""
    bad = {
        name
        for name in imported(source, ("waitroom", *module.parts[:-1]))
        if name.split(".")[0] in ("redis", "hiredis")
    }
    for name in imported(source, ("waitroom", *module.parts[:-1])):
        inner = name.removeprefix("waitroom.engine.")
        public = inner in engine.__all__ or inner.rpartition(".")[0] in ENGINE_MODULES
        if inner != name and not public:
            bad.add(name)
    return bad


OUTSIDE = [module for module in MODULES if part_of(module) != "engine"]


@pytest.mark.parametrize("module", OUTSIDE, ids=str)
def test_the_engine_is_closed(module: Path) -> None:
    """Nobody else imports its modules or a Redis client, or reaches through it to one."""
    source = (ROOT / module).read_text("utf-8")
    assert set() == into_the_engine(source, module)
    assert None is REACH.search(source)
    assert None is CLIENT.search(source)


def test_tests_do_not_reach_through_the_engine() -> None:
    """Only its own tests look inside the engine; others use its public parts."""
    here = Path(__file__).parent
    tests = [path.relative_to(here) for path in here.rglob("*.py") if path != Path(__file__)]
    outside = [path for path in tests if path.parts[0] != "engine"]
    assert [] == [str(path) for path in outside if REACH.search((here / path).read_text("utf-8"))]


@pytest.mark.parametrize(
    "source",
    [
        "from waitroom.engine import keys",
        "from waitroom.engine.protocol import replies",
        "from waitroom.engine.protocol.replies import parse",
        "from waitroom.engine.runner import Runner",
        "from waitroom.engine.connection.address import parse_url",
        "from redis.asyncio import Redis",
        "import hiredis",
        "def f():\n    import waitroom.engine.lines",
    ],
)
def test_a_way_into_the_engine_is_found(source: str) -> None:
    """The check sees every form of an import."""
    assert into_the_engine(source, Path("server/app.py"))


@pytest.mark.parametrize(
    "source",
    ["await self.engine.runner.run()", "engine._crowd", "x = engine.lines", "runner.client.get(1)"],
)
def test_a_reach_through_is_found(source: str) -> None:
    """It also sees all the names of its internals."""
    assert REACH.search(source)


def test_the_front_of_the_engine_is_used() -> None:
    """Each module opened to others is needed by somebody."""
    names = {
        name.removeprefix("waitroom.engine.").rpartition(".")[0]
        for module in OUTSIDE
        for name in imported((ROOT / module).read_text("utf-8"), ("waitroom", *module.parts[:-1]))
        if name.startswith("waitroom.engine.")
    }
    assert set() == ENGINE_MODULES - names
