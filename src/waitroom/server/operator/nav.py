"""The main navigation of the operator page: where each role may go."""

from __future__ import annotations

from dataclasses import dataclass

from waitroom.credentials.roles import Role


@dataclass(frozen=True, slots=True)
class Link:
    """One entry: its address, the key of its text, and the role that it needs."""

    path: str
    key: str
    role: Role = Role.VIEWER

    def is_here(self, path: str) -> bool:
        """Return whether a page belongs to this entry."""
        if self.path == "/admin":
            return path == self.path or path.startswith("/admin/rooms")
        return path == self.path or path.startswith(self.path + "/")


LINKS = (
    Link("/admin", "rooms"),
    Link("/admin/audit", "audit"),
    Link("/admin/keys", "keys", Role.ADMIN),
    Link("/admin/webhooks", "nav_webhooks", Role.ADMIN),
)


def links(role: Role) -> list[Link]:
    """Return the entries that this role may follow."""
    return [link for link in LINKS if role.allows(link.role)]
