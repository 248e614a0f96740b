"""`waitroom serve`: the server, and with `--demo` a room with a crowd to look at."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from waitroom.errors import InvalidInput

Demo = Annotated[
    bool, typer.Option("--demo", help="Make a room `demo` and let a small crowd queue in it.")
]


def serve(ctx: typer.Context, demo: Demo = False, **given: Any) -> None:
    """Run the server: visitor API, waiting pages, operator API and page, metrics.

    Rooms that the TOML file declares are made on start. SIGTERM drains: the server still answers
    for `drain_s`, sends event streams elsewhere, and ends. A second signal ends it at once.
    SIGHUP reads the settings and the file again, and replaces one worker after the other.

    Example:

      waitroom serve
      waitroom --config rooms.toml serve --host 0.0.0.0 --workers 4
      waitroom serve --demo
    """
    try:
        from waitroom.server.process import parent
    except ModuleNotFoundError as error:
        raise InvalidInput(
            "serve", f"{error.name} is missing; run `pip install 'waitroom[server]'`"
        ) from None
    settings = ctx.obj(given)
    if demo:
        from waitroom.server.process.demo import serve_demo

        serve_demo(settings)
    else:
        parent.serve(settings, reload=lambda: ctx.obj(given))
