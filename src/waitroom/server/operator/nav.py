"""The main navigation of the operator page: where somebody of a role may go."""

from __future__ import annotations

from dataclasses import dataclass

from fastapi import Request
from starlette.routing import Match

from waitroom.credentials.roles import Role


@dataclass(frozen=True, slots=True)
class Link:
    """One entry: its address, the key of its words, and the role that it needs."""

    path: str
    key: str
    role: Role = Role.VIEWER

    def is_here(self, path: str) -> bool:
        """Tell whether a page belongs to this entry."""
        if self.path == "/admin":
            return path == self.path or path.startswith("/admin/rooms")
        return path == self.path or path.startswith(self.path + "/")


LINKS = (
    Link("/admin", "rooms"),
    Link("/admin/audit", "audit"),
    Link("/admin/keys", "keys", Role.ADMIN),
    Link("/admin/webhooks", "nav_webhooks", Role.ADMIN),
)
FIND = "/admin/find"


def links(request: Request, role: Role) -> list[Link]:
    """Return the entries that this server has and that this role may follow."""
    return [link for link in LINKS if role.allows(link.role) and _exists(request, link.path)]


def can_find(request: Request) -> bool:
    """Tell whether this server can look for a person in all rooms."""
    return _exists(request, FIND)


def _exists(request: Request, path: str) -> bool:
    scope = {**request.scope, "method": "GET", "path": path}
    return any(route.matches(scope)[0] is Match.FULL for route in request.app.routes)
