"""Roles include each other."""

from __future__ import annotations

from waitroom.credentials.roles import Role


def test_roles_include_each_other() -> None:
    """An admin may do what an operator may, and an operator what a viewer may."""
    allowed = {(role, other) for role in Role for other in Role if role.allows(other)}
    assert 6 == len(allowed)
    assert (Role.ADMIN, Role.VIEWER) in allowed
    assert (Role.VIEWER, Role.OPERATOR) not in allowed
