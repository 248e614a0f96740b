"""People whom a proxy names in a header, after it has signed them in itself (oauth2-proxy etc.).

The header counts only from a listed network, as the direct peer, and together with a secret that
the proxy and this server share. Otherwise it is ignored.
"""

from __future__ import annotations

import hmac
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from ipaddress import ip_network

from waitroom.credentials.roles import Role
from waitroom.errors import InvalidInput
from waitroom.settings import Settings
from waitroom.web.addresses import Networks

SECRET_HEADER = "x-waitroom-proxy-secret"  # noqa: S105 - the name of a header
SHORTEST_SECRET = 24
NOBODY = "none"
"""In place of a role: this name is refused, whatever its domain and groups may do."""

_LONGEST_GROUPS = 8_192
_HEADER = re.compile(r"[A-Za-z0-9-]{1,64}", re.ASCII)
_SECRET = re.compile(r"[\x21-\x7e]{24,256}", re.ASCII)
# No comma, blank or `*`: a proxy that joins two headers does not make a name.
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._%+@|#\\/:~=-]{0,199}", re.ASCII)
_DOMAIN = re.compile(r"\*@([A-Za-z0-9.-]{1,190})", re.ASCII)
_GROUP = "group:"
_TAKEN = {SECRET_HEADER, "x-forwarded-for", "authorization", "cookie", "host", "origin"}
_FIELDS = ("user_header", "user_peers", "user_secret", "user_roles")
_OTHERS = ("user_groups_header", "user_sign_out_url")


class NotBelieved(Exception):
    """A header names somebody, but comes from a sender whom we do not trust; the text says why."""


@dataclass(frozen=True, slots=True)
class User:
    """Somebody named by a proxy; without a role they may do nothing."""

    name: str
    role: Role | None

    @property
    def id(self) -> str:
        """Their id in the audit log; no API key has such an id."""
        return f"user:{self.name}"


@dataclass(frozen=True, slots=True)
class UserRoles:
    """Who may do what: by name, by the domain of an email address, or by group."""

    names: dict[str, Role | None] = field(default_factory=dict)
    domains: dict[str, Role | None] = field(default_factory=dict)
    groups: dict[str, Role | None] = field(default_factory=dict)

    @classmethod
    def of_text(cls, text: str) -> UserRoles:
        """Read `alice@example.com=admin,*@example.com=viewer,group:ops=operator`."""
        roles = cls()
        for rule in filter(None, (part.strip() for part in text.split(","))):
            who, _, word = rule.rpartition("=")
            role = _role(rule, word.strip())
            roles._add(rule, who.strip(), role)
        if not (roles.names or roles.domains or roles.groups):
            raise InvalidInput("user_roles", "names nobody; write it like alice@example.com=admin")
        return roles

    def role_of(self, name: str, groups: Iterable[str] = ()) -> Role | None:
        """Return what somebody may do: a listed name decides alone; else the highest role counts.

        Upper and lower case differ, because for some sign-in services they are two people.
        """
        if name in self.names:
            return self.names[name]
        local, _, domain = name.partition("@")
        roles = [self.groups.get(group) for group in groups]
        if local and "@" not in domain:
            roles.append(self.domains.get(domain))
        order = tuple(Role)
        return max(filter(None, roles), key=order.index, default=None)

    @property
    def name_an_admin(self) -> bool:
        """Whether somebody could be an admin."""
        rules = (self.names, self.domains, self.groups)
        return any(role is Role.ADMIN for rule in rules for role in rule.values())

    def _add(self, rule: str, who: str, role: Role | None) -> None:
        if who.startswith(_GROUP) and who != _GROUP:
            self.groups[who.removeprefix(_GROUP)] = role
        elif domain := _DOMAIN.fullmatch(who):
            self.domains[domain[1]] = role
        elif _NAME.fullmatch(who) and not who.startswith(_GROUP):
            self.names[who] = role
        else:
            raise InvalidInput(
                "user_roles",
                f"{rule!r:.80} names nobody; write alice@example.com=admin, *@example.com=viewer "
                "or group:ops=operator",
            )


@dataclass(frozen=True, slots=True)
class NamedUsers:
    """The proxies that may name somebody, and what those people may do."""

    header: bytes
    groups_header: bytes | None
    peers: Networks
    secret: bytes = field(repr=False)
    roles: UserRoles

    @classmethod
    def of_settings(cls, settings: Settings) -> NamedUsers | None:
        """Return the proxies; None if the settings have none, an error if they are incomplete."""
        if not any(getattr(settings, name) for name in (*_FIELDS, *_OTHERS)):
            return None
        given = {name: getattr(settings, name) or "" for name in (*_FIELDS, *_OTHERS)}
        for name in _FIELDS:
            if not given[name]:
                raise InvalidInput(name, f"must be set too; named users need {', '.join(_FIELDS)}")
        if not _SECRET.fullmatch(given["user_secret"]):
            raise InvalidInput(
                "user_secret",
                f"takes {SHORTEST_SECRET} to 256 visible characters; make one with "
                "`openssl rand -hex 32`",
            )
        roles = UserRoles.of_text(given["user_roles"])
        groups_header = given["user_groups_header"]
        if bool(groups_header) != bool(roles.groups):
            raise InvalidInput(
                "user_groups_header", "goes together with a rule like group:ops=operator"
            )
        _check_sign_out(given["user_sign_out_url"])
        return cls(
            header=_header("user_header", given["user_header"]),
            groups_header=_header("user_groups_header", groups_header) if groups_header else None,
            peers=_peers(given["user_peers"]),
            secret=given["user_secret"].encode(),
            roles=roles,
        )

    def read(self, peer: str, headers: Iterable[tuple[bytes, bytes]]) -> User | None:
        """Return the person named in a request's headers, or None; `peer` is the connected address.

        A name from a sender whom we do not trust is an error: for the log, not for the caller.
        """
        wanted = (self.header, self.groups_header, SECRET_HEADER.encode())
        values: dict[bytes, list[bytes]] = {header: [] for header in wanted if header}
        for header, value in headers:
            if header in values:
                values[header].append(value)
        if not values[self.header]:
            return None
        if peer not in self.peers:
            raise NotBelieved("its peer is not listed in user_peers")
        secrets = values[SECRET_HEADER.encode()]
        if len(secrets) != 1 or not hmac.compare_digest(secrets[0], self.secret):
            raise NotBelieved("it came without the right user_secret")
        name = _single(values[self.header])
        if not _NAME.fullmatch(name):
            raise NotBelieved("it is not one name of usual characters")
        return User(name, self.roles.role_of(name, self._groups(values)))

    def _groups(self, values: dict[bytes, list[bytes]]) -> list[str]:
        if self.groups_header is None or not values[self.groups_header]:
            return []
        text = _single(values[self.groups_header])
        if len(text) > _LONGEST_GROUPS:
            raise NotBelieved("its groups are too long")
        return [group.strip() for group in text.split(",")]


def _single(values: list[bytes]) -> str:
    if len(values) != 1:
        raise NotBelieved("it was sent twice")
    return values[0].decode("utf-8", "replace").strip(" \t")


def _role(rule: str, word: str) -> Role | None:
    if word == NOBODY:
        return None
    try:
        return Role(word)
    except ValueError:
        known = ", ".join((*Role, NOBODY))
        raise InvalidInput("user_roles", f"{rule!r:.80} ends in none of {known}") from None


def _header(name: str, text: str) -> bytes:
    if not _HEADER.fullmatch(text) or text.lower() in _TAKEN:
        raise InvalidInput(name, f"{text!r:.80} cannot name users; use X-Auth-Request-Email")
    return text.lower().encode()


def _peers(text: str) -> Networks:
    networks = text.replace(",", " ").split()
    peers = Networks(networks, "user_peers")
    if any(ip_network(network, strict=False).prefixlen == 0 for network in networks):
        raise InvalidInput("user_peers", "lists everybody; name the addresses of your proxies")
    return peers


def _check_sign_out(text: str) -> None:
    is_path = text.startswith("/") and not text.startswith("//")
    if text and not is_path and not text.startswith(("https://", "http://")):
        raise InvalidInput("user_sign_out_url", "must be a path like /oauth2/sign_out, or a URL")
