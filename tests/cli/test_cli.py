"""What all commands share: settings, help, errors, exit codes, and running as a process."""

from __future__ import annotations

import json
import os
import re
import secrets
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer.main

from tests.cli.conftest import SECRET, Cli
from tests.support.servers import Server, wait_for
from tests.support.serving import clean_env
from waitroom import __version__
from waitroom.cli.app import app
from waitroom.engine.connection.embedded import EmbeddedServer
from waitroom.models import Policy
from waitroom.server.process.greeting import greeting
from waitroom.settings import SETTINGS, Settings

ROOT = Path(__file__).parents[2]
NAMING_COMMANDS = ("apidocs/landing.html", "operator/sign_in.html")


def commands(
    group: Any = None, path: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield every command and group of the app with its words."""
    group = group or typer.main.get_command(app)
    yield path, group
    for name, command in getattr(group, "commands", {}).items():
        yield from commands(command, (*path, name))


COMMANDS = {" ".join(path): command for path, command in commands()}
LEAVES = {name: command for name, command in COMMANDS.items() if not hasattr(command, "commands")}


def process(*words: str, cwd: Path, **env: str) -> subprocess.CompletedProcess[str]:
    """Run `python -m waitroom.cli` as a shell would."""
    command = [sys.executable, "-m", "waitroom.cli", *words]
    return subprocess.run(
        command, cwd=cwd, env=environment(**env), capture_output=True, text=True, timeout=120
    )


def environment(**env: str) -> dict[str, str]:
    """Return an environment with no settings but `env`."""
    return clean_env() | {"PYTHONPATH": str(ROOT / "src")} | env


@pytest.mark.parametrize("name", COMMANDS)
def test_help_is_a_page_with_an_example(cli: Cli, name: str) -> None:
    """Every command explains itself and shows its usage."""
    text = cli.text(*name.split(), "--help")
    assert "Example:" in text
    assert f"$ waitroom {name}".strip() in text
    assert "<bool>" not in text  # a flag takes no value
    assert "``" not in text  # words in brackets are markup to Rich, and vanish


def test_commands_that_pages_name_can_be_typed(cli: Cli) -> None:
    """The commands that the server shows at a terminal and on its pages work unchanged."""
    pages = [greeting(Settings())]
    templates = ROOT / "src" / "waitroom" / "server" / "templates"
    pages += [(templates / name).read_text("utf-8") for name in NAMING_COMMANDS]
    typed = [
        line for page in pages for line in re.findall(r"waitroom ([a-z]+ create [^<\n]+)", page)
    ]
    assert 4 == len(typed)
    for line in typed:
        assert cli.text(*shlex.split(line.replace("NAME", f"t-{secrets.token_hex(6)}")))


# They run until stopped, and answer nothing.
STAY = {"serve", "demo", "desk demo"}


@pytest.mark.parametrize("name", [name for name in LEAVES if name not in STAY])
def test_every_command_has_json(name: str) -> None:
    """`--json` is on every command that answers something."""
    assert "--json" in [flag for param in LEAVES[name].params for flag in param.opts]


def test_every_setting_is_an_option() -> None:
    """The table of settings defines the global options, and for the server those of `serve`."""
    for serves, name in ((False, ""), (True, "serve")):
        flags = {flag for param in COMMANDS[name].params for flag in param.opts}
        wanted = {setting.name for setting in SETTINGS if setting.serves is serves}
        assert set() == {"--" + setting.replace("_", "-") for setting in wanted} - flags


def test_nothing_typed_is_help(cli: Cli) -> None:
    """`waitroom` and `waitroom room` alone show their help."""
    assert cli.text("--help") == cli.text()
    assert cli.text("room", "--help") == cli.text("room")


def test_version(cli: Cli) -> None:
    """`--version` needs no server."""
    assert f"waitroom {__version__}\n" == cli.text("--version")


def test_flags_before_environment_before_file(cli: Cli, tmp_path: Path) -> None:
    """A flag beats the environment, which beats the TOML file."""
    file = tmp_path / "waitroom.toml"
    file.write_text('[waitroom]\nredis_url = "redis://file.invalid"\n')
    (cli.env, good) = ({**cli.env, "WAITROOM_CONFIG": str(file)}, cli.url)
    cli.text("rooms")
    cli.env["WAITROOM_REDIS_URL"] = "redis://127.0.0.1:1"
    assert "redis://127.0.0.1:1 " in cli.error("rooms")[1]
    cli.text("--redis-url", good, "rooms")
    cli.env["WAITROOM_REDIS_URL"] = None
    assert "redis://file.invalid " in cli.error("rooms")[1]


def test_operators_need_no_secret(cli: Cli) -> None:
    """Commands that sign nothing work without the secret."""
    cli.env["WAITROOM_SECRET"] = None
    cli.json("rooms")


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        ("--redis-url http://x rooms", 2, "redis_url: the scheme 'http' is unknown; use redis"),
        ("--redis-url redis://127.0.0.1:1 rooms", 1, "check that it runs"),
        ("--secret short rooms", 2, "secret: key 1 is not 32 bytes or more; make one with"),
        ("--timeout-s 0 rooms", 2, "timeout_s: '0' is not a number above 0"),
        ("--config /nowhere/x.toml rooms", 2, "config: /nowhere/x.toml cannot be read"),
        ("rooms --redis-url redis://x", 2, "--redis-url goes before the command"),
        ("room sho x", 2, "Did you mean 'show'?\nTry `waitroom room --help`."),
        ("rooms --colour", 2, "No such option: --colour"),
        ("admit x", 2, "Missing argument 'count'"),
        ("admit x many", 2, "Invalid value for 'count'"),
        ("room show no-such-room", 1, "create it with `waitroom room create no-such-room`"),
        ("room show a/b", 2, "room: 'a/b' is not a room name; use 1 to 64 letters, digits"),
    ],
)
def test_errors_say_what_and_how(cli: Cli, words: str, code: int, message: str) -> None:
    """An error is a sentence with its fix on stderr: 2 for bad input, 1 for the rest."""
    result = cli.error(*words.split())
    assert (code, True) == (result[0], message in result[1]), result


def test_json_in_front_is_explained(cli: Cli) -> None:
    """`--json` before the command is a likely slip."""
    result = cli.run("--json", "rooms")
    assert "--json goes after the command" in json.loads(result.stderr)["error"]["message"]


def test_json_errors_name_the_field(cli: Cli) -> None:
    """Programs get code, message and field."""
    result = cli.run("admit", "x", 0, "--json")
    message = "count: 0 is not allowed; it takes 1 to 1000000"
    error = {"code": "invalid_input", "message": message, "field": "count"}
    assert {"error": error} == json.loads(result.stderr)


def test_no_colour_in_pipes(valkey: Server, tmp_path: Path) -> None:
    """A real process prints plain text into a pipe, and errors to stderr with their code."""
    env = {"WAITROOM_REDIS_URL": valkey.url, "WAITROOM_SECRET": SECRET}
    done = process("rooms", cwd=tmp_path, **env)
    assert (0, "", False) == (done.returncode, done.stderr, "\x1b" in done.stdout)
    done = process("room", "show", "no-such-room", cwd=tmp_path, **env)
    assert (1, "") == (done.returncode, done.stdout)
    assert done.stderr.startswith("Error: there is no room 'no-such-room'; create it")


def test_an_ascii_terminal(valkey: Server, tmp_path: Path) -> None:
    """If '✓' cannot be written, something else is, without a traceback."""
    env = {"WAITROOM_REDIS_URL": valkey.url, "WAITROOM_SECRET": SECRET}
    done = process("doctor", cwd=tmp_path, PYTHONIOENCODING="ascii", **env)
    assert ("", True) == (done.stderr, "? server" in done.stdout)


def test_without_a_url_the_data_stays(tmp_path: Path) -> None:
    """Without any settings an embedded server runs meanwhile, and keeps what was created."""
    done = process("room", "create", "concert", "--preset", "slots", cwd=tmp_path)
    assert (0, "") == (done.returncode, done.stderr)
    done = process("rooms", "--json", cwd=tmp_path)
    assert ["concert"] == [room["name"] for room in json.loads(done.stdout)["rooms"]]


async def test_attaches_to_a_running_server(tmp_path: Path) -> None:
    """If the folder's server is already running, the command uses it."""
    async with EmbeddedServer(tmp_path / "data"):
        done = process("--data-dir", "data", "doctor", cwd=tmp_path)
    assert f"our own server in {tmp_path / 'data'}, run by process {os.getpid()}" in done.stdout


def interrupted(server: Server, tmp_path: Path, words: list[str], ready: str) -> tuple[int, str]:
    """Send Ctrl-C once a command has printed `ready`; return its code and all its output."""
    env = environment(WAITROOM_REDIS_URL=server.url, WAITROOM_SECRET=SECRET)
    command = [sys.executable, "-m", "waitroom.cli", *words]
    with (
        (tmp_path / "out").open("w") as out,
        subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=out,
            stderr=out,
            cwd=tmp_path,
            env=env,
            # A background shell ignores Ctrl-C, and the child would inherit that.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
        ) as running,
    ):
        try:
            wait_for(lambda: ready in (tmp_path / "out").read_text(), f"{ready!r} on the screen")
            running.send_signal(signal.SIGINT)
            code = running.wait(60)
        finally:
            running.kill()
    return code, (tmp_path / "out").read_text()


def test_ctrl_c_ends_watching(cli: Cli, valkey: Server, room: str, tmp_path: Path) -> None:
    """`--watch` ends cleanly, with code 0."""
    cli.fill(room, Policy(capacity=2), 5)
    code, text = interrupted(valkey, tmp_path, ["stats", room, "--watch"], "deferred")
    assert (0, False) == (code, "Traceback" in text)


def test_ctrl_c_answers_a_question(cli: Cli, valkey: Server, room: str, tmp_path: Path) -> None:
    """Ctrl-C at a question ends the command at the first press, and nothing is changed."""
    cli.fill(room, Policy(capacity=2), 5)
    code, text = interrupted(valkey, tmp_path, ["room", "drop", room], "to continue: ")
    assert (1, True) == (
        code,
        text.endswith("Stopped; nothing was changed. With --yes nothing is asked.\n"),
    )
    cli.json("room", "show", room)
