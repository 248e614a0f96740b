"""`waitroom load` against a real server: all is well there, and a problem is one sentence."""

from __future__ import annotations

import json
import shlex
import signal
import subprocess
import sys
import urllib.request
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.conftest import Cli
from tests.cli.test_cli import environment
from tests.support.servers import free_port, wait_for
from tests.support.serving import ADMIN_KEY, Serving, children, command_of, serving

ROOT = Path(__file__).parents[3]
QUICK = ("--arrive", "1s", "--stay", "0.1", "--connections", 16)


@pytest.fixture
def server(served: Serving) -> Serving:
    """Return the running server, which does not limit joins."""
    return served


@pytest.fixture
def cli() -> Cli:
    """Run commands that need no backend."""
    return Cli("")


def test_a_small_crowd_finds_all_well(cli: Cli, server: Serving) -> None:
    """Sixty people, ten places: every check is ok, everybody is accounted for, nobody is lost."""
    limits = ("--capacity", 10, "--max-entries", 60, "--per-s", "5s")
    words = ("--key", ADMIN_KEY, "--room", "small", "--make", "batch", *limits)
    crowd = ("--people", 60, "--leave", 0, "--no-show", 0, "--processes", 2)
    stay = ("--stay", "1")  # so that people at the end have to ask twice
    report = cli.json("load", server.base, *words, *crowd, *QUICK, *stay)
    assert {"ok"} == {check["verdict"] for check in report["checks"]}, report["checks"]
    assert (True, {"served": 60}) == (report["passed"], report["ended"])
    assert {"join", "poll", "enter", "finish", "lateness"} == set(report["latency_ms"])
    assert 60 == report["latency_ms"]["join"]["count"]
    assert {"capacity": 10, "max_entries": 60, "per_s": 5} == report["limits"]
    assert report["usage"]["server"] is not None
    if sys.platform == "linux":
        assert report["usage"]["backend"] is not None


def test_the_first_commands_of_the_docs(server: Serving) -> None:
    """docs/load-testing.md begins with commands that work unchanged."""
    page = (ROOT / "docs" / "load-testing.md").read_text("utf-8")
    block = page.split("```console\n")[1].split("```")[0]
    serve, make, load = [shlex.split(line)[2:] for line in block.splitlines()]
    cli = Cli("", {"WAITROOM_REDIS_URL": None, "WAITROOM_DATA_DIR": str(server.data_dir)})
    assert "Usage: waitroom serve" in cli.text(*serve, "--help")  # it would never end
    assert "Created room load." in cli.text(*make)
    smaller = {"http://127.0.0.1:8080": server.base, "5000": "50", "60s": "1s"}
    assert set(smaller) <= set(load)
    text = cli.text(*(smaller.get(word, word) for word in load), "--stay", "0.1")
    assert "✓ No check failed." in text
    assert "200 allowed" in text


def test_the_limits_come_from_the_room(cli: Cli, server: Serving) -> None:
    """With a key the policy provides them; without one the checks say what they need."""
    url, few = server.base, ("--room", "known", "--people", 4, *QUICK)
    cli.json("load", url, "--key", ADMIN_KEY, "--make", "slots", "--capacity", 3, *few)
    with_key = cli.json("load", url, "--key", ADMIN_KEY, *few)
    assert 3 == with_key["limits"]["capacity"]
    text = cli.text("load", url, *few)
    assert "not known here; give --capacity, or --key" in text
    assert "✓ No check failed." in text


@pytest.fixture
def long(server: Serving, cli: Cli) -> Iterator[subprocess.Popen[str]]:
    """Start a test of two processes that would take an hour, and wait for its crowd."""
    name = "room-" + uuid.uuid4().hex[:8]
    make = ("--key", ADMIN_KEY, "--make", "slots", "--capacity", 1, "--room", name)
    cli.json("load", server.base, *make, "--people", 1, *QUICK)
    words = ("load", server.base, "--room", name, "--people", "50", "--arrive", "1s")
    command = [sys.executable, "-m", "waitroom.cli", *words, "--stay", "1h", "--processes", "2"]
    with subprocess.Popen(
        [*command, "--json"],
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            wait_for(lambda: waiting(server, name) >= 40, "the crowd waits")
            yield process
        finally:
            process.kill()
    wait_for(lambda: waiting(server, name) == 0, "all are gone")


def waiting(server: Serving, room: str) -> int:
    """Return how many wait, according to the server."""
    url = f"{server.base}/v1/rooms/{room}"
    with urllib.request.urlopen(url, timeout=60) as answer:  # noqa: S310
        return int(json.load(answer)["waiting"])


def test_ctrl_c_ends_it_with_a_report(long: subprocess.Popen[str]) -> None:
    """A long test that is interrupted ends soon, tells what it saw, and leaves nothing behind."""
    parts = children(long.pid)
    assert 2 == len(parts)
    long.send_signal(signal.SIGINT)
    out, err = long.communicate(timeout=120)
    report = json.loads(out)
    assert (0, "", True) == (long.returncode, err, report["interrupted"])
    assert 50 == sum(report["ended"].values())
    assert ["", ""] == [command_of(pid) for pid in parts]


def test_its_processes_do_not_outlive_it(long: subprocess.Popen[str]) -> None:
    """Even after `kill -9` the crowd leaves, and the room is empty."""
    parts = children(long.pid)
    long.kill()
    wait_for(lambda: not any(map(command_of, parts)), "the processes end")


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["http://192.0.2.1:80"], 2, "192.0.2.1, which is not this machine"),
        (["http://127.0.0.1:1"], 1, "http://127.0.0.1:1 is not there: nothing listens there"),
        (["http://127.0.0.1:1", "--people", "0"], 2, "people: 0 is not allowed"),
        (["http://127.0.0.1:1", "--arrive", "soon"], 2, "arrive: 'soon' is not a length of time"),
        (["http://127.0.0.1:1", "--per-s", "5"], 2, "must be given together"),
        (["http://127.0.0.1:1", "--make", "slots"], 2, "give --key"),
    ],
)
def test_bad_input_is_one_sentence(cli: Cli, words: list[str], code: int, message: str) -> None:
    """Foreign hosts, missing servers and bad numbers are refused, and the message names the fix."""
    exit_code, text = cli.error("load", *words)
    assert (code, True) == (exit_code, message in text), text
    assert "Traceback" not in text


def test_rooms_and_keys_that_are_not_there(cli: Cli, server: Serving) -> None:
    """A missing room, a wrong key, an existing room and an unknown preset are told apart."""
    url = server.base
    assert "there is no room 'nowhere'" in cli.error("load", url, "--room", "nowhere")[1]
    made = ("--key", ADMIN_KEY, "--make", "slots", "--room", "twice", "--people", 1, *QUICK)
    cli.json("load", url, *made)
    assert "room 'twice' exists" in cli.error("load", url, *made)[1]
    wrong = ("--key", "wr_" + "f" * 32, "--room", "twice")
    assert "the server says: " in cli.error("load", url, *wrong)[1]
    preset = ("--key", ADMIN_KEY, "--make", "nothing", "--room", "other")
    assert "'nothing' is unknown" in cli.error("load", url, *preset)[1]


def test_the_limit_of_joins_is_explained(cli: Cli, tmp_path: Path) -> None:
    """A server that limits joins per address is not at fault, and the report says what to do."""
    # On a busy machine they come within seconds, in which few more are allowed.
    with serving(tmp_path, joins_per_minute=30) as strict:
        words = ("--key", ADMIN_KEY, "--make", "slots", "--people", 45, "--for", "8s", *QUICK)
        text = cli.text("load", strict.base, *words)
    assert "set its `joins_per_minute` to 0" in text
    assert "too_many_requests" in text


def test_nothing_is_sent_to_a_port_that_nobody_has(cli: Cli) -> None:
    """The sentence names the URL as given."""
    url = f"http://localhost:{free_port()}"
    assert url in cli.error("load", url)[1]
