"""What the holder of an API key may do."""

from __future__ import annotations

from enum import StrEnum


class Role(StrEnum):
    """What a key may do; each includes the ones before it."""

    VIEWER = "viewer"
    OPERATOR = "operator"
    ADMIN = "admin"

    def allows(self, needed: Role) -> bool:
        """Return whether this role includes `needed`."""
        order = tuple(Role)
        return order.index(self) >= order.index(needed)
