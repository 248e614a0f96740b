"""Entry codes by the operator API."""

from __future__ import annotations

import secrets

import httpx2
import pytest

from tests.support.serving import Serving


@pytest.fixture
def codes(operator: httpx2.Client) -> str:
    """Return the path of the codes of a new room."""
    room = f"c-{secrets.token_hex(6)}"
    operator.post("/v1/admin/rooms", json={"name": room}).raise_for_status()
    return f"/v1/admin/rooms/{room}/codes"


def test_codes(operator: httpx2.Client, codes: str) -> None:
    """Codes are shown once; lists and the log never hold them."""
    wish = {"count": 600, "uses": 2, "note": "팬클럽"}
    made = operator.post(codes, json=wish)
    body = made.json()
    assert (201, 600, "no-store") == (
        made.status_code,
        len(set(body["codes"])),
        made.headers["cache-control"],
    )
    listed = operator.get(codes).json()["batches"]
    assert [{name: body[name] for name in body if name != "codes"}] == listed
    assert (600, 2, "팬클럽", 0, None) == tuple(
        listed[0][name] for name in ("count", "uses", "note", "used", "revoked_ms")
    )
    log = operator.get("/v1/admin/audit").text
    assert "code.create" in log
    assert not any(code in log for code in body["codes"])


def test_repeat(operator: httpx2.Client, codes: str) -> None:
    """The same Idempotency-Key gets the same codes, and one batch."""
    key = {"Idempotency-Key": secrets.token_hex(8)}
    first, again = (operator.post(codes, json={"count": 2}, headers=key).json() for _ in range(2))
    assert first == again
    assert 1 == len(operator.get(codes).json()["batches"])


def test_revoke(operator: httpx2.Client, codes: str) -> None:
    """A batch is revoked for good; an unknown one only by force."""
    batch = operator.post(codes, json={"count": 1}).json()["batch"]
    revoked = operator.delete(f"{codes}/{batch}").json()
    assert revoked["revoked_ms"]
    assert revoked == operator.delete(f"{codes}/{batch}").json()
    other = "0000" if batch != "0000" else "0001"
    unknown = operator.delete(f"{codes}/{other}")
    assert (404, "unknown_batch") == (unknown.status_code, unknown.json()["code"])
    assert 200 == operator.delete(f"{codes}/{other}?force=true").status_code
    assert 422 == operator.delete(f"{codes}/UUUU").status_code


@pytest.mark.parametrize(
    "wish", [{}, {"count": 0}, {"count": 100_001}, {"count": 1, "uses": 0}, {"count": "1"}]
)
def test_bad_input(operator: httpx2.Client, codes: str, wish: dict[str, object]) -> None:
    """Numbers out of range are refused, and nothing is made."""
    assert 422 == operator.post(codes, json=wish).status_code
    assert [] == operator.get(codes).json()["batches"]


def test_roles(served: Serving, operator: httpx2.Client, codes: str) -> None:
    """A viewer sees the batches, and can neither make nor revoke them."""
    key = operator.post("/v1/admin/keys", json={"name": "viewer"}).json()["key"]
    headers = {"Authorization": f"Bearer {key}"}
    with httpx2.Client(base_url=served.base, headers=headers, timeout=60) as viewer:
        assert 200 == viewer.get(codes).status_code
        assert 403 == viewer.post(codes, json={"count": 1}).status_code
        assert 403 == viewer.delete(f"{codes}/K7Q2").status_code
