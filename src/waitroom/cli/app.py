"""The root of the command line: global options, all commands, and how errors are reported."""

from __future__ import annotations

import inspect
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from waitroom.cli import output
from waitroom.cli.command import command, page, parameter, signature_with
from waitroom.cli.commands import code, key, room, webhook
from waitroom.cli.commands.admit import admit
from waitroom.cli.commands.apply import apply
from waitroom.cli.commands.audit import audit
from waitroom.cli.commands.call import call
from waitroom.cli.commands.claim_key import claim_key
from waitroom.cli.commands.demo import demo
from waitroom.cli.commands.doctor import doctor
from waitroom.cli.commands.find import find
from waitroom.cli.commands.kick import kick
from waitroom.cli.commands.list import list_
from waitroom.cli.commands.load import load as load_server
from waitroom.cli.commands.note import note
from waitroom.cli.commands.plan import plan
from waitroom.cli.commands.rehearse import rehearse
from waitroom.cli.commands.reinstate import reinstate
from waitroom.cli.commands.report import report
from waitroom.cli.commands.rooms import rooms
from waitroom.cli.commands.serve import serve
from waitroom.cli.commands.stats import stats
from waitroom.cli.desk import group, host, rebuild, store
from waitroom.cli.desk.demo import desk_demo
from waitroom.cli.help import Command, Group
from waitroom.errors import WaitroomError
from waitroom.settings import SETTINGS, Setting, load
from waitroom.version import __version__

_ORDER = (
    *("serve", "demo", "rooms", "room", "apply", "list", "stats", "admit", "call", "kick"),
    *("reinstate", "find", "note", "audit", "code", "key", "claim-key", "webhook", "desk"),
    *("plan", "rehearse", "report", "load", "doctor"),
)


class Root(Group):
    """Ends every error with one sentence and a code, for any caller: a shell, a test, a program."""

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        windows_expand_args: bool = True,
        **extra: Any,
    ) -> Any:
        """Run a command and exit."""
        words = list(sys.argv[1:] if args is None else args)
        as_json = "--json" in words
        try:
            code = super().main(words, prog_name, complete_var, False, windows_expand_args, **extra)
        except (WaitroomError, typer.TyperException) as error:
            code = output.report(error, as_json)
        except typer.Abort:
            message = "\nStopped; nothing was changed. With --yes nothing is asked."
            output.console(stderr=True).print(message)
            code = 1
        if not standalone_mode:
            return code
        sys.exit(code if isinstance(code, int) else 0)

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002 - of the base class
        """Return the commands in the order of the help: Typer would put groups last."""
        return sorted(self.commands, key=_ORDER.index)


app = typer.Typer(name="waitroom", cls=Root, pretty_exceptions_enable=False)
Version = Annotated[bool, typer.Option("--version", help="Print the version and end.")]
_WORDS = {"redis_url": "URL", "public_url": "URL", "data_dir": "FOLDER"}
_KINDS = {str: "TEXT", int: "NUMBER", float: "NUMBER", bool: "true|false", Path: "FILE"}


def _options(serves: bool) -> list[inspect.Parameter]:
    """Return one option per setting: those of every command, or those of `serve` alone."""
    return [
        parameter(
            setting.name,
            str,
            "--" + setting.name.replace("_", "-"),
            f"{setting.about} ({setting.env}{_default(setting)})",
            _WORDS.get(setting.name, _KINDS[setting.kind]),
        )
        for setting in SETTINGS
        if setting.serves is serves
    ]


def _default(setting: Setting) -> str:
    """Return how the help shows a default; if there is none, `about` says what that means."""
    value = setting.default
    if value is None or setting.secret:
        return ""
    return f", default {str(value).lower() if setting.kind is bool else value}"


def root(ctx: typer.Context, version: Version = False, **given: Any) -> None:
    """A virtual waiting room on Redis or Valkey: people get in fairly, in order, at a pace you set.

    With no --redis-url, Waitroom uses its own server in the data folder: the one that is running,
    or one started for the duration of the command. Options stand before environment variables,
    these before the TOML file.

    Example:

      waitroom room create concert --preset slots
      waitroom rooms
      waitroom --redis-url redis://db.internal doctor
    """
    if version:
        typer.echo(f"waitroom {__version__}")
        raise typer.Exit
    if ctx.invoked_subcommand is None:
        typer.echo(ctx.get_help())
        raise typer.Exit
    ctx.obj = lambda more=None: load(os.environ, given | (more or {}))


root.__signature__ = signature_with(root, _options(False))  # type: ignore[attr-defined]
app.callback(invoke_without_command=True, help=page(root))(root)


group.app.add_typer(store.app, name="store")
group.app.add_typer(host.app, name="host")
command(group.app)(rebuild.rebuild)
group.app.command("demo", cls=Command, help=page(desk_demo))(desk_demo)

serve.__signature__ = signature_with(serve, _options(True))  # type: ignore[attr-defined]
app.command("serve", cls=Command, help=page(serve))(serve)
app.command("demo", cls=Command, help=page(demo))(demo)
command(app)(rooms)
app.add_typer(room.app, name="room")
app.add_typer(code.app, name="code")
app.add_typer(key.app, name="key")
app.add_typer(webhook.app, name="webhook")
app.add_typer(group.app, name="desk")
command(app)(apply)
command(app, dashes=True)(admit)
command(app, dashes=True)(call)
command(app, dashes=True)(kick)
command(app, dashes=True)(reinstate)
command(app, dashes=True)(find)
command(app)(note)
command(app, "claim-key")(claim_key)
command(app, "list")(list_)
command(app)(stats)
command(app)(audit)
command(app)(plan)
command(app)(rehearse)
command(app)(report)
command(app, "load")(load_server)
command(app)(doctor)
