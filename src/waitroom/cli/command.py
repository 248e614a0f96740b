"""Turns an async function into a command: `@command(app)`.

The function's first parameter is the Session; Typer sees the others, and `--json`, which
every command has.
"""

from __future__ import annotations

import asyncio
import inspect
import os
import platform
import pwd
import re
import secrets
import signal
import sys
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Annotated, Any, TypeVar

import typer

from waitroom.cli.help import Command, Group
from waitroom.cli.output import Output
from waitroom.credentials.secret import load_secret
from waitroom.engine import Engine
from waitroom.engine.audit import Entry
from waitroom.errors import InvalidInput
from waitroom.operations.trail import Actor, Trail, Way
from waitroom.settings import Settings
from waitroom.tickets import SHORTEST_KEY, KeyRing

Body = TypeVar("Body", bound=Callable[..., Coroutine[Any, Any, None]])


def option(about: str, metavar: str = "NUMBER", *names: str) -> Any:
    """Describe an option that takes a value."""
    return typer.Option(*names, metavar=metavar, help=about)


AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON document and nothing else.")]
RoomName = Annotated[str, typer.Argument(metavar="NAME", help="The room.")]
Yes = Annotated[bool, typer.Option("--yes", help="Do not ask.")]
IfVersion = Annotated[int | None, option("Change nothing unless it has this version.")]
OpId = Annotated[
    str | None, option("Repeating a command with the same id does nothing a second time.", "TEXT")
]


@dataclass(frozen=True, slots=True)
class Session:
    """What a command works with: the settings, the engine, and the output."""

    settings: Settings
    out: Output

    @asynccontextmanager
    async def engine(self) -> AsyncIterator[Engine]:
        """Connect; with no URL, use the data folder's server, or run one for the command."""
        settings = self.settings
        made = await Engine.connect(
            settings.redis_url, settings.data_dir, self._ring(), timeout_s=settings.timeout_s
        )
        async with made as engine:
            yield engine

    def trail(self, engine: Engine) -> Trail:
        """Return the audit log, signed by the user of this machine."""
        return Trail(engine.audit, _actor())

    def late_trail(self) -> Trail:
        """Return the same for commands without Redis: they connect only to write a line."""
        return Trail(_LateLog(self), _actor())

    def _ring(self) -> KeyRing:
        # Operators sign and read no tickets, so a command without the secret still works.
        if self.settings.redis_url is not None and self.settings.secret is None:
            return KeyRing([secrets.token_bytes(SHORTEST_KEY)])
        return load_secret(self.settings)

    def confirm_name(self, room: str, warning: str, yes: bool) -> None:
        """Continue only if the room's name is typed, for what cannot be undone."""
        if yes:
            return
        typed = self._ask(f"{warning}\nType the room's name to continue")
        if typed != room:
            raise InvalidInput("name", f"{typed!r:.40} is not {room!r}; nothing was changed")

    def confirm(self, question: str, yes: bool) -> None:
        """Continue only after a yes."""
        if not yes and self._ask(f"{question} [y/N]").lower() not in ("y", "yes"):
            raise typer.Abort

    def _ask(self, question: str) -> str:
        if self.out.as_json:
            raise InvalidInput("yes", "--json cannot ask; give --yes if you are sure")
        # asyncio handles the first Ctrl-C itself, and the question would keep waiting. So its
        # handler is replaced before anybody can read the question.
        before = signal.signal(signal.SIGINT, signal.default_int_handler)
        try:
            typer.echo(f"{question}: ", nl=False, err=True)
            answer = sys.stdin.readline()
        except KeyboardInterrupt:
            answer = ""
        finally:
            signal.signal(signal.SIGINT, before)
        if not answer:  # also at the end of input
            raise typer.Abort
        return answer.strip()


@dataclass(frozen=True, slots=True)
class _LateLog:
    session: Session

    async def append(self, entry: Entry) -> str:
        async with self.session.engine() as engine:
            return await engine.audit.append(entry)


def _actor() -> Actor:
    """Return the user of the shell: whoever has a shell here may do everything.

    The name comes from the system, not from the environment, where anybody can set another name.
    """
    try:
        user = pwd.getpwuid(os.getuid()).pw_name
    except KeyError:  # a container may run under a number without a name
        user = f"uid {os.getuid()}"
    return Actor("cli", user, "admin", Way.CLI, platform.node())


def parameter(
    name: str, kind: Any, flag: str, about: str, metavar: str | None, panel: str | None = None
) -> inspect.Parameter:
    """Make an option from a table instead of a signature."""
    text = about[:1].upper() + about[1:] + "."
    given = typer.Option(flag, help=text, metavar=metavar, rich_help_panel=panel)
    annotation = Annotated[kind | None, given]
    keyword = inspect.Parameter.KEYWORD_ONLY
    return inspect.Parameter(name, keyword, default=None, annotation=annotation)


def signature_with(
    function: Callable[..., Any], options: Sequence[inspect.Parameter], skip: int = 0
) -> inspect.Signature:
    """Return a function's signature without its first `skip`, with `options` for its `**`."""
    own = list(inspect.signature(function, eval_str=True).parameters.values())[skip:]
    kept = [
        parameter.replace(kind=parameter.KEYWORD_ONLY)
        for parameter in own
        if parameter.kind is not parameter.VAR_KEYWORD
    ]
    return inspect.Signature([*kept, *options])


def page(function: Callable[..., Any]) -> str:
    """Return a docstring as help: each paragraph in one line, examples as typed."""
    paragraphs = (inspect.getdoc(function) or "").split("\n\n")
    return "\n\n".join(
        re.sub(r"^ *", "$ ", text, flags=re.MULTILINE)
        if text.startswith(" ")
        else text.replace("\n", " ")
        for text in paragraphs
    )


def command(
    app: typer.Typer,
    name: str | None = None,
    options: Sequence[inspect.Parameter] = (),
    *,
    dashes: bool = False,
) -> Callable[[Body], Body]:
    """Make an async function a command of `app`, with `options` in addition to its own.

    With `dashes`, arguments may begin with a dash, as one in 64 ticket ids does.
    """

    def register(body: Body) -> Body:
        def run(ctx: typer.Context, as_json: bool, **values: Any) -> None:
            asyncio.run(body(Session(ctx.obj(), Output(as_json)), **values))

        keyword = inspect.Parameter.KEYWORD_ONLY
        context = inspect.Parameter("ctx", keyword, annotation=typer.Context)
        as_json = inspect.Parameter("as_json", keyword, default=False, annotation=AsJson)
        seen = signature_with(body, options, skip=1)
        parameters = [context, *seen.parameters.values(), as_json]
        run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        settings = {"ignore_unknown_options": True} if dashes else None
        made = app.command(
            name or body.__name__, cls=Command, help=page(body), context_settings=settings
        )
        made(run)
        return body

    return register


def group(app: typer.Typer) -> Callable[[Callable[[], None]], Callable[[], None]]:
    """Make a function's docstring the help of a group, which is shown if no command follows."""

    def register(about: Callable[[], None]) -> Callable[[], None]:
        def show_help(ctx: typer.Context) -> None:
            if ctx.invoked_subcommand is None:
                typer.echo(ctx.get_help())
                raise typer.Exit

        app.callback(cls=Group, invoke_without_command=True, help=page(about))(show_help)
        return about

    return register
