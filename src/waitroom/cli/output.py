"""What commands print: one JSON document, or text for people. Errors go to stderr.

Colour appears only on a terminal (Rich takes care of it, and of NO_COLOR).
"""

from __future__ import annotations

import dataclasses
import json
import os
import sys
from collections.abc import Sequence
from typing import Any

import typer
from rich.console import Console, JustifyMethod, RenderableType
from rich.measure import Measurement
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskProgressColumn,
    TextColumn,
    TimeRemainingColumn,
)
from rich.table import Table
from rich.text import Text

from waitroom.errors import InvalidInput, WaitroomError

_MANY_ROWS = 500
_PIPE_WIDTH = 200  # nothing should be cut or wrapped for `grep`


def console(*, stderr: bool = False) -> Console:
    """Make a console for the current stdout or stderr."""
    stream = sys.stderr if stderr else sys.stdout
    free = not stream.isatty() and "COLUMNS" not in os.environ
    width = _PIPE_WIDTH if free else None
    return Console(stderr=stderr, highlight=False, width=width, emoji=False)


class Output:
    """Where one command prints."""

    def __init__(self, as_json: bool) -> None:
        self.as_json = as_json
        self.console = console()
        self.notes = console(stderr=True)

    def show(self, document: Any, *lines: RenderableType) -> None:
        """Print the document as JSON if that was requested, else the lines."""
        if self.as_json:
            # Indented for people, in one line for pipes.
            indent = 2 if self.console.is_terminal else None
            typer.echo(json.dumps(document, default=_plain, ensure_ascii=False, indent=indent))
            return
        for line in lines:
            if isinstance(line, Table) and line.row_count > _MANY_ROWS:
                typer.echo(_quick(line))
                continue
            if isinstance(line, Table):  # let the terminal wrap lines rather than cut names
                free = self.console.options.update(max_width=10 * _PIPE_WIDTH)
                needed = Measurement.get(self.console, free, line).minimum
                self.console.width = max(self.console.width, needed)
            self.console.print(line, markup=False, soft_wrap=isinstance(line, str | Text))

    def progress(self) -> Progress:
        """Make a progress bar with the remaining time; only a terminal shows it."""
        return Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TaskProgressColumn(),
            TimeRemainingColumn(),
            console=self.notes,
            transient=True,
            disable=self.as_json or not self.notes.is_terminal,
        )


def table(
    *columns: str, right: Sequence[str] = (), wrap: Sequence[str] = (), header: bool = True
) -> Table:
    """Make a table without lines: numbers to the right; only `wrap` columns may be narrowed."""
    made = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), show_header=header)
    for name in columns:
        side: JustifyMethod = "right" if name in right else "left"
        fixed = name not in wrap
        made.add_column(
            name,
            justify=side,
            header_style="bold",
            no_wrap=fixed,
            min_width=None if fixed else 8,
            overflow="fold",
        )
    return made


def _quick(made: Table) -> str:
    """Write a long table: Rich would take a second per 500 rows."""
    columns = []
    for column in made.columns:
        cells = [str(column.header), *map(str, column.cells)]
        width = max(map(len, cells))
        right = column.justify == "right"
        columns.append([cell.rjust(width) if right else cell.ljust(width) for cell in cells])
    return "\n".join("  ".join(cells).rstrip() for cells in zip(*columns, strict=True))


def report(error: Exception, as_json: bool) -> int:
    """Print an error in one sentence with its remedy; return the exit code."""
    # Typer's own errors are usage errors; so is input that was refused before any action.
    ours = isinstance(error, WaitroomError)
    code = error.code if isinstance(error, WaitroomError) else "usage"
    message = str(error) if ours else _usage(error)
    field = error.field if isinstance(error, InvalidInput) else getattr(error, "param", None)
    field = getattr(field, "name", field)
    if as_json:
        problem = {"code": code, "message": message} | ({"field": field} if field else {})
        typer.echo(json.dumps({"error": problem}, ensure_ascii=False), err=True)
    else:
        text = Text.assemble(("Error: ", "bold red"), message)
        context = getattr(error, "ctx", None)
        if context is not None:
            text.append(f"\nTry `{context.command_path} --help`.", style="dim")
        console(stderr=True).print(text, soft_wrap=True)
    return 2 if isinstance(error, InvalidInput) or not ours else 1


_BEFORE = "--redis-url", "--data-dir", "--secret", "--config", "--timeout-s"


def _usage(error: Exception) -> str:
    message = error.format_message() if isinstance(error, typer.TyperException) else str(error)
    option = getattr(error, "option_name", None)
    if option in _BEFORE:
        return f"{option} goes before the command: `waitroom {option} … COMMAND`"
    if option == "--json":
        return "--json goes after the command: `waitroom rooms --json`"
    return message


def _plain(value: Any) -> Any:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return dataclasses.asdict(value)
    return str(value)
