"""compose.yaml: valid by compose's own schema, closed to neighbours, and its Valkey starts."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from ipaddress import ip_address, ip_network
from pathlib import Path

import pytest

from tests.deploy.files import COMPOSE, DEPLOY, compose_env
from tests.support.clock import open_engine
from tests.support.servers import Config, Server
from waitroom.settings import load
from waitroom.tickets import KeyRing
from waitroom.web.addresses import Proxies


def test_the_file_is_valid() -> None:
    """The schema of the Compose Specification, from check-jsonschema, accepts it."""
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.compose-spec"]
    command.append(str(DEPLOY / "compose.yaml"))
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert 0 == done.returncode, done.stdout


def test_the_values_are_good(tmp_path: Path) -> None:
    """The settings in the file and from its header's commands are accepted, secrets included."""
    settings = load(compose_env(tmp_path))
    assert (2, 5.0, "172.30.17.1") == (settings.workers, settings.drain_s, settings.proxies)
    assert settings.secret
    KeyRing.from_text(settings.secret)
    assert 0o600 == (tmp_path / "deploy/waitroom.env").stat().st_mode & 0o777


def test_everybody_is_kept() -> None:
    """Valkey evicts nobody, writes everything to disk, and Waitroom is only on loopback."""
    command = " ".join(COMPOSE["services"]["valkey"]["command"])
    assert "--maxmemory-policy noeviction" in command
    assert "--appendonly yes" in command
    assert all(port.startswith("127.0.0.1:") for port in COMPOSE["services"]["waitroom"]["ports"])
    assert (DEPLOY / COMPOSE["services"]["waitroom"]["build"]["context"] / "src").is_dir()


@pytest.mark.attack
def test_compose_believes_one_proxy() -> None:
    """No other container can choose the address it is counted by: only the gateway is trusted."""
    proxy = COMPOSE["services"]["waitroom"]["environment"]["WAITROOM_PROXIES"]
    (front,) = COMPOSE["networks"]["front"]["ipam"]["config"]
    assert ip_address(proxy) in ip_network(front["subnet"])
    assert proxy == front["gateway"]
    proxies = Proxies([proxy], "proxies")
    assert "203.0.113.9" == proxies.visitor(proxy, "203.0.113.9")
    for neighbour in ("172.30.17.3", "172.17.0.2", "10.0.0.7"):
        assert neighbour == proxies.visitor(neighbour, "203.0.113.9")


@pytest.mark.attack
def test_compose_shows_valkey_to_waitroom_alone() -> None:
    """Valkey has no published port and no way out, and only Waitroom is in its network."""
    services = COMPOSE["services"]
    assert "ports" not in services["valkey"]
    assert ["backend"] == services["valkey"]["networks"]
    assert COMPOSE["networks"]["backend"]["internal"] is True
    inside = {name for name, service in services.items() if "backend" in service["networks"]}
    assert {"valkey", "waitroom"} == inside


@pytest.mark.attack
def test_compose_starts_valkey_with_its_users(tmp_path: Path) -> None:
    """Valkey accepts the options and the file made by the commands in compose.yaml's header."""
    url = compose_env(tmp_path)["WAITROOM_REDIS_URL"]
    words = COMPOSE["services"]["valkey"]["command"][1:]
    options = dict(zip(words[::2], words[1::2], strict=True))
    secret = options.pop("--aclfile").removeprefix("/run/secrets/")
    users = tmp_path / "deploy" / COMPOSE["secrets"][secret]["file"]
    config: dict[str, Config] = {name.lstrip("-"): value for name, value in options.items()}
    server = Server("valkey", tmp_path / "s", config | {"aclfile": str(users)})
    server.start()
    try:
        assert server.command("GET", "wr:keys").startswith(b"-NOAUTH")
        assert () == asyncio.run(_rooms(url.replace("valkey:6379", f"127.0.0.1:{server.port}")))
    finally:
        server.stop()


async def _rooms(url: str) -> tuple[str, ...]:
    async with open_engine(url) as engine:
        return await engine.rooms()
