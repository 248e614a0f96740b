"""Parses URLs of servers. Pure: it opens no connection.

redis-py knows `redis://`, `rediss://` and `unix://`. It has no URLs for Sentinel and Cluster, so we
define them: `redis+sentinel://host:port,host:port/service` and `redis+cluster://host`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any
from urllib.parse import SplitResult, parse_qsl, unquote, urlsplit

from waitroom.errors import InvalidInput

_SCHEMES = (
    *("redis", "rediss", "unix"),
    *("redis+sentinel", "rediss+sentinel", "redis+cluster", "rediss+cluster"),
)
_OPTIONS: dict[str, type] = {
    "db": int,
    "max_connections": int,
    "socket_timeout": float,
    "socket_connect_timeout": float,
    "ssl_ca_certs": str,
    "ssl_certfile": str,
    "ssl_keyfile": str,
    "ssl_cert_reqs": str,
    "sentinel_username": str,
    "sentinel_password": str,
}


@dataclass(frozen=True, slots=True)
class Address:
    """A parsed URL; `where` is the part that may be printed."""

    kind: str
    where: str
    hosts: tuple[tuple[str, int], ...] = ()
    path: str = ""
    service: str = ""
    tls: bool = False
    options: dict[str, Any] = field(default_factory=dict, repr=False)


def parse_url(url: str) -> Address:
    """Parse a URL; InvalidInput says what is wrong, never the password."""
    try:
        parts = urlsplit(url)
        scheme = parts.scheme.replace("valkey", "redis", 1)
        if scheme not in _SCHEMES:
            raise ValueError(f"the scheme {parts.scheme!r} is unknown; use {', '.join(_SCHEMES)}")
        kind = scheme.partition("+")[2] or ("unix" if scheme == "unix" else "single")
        options = _options(parts)
        _refuse_idle(options, scheme.startswith("rediss"))
        path = [unquote(part) for part in parts.path.strip("/").split("/") if part]
        where = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"
        if kind == "unix":
            if not path:
                raise ValueError("a unix URL needs the path of the socket: unix:///run/valkey.sock")
            return Address(kind, where, path=unquote(parts.path), options=options)
        service = path.pop(0) if kind == "sentinel" and path else ""
        if kind == "sentinel" and not service:
            raise ValueError("a sentinel URL needs the service's name: redis+sentinel://host/name")
        if path:
            options["db"] = _number(path[0], "the database")
        if kind == "cluster" and options.pop("db", 0):
            raise ValueError("a Cluster has only database 0; leave the number away")
        hosts = _hosts(parts, 26379 if kind == "sentinel" else 6379)
        if kind == "single" and len(hosts) > 1:
            raise ValueError("several hosts need redis+cluster:// or redis+sentinel://")
        return Address(kind, where, hosts, "", service, scheme.startswith("rediss"), options)
    except ValueError as error:
        raise InvalidInput("redis_url", str(error)) from None


def _options(parts: SplitResult) -> dict[str, Any]:
    user, _, password = parts.netloc.rpartition("@")[0].partition(":")
    options: dict[str, Any] = {"username": unquote(user) or None}
    options["password"] = unquote(password) or None
    for name, value in parse_qsl(parts.query, keep_blank_values=True):
        if name not in _OPTIONS:
            raise ValueError(f"the option {name!r} is unknown; use {', '.join(_OPTIONS)}")
        options[name] = _number(value, name, _OPTIONS[name]) if _OPTIONS[name] is not str else value
    return options


def _refuse_idle(options: dict[str, Any], tls: bool) -> None:
    """Refuse TLS options without TLS: whoever sets them believes that TLS is on."""
    idle = next((name for name in options if name.startswith("ssl_")), None)
    if idle is not None and not tls:
        raise ValueError(f"{idle} needs TLS; use a scheme with rediss")


def _number(text: str, name: str, kind: type = int) -> Any:
    try:
        return kind(text)
    except ValueError:
        raise ValueError(f"{name} must be a number, not {text!r:.40}") from None


def _hosts(parts: SplitResult, port: int) -> tuple[tuple[str, int], ...]:
    hosts = []
    for text in parts.netloc.rpartition("@")[2].split(","):
        host = urlsplit(f"//{text}")
        try:
            hosts.append((host.hostname or "localhost", port if host.port is None else host.port))
        except ValueError:
            raise ValueError(f"{text!r:.80} has no valid port; use 1 to 65535") from None
    return tuple(hosts)
