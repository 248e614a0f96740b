"""The key for push messages: the same for years, whatever happens to the other keys."""

from __future__ import annotations

from pathlib import Path

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519

from tests.support.push_service import CONTACT
from waitroom.errors import InvalidInput
from waitroom.push.vapid import LIFE_S, VapidKey

OLD, NEW = "o" * 40, "n" * 40


def pem(key: ec.EllipticCurvePrivateKey | ed25519.Ed25519PrivateKey) -> str:
    """Return a key as text."""
    return key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    ).decode()


def test_derived() -> None:
    """It follows the oldest secret: a newer one in front changes nothing."""
    old = VapidKey.derived(OLD, CONTACT).public
    assert old == VapidKey.derived(f"{NEW}, {OLD}", CONTACT).public
    assert old != VapidKey.derived(NEW, CONTACT).public
    assert (87, "B") == (len(old), old[0])


def test_given(tmp_path: Path) -> None:
    """A key of your own is PEM, or a file of it."""
    text = pem(ec.generate_private_key(ec.SECP256R1()))
    (tmp_path / "push.pem").write_text(text)
    from_file = VapidKey.from_pem(str(tmp_path / "push.pem"), CONTACT)
    assert VapidKey.from_pem(text, CONTACT).public == from_file.public


def test_no_key(tmp_path: Path) -> None:
    """Anything else is refused with the name of the setting."""
    texts = ["-----BEGIN nothing", str(tmp_path / "none.pem")]
    texts += [
        pem(ed25519.Ed25519PrivateKey.generate()),
        pem(ec.generate_private_key(ec.SECP384R1())),
    ]
    for text in texts:
        with pytest.raises(InvalidInput, match="push_key"):
            VapidKey.from_pem(text, CONTACT)


@pytest.mark.parametrize(
    "contact", ["", "ops@example.com", "mailto:", "http://a.example", "https://"]
)
def test_contacts(contact: str) -> None:
    """A push service must be able to reach the operator."""
    with pytest.raises(InvalidInput, match="push: "):
        VapidKey.derived(OLD, contact)


def test_a_signature_is_kept() -> None:
    """One signature serves a push service for hours, and a new one is made before it ends."""
    key = VapidKey.derived(OLD, CONTACT)
    first = key.authorization("https://a.example", 1_000)
    assert first == key.authorization("https://a.example", 1_000 + LIFE_S // 2)
    assert first != key.authorization("https://b.example", 1_000)
    assert first != key.authorization("https://a.example", 1_001 + LIFE_S // 2)
