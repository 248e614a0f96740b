"""The audit log in the operator API and as a page."""

from __future__ import annotations

import httpx2
import pytest

from tests.server.operator.calls import at


def test_audit_in_pages(operator: httpx2.Client, room: str) -> None:
    """The log is read backwards, page by page."""
    for capacity in (5, 6, 7):
        operator.patch(at(room), json={"policy": {"capacity": capacity}}).raise_for_status()
    params = {"room": room, "limit": "2"}
    first = operator.get("/v1/admin/audit", params=params).json()
    then = operator.get("/v1/admin/audit", params={**params, "before": first["before"]}).json()
    new = [
        entry["detail"]["changed"]["capacity"]["new"]
        for entry in first["entries"] + then["entries"]
        if entry["action"] == "room.change"
    ]
    assert ([7, 6, 5], None) == (new, then["before"])
    assert 422 == operator.get("/v1/admin/audit", params={"before": "x"}).status_code


@pytest.mark.attack
def test_sign_ins_are_kept_apart(operator: httpx2.Client, page: httpx2.Client, room: str) -> None:
    """Sign-ins have their own log, also on the page, where they push nothing out."""
    operator.patch(at(room), json={"policy": {"capacity": 9}}).raise_for_status()
    actions = operator.get("/v1/admin/audit").json()["entries"]
    assert "sign_in" not in {entry["action"] for entry in actions}
    signed_in = operator.get("/v1/admin/audit", params={"log": "sign_ins"}).json()["entries"]
    assert {"sign_in"} == {entry["action"] for entry in signed_in}
    assert "Signed in" not in page.get("/admin/audit").text
    assert "Signed in" in page.get("/admin/audit?log=sign_ins").text
    assert 422 == operator.get("/v1/admin/audit", params={"log": "x"}).status_code
