"""The secret of our own server, made once, kept private, the same for all; the keys of passes."""

from __future__ import annotations

import stat
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import pytest

from waitroom.engine.secret import load_pass_keys, load_secret
from waitroom.errors import InvalidInput
from waitroom.passes import PassKeys, generate_pem
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
    """With a shared server a secret of one's own would split the servers, so it must be given."""
    with pytest.raises(InvalidInput, match=r"each other's tickets.*WAITROOM_SECRET") as caught:
        load_secret(Settings(redis_url="redis://host", data_dir=tmp_path))
    assert "secret" == caught.value.field
    assert [] == list(tmp_path.iterdir())


def test_made_once_and_private(tmp_path: Path) -> None:
    """First use makes folder and file for the owner alone; later uses read the same, no litter."""
    folder = tmp_path / "deep" / "data"
    first = signed(folder)
    assert first == signed(folder)
    assert ["secret"] == [path.name for path in folder.iterdir()]
    assert 0o600 == stat.S_IMODE((folder / "secret").stat().st_mode)
    assert 0o700 == stat.S_IMODE(folder.stat().st_mode)
    assert first != signed(tmp_path / "other")


def test_many_processes_at_once(tmp_path: Path) -> None:
    """Processes that start together agree on one secret, whoever makes it."""
    with ProcessPoolExecutor(4, mp_context=get_context("spawn")) as pool:
        for number in range(25):
            folder = tmp_path / str(number)
            assert 1 == len(set(pool.map(signed, [folder] * 8)))
            assert ["secret"] == [path.name for path in folder.iterdir()]


def test_a_key_in_front_rotates(tmp_path: Path) -> None:
    """The file is a ring: a line added on top signs, and old tickets stay good."""
    old = signed(tmp_path)
    path = tmp_path / "secret"
    path.write_text("n" * 40 + "\n" + path.read_text())
    ring = load_secret(Settings(data_dir=tmp_path))
    assert TICKET == ring.read("concert", old)
    assert old != ring.sign(TICKET)


@pytest.mark.parametrize("content", [b"", b"\n", b"short", b"\xff\xfe"])
def test_unusable_file(tmp_path: Path, content: bytes) -> None:
    """A damaged file is named, and never replaced: that would end every ticket in silence."""
    path = tmp_path / "secret"
    path.write_bytes(content)
    path.chmod(0o600)
    with pytest.raises(InvalidInput, match=r"secret: .*/secret holds no usable keys"):
        signed(tmp_path)
    assert content == path.read_bytes()


def test_open_file_is_refused(tmp_path: Path) -> None:
    """A secret that everybody on the machine can read is refused with the remedy."""
    signed(tmp_path)
    (tmp_path / "secret").chmod(0o644)
    with pytest.raises(InvalidInput, match="chmod 600"):
        signed(tmp_path)
    (tmp_path / "secret").chmod(0o660)
    assert signed(tmp_path)


def test_folder_that_cannot_be(tmp_path: Path) -> None:
    """A data folder that cannot be made is one sentence that names the setting."""
    (tmp_path / "file").write_text("")
    with pytest.raises(InvalidInput, match="File exists") as caught:
        signed(tmp_path / "file")
    assert "data_dir" == caught.value.field


def public(keys: PassKeys) -> list[dict[str, str]]:
    """Return the public keys of a ring."""
    return keys.jwks()["keys"]


def test_pass_keys_follow_the_secret(tmp_path: Path) -> None:
    """Without keys of their own, passes hang on the secret of tickets: given, or kept in a file."""
    given = load_pass_keys(Settings(secret=SECRET, redis_url="redis://host"))
    assert PassKeys.derive(SECRET).jwks() == given.jwks()
    first = load_pass_keys(Settings(data_dir=tmp_path))
    assert first.jwks() == load_pass_keys(Settings(data_dir=tmp_path)).jwks()
    assert PassKeys.derive((tmp_path / "secret").read_text()).jwks() == first.jwks()


def test_pass_algorithm() -> None:
    """The algorithm of derived keys can be chosen, among those that can be derived."""
    keys = load_pass_keys(Settings(secret=SECRET, pass_algorithm="EdDSA"))
    assert ["EdDSA"] == [key["alg"] for key in public(keys)]
    with pytest.raises(InvalidInput, match="pass_keys") as caught:
        load_pass_keys(Settings(secret=SECRET, pass_algorithm="RS256"))
    assert "pass_algorithm" == caught.value.field


def test_pass_keys_as_text() -> None:
    """Keys may stand in a variable, also in one line, the newest first, and need no secret."""
    pems = [generate_pem(), generate_pem("EdDSA")]
    expected = public(PassKeys.from_pem(pems))
    text = b"".join(pems).decode()
    for spelled in (text, text.replace("\n", "\\n"), text.replace("\n", "\r\n")):
        keys = load_pass_keys(Settings(pass_keys=spelled, redis_url="redis://host"))
        assert expected == public(keys)


def test_pass_keys_in_files(tmp_path: Path) -> None:
    """Keys may stand in files, named in the order in which they count."""
    pems = [generate_pem(), generate_pem("EdDSA")]
    paths = [tmp_path / "new.pem", tmp_path / "old.pem"]
    for path, pem in zip(paths, pems, strict=True):
        path.write_bytes(pem)
    keys = load_pass_keys(Settings(pass_keys=f"{paths[0]}, {paths[1]}"))
    assert PassKeys.from_pem(pems).jwks() == keys.jwks()


def test_pass_keys_that_cannot_be_read(tmp_path: Path) -> None:
    """A missing file is named; a file without a key, or no file at all, says so."""
    with pytest.raises(
        InvalidInput, match=r"pass_keys: .*nothing\.pem cannot be read: No such file"
    ):
        load_pass_keys(Settings(pass_keys=str(tmp_path / "nothing.pem")))
    (tmp_path / "empty.pem").touch()
    with pytest.raises(InvalidInput, match="holds no key in PEM"):
        load_pass_keys(Settings(pass_keys=str(tmp_path / "empty.pem")))
    with pytest.raises(InvalidInput, match="holds no key"):
        load_pass_keys(Settings(pass_keys=" , "))


def test_pass_keys_need_a_shared_secret_too(tmp_path: Path) -> None:
    """Several servers with a secret each would refuse each other's passes, so it must be given."""
    with pytest.raises(InvalidInput, match="WAITROOM_SECRET"):
        load_pass_keys(Settings(redis_url="redis://host", data_dir=tmp_path))
