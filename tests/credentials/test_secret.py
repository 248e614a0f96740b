"""The embedded server's secret: made once, kept private, the same for all; the keys of passes."""

from __future__ import annotations

import stat
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import pytest

from waitroom.credentials.secret import load_secret
from waitroom.errors import InvalidInput
from waitroom.settings import Settings
from waitroom.tickets import Ticket

SECRET = "s" * 40
TICKET = Ticket("concert", "A" * 16, 1, 1, 1)


def signed(folder: Path) -> str:
    """Sign with the secret of a folder: equal strings mean equal keys."""
    return load_secret(Settings(data_dir=folder)).sign(TICKET)


def test_given_secret_wins(tmp_path: Path) -> None:
    """A secret from the settings is used, with a URL or without, and nothing is written."""
    own = load_secret(Settings(secret=SECRET, data_dir=tmp_path / "data"))
    shared = load_secret(Settings(secret=SECRET, redis_url="redis://host"))
    assert own.sign(TICKET) == shared.sign(TICKET)
    assert [] == list(tmp_path.iterdir())


def test_given_secret_is_checked() -> None:
    """A short secret is refused at start, not when the first visitor comes."""
    with pytest.raises(InvalidInput, match="32 bytes"):
        load_secret(Settings(secret="short"))


def test_url_without_secret_is_refused(tmp_path: Path) -> None:
    """With a shared server separate secrets would split the servers, so it must be given."""
    with pytest.raises(InvalidInput, match=r"each other's tickets.*WAITROOM_SECRET") as caught:
        load_secret(Settings(redis_url="redis://host", data_dir=tmp_path))
    assert "secret" == caught.value.field
    assert [] == list(tmp_path.iterdir())


def test_made_once_and_private(tmp_path: Path) -> None:
    """First use creates folder and file for the owner only; later uses read the same, no litter."""
    folder = tmp_path / "deep" / "data"
    first = signed(folder)
    assert first == signed(folder)
    assert ["secret"] == [path.name for path in folder.iterdir()]
    assert 0o600 == stat.S_IMODE((folder / "secret").stat().st_mode)
    assert 0o700 == stat.S_IMODE(folder.stat().st_mode)
    assert first != signed(tmp_path / "other")


def test_many_processes_at_once(tmp_path: Path) -> None:
    """Processes that start together agree on one secret, whichever makes it."""
    with ProcessPoolExecutor(4, mp_context=get_context("spawn")) as pool:
        for number in range(25):
            folder = tmp_path / str(number)
            assert 1 == len(set(pool.map(signed, [folder] * 8)))
            assert ["secret"] == [path.name for path in folder.iterdir()]


def test_a_key_in_front_rotates(tmp_path: Path) -> None:
    """The file is a ring: a line added on top signs, and old tickets stay valid."""
    old = signed(tmp_path)
    path = tmp_path / "secret"
    path.write_text("n" * 40 + "\n" + path.read_text())
    ring = load_secret(Settings(data_dir=tmp_path))
    assert TICKET == ring.read("concert", old)
    assert old != ring.sign(TICKET)


@pytest.mark.parametrize("content", [b"", b"\n", b"short", b"\xff\xfe"])
def test_unusable_file(tmp_path: Path, content: bytes) -> None:
    """A damaged file is named, and never replaced: that would silently end every ticket."""
    path = tmp_path / "secret"
    path.write_bytes(content)
    path.chmod(0o600)
    with pytest.raises(InvalidInput, match=r"secret: .*/secret holds no usable keys"):
        signed(tmp_path)
    assert content == path.read_bytes()


def test_open_file_is_refused(tmp_path: Path) -> None:
    """A secret that everybody on the machine can read is refused, and the message names the fix."""
    signed(tmp_path)
    (tmp_path / "secret").chmod(0o644)
    with pytest.raises(InvalidInput, match="chmod 600"):
        signed(tmp_path)
    (tmp_path / "secret").chmod(0o660)
    assert signed(tmp_path)


def test_folder_that_cannot_be(tmp_path: Path) -> None:
    """A data folder that cannot be created is one sentence that names the setting."""
    (tmp_path / "file").write_text("")
    with pytest.raises(InvalidInput, match="File exists") as caught:
        signed(tmp_path / "file")
    assert "data_dir" == caught.value.field
