"""`waitroom doctor`: checks settings, server and rooms, and says what to fix."""

from __future__ import annotations

import asyncio
import secrets
from typing import Annotated

import typer
from rich.text import Text

from waitroom.cli import checks
from waitroom.cli.command import Session, option
from waitroom.cli.other_deployment import other_deployment
from waitroom.cli.text import number
from waitroom.cli.verdict import Check, Verdict, fail, ok
from waitroom.credentials.secret import SECRET_FILE, load_secret
from waitroom.engine import Engine
from waitroom.engine.connection.connect import Backend, connect
from waitroom.engine.connection.embedded import owner
from waitroom.engine.connection.nodes import nodes
from waitroom.errors import BackendUnavailable, InvalidInput, Unavailable, WaitroomError
from waitroom.settings import Settings
from waitroom.tickets import SHORTEST_KEY, KeyRing

_MARKS = {
    Verdict.OK: ("✓", "green"),
    Verdict.WARN: ("!", "bold yellow"),
    Verdict.FAIL: ("✗", "bold red"),
}


Other = Annotated[
    str | None, option("Another Waitroom of yours, which should not have our keys.", "URL")
]


async def doctor(cli: Session, other: Other = None) -> None:
    """Check the settings, the server and the rooms, and say what to fix.

    Every line begins with ✓ (well), ! (works, but should be better) or ✗ (must be fixed). The exit
    code is 1 if there is any ✗.

    Example:

      waitroom doctor
      waitroom --redis-url redis://db.internal doctor --json
      waitroom doctor --other https://staging.example
    """
    results = await examine(cli.settings)
    if other is not None:
        results.append(await asyncio.to_thread(other_deployment, cli.settings, other))
    failed = sum(check.verdict is Verdict.FAIL for check in results)
    warned = sum(check.verdict is Verdict.WARN for check in results)
    width = max(len(check.name) for check in results)
    document = {"ok": not failed, "checks": results}
    cli.out.show(document, *(_line(check, width) for check in results), _summary(failed, warned))
    if failed:
        raise typer.Exit(1)


async def examine(settings: Settings) -> list[Check]:
    """Return all checks that were possible."""
    results = [_secret(settings), *checks.named_users(settings)]
    try:
        backend = await connect(settings.redis_url, settings.data_dir, settings.timeout_s)
    except WaitroomError as error:
        return [*results, _refused(error)]
    # Nothing is signed here, so a random key will do even if the secret is missing.
    async with Engine(backend, KeyRing([secrets.token_bytes(SHORTEST_KEY)])) as engine:
        results.append(_where(settings, backend))
        try:
            results += await _server(settings, backend)
            return [*results, *await checks.rooms(engine), await checks.shared_secret(engine)]
        except Unavailable as error:
            return [*results, _refused(error)]


async def _server(settings: Settings, backend: Backend) -> list[Check]:
    results = checks.server(backend.facts)
    for node in await nodes(backend):
        results.append(checks.role(node))
        results += checks.memory(node, embedded=settings.redis_url is None)
        results.append(await checks.persistence(node))
        results += await checks.coverage(node)
        results.append(await checks.latency(node))
        results.append(await checks.clock(node))
    return results


def _secret(settings: Settings) -> Check:
    try:
        load_secret(settings)
    except InvalidInput as error:
        problem, _, fix = str(error).removeprefix("secret: ").partition("; ")
        return fail("secret", problem, fix or "correct it")
    if settings.secret is not None:
        return ok("secret", "from the settings")
    return ok("secret", f"kept in {settings.data_dir.absolute() / SECRET_FILE}")


def _where(settings: Settings, backend: Backend) -> Check:
    if settings.redis_url is not None:
        return ok("address", backend.where)
    folder = settings.data_dir.absolute()
    if backend.embedded is not None:
        return ok("address", f"our own server in {folder}, started for this command")
    pid = owner(settings.data_dir)
    return ok("address", f"our own server in {folder}, run by process {pid}")


def _refused(error: WaitroomError) -> Check:
    """Turn an error's 'what; remedy' into a check."""
    name = "connection" if isinstance(error, BackendUnavailable) else "server"
    if isinstance(error, InvalidInput):
        name = error.field
    problem, _, fix = str(error).rpartition("; ")
    return fail(name, problem or fix, fix if problem else "correct it")


def _line(check: Check, width: int) -> Text:
    mark, style = _MARKS[check.verdict]
    text = Text.assemble((mark, style), f" {check.name:<{width}}  {check.found}")
    if check.fix:
        text.append(f"\n{'':{width + 4}}→ {check.fix}", style)
    return text


def _summary(failed: int, warned: int) -> str:
    if not failed and not warned:
        return "\nAll is well."
    fails = f"{number(failed)} to fix" if failed else "nothing must be fixed"
    return f"\n{fails}, {number(warned)} to improve." if warned else f"\n{fails}."
