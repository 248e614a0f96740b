"""Settings: where they come from, which one wins, and how a bad one is refused."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import pytest

from waitroom.errors import InvalidInput, InvalidPolicy, InvalidRoomName
from waitroom.models import PRESETS, BeforeOpen, Mode, Policy
from waitroom.moments import from_ms
from waitroom.settings import SETTINGS, Settings, declared_rooms, load


def write(folder: Path, text: str) -> Path:
    """Write a TOML file and return where it is."""
    path = folder / "waitroom.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_table_and_class_agree() -> None:
    """Each line of the table is an attribute of Settings, in order and with the same default."""
    table = [(setting.name, setting.default) for setting in SETTINGS]
    assert table == [(spec.name, spec.default) for spec in dataclasses.fields(Settings)]
    assert all(setting.about for setting in SETTINGS)
    assert "WAITROOM_REDIS_URL" == SETTINGS[0].env


def test_defaults() -> None:
    """Without settings, Waitroom is embedded and keeps its data in .waitroom."""
    assert Settings() == load({}, {})
    assert (None, Path(".waitroom"), 2.0) == (
        load({}).redis_url,
        load({}).data_dir,
        load({}).timeout_s,
    )


def test_precedence(tmp_path: Path) -> None:
    """A flag beats the environment, which beats the file, which beats the default."""
    path = write(tmp_path, '[waitroom]\nredis_url = "redis://file"\ntimeout_s = 5\n')
    env = {"WAITROOM_REDIS_URL": "redis://env", "WAITROOM_DATA_DIR": "/env"}
    flags = {"redis_url": "redis://flag"}
    assert "redis://flag" == load(env, flags, path).redis_url
    assert "redis://env" == load(env, {"redis_url": None}, path).redis_url
    assert "redis://file" == load({}, {}, path).redis_url
    assert (Path("/env"), 5.0) == (load(env, {}, path).data_dir, load(env, {}, path).timeout_s)


def test_config_by_flag_and_environment(tmp_path: Path) -> None:
    """The file is found by argument, by flag or by WAITROOM_CONFIG, and remembered."""
    path = write(tmp_path, "[waitroom]\ntimeout_s = 0.5\n")
    for settings in (
        load({}, {}, path),
        load({}, {"config": path}),
        load({}, {"config": str(path)}),
        load({"WAITROOM_CONFIG": str(path)}),
    ):
        assert (path, 0.5) == (settings.config, settings.timeout_s)


def test_foreign_and_empty_environment() -> None:
    """Other programs' variables with our prefix, and empty ones of ours, change nothing."""
    env = {"WAITROOM_SERVICE_HOST": "10.0.0.1", "WAITROOM_REDIS_URL": "", "PATH": "/bin"}
    assert Settings() == load(env)


@pytest.mark.parametrize("value", ["0", "-1", "nan", "inf", "1e9", "abc", "", True, [], 10**400])
def test_bad_number(value: Any) -> None:
    """A timeout that is not a positive, sensible number is refused by name."""
    with pytest.raises(InvalidInput, match="above 0") as caught:
        load({}, {"timeout_s": value})
    assert "timeout_s" == caught.value.field


@pytest.mark.parametrize("value", ["0", "65536", "-1", "80.5", "http", "", "nan", "inf", True, []])
def test_bad_whole_number(value: Any) -> None:
    """An invalid port is refused by name, with the allowed range."""
    with pytest.raises(InvalidInput, match="a whole number from 1 up to 65535") as caught:
        load({}, {"port": value})
    assert "port" == caught.value.field


@pytest.mark.parametrize("value", ["8081", "8081.0", 8081, 8081.0])
def test_whole_number(value: Any) -> None:
    """A whole number comes as an int, from a flag as well as from a file."""
    port = load({}, {"port": value}).port
    assert (8081, int) == (port, type(port))


def test_zero_where_it_means_none() -> None:
    """Limits that 0 turns off accept it; durations do not."""
    assert 0 == load({"WAITROOM_JOINS_PER_MINUTE": "0"}).joins_per_minute
    with pytest.raises(InvalidInput, match=r"above 0.*WAITROOM_DRAIN_S"):
        load({"WAITROOM_DRAIN_S": "0"})


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        *[("true", True), ("1", True), ("YES", True), ("on", True), (True, True)],
        *[("false", False), ("0", False), ("No", False), ("off", False), (False, False)],
    ],
)
def test_switch(value: object, expected: bool) -> None:
    """Yes and no may be written in the usual ways."""
    assert expected is load({}, {"log_json": value}).log_json


@pytest.mark.parametrize("value", ["", "maybe", "2", 2, [], "t" * 1000])
def test_bad_switch(value: object) -> None:
    """Anything else is refused by name and not repeated at length."""
    with pytest.raises(InvalidInput, match="neither true nor false") as caught:
        load({}, {"lane": value})
    assert ("lane", True) == (caught.value.field, len(str(caught.value)) < 100)


def test_numbers_and_switches_of_a_file(tmp_path: Path) -> None:
    """TOML has its own types for both; a number is not a switch and a switch not a number."""
    path = write(tmp_path, "[waitroom]\nport = 81\nlane = false\ndrain_s = 0.5\n")
    settings = load({}, {}, path)
    assert (81, False, 0.5) == (settings.port, settings.lane, settings.drain_s)
    with pytest.raises(InvalidInput, match=r"port.*waitroom\.toml"):
        load({}, {}, write(tmp_path, "[waitroom]\nport = true\n"))


def test_port_of_kubernetes() -> None:
    """For a service named `waitroom` Kubernetes sets WAITROOM_PORT itself: that is not ours."""
    assert 8080 == load({"WAITROOM_PORT": "tcp://10.0.0.7:8080"}).port
    assert 81 == load({"WAITROOM_PORT": "tcp://10.0.0.7:8080"}, {"port": "81"}).port
    assert 81 == load({"WAITROOM_PORT": "81"}).port


def test_bad_value_says_where(tmp_path: Path) -> None:
    """An error names the variable or the file to correct."""
    with pytest.raises(InvalidInput, match="WAITROOM_TIMEOUT_S"):
        load({"WAITROOM_TIMEOUT_S": "soon"})
    path = write(tmp_path, "[waitroom]\nredis_url = 6379\n")
    with pytest.raises(InvalidInput, match=r"redis_url.*waitroom\.toml"):
        load({}, {}, path)


@pytest.mark.parametrize("name", ["redis_url", "secret", "data_dir", "config"])
@pytest.mark.parametrize("value", ["", 7, b"x", "a\0b"])
def test_bad_text(name: str, value: object) -> None:
    """Empty, untyped or binary text is refused by name."""
    with pytest.raises(InvalidInput) as caught:
        load({}, {name: value})
    assert name == caught.value.field


def test_bad_secret_stays_secret(tmp_path: Path) -> None:
    """A secret of the wrong type is not repeated in the error."""
    path = write(tmp_path, '[waitroom]\nsecret = ["hunter2"]\n')
    with pytest.raises(InvalidInput) as caught:
        load({}, {}, path)
    assert "hunter2" not in str(caught.value)


def test_unknown_names(tmp_path: Path) -> None:
    """An unknown flag, key or table is an error with the names that exist, not a silent default."""
    with pytest.raises(InvalidInput, match="redis_url") as caught:
        load({}, {"redisurl": "x"})
    assert "redisurl" == caught.value.field
    for text, field in [
        ("[waitroom]\nredisurl = 1", "redisurl"),
        ('[waitroom]\nconfig = "x"', "config"),
        ("[waitrom]", "waitrom"),
        ("waitroom = 1", "waitroom"),
        ("timeout_s = 1", "timeout_s"),
    ]:
        with pytest.raises(InvalidInput, match=r"waitroom\.toml") as caught:
            load({}, {}, write(tmp_path, text))
        assert field == caught.value.field


def test_broken_file(tmp_path: Path) -> None:
    """A file that is not TOML, not UTF-8, missing or a folder is one sentence with its place."""
    path = write(tmp_path, "[waitroom]\ntimeout_s = \n")
    with pytest.raises(InvalidInput, match=r"config: .*waitroom\.toml.*line 2"):
        load({}, {}, path)
    path.write_bytes(b"[waitroom]\n\n# \xff\n")
    with pytest.raises(InvalidInput, match=r"waitroom\.toml.*line 3"):
        load({}, {}, path)
    with pytest.raises(InvalidInput, match="No such file"):
        load({}, {}, tmp_path / "none.toml")
    with pytest.raises(InvalidInput, match="directory"):
        load({}, {}, tmp_path)


@pytest.mark.parametrize(
    "url",
    [
        "redis://:hunter2@host:6379/0",
        "rediss://user:hunter2@host",
        "redis://user:hunt@er2:hunter2@host",
        "unix:///run/r.sock?password=hunter2&db=1",
        "redis+sentinel://:hunter2@a,b/name?sentinel_password=hunter2",
    ],
)
def test_repr_hides_secrets(url: str) -> None:
    """Neither the secret nor a password in the URL shows in a log or a traceback."""
    settings = load({}, {"redis_url": url, "secret": "hunter2" * 5})
    assert "hunter2" not in repr(settings)
    assert "hunter2" not in str(settings.shown())
    assert url == settings.redis_url


def test_url_without_password_is_shown() -> None:
    """Anything not secret can be read, so that an operator sees which server is meant."""
    shown = load({}, {"redis_url": "redis://host:6379/0"}).shown()
    assert "redis://host:6379/0" == shown["redis_url"]
    assert None is shown["secret"]


def test_declared_rooms(tmp_path: Path) -> None:
    """A room is a preset with changes, or fields alone; `none` removes a limit."""
    path = write(
        tmp_path,
        """
        [waitroom]
        timeout_s = 1
        [rooms.concert]
        preset = "slots"
        capacity = 500
        session_s = "none"
        [rooms.concert.texts.ko]
        title = "콘서트"
        [rooms."a.b"]
        mode = "paused"
        [rooms.draw]
        opens_at = 2025-11-16T03:40:00+09:00
        before_open = "draw"
        """,
    )
    assert {
        "concert": PRESETS["slots"].change(
            capacity=500, session_s=None, texts={"ko": {"title": "콘서트"}}
        ),
        "a.b": Policy(mode=Mode.PAUSED),
        "draw": Policy(opens_at=from_ms(1_763_232_000_000), before_open=BeforeOpen.DRAW),
    } == declared_rooms(path)
    assert 1.0 == load({}, {}, path).timeout_s


def test_no_rooms(tmp_path: Path) -> None:
    """A file without rooms declares none."""
    assert {} == declared_rooms(write(tmp_path, ""))


@pytest.mark.parametrize(
    ("text", "field"),
    [
        ("[rooms.concert]\ncapacity = 0", "rooms.concert.capacity"),
        ("[rooms.concert]\nbatch = 5", "rooms.concert.every_s"),
        ("[rooms.concert.texts.ko]\ntitle = 5", "rooms.concert.texts.ko.title"),
        ('[rooms.concert]\npreset = "nope"', "rooms.concert.preset"),
        ("[rooms.concert]\npreset = 5", "rooms.concert.preset"),
        ("[rooms.concert]\nspeed = 5", "rooms.concert.speed"),
        ('[rooms.concert]\npreset = "slots"\nname = "x"', "rooms.concert.name"),
        ("[rooms.concert]\ncapacity = inf", "rooms.concert.capacity"),
        ("[rooms.concert.hall]\ncapacity = 5", "rooms.concert.hall"),
        ("[rooms]\nconcert = 5", "rooms.concert"),
    ],
)
def test_bad_room(tmp_path: Path, text: str, field: str) -> None:
    """A bad declaration is named by room and field, with its file."""
    with pytest.raises(InvalidPolicy, match=r"waitroom\.toml") as caught:
        declared_rooms(write(tmp_path, text))
    assert field == caught.value.field


def test_bad_room_name(tmp_path: Path) -> None:
    """An invalid declared name is refused like any other."""
    with pytest.raises(InvalidRoomName, match=r"waitroom\.toml"):
        declared_rooms(write(tmp_path, '[rooms."{a}"]\ncapacity = 5'))
