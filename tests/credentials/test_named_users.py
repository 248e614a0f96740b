"""Users named by a proxy: which settings are complete, whom headers name, and who is trusted."""

from __future__ import annotations

import pytest

from waitroom.credentials.named_users import NamedUsers, NotBelieved, User, UserRoles
from waitroom.credentials.roles import Role
from waitroom.errors import InvalidInput
from waitroom.settings import Settings, load

SECRET = "s3cret-" * 5
GIVEN = {
    "user_header": "X-Auth-Request-Email",
    "user_peers": "127.0.0.1, ::1",
    "user_secret": SECRET,
    "user_roles": "alice@example.com=admin,*@example.com=viewer, group:ops=operator,bob@x.org=none",
    "user_groups_header": "X-Auth-Request-Groups",
}
USERS = NamedUsers.of_settings(load({}, GIVEN))


def headers(
    *names: str, secret: str | None = SECRET, groups: tuple[str, ...] = ()
) -> list[tuple[bytes, bytes]]:
    """Return the headers of a request as ASGI has them."""
    found = [(b"x-auth-request-email", name.encode()) for name in names]
    found += [(b"x-auth-request-groups", group.encode()) for group in groups]
    return found + ([] if secret is None else [(b"x-waitroom-proxy-secret", secret.encode())])


def test_nothing_is_named_by_default() -> None:
    """Without settings no header counts."""
    assert NamedUsers.of_settings(Settings()) is None


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"user_header": None}, "user_header"),
        ({"user_peers": None}, "user_peers"),
        ({"user_secret": None}, "user_secret"),
        ({"user_roles": None}, "user_roles"),
        ({"user_header": "X Auth"}, "user_header"),
        ({"user_header": "Cookie"}, "user_header"),
        ({"user_header": "X-Waitroom-Proxy-Secret"}, "user_header"),
        ({"user_peers": "proxy.internal"}, "user_peers"),
        ({"user_peers": "10.0.0.1,0.0.0.0/0"}, "user_peers"),
        ({"user_secret": "short"}, "user_secret"),
        ({"user_secret": "with a blank in the middle of it"}, "user_secret"),
        ({"user_roles": "alice@example.com"}, "user_roles"),
        ({"user_roles": "alice@example.com=god"}, "user_roles"),
        ({"user_roles": "*=admin"}, "user_roles"),
        ({"user_roles": "group:=admin"}, "user_roles"),
        ({"user_roles": " , "}, "user_roles"),
        ({"user_groups_header": None}, "user_groups_header"),
        ({"user_roles": "a=admin"}, "user_groups_header"),
        ({"user_sign_out_url": "javascript:alert(1)"}, "user_sign_out_url"),
        ({"user_sign_out_url": "//evil.example"}, "user_sign_out_url"),
    ],
)
def test_settings_that_are_not_complete(change: dict[str, str | None], field: str) -> None:
    """Missing or wrong settings are named, and no message contains the secret."""
    with pytest.raises(InvalidInput) as error:
        NamedUsers.of_settings(load({}, {**GIVEN, **change}))
    assert (field, False) == (error.value.field, SECRET in str(error.value))


@pytest.mark.parametrize(
    ("name", "groups", "role"),
    [
        ("alice@example.com", (), Role.ADMIN),
        ("carol@example.com", (), Role.VIEWER),
        ("carol@example.com", ("staff", "ops"), Role.OPERATOR),
        ("carol@other.org", ("ops",), Role.OPERATOR),
        ("carol@other.org", ("operations",), None),
        ("carol@other.org", (), None),
        ("bob@x.org", ("ops",), None),
        ("Alice@example.com", (), Role.VIEWER),
        ("alice@example.com.evil.org", (), None),
        ("eve@evil.org@example.com", (), None),
        ("@example.com", (), None),
        ("ops", (), None),
        ("group:ops", (), None),
    ],
)
def test_roles(name: str, groups: tuple[str, ...], role: Role | None) -> None:
    """A listed name decides alone; else the highest of domain and groups; else nothing."""
    roles = UserRoles.of_text(GIVEN["user_roles"])
    assert role == roles.role_of(name, groups)


def test_whom_headers_name() -> None:
    """The name and role from one good header; nobody without it."""
    assert USERS is not None
    assert USERS.read("127.0.0.1", headers()) is None
    user = USERS.read("::1", headers("alice@example.com"))
    assert User("alice@example.com", Role.ADMIN) == user
    assert "user:alice@example.com" == user.id
    shown = USERS.read("127.0.0.1", headers("x@y.org", groups=("staff, ops",)))
    assert User("x@y.org", Role.OPERATOR) == shown
    assert SECRET not in repr(USERS)


ALICE = "alice@example.com"


@pytest.mark.attack(15)
@pytest.mark.parametrize(
    ("peer", "sent"),
    [
        ("127.0.0.2", headers(ALICE)),
        ("", headers(ALICE)),
        ("127.0.0.1", headers(ALICE, secret=None)),
        ("127.0.0.1", headers(ALICE, secret="")),
        ("127.0.0.1", headers(ALICE, secret=SECRET + "x")),
        ("127.0.0.1", [*headers(ALICE), *headers(secret="other")]),
        ("127.0.0.1", headers("carol@example.com", ALICE)),
        ("127.0.0.1", headers(f"carol@example.com,{ALICE}")),
        ("127.0.0.1", headers(f"carol@example.com {ALICE}")),
        ("127.0.0.1", headers("")),
        ("127.0.0.1", headers("a" * 201)),
        ("127.0.0.1", headers("al\u0131ce@example.com")),
        ("127.0.0.1", headers("*@example.com")),
        ("127.0.0.1", headers("carol@other.org", groups=("staff", "ops"))),
        ("127.0.0.1", headers("carol@other.org", groups=("ops," * 3_000,))),
    ],
)
def test_who_is_not_believed(peer: str, sent: list[tuple[bytes, bytes]]) -> None:
    """Another peer, a missing or wrong secret, two values, and odd names count for nothing."""
    assert USERS is not None
    with pytest.raises(NotBelieved) as reason:
        USERS.read(peer, sent)
    assert SECRET not in str(reason.value)
