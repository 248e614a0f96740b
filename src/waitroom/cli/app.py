"""The root of the command line: global options, all commands, and how errors end."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from waitroom import __version__
from waitroom.cli import output, room
from waitroom.cli.command import command, option, page, signature_with
from waitroom.cli.doctor import doctor
from waitroom.cli.kick import kick
from waitroom.cli.people import admit, call, list_
from waitroom.cli.plan import plan
from waitroom.cli.rooms import rooms
from waitroom.cli.stats import stats
from waitroom.errors import WaitroomError
from waitroom.settings import SETTINGS, load

_ORDER = ("rooms", "room", "list", "stats", "admit", "call", "kick", "plan", "doctor")


class Root(TyperGroup):
    """Ends every error in one sentence and a code, whoever calls: a shell, a test, a program."""

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
            said = "\nStopped; nothing was changed. With --yes nothing is asked."
            output.console(stderr=True).print(said)
            code = 1
        if not standalone_mode:
            return code
        sys.exit(code if isinstance(code, int) else 0)

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002 - of the base class
        """Return the commands in the order of the help: Typer would put groups last."""
        return sorted(self.commands, key=_ORDER.index)


app = typer.Typer(name="waitroom", cls=Root, pretty_exceptions_enable=False)
Version = Annotated[bool, typer.Option("--version", help="Print the version and end.")]
OPTIONS = [
    option(
        setting.name,
        str,
        "--" + setting.name.replace("_", "-"),
        f"{setting.about} ({setting.env})",
        {"redis_url": "URL", "data_dir": "FOLDER", "config": "FILE"}.get(setting.name, "TEXT"),
    )
    for setting in SETTINGS
]


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
    ctx.obj = lambda: load(os.environ, given)


root.__signature__ = signature_with(root, OPTIONS)  # type: ignore[attr-defined]
app.callback(invoke_without_command=True, help=page(root))(root)


def room_root(ctx: typer.Context) -> None:
    """Create, change, show, empty and remove rooms.

    Example:

      waitroom room create concert --preset slots
      waitroom room set concert --capacity 80
    """
    if ctx.invoked_subcommand is None:
        typer.echo(ctx.get_help())
        raise typer.Exit


room.app.callback(invoke_without_command=True, help=page(room_root))(room_root)

command(app)(rooms)
app.add_typer(room.app, name="room")
command(app, dashes=True)(admit)
command(app, dashes=True)(call)
command(app, dashes=True)(kick)
command(app, "list")(list_)
command(app)(stats)
command(app)(plan)
command(app)(doctor)
