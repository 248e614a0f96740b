"""API keys: what a role may do, what strangers are told, and who is slowed down."""

from __future__ import annotations

import json
import os
import secrets
import signal
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest

from tests.support.servers import wait_for
from tests.support.serving import ADMIN_KEY, SOON_AWAY, Serving, serving
from waitroom.credentials.roles import Role

READS = [
    "/v1/admin/rooms",
    "/v1/admin/rooms/{room}",
    "/v1/admin/rooms/{room}/tickets",
    "/v1/admin/rooms/{room}/stats",
    "/v1/admin/rooms/{room}/series",
    "/v1/admin/audit",
]
CHANGES = [
    ("PATCH", "/v1/admin/rooms/{room}", {"policy": {"capacity": 5}}),
    ("POST", "/v1/admin/rooms/{room}/admit", {"count": 1}),
    ("POST", "/v1/admin/rooms/{room}/call", {"ticket_id": "x" * 16}),
    ("POST", "/v1/admin/rooms/{room}/kick", {"ticket_ids": ["x" * 16]}),
]
ADMINS = [
    ("POST", "/v1/admin/rooms/{room}/clear", {"confirm": "{room}"}),
    ("POST", "/v1/admin/rooms", {"name": "{room}"}),
    ("GET", "/v1/admin/keys", None),
    ("POST", "/v1/admin/keys", {"name": "a"}),
    ("DELETE", "/v1/admin/keys/nobody", None),
    ("DELETE", "/v1/admin/rooms/{room}", None),
]


def key_of(operator: httpx2.Client, role: str) -> dict[str, str]:
    """Make a key and return the header that sends it."""
    made = operator.post("/v1/admin/keys", json={"name": f"a {role}", "role": role})
    assert 201 == made.status_code, made.text
    return {"authorization": f"Bearer {made.json()['key']}"}


@pytest.mark.attack
@pytest.mark.parametrize("role", list(Role))
def test_roles(http: httpx2.Client, operator: httpx2.Client, room: str, role: Role) -> None:
    """A viewer reads, an operator changes, an admin does the rest; each includes the one below."""
    shown = key_of(operator, role)
    for path in READS:
        assert 200 == http.get(path.format(room=room), headers=shown).status_code
    for needed, calls in ((Role.OPERATOR, CHANGES), (Role.ADMIN, ADMINS)):
        for method, path, body in calls:
            answer = http.request(method, path.format(room=room), json=body, headers=shown)
            if role.allows(needed):
                assert answer.status_code not in (401, 403), answer.text
            else:
                error = answer.json()
                assert (403, "forbidden") == (answer.status_code, error["code"]), path
                assert f"needs a key of the role {needed}" in error["detail"]


@pytest.fixture
def stranger(http: httpx2.Client) -> Iterator[httpx2.Client]:
    """Use a separate address: one that showed bad keys stays limited for a while."""
    address = "127." + ".".join(str(secrets.randbelow(250) + 2) for _ in range(3))
    transport = httpx2.HTTPTransport(local_address=address)
    with httpx2.Client(base_url=http.base_url, transport=transport) as client:
        yield client


@pytest.mark.attack
@pytest.mark.parametrize(
    "header", [None, "", "Bearer", "Basic YTpi", "wr_x", "Bearer wr_x", "bearer \xe4"]
)
def test_strangers(stranger: httpx2.Client, header: str | None) -> None:
    """Without a good key the answer is 401, says how to send one, and is a problem document."""
    headers = [] if header is None else [(b"authorization", header.encode("latin-1"))]
    answer = stranger.get("/v1/admin/rooms", headers=headers)
    assert 401 == answer.status_code
    assert 'Bearer realm="waitroom"' == answer.headers["www-authenticate"]
    assert ("application/problem+json", "unauthorized") == (
        answer.headers["content-type"],
        answer.json()["code"],
    )


@pytest.mark.attack
def test_every_operator_route_needs_a_key(http: httpx2.Client) -> None:
    """No path under /v1/admin answers a stranger, whatever the method or the body."""
    paths = http.get("/openapi.json").json()["paths"]
    ours = {path: methods for path, methods in paths.items() if path.startswith("/v1/admin")}
    assert 12 <= len(ours)
    for path, methods in ours.items():
        for method, operation in methods.items():
            answer = http.request(method, path.replace("{room}", "x").replace("{key_id}", "x"))
            assert 401 == answer.status_code, f"{method} {path}"
            assert operation["security"], f"{method} {path}"
            assert {"401", "403", "429", "503"} <= set(operation["responses"])


@pytest.mark.attack
def test_a_revoked_key_ends(stranger: httpx2.Client, operator: httpx2.Client) -> None:
    """A revoked key is refused soon after."""
    shown = key_of(operator, "viewer")
    assert 200 == stranger.get("/v1/admin/rooms", headers=shown).status_code
    key_id = shown["authorization"].split("_")[1]
    assert 204 == operator.delete(f"/v1/admin/keys/{key_id}").status_code
    wait_for(
        lambda: stranger.get("/v1/admin/audit", headers=shown).status_code == 401, "its refusal"
    )


@pytest.fixture(scope="module")
def limited(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    """Run a separate server, because an address that misbehaves stays limited for a while."""
    folder = tmp_path_factory.mktemp("limited")
    with serving(folder, proxies="127.0.0.1", secret="s" * 44) as server:
        yield server


@pytest.mark.attack
def test_bad_keys_are_limited_by_address(limited: Serving, operator: httpx2.Client) -> None:
    """After ten bad keys an address must wait; a good key from it, and others, need not."""
    good = {"authorization": operator.headers["authorization"], "x-forwarded-for": "192.0.2.1"}
    bad = {"authorization": "Bearer wr_0123456789_" + "x" * 43}
    with httpx2.Client(base_url=limited.base) as http:

        def ask(headers: dict[str, str], address: str = "192.0.2.1") -> httpx2.Response:
            return http.get("/v1/admin/rooms", headers={**headers, "x-forwarded-for": address})

        assert [401] * 10 == [ask(bad).status_code for _ in range(10)]
        answer = ask(bad)
        assert (429, "too_many_requests") == (answer.status_code, answer.json()["code"])
        assert 1 <= int(answer.headers["retry-after"]) <= 60
        assert 200 == ask(good).status_code
        assert 401 == ask(bad, "192.0.2.2").status_code


@pytest.mark.attack
def test_bad_keys_are_limited_by_network(limited: Serving) -> None:
    """Using another address of the same /64 for every guess does not give more guesses."""
    headers = {"authorization": "Bearer wr_0123456789_" + "x" * 43}
    with httpx2.Client(base_url=limited.base) as http:

        def guess(address: str) -> int:
            asked = {**headers, "x-forwarded-for": address}
            return http.get("/v1/admin/rooms", headers=asked).status_code

        guesses = [guess(f"2001:db8::{number:x}") for number in range(20)]
        assert [401] * 10 + [429] * 10 == guesses
        assert 401 == guess("2001:db8:0:1::1")


def test_while_redis_is_away(tmp_path: Path) -> None:
    """A hung backend is reported at once: the API and the page answer 503, and the page retries."""
    with (
        serving(tmp_path, secret="s" * 44, **SOON_AWAY) as server,
        httpx2.Client(base_url=server.base, timeout=20) as http,
    ):
        assert 303 == http.post("/admin/sign-in", data={"key": ADMIN_KEY}).status_code
        shown = {"authorization": f"Bearer {ADMIN_KEY}"}
        backend_pid = json.loads((server.data_dir / "server.json").read_text())["server_pid"]
        os.kill(backend_pid, signal.SIGSTOP)
        try:
            for path in ("/v1/admin/rooms", "/v1/admin/rooms/x", "/v1/admin/audit", "/admin"):
                answer = http.get(path, headers=shown)
                assert 503 == answer.status_code, path
            assert "Redis does not answer" in answer.text
            assert 'http-equiv="refresh"' in answer.text
        finally:
            os.kill(backend_pid, signal.SIGCONT)
