"""The command line of operators: `waitroom`, or `python -m waitroom.cli`.

It must hold no rules of rooms or of the desk.
"""

from __future__ import annotations

import io
import sys


def main() -> None:
    """Run the command line and exit with its code."""
    try:
        from waitroom.cli.app import app
    except ModuleNotFoundError as error:  # the bare package is for gates, which need none of this
        if error.name is None or error.name.startswith("waitroom"):
            raise
        sys.exit(f"Error: {error.name} is missing; run `pip install 'waitroom[embedded]'`")
    for stream in (sys.stdout, sys.stderr):  # a terminal without '→' gets '?', not a traceback
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    app(prog_name="waitroom")
