"""Pass keys: where they come from, how they are rotated, and when a new one signs."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from waitroom.credentials import pass_keys
from waitroom.credentials.pass_keys import load_pass_keys, prune, rotate
from waitroom.errors import InvalidInput, InvalidPass
from waitroom.passes import PassKeys, generate_pem
from waitroom.settings import Settings

SECRET = "s" * 32


def public(keys: PassKeys) -> list[dict[str, str]]:
    """Return the public keys of a ring."""
    return keys.jwks()["keys"]


def test_pass_keys_follow_the_secret(tmp_path: Path) -> None:
    """Without their own keys, passes depend on the secret of tickets: given, or kept in a file."""
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
    """Keys may be in a variable, also on one line, the newest first, and need no secret."""
    pems = [generate_pem(), generate_pem("EdDSA")]
    expected = public(PassKeys.from_pem(pems))
    text = b"".join(pems).decode()
    for spelled in (text, text.replace("\n", "\\n"), text.replace("\n", "\r\n")):
        keys = load_pass_keys(Settings(pass_keys=spelled, redis_url="redis://host"))
        assert expected == public(keys)


def test_pass_keys_in_files(tmp_path: Path) -> None:
    """Keys may be in files, listed in the order in which they count."""
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
    """Several servers with separate secrets would refuse each other's passes, so it is required."""
    with pytest.raises(InvalidInput, match="WAITROOM_SECRET"):
        load_pass_keys(Settings(redis_url="redis://host", data_dir=tmp_path))


def made_at(path: Path, ago_s: float) -> Path:
    """Make a file this old."""
    at = time.time() - ago_s
    os.utime(path, (at, at))
    return path


def signed(keys: PassKeys) -> str:
    """Sign a pass."""
    now_s = int(time.time())
    return keys.sign("concert", "ticket", 1, now_s, now_s + 60, "waitroom")


def test_a_new_key_signs_once_everybody_knows_it(tmp_path: Path) -> None:
    """After a rotation the new key verifies at once and signs a few seconds later."""
    settings = Settings(data_dir=tmp_path, secret=SECRET)
    old = made_at(rotate(tmp_path / pass_keys.FOLDER, "ES256"), 60)
    new = rotate(tmp_path / pass_keys.FOLDER, "ES256")
    before = load_pass_keys(settings)
    fingerprint = pass_keys.fingerprint(settings)
    made_at(new, pass_keys.SIGNS_AFTER_S + 1)
    assert fingerprint != pass_keys.fingerprint(settings)
    after = load_pass_keys(settings)
    first = [public(keys)[0] for keys in (before, after)]
    assert first == [public(PassKeys.from_pem([path.read_bytes()]))[0] for path in (old, new)]
    for text in (signed(before), signed(after)):
        assert "concert" == before.verify(text).room == after.verify(text).room


def test_the_very_first_key_signs_at_once(tmp_path: Path) -> None:
    """Without an older key the new one must sign; passes from the secret's own key still count."""
    settings = Settings(data_dir=tmp_path, secret=SECRET)
    derived = load_pass_keys(settings)
    rotate(tmp_path / pass_keys.FOLDER, "ES256")
    keys = load_pass_keys(settings)
    assert public(derived)[0] == public(keys)[-1]
    assert public(derived)[0] != public(keys)[0]
    assert 1 == keys.verify(signed(derived)).sid


def test_prune(tmp_path: Path) -> None:
    """A key goes once it has not signed for the lifetime of a pass, and never the last one."""
    paths = [made_at(rotate(tmp_path, "ES256"), ago) for ago in (900, 600, 300)]
    assert [] == prune(tmp_path, 700)
    assert [paths[0]] == prune(tmp_path, 500)
    assert [paths[1]] == prune(tmp_path, 1)
    assert [] == prune(tmp_path, 0)
    assert [paths[2]] == list(tmp_path.glob("*.pem"))


def test_a_removed_key_is_refused(tmp_path: Path) -> None:
    """What a removed key signed is worthless once the keys are loaded again."""
    settings = Settings(pass_keys=str(tmp_path))
    old = made_at(rotate(tmp_path, "ES256"), 60)
    text = signed(load_pass_keys(settings))
    rotate(tmp_path, "ES256")
    assert 1 == load_pass_keys(settings).verify(text).sid
    old.unlink()
    with pytest.raises(InvalidPass, match="does not have"):
        load_pass_keys(settings).verify(text)


def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    """The error names the setting and a fix."""
    (tmp_path / "file").touch()
    with pytest.raises(InvalidInput, match=r"pass_keys: .*cannot be written"):
        rotate(tmp_path / "file", "ES256")
