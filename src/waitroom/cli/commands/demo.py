"""`waitroom demo`: a concert on sale behind a waiting room, with a crowd, in one command.

Three parts, each as it would run anywhere else: the server in this process and its workers, the
concert site (`examples/concert`) under uvicorn, and the crowd. All of it runs on this machine, in a
folder that is removed at the end.
"""

from __future__ import annotations

import contextlib
import importlib.util
import json
import os
import secrets
import signal
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from waitroom import version
from waitroom.errors import InvalidInput
from waitroom.settings import Settings

HOST = "127.0.0.1"
ROOM = "concert"
NEEDED = (
    *("fastapi", "httptools", "httpx2", "jinja2", "jwt", "msgspec", "multipart", "sqlalchemy"),
    "uvicorn",
)
LONGEST_START_S = 60

Port = Annotated[
    int, typer.Option(metavar="PORT", min=1, max=65_535, help="Where Waitroom listens.")
]
SitePort = Annotated[
    int, typer.Option(metavar="PORT", min=1, max=65_535, help="Where the concert site listens.")
]
People = Annotated[
    int,
    typer.Option(metavar="NUMBER", min=0, max=500, help="How many people the crowd keeps coming."),
]
Capacity = Annotated[
    int, typer.Option(metavar="NUMBER", min=1, help="How many may be on the site at once.")
]


def demo(
    port: Port = 8080, site_port: SitePort = 8081, people: People = 25, capacity: Capacity = 8
) -> None:
    """Show everything: a concert on sale behind a waiting room, and a crowd that wants tickets.

    Open the site, stand in line, get in, choose a seat and pay: your place goes to the next one.
    It runs a backend of its own, and nothing is kept when it ends.

    Example:

      waitroom demo
      waitroom demo --people 60 --capacity 5
    """
    missing = [name for name in NEEDED if importlib.util.find_spec(name) is None]
    if missing:
        why = f"{', '.join(missing)} is missing; run `pip install 'waitroom[demo]'`"
        raise InvalidInput("demo", why)
    folder = site_folder()
    from waitroom.server.process import parent

    _check_ports(port, site_port)
    with tempfile.TemporaryDirectory(prefix="waitroom-demo-") as made:
        home = Path(made)
        settings = _settings(home, port, site_port, capacity)
        with _parts() as parts:

            def begin() -> None:
                parts.append(_site(folder, home, port, site_port))
                threading.Thread(
                    target=_greet, args=(parts, folder, settings, site_port, people), daemon=True
                ).start()

            parent.serve(settings, on_start=begin, greet=None)


def site_folder() -> Path:
    """Return the folder that contains the package `concert`: in a wheel, or in a checkout."""
    package = Path(version.__file__).parent
    for folder in (package / "examples", package.parents[1] / "examples"):
        if (folder / "concert" / "app.py").exists():
            return folder
    raise InvalidInput(
        "demo",
        "the concert site is not part of this installation; run `pip install 'waitroom[demo]'`, or "
        "`make demo` in a checkout",
    )


def _check_ports(port: int, site_port: int) -> None:
    from waitroom.server.process.listening import resolve

    if port == site_port:
        raise InvalidInput("site_port", "must be another one than --port")
    resolve(HOST, port)
    try:
        resolve(HOST, site_port)
    except InvalidInput as error:
        why = str(error).partition(": ")[2].replace("--port", "--site-port")
        raise InvalidInput("site_port", why) from None


def _settings(home: Path, port: int, site_port: int, capacity: int) -> Settings:
    texts = {
        "title": "Night Lights · 밤의 빛",
        "message": "Many people want tickets right now. You are in line; we let people in in order."
        "\n지금 많은 분이 예매를 기다리고 있습니다. 오신 순서대로 입장합니다.",
        "ready": "Think of a seat and a name for the ticket. 좌석과 예매자 이름을 생각해 두세요.",
        "colour": "#7c2d6b",
        "go_to": f"http://{HOST}:{site_port}/book",
    }
    numbers = {"capacity": capacity, "enter_within_s": 60, "recover_s": 0}
    lines = [f"[rooms.{ROOM}]", 'preset = "slots"']
    # A JSON string is a TOML string, too.
    lines += [f"{name} = {json.dumps(value)}" for name, value in (texts | numbers).items()]
    config = home / "rooms.toml"
    config.write_text("\n".join(lines) + "\n", "utf-8")
    return own_settings(home, port, config=config)


def own_settings(home: Path, port: int, **more: Any) -> Settings:
    """Return settings for the demonstration alone: it must not touch anything else."""
    return Settings(
        data_dir=home / "data",
        secret=secrets.token_urlsafe(32),
        host=HOST,
        port=port,
        admin_key=f"wr_demo_{secrets.token_urlsafe(24)}",
        connections=1_000,
        joins_per_minute=0,  # the whole crowd has one address
        answer_within_s=5,  # a laptop may be busy with the crowd
        drain_s=0.5,
        log_json=False,
        log_level="warning",
        **more,
    )


@contextlib.contextmanager
def _parts() -> Iterator[list[subprocess.Popen[bytes]]]:
    """Hold the other processes, and end them with this one."""
    parts: list[subprocess.Popen[bytes]] = []
    try:
        yield parts
    finally:
        for process in reversed(parts):
            _end(process)


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a process and its workers, which are a process group."""
    for what in (signal.SIGTERM, signal.SIGKILL):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, what)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(5)
            return


def _run(folder: Path, *words: str, **env: str) -> subprocess.Popen[bytes]:
    """Start a Python program that finds the package `concert`."""
    # A process group of its own: Ctrl-C is for us, and we end the others.
    return subprocess.Popen(
        [sys.executable, *words],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(folder)} | env,
        stdin=subprocess.DEVNULL,
        start_new_session=True,
    )


def _site(folder: Path, home: Path, port: int, site_port: int) -> subprocess.Popen[bytes]:
    server = ("-m", "uvicorn", "--factory", "--log-level", "error")
    return _run(
        folder,
        *(*server, "--host", HOST, "--port", str(site_port), "concert.app:create"),
        CONCERT_DATABASE=str(home / "concert.db"),
        CONCERT_WAITROOM_URL=f"http://{HOST}:{port}",
        CONCERT_HOSTS=f"{HOST}:{site_port}",
        CONCERT_ROOM=ROOM,
    )


def _greet(parts: list[Any], folder: Path, settings: Settings, site_port: int, people: int) -> None:
    """Start the crowd, and say where to look once there is something to see."""
    base, site = f"http://{HOST}:{settings.port}", f"http://{HOST}:{site_port}"
    if not all(answers(url) for url in (f"{base}/readyz", f"{site}/")):
        typer.echo("The demo did not start in time; see what was said above.", err=True)
        os.kill(os.getpid(), signal.SIGTERM)
        return
    if people:
        parts.append(_run(folder, "-m", "concert.crowd", site, str(people)))
    typer.echo(
        f"""
  Concert tickets are on sale. {people} people want them; only a few may be on the site at once.

    1. the concert site    {site}
       Press "Book tickets": you stand in line and watch your number fall.
       Then choose a seat and pay. Your place goes to the next one in line.
    2. the operator page   {base}/admin
       Sign in with {settings.admin_key}
       Watch the line, pause it, or change the capacity of the room "{ROOM}".
    3. the API, explained  {base}/docs

  Ctrl-C ends it; nothing is kept.
"""
    )


def answers(url: str) -> bool:
    """Wait until a server answers."""
    deadline = time.monotonic() + LONGEST_START_S
    while time.monotonic() < deadline:
        try:
            urllib.request.urlopen(url, timeout=2).close()  # noqa: S310 - our own http address
            return True
        except (urllib.error.URLError, OSError):
            threading.Event().wait(0.1)
    return False
