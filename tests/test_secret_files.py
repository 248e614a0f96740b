"""Secrets from files: what is read, what is refused, and that none of it is repeated."""

from __future__ import annotations

from pathlib import Path

import pytest

from waitroom.errors import InvalidInput
from waitroom.secret_files import MOST_BYTES
from waitroom.settings import SETTINGS, Setting, Settings, load

BY_FILE = [setting for setting in SETTINGS if setting.by_file]
NAMES = {
    *("redis_url", "secret", "siteverify_secret", "desk_database", "admin_key", "user_secret"),
    *("pass_keys", "push_key"),
}


def test_every_secret_can_be_a_file() -> None:
    """Everything hidden in logs, and each URL with a password, can come from a file."""
    assert NAMES == {setting.name for setting in BY_FILE}
    assert {setting.name for setting in SETTINGS if setting.secret} <= NAMES


@pytest.mark.parametrize("setting", BY_FILE, ids=lambda setting: str(setting.name))
def test_the_file_holds_what_the_variable_would(tmp_path: Path, setting: Setting) -> None:
    """Blanks around it do not count, and an empty variable is none."""
    name, env = setting.name, setting.env
    path = tmp_path / "secret"
    path.write_text("  redis://user:hunter2@host\r\n\n", "utf-8")
    given = {env + "_FILE": str(path), env: ""}
    assert "redis://user:hunter2@host" == getattr(load(given), name)
    assert "hunter2" not in repr(load(given))
    assert Settings() == load({env + "_FILE": ""})


def test_lines_within_stay(tmp_path: Path) -> None:
    """A key in PEM keeps its lines."""
    path = tmp_path / "key.pem"
    path.write_text("-----BEGIN X-----\nabc\n-----END X-----\n", "utf-8")
    keys = load({"WAITROOM_PASS_KEYS_FILE": str(path)}).pass_keys
    assert "-----BEGIN X-----\nabc\n-----END X-----" == keys


def test_both_are_refused_by_name(tmp_path: Path) -> None:
    """Nobody has to guess which of the two counts; neither value is in the message."""
    path = tmp_path / "secret"
    path.write_text("hunter2", "utf-8")
    env = {"WAITROOM_SECRET": "hunter3", "WAITROOM_SECRET_FILE": str(path)}
    with pytest.raises(InvalidInput) as caught:
        load(env)
    assert "secret" == caught.value.field
    assert {"WAITROOM_SECRET", "WAITROOM_SECRET_FILE"} <= set(str(caught.value).split())
    assert "hunter" not in str(caught.value)


def test_a_flag_comes_first(tmp_path: Path) -> None:
    """A flag beats a file as it beats a variable, and the file beats the TOML."""
    path, toml = tmp_path / "url", tmp_path / "waitroom.toml"
    path.write_text("redis://file\n", "utf-8")
    toml.write_text('[waitroom]\nredis_url = "redis://toml"\n', "utf-8")
    env = {"WAITROOM_REDIS_URL_FILE": str(path)}
    assert "redis://flag" == load(env, {"redis_url": "redis://flag"}, toml).redis_url
    assert "redis://file" == load(env, {}, toml).redis_url


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (None, "No such file"),
        (b" \n", "is empty"),
        (b"\xff" * 40, "is not UTF-8"),
        (b"hunter2" * MOST_BYTES, "is longer than"),
        (b"hunter2\0", "must be text"),
    ],
)
def test_a_bad_file_is_refused(tmp_path: Path, content: bytes | None, reason: str) -> None:
    """The error names the setting and the variable, and shows nothing of the file."""
    path = tmp_path / "secret"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(InvalidInput, match=reason) as caught:
        load({"WAITROOM_SECRET_FILE": str(path)})
    assert "secret" == caught.value.field
    assert "WAITROOM_SECRET_FILE" in str(caught.value)
    assert "hunter2" not in str(caught.value)


def test_a_file_of_another_setting_is_none_of_ours() -> None:
    """A plain setting has no file: this variable is ignored like any other unknown one."""
    assert Settings() == load({"WAITROOM_HOST_FILE": "/nowhere", "WAITROOM_PORT_FILE": "/nowhere"})
