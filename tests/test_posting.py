"""Posting to addresses that others chose: which ones are allowed."""

from __future__ import annotations

import pytest

from waitroom.posting import allowed


@pytest.mark.attack
@pytest.mark.parametrize(
    ("address", "fine"),
    [
        ("127.0.0.1", True),
        ("10.1.2.3", True),
        ("203.0.113.7", True),
        ("::1", True),
        ("169.254.0.1", False),
        ("fe80::1%eth0", False),
        ("::ffff:169.254.169.254", False),
        ("::ffff:203.0.113.7", True),
        ("::169.254.169.254", False),
        ("64:ff9b::a9fe:a9fe", False),
        ("64:ff9b:1::a9fe:a9fe", False),
        ("64:ff9b::203.0.113.7", True),
        ("2002:a9fe:a9fe::1", False),
        ("2002:cb00:7107::1", True),
        ("2001:0:a9fe:a9fe::1", False),
        ("2001:db8::7", True),
        ("fd00:ec2::254", False),
        ("fd20:ce::254", False),
        ("192.0.0.192", False),
        ("100.100.100.200", False),
        ("0.0.0.0", False),  # noqa: S104 - refused
        ("224.0.0.1", False),
    ],
)
def test_allowed(address: str, fine: bool) -> None:
    """A vendor may be anywhere, even in the private network, but not at a forbidden address."""
    assert fine == allowed(address)
