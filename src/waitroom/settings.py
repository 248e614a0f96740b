"""Settings: one table of names, types, defaults and meanings, from which flags and docs follow.

Precedence: flags, the environment (`WAITROOM_…`), the `[waitroom]` table of the TOML file, the
default. The same file may declare rooms, as `[rooms.<name>]` with a `preset` and changes.
Nothing is read at import, and nothing but the file that is handed in.
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

ENV_PREFIX = "WAITROOM_"
_LONGEST_S = 3600.0
_PASSWORDS = re.compile(r"(?<=//).*(?=@)|(?<=password=)[^&#]*")


@dataclass(frozen=True, slots=True)
class Setting:
    """One line of the table."""

    name: str
    type: type[str] | type[float] | type[Path]
    default: str | float | Path | None
    about: str
    secret: bool = False

    @property
    def env(self) -> str:
        """Return the name of its environment variable."""
        return ENV_PREFIX + self.name.upper()


SETTINGS = (
    Setting("redis_url", str, None, "Redis or Valkey server; none = our own in the data folder"),
    Setting("data_dir", Path, Path(".waitroom"), "folder of our own server and its secret"),
    Setting("secret", str, None, "keys of tickets, newest first, split by commas", secret=True),
    Setting("config", Path, None, "TOML file with settings and rooms"),
    Setting("timeout_s", float, 2.0, "how long a call to the server may take, in seconds"),
)
_BY_NAME = {setting.name: setting for setting in SETTINGS}


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Settings:
    """What was decided, one attribute per line of `SETTINGS`."""

    redis_url: str | None = None
    data_dir: Path = Path(".waitroom")
    secret: str | None = None
    config: Path | None = None
    timeout_s: float = 2.0

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
    for name, given in (overrides or {}).items():
        if name not in _BY_NAME:
            raise InvalidInput(name, f"no such setting; there are {', '.join(_BY_NAME)}")
        if given is not None:
            values[name] = _parse(_BY_NAME[name], given, "")
    for setting in SETTINGS:
        if setting.name not in values and env.get(setting.env):
            values[setting.name] = _parse(setting, env[setting.env], f" (from {setting.env})")
    if toml is not None:
        values["config"] = toml
    if values.get("config") is not None:
        values = dict(_from_file(values["config"])) | values
    return Settings(**values)


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
    """Return one table of the file; whatever else stands at its top is refused as a typo."""
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


def _parse(setting: Setting, value: object, where: str) -> str | float | Path:
    """Return `value` in the setting's type; `where` tells whoever has to correct it."""
    if setting.type is float:
        try:
            number = math.nan if isinstance(value, bool) else float(value)  # type: ignore[arg-type]
        except (TypeError, ValueError, OverflowError):
            number = math.nan
        if not 0 < number <= _LONGEST_S:
            allowed = f"a number above 0 and up to {_LONGEST_S:.0f}"
            raise InvalidInput(setting.name, f"{value!r:.40} is not {allowed}{where}")
        return number
    if isinstance(value, Path) and setting.type is Path:
        return value
    if not isinstance(value, str) or not value or "\0" in value:
        # The value stays out of the message: it may be a secret.
        raise InvalidInput(setting.name, f"must be text, and not empty{where}")
    return Path(value) if setting.type is Path else value


def _shown(setting: Setting, value: object) -> str | None:
    if value is None:
        return None
    return "(hidden)" if setting.secret else _PASSWORDS.sub("***", str(value))


def _why(error: InvalidInput) -> str:
    return str(error).removeprefix(f"{error.field}: ")
