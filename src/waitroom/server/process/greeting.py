"""What `waitroom serve` prints on a terminal: where it listens, what is there, the next step."""

from __future__ import annotations

import sys

from waitroom.settings import Settings
from waitroom.version import __version__

_TEXT = """
Waitroom {version} listens at {base}

  visitors    {base}/rooms/NAME   make a room: waitroom room create NAME --preset slots
  operators   {base}/admin        make a key:  waitroom key create --name ME --role admin
  developers  {base}/docs         all requests; health at /healthz, figures at /metrics

{backend}. Ctrl+C stops it.
"""


def greet(settings: Settings) -> None:
    """Print it if somebody is watching; machines read the log."""
    if sys.stderr.isatty():
        sys.stderr.write(greeting(settings))
        sys.stderr.flush()


def greeting(settings: Settings) -> str:
    """Return the text."""
    backend = "People and places are kept by the built-in server, in " + str(settings.data_dir)
    if settings.redis_url is not None:
        backend = "People and places are kept by the server at `redis_url`"
    return _TEXT.format(version=__version__, base=base_url(settings), backend=backend)


def base_url(settings: Settings) -> str:
    """Return the address by which browsers reach this server, as far as the settings say."""
    anywhere = settings.host in ("0.0.0.0", "::")  # noqa: S104 - compared, not bound
    host = "127.0.0.1" if anywhere else settings.host
    shown = f"[{host}]" if ":" in host else host
    here = f"{'https' if settings.tls_cert else 'http'}://{shown}:{settings.port}"
    return (settings.public_url or here).rstrip("/")
