"""`doctor`: each kind of problem gets its line, its fix, and the right exit code."""

from __future__ import annotations

import asyncio
import json
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Cli
from tests.support.clock import open_engine
from tests.support.servers import (
    Server,
    free_port,
    start_cluster,
    start_replica,
    start_server,
)
from tests.support.serving import SECRET, serving
from waitroom.cli import checks as doctor_checks
from waitroom.engine import keys
from waitroom.models import State
from waitroom.tickets import Ticket


def examined(cli: Cli) -> tuple[int, dict[str, Any]]:
    """Return exit code and checks by name, and compare text and JSON."""
    result = cli.run("doctor", "--json")
    report = json.loads(result.stdout)
    assert report["ok"] is (result.exit_code == 0)
    checks = {check["name"]: check for check in report["checks"]}
    again = cli.run("doctor")
    assert (result.exit_code, "") == (again.exit_code, again.stderr)
    marks = {"ok": "✓", "warn": "!", "fail": "✗"}
    for check in checks.values():
        assert f"{marks[check['verdict']]} {check['name']}" in again.stdout
        assert (check["fix"] is None) is (check["verdict"] == "ok")
    return result.exit_code, checks


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make no check depend on how busy this machine is."""
    monkeypatch.setattr(doctor_checks, "SLOW_MS", float("inf"))
    monkeypatch.setattr(doctor_checks, "SKEWED_S", float("inf"))


def test_named_users(valkey: Server) -> None:
    """Incomplete settings are named, with the secret hidden; complete ones are fine."""
    env: dict[str, str | None] = {
        "WAITROOM_USER_HEADER": "X-Auth-Request-Email",
        "WAITROOM_USER_SECRET": "between-proxy-and-waitroom",
        "WAITROOM_USER_ROLES": "alice@example.com=admin",
    }
    cli = Cli(valkey.url)
    assert "user_peers" not in cli.text("doctor")
    cli.env |= env
    result = cli.run("doctor")
    assert (1, True) == (result.exit_code, "must be set too; named users need" in result.stdout)
    assert "between-proxy" not in result.stdout
    cli.env |= {"WAITROOM_USER_PEERS": "127.0.0.1"}
    assert "1 of `user_roles`, from 127.0.0.1" in cli.text("doctor")


def test_a_healthy_server(tmp_path: Path) -> None:
    """Nothing to fix, nothing to improve."""
    with start_server("valkey", tmp_path, aof=True, maxmemory="100mb") as server:
        cli = Cli(server.url)
        cli.text("room", "create", "concert")
        code, checks = examined(cli)
        assert (0, {"ok"}) == (code, {check["verdict"] for check in checks.values()})
        assert "from the settings" == checks["secret"]["found"]
        assert server.url == checks["address"]["found"]
        assert checks["server"]["found"].startswith("Valkey ")
        assert "run with flags" == checks["scripts"]["found"]
        assert "primary with no replicas" == checks["role"]["found"]
        assert "noeviction" == checks["memory policy"]["found"]
        assert "of 100.0 MiB used (" in checks["memory"]["found"]
        assert "AOF" == checks["persistence"]["found"]
        assert checks["latency"]["found"].startswith("median ")
        assert checks["clock"]["found"].startswith("this machine is ")
        assert checks["rooms"]["found"].startswith("1, and this version reads")
        assert "All is well." in cli.text("doctor")


def test_a_slow_server_and_a_wrong_clock(valkey: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both are warnings with a fix; here every latency is too long, and every clock wrong."""
    monkeypatch.setattr(doctor_checks, "SLOW_MS", -1.0)
    monkeypatch.setattr(doctor_checks, "SKEWED_S", -1.0)
    _, checks = examined(Cli(valkey.url))
    assert ("warn", "warn") == (checks["latency"]["verdict"], checks["clock"]["verdict"])


def test_redis(tmp_path: Path) -> None:
    """Redis is reported as Redis."""
    with start_server("redis", tmp_path) as server:
        _, checks = examined(Cli(server.url))
    assert checks["server"]["found"].startswith("Redis ")


def test_without_persistence(tmp_path: Path) -> None:
    """A server that forgets is a warning: people who poll come back with their tickets."""
    with start_server("valkey", tmp_path) as server:
        cli = Cli(server.url)
        code, checks = examined(cli)
        assert (0, "warn") == (code, checks["persistence"]["verdict"])
        assert "appendonly yes" in checks["persistence"]["fix"]
        assert "warn" == checks["memory"]["verdict"]
        assert "nothing must be fixed, 2 to improve." in cli.text("doctor")
        server.command("CONFIG", "SET", "save", "3600 1")
        assert "snapshots only" in examined(cli)[1]["persistence"]["found"]


def test_an_evicting_server(tmp_path: Path) -> None:
    """Eviction would lose people: refused with a limit set, a warning without."""
    with start_server("valkey", tmp_path, maxmemory_policy="allkeys-lru") as server:
        cli = Cli(server.url)
        code, checks = examined(cli)
        assert (0, "warn") == (code, checks["memory policy"]["verdict"])
        server.command("CONFIG", "SET", "maxmemory", "100mb")
        code, checks = examined(cli)
        assert (1, "fail") == (code, checks["server"]["verdict"])
        assert "maxmemory-policy allkeys-lru" in checks["server"]["found"]
        assert "set maxmemory-policy to noeviction" == checks["server"]["fix"]


def test_a_nearly_full_server(tmp_path: Path) -> None:
    """It warns before memory has run out."""
    with start_server("valkey", tmp_path) as server:
        cli = Cli(server.url)
        server.command("SET", "ballast", "x" * 10_000_000)
        for limit, verdict in (("12mb", "warn"), ("11100000", "fail")):
            server.command("CONFIG", "SET", "maxmemory", limit)
            code, checks = examined(cli)
            assert (verdict, verdict == "fail") == (checks["memory"]["verdict"], code == 1), checks
            assert "raise `maxmemory`" in checks["memory"]["fix"]


def test_a_replica(valkey: Server, tmp_path: Path) -> None:
    """A replica cannot be written to."""
    with start_replica(valkey, tmp_path) as replica:
        code, checks = examined(Cli(replica.url))
        assert (1, "fail") == (code, checks["server"]["verdict"])
        assert "give the URL of its primary" == checks["server"]["fix"]
        assert "primary with 1 replica" == examined(Cli(valkey.url))[1]["role"]["found"]


def test_an_unreachable_server() -> None:
    """Nobody there: reported within the time-out, with what to do."""
    code, checks = examined(Cli("redis://127.0.0.1:1"))
    assert (1, "fail") == (code, checks["connection"]["verdict"])
    assert "check that it runs" == checks["connection"]["fix"]


def test_a_bad_url() -> None:
    """An invalid URL is a line like any other."""
    code, checks = examined(Cli("http://x"))
    assert (1, "fail") == (code, checks["redis_url"]["verdict"])


def test_no_secret(valkey: Server) -> None:
    """With a URL the secret must be given; the rest is still checked."""
    code, checks = examined(Cli(valkey.url, {"WAITROOM_SECRET": None}))
    assert (1, "fail", "ok") == (code, checks["secret"]["verdict"], checks["server"]["verdict"])
    assert checks["secret"]["fix"].startswith("set WAITROOM_SECRET to the same value on each")


def test_rooms_in_trouble(tmp_path: Path) -> None:
    """Leftover names are a warning; broken rooms and those of a newer Waitroom must be fixed."""
    with start_server("valkey", tmp_path, aof=True, maxmemory="100mb") as server:
        cli = Cli(server.url)
        for room in ("good", "broken", "newer"):
            cli.text("room", "create", room)
        server.command("SADD", keys.ROOMS, "leftover")
        code, checks = examined(cli)
        assert (0, "warn") == (code, checks["index of rooms"]["verdict"])
        assert "1 name without a room: leftover" == checks["index of rooms"]["found"]
        assert "`waitroom room drop leftover`" in checks["index of rooms"]["fix"]
        server.command("SET", keys.room_key("broken", "called"), "x")
        server.command("HSET", keys.room_key("newer", "meta"), "schema", 99)
        code, checks = examined(cli)
        assert (1, "1 can be read") == (code, checks["rooms"]["found"])
        assert "the key `called` of this room" in checks["room broken"]["fix"]
        assert "has schema 99" in checks["room newer"]["fix"]


@pytest.mark.attack
def test_a_secret_that_two_deployments_share(tmp_path: Path) -> None:
    """Somebody showed a ticket of the other one here: a warning for a week, with the fix."""
    with start_server("valkey", tmp_path, aof=True, maxmemory="100mb") as server:
        cli = Cli(server.url)
        cli.text("room", "create", "concert")
        _, checks = examined(cli)
        assert "ok" == checks["shared secret"]["verdict"]

        asyncio.run(_show_foreign_ticket(server.url))
        code, checks = examined(cli)
        assert (0, "warn") == (code, checks["shared secret"]["verdict"])
        assert "number of times: 1; last in room concert" in checks["shared secret"]["found"]
        assert "secret of its own" in checks["shared secret"]["fix"]

        week_ago_ms = round((time.time() - 8 * 86_400) * 1000)
        server.command("HSET", keys.room_key("concert", "meta"), "foreign_at", week_ago_ms)
        assert "ok" == examined(cli)[1]["shared secret"]["verdict"]


@pytest.mark.attack
@pytest.mark.parametrize("algorithm", ["ES256", "EdDSA"])
def test_another_deployment_with_our_secret(valkey: Server, tmp_path: Path, algorithm: str) -> None:
    """Its public keys reveal it, whichever algorithm it signs with."""
    with serving(tmp_path, redis_url=valkey.url, pass_algorithm=algorithm) as theirs:
        name = f"keys of {theirs.base}"
        for secret, code, verdict in ((SECRET, 1, "fail"), ("another-" * 8, 0, "ok")):
            cli = Cli(valkey.url, {"WAITROOM_SECRET": secret})
            result = cli.run("doctor", "--json", "--other", theirs.base)
            checks = {check["name"]: check for check in json.loads(result.stdout)["checks"]}
            assert (code, verdict) == (result.exit_code, checks[name]["verdict"])
            assert ("same secret" in checks[name]["found"]) is (verdict == "fail")


def test_another_deployment_that_is_not_there(valkey: Server) -> None:
    """Nobody answers: that is reported, and is not our error; an address must be valid."""
    url = f"http://127.0.0.1:{free_port()}"
    result = Cli(valkey.url).run("doctor", "--json", "--other", url)
    checks = {check["name"]: check for check in json.loads(result.stdout)["checks"]}
    assert (0, "warn") == (result.exit_code, checks[f"keys of {url}"]["verdict"])
    assert 2 == Cli(valkey.url).run("doctor", "--other", "file:///etc/passwd").exit_code


async def _show_foreign_ticket(url: str) -> None:
    async with open_engine(url) as engine:
        later = (await engine.room("concert")).epoch + 1
        ticket = Ticket("concert", "A" * 16, later, later, int(time.time()))
        assert State.GONE is (await engine.poll("concert", engine.ring.sign(ticket))).state


def test_where_config_is_forbidden(tmp_path: Path) -> None:
    """Managed services hide their configuration: unknown, not an error."""
    with start_server("valkey", tmp_path) as server:
        server.command("ACL", "SETUSER", "default", "-config")
        code, checks = examined(Cli(server.url))
        assert (0, "warn") == (code, checks["persistence"]["verdict"])
        assert "unknown" in checks["persistence"]["found"]


def test_a_cluster(tmp_path: Path) -> None:
    """Every primary is checked."""
    with start_cluster(tmp_path) as cluster:
        cli = Cli(cluster.url)
        cli.text("room", "create", "concert")
        code, checks = examined(cli)
        assert (0, True) == (code, checks["server"]["found"].endswith(", Cluster"))
        for node in cluster.nodes:
            assert f"clock of 127.0.0.1:{node.port}" in checks
            coverage = checks[f"coverage of 127.0.0.1:{node.port}"]
            assert ("warn", True) == (coverage["verdict"], "full-coverage no" in coverage["fix"])
            node.command("CONFIG", "SET", "cluster-require-full-coverage", "no")
        _, checks = examined(cli)
        assert not any(name.startswith("coverage") for name in checks)


def test_the_own_server(tmp_path: Path) -> None:
    """Without a URL the embedded server and its secret are named, and all is well."""
    cli = Cli("", {"WAITROOM_SECRET": None, "WAITROOM_DATA_DIR": str(tmp_path / "data")})
    code, checks = examined(cli)
    assert (0, {"ok"}) == (code, {check["verdict"] for check in checks.values()})
    expected = f"our own server in {tmp_path / 'data'}, started for this command"
    assert expected == checks["address"]["found"]
    assert f"kept in {tmp_path / 'data' / 'secret'}" == checks["secret"]["found"]
    running = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True)  # noqa: S607
    assert str(tmp_path / "data") not in running.stdout
