"""Settings: one table of names, types, defaults and meanings, from which flags and docs follow.

Precedence: flags, the environment (`WAITROOM_…`), the `[waitroom]` table of the TOML file, the
default. The same file may declare rooms, as `[rooms.<name>]` with a `preset` and changes.
Nothing is read at import, and no file but the given ones.
"""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from waitroom.errors import InvalidInput, InvalidPolicy, InvalidRoomName
from waitroom.models import Policy, check_room_name, preset
from waitroom.secret_files import text_of

ENV_PREFIX = "WAITROOM_"
PUSH_HOSTS = (
    "fcm.googleapis.com,updates.push.services.mozilla.com,*.push.apple.com,*.notify.windows.com"
)
_LONGEST_S = 3600.0
_SWITCH = {"true": True, "1": True, "yes": True, "on": True}
_SWITCH |= dict.fromkeys(("false", "0", "no", "off"), False)
_PASSWORDS = re.compile(r"(?<=//).*(?=@)|(?<=password=)[^&#]*")


@dataclass(frozen=True, slots=True)
class Setting:
    """One line of the table."""

    name: str
    kind: type[str] | type[float] | type[int] | type[bool] | type[Path]
    default: str | float | Path | None
    about: str
    secret: bool = False
    serves: bool = False
    low: float = 0
    high: float = _LONGEST_S
    password: bool = False

    @property
    def env(self) -> str:
        """Return the name of its environment variable."""
        return ENV_PREFIX + self.name.upper()

    @property
    def by_file(self) -> bool:
        """Tell whether `<env>_FILE` may name its file: it is a secret, or may hold one."""
        return self.secret or self.password


def _serve(
    name: str,
    kind: type[str] | type[float] | type[int] | type[bool] | type[Path],
    default: str | float | Path | None,
    about: str,
    low: float = 0,
    high: float = _LONGEST_S,
    *,
    secret: bool = False,
) -> Setting:
    return Setting(name, kind, default, about, secret, True, low, high)


SETTINGS = (
    Setting(
        "redis_url",
        str,
        None,
        "Redis or Valkey server; none = our own in the data folder",
        password=True,
    ),
    Setting("data_dir", Path, Path(".waitroom"), "folder of our own server and its secret"),
    Setting("secret", str, None, "keys of tickets, newest first, split by commas", secret=True),
    Setting("config", Path, None, "TOML file with settings and rooms"),
    Setting(
        "desk_database",
        str,
        None,
        "the desk's record: postgresql://…; none = SQLite in data_dir",
        password=True,
    ),
    Setting("archive", Path, None, "folder in which all events are kept for good; none = nowhere"),
    Setting("timeout_s", float, 2.0, "how long a call to the server may take, in seconds"),
    # What only `waitroom serve` needs.
    _serve("host", str, "127.0.0.1", "address to listen on; 0.0.0.0 = every one"),
    _serve("port", int, 8080, "port to listen on", 1, 65_535),
    _serve("workers", int, 1, "processes that answer; one per core that it may use", 1, 256),
    _serve("public_url", str, None, "how browsers reach this server, like https://wait.example"),
    _serve("tls_cert", Path, None, "certificate chain, PEM; with it Waitroom speaks https"),
    _serve("tls_key", Path, None, "private key of the certificate, PEM"),
    _serve("poll_within_s", float, 0.3, "wait of a poll before its last answer is repeated", 0, 60),
    _serve("answer_within_s", float, 5.0, "longest wait of a visitor for Redis, in seconds", 0, 60),
    _serve("away_after_s", float, 3.0, "how long Redis must fail before it counts as away", 0, 60),
    _serve("under_way", int, 10_000, "requests of visitors that may wait, per worker", 2, 10**6),
    _serve("drain_s", float, 5.0, "how long a stopping server still takes requests, in seconds"),
    _serve("proxies", str, None, "networks whose X-Forwarded-For is believed, split by commas"),
    _serve("ipv6_prefix", int, 64, "bits of an IPv6 address that limits count as one", 32, 128),
    _serve("origins", str, None, "pages elsewhere that may use visitors' cookies, like proxies"),
    _serve("cors_origins", str, None, "pages elsewhere whose scripts may call the visitors' API"),
    _serve("admin_key", str, None, "an operator key that always works, `wr_…`", secret=True),
    _serve("user_header", str, None, "header in which a proxy names who is signed in; none = keys"),
    _serve("user_peers", str, None, "networks of that proxy, split by commas"),
    _serve("user_secret", str, None, "what it sends as X-Waitroom-Proxy-Secret", secret=True),
    _serve("user_roles", str, None, "who may do what, like a@example.com=admin,group:ops=viewer"),
    _serve("user_groups_header", str, None, "header in which it names groups"),
    _serve("user_sign_out_url", str, None, "where a named user signs out, like /oauth2/sign_out"),
    _serve("pass_keys", str, None, "keys of passes: PEM, or files of it", secret=True),
    _serve("pass_algorithm", str, "ES256", "ES256 or EdDSA, for keys made from the secret"),
    _serve(
        "joins_per_minute", int, 600, "new places per room, address and minute; 0 = any", 0, 10**9
    ),
    _serve("streams", int, 20_000, "open event streams per worker", 0, 10**6),
    _serve("streams_per_address", int, 200, "open event streams per address", 0, 10**6),
    _serve("connections", int, 25_000, "open connections per worker", 16, 10**6),
    _serve("connections_per_address", int, 0, "the same per address; 0 = half of them", 0, 10**6),
    _serve("idle_s", float, 75.0, "how long a connection without a request is kept, in seconds"),
    _serve("log_level", str, "info", "debug, info, warning or error"),
    _serve("audit_days", int, 365, "how long entries of the audit log are kept", 1, 36_500),
    _serve("log_json", bool, None, "log as JSON lines; none = unless at a terminal"),
    _serve("access_log", bool, False, "log every request: route, status, time and id"),
    _serve("desk", bool, False, "serve the restaurant desk too: /desk and /v1/stores"),
    _serve("locales", Path, None, "folder of the waiting page's texts in more languages"),
    _serve("push", str, None, "contact for push services, mailto:…; none = no Web Push"),
    _serve("push_hosts", str, PUSH_HOSTS, "push services that may be asked, split by commas"),
    _serve("push_key", str, None, "key of push messages: PEM, or a file of it", secret=True),
    _serve("siteverify_url", str, None, "service that verifies widgets' tokens, https://…"),
    _serve("siteverify_secret", str, None, "our secret at that service", secret=True),
    _serve("siteverify_site_key", str, None, "the public key that its widget shows"),
    _serve("siteverify_script", str, None, "the script of its widget, https://…"),
    _serve("siteverify_origins", str, None, "more origins of the widget, split by commas"),
    _serve("siteverify_hostnames", str, None, "hosts of a good token; none = of public_url"),
    _serve("siteverify_actions", bool, True, "a good token names its action; false = it may not"),
    _serve("lane", bool, True, "answer the crowd before the framework does"),
)
_BY_NAME = {setting.name: setting for setting in SETTINGS}


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Settings:
    """The values in force, one attribute per line of `SETTINGS`."""

    redis_url: str | None = None
    data_dir: Path = Path(".waitroom")
    secret: str | None = None
    config: Path | None = None
    desk_database: str | None = None
    archive: Path | None = None
    timeout_s: float = 2.0
    host: str = "127.0.0.1"
    port: int = 8080
    workers: int = 1
    public_url: str | None = None
    tls_cert: Path | None = None
    tls_key: Path | None = None
    poll_within_s: float = 0.3
    answer_within_s: float = 5.0
    away_after_s: float = 3.0
    under_way: int = 10_000
    drain_s: float = 5.0
    proxies: str | None = None
    ipv6_prefix: int = 64
    origins: str | None = None
    cors_origins: str | None = None
    admin_key: str | None = None
    user_header: str | None = None
    user_peers: str | None = None
    user_secret: str | None = None
    user_roles: str | None = None
    user_groups_header: str | None = None
    user_sign_out_url: str | None = None
    pass_keys: str | None = None
    pass_algorithm: str = "ES256"  # noqa: S105 - the name of an algorithm
    joins_per_minute: int = 600
    streams: int = 20_000
    streams_per_address: int = 200
    connections: int = 25_000
    connections_per_address: int = 0
    idle_s: float = 75.0
    log_level: str = "info"
    audit_days: int = 365
    log_json: bool | None = None
    access_log: bool = False
    desk: bool = False
    locales: Path | None = None
    push: str | None = None
    push_hosts: str = PUSH_HOSTS
    push_key: str | None = None
    siteverify_url: str | None = None
    siteverify_secret: str | None = None
    siteverify_site_key: str | None = None
    siteverify_script: str | None = None
    siteverify_origins: str | None = None
    siteverify_hostnames: str | None = None
    siteverify_actions: bool = True
    lane: bool = True

    def shown(self) -> dict[str, str | None]:
        """Return every setting as text fit for a screen or a log: secrets and passwords hidden."""
        values = {setting.name: getattr(self, setting.name) for setting in SETTINGS}
        return {name: _shown(_BY_NAME[name], value) for name, value in values.items()}

    def __repr__(self) -> str:
        return f"Settings({', '.join(f'{name}={value}' for name, value in self.shown().items())})"


def load(
    env: Mapping[str, str],
    overrides: Mapping[str, object] | None = None,
    toml: Path | None = None,
) -> Settings:
    """Return the settings; `overrides` are flags (None = not given), `toml` stands in for `config`.

    An empty environment variable counts as not given: compose files pass unset ones that way.
    Unknown ones are ignored: Kubernetes sets `WAITROOM_SERVICE_HOST` and the like by itself.
    """
    values: dict[str, Any] = {}
    for name, flag in (overrides or {}).items():
        if name not in _BY_NAME:
            raise InvalidInput(name, f"no such setting; there are {', '.join(_BY_NAME)}")
        if flag is not None:
            values[name] = _parse(_BY_NAME[name], flag, "")
    for setting in SETTINGS:
        if setting.name not in values and (given := _given(setting, env)):
            text, variable = given
            values[setting.name] = _parse(setting, text, f" (from {variable})")
    if toml is not None:
        values["config"] = toml
    if values.get("config") is not None:
        values = dict(_from_file(values["config"])) | values
    return Settings(**values)


def _given(setting: Setting, env: Mapping[str, str]) -> tuple[str, str] | None:
    """Return the text of a setting and the variable that it is from."""
    if setting.by_file:
        return text_of(env, setting.env, setting.name)
    text = env.get(setting.env, "")
    # For a service named `waitroom`, Kubernetes sets WAITROOM_PORT to `tcp://10.0.0.7:8080`.
    if not text or (setting.name == "port" and text.startswith("tcp://")):
        return None
    return text, setting.env


def declared_rooms(path: Path) -> dict[str, Policy]:
    """Return the rooms that a TOML file declares; an error names `rooms.<name>.<field>`."""
    return {name: _declared(path, name, table) for name, table in _table(path, "rooms").items()}


def _declared(path: Path, name: str, table: object) -> Policy:
    try:
        check_room_name(name)
    except InvalidRoomName as error:
        raise InvalidRoomName("rooms", f"{_why(error)} (in {path})") from None
    if not isinstance(table, dict):
        raise InvalidPolicy(f"rooms.{name}", f"must be a table, [rooms.{name}] (in {path})")
    # TOML has no null, and a preset's limit must be removable.
    changes = {key: None if value == "none" else value for key, value in table.items()}
    base = changes.pop("preset", None)
    try:
        return (Policy() if base is None else preset(str(base))).change(**changes)
    except InvalidPolicy as error:
        raise InvalidPolicy(f"rooms.{name}.{error.field}", f"{_why(error)} (in {path})") from None


def _from_file(path: Path) -> Iterator[tuple[str, Any]]:
    for name, value in _table(path, "waitroom").items():
        if name not in _BY_NAME or name == "config":  # a file cannot name another file
            known = ", ".join(key for key in _BY_NAME if key != "config")
            raise InvalidInput(name, f"no such setting; there are {known} (in {path})")
        yield name, _parse(_BY_NAME[name], value, f" (in {path})")


def _table(path: Path, name: str) -> dict[str, Any]:
    """Return one table of the file; any other key at the top level is refused as a typo."""
    try:
        content = tomllib.loads(path.read_bytes().decode())
    except OSError as error:
        raise InvalidInput("config", f"{path} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise InvalidInput("config", f"{path} is not UTF-8 (at line {line})") from None
    except ValueError as error:  # tomllib ends its message with "(at line 3, column 5)"
        raise InvalidInput("config", f"{path} is not TOML: {error}") from None
    for key, value in content.items():
        if key not in ("waitroom", "rooms") or not isinstance(value, dict):
            raise InvalidInput(key, f"only tables [waitroom] and [rooms.<name>] may be in {path}")
    table: dict[str, Any] = content.get(name, {})
    return table


def _parse(setting: Setting, value: object, where: str) -> Any:
    """Return `value` in the setting's type; `where` says in errors where it was given."""
    if setting.kind is bool:
        return _yes_or_no(setting, value, where)
    if setting.kind in (int, float):
        return _number(setting, value, where)
    if isinstance(value, Path) and setting.kind is Path:
        return value
    if not isinstance(value, str) or not value or "\0" in value:
        # The value stays out of the message: it may be a secret.
        raise InvalidInput(setting.name, f"must be text, and not empty{where}")
    return Path(value) if setting.kind is Path else value


def _yes_or_no(setting: Setting, value: object, where: str) -> bool:
    switch = _SWITCH.get(str(value).lower())
    if switch is None:
        raise InvalidInput(setting.name, f"{value!r:.40} is neither true nor false{where}")
    return switch


def _number(setting: Setting, value: object, where: str) -> float:
    whole = setting.kind is int
    try:
        number = math.nan if isinstance(value, bool) else float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    above_zero = not whole and setting.low == 0
    if (
        not setting.low <= number <= setting.high
        or (above_zero and number == 0)
        or (whole and number != int(number))
    ):
        low = "above 0 and" if above_zero else f"from {setting.low:.0f}"
        allowed = f"a {'whole ' if whole else ''}number {low} up to {setting.high:.0f}"
        raise InvalidInput(setting.name, f"{value!r:.40} is not {allowed}{where}")
    return int(number) if whole else number


def _shown(setting: Setting, value: object) -> str | None:
    if value is None:
        return None
    return "(hidden)" if setting.secret else _PASSWORDS.sub("***", str(value))


def _why(error: InvalidInput) -> str:
    return str(error).removeprefix(f"{error.field}: ")
