"""API keys in the operator API."""

from __future__ import annotations

import httpx2


def test_keys(operator: httpx2.Client) -> None:
    """A key is shown once; lists and the log never contain it."""
    made = operator.post("/v1/admin/keys", json={"name": "박스 오피스", "role": "operator"}).json()
    secret = made["key"].split("_", 2)[2]
    keys = operator.get("/v1/admin/keys")
    assert made["id"] in [key["id"] for key in keys.json()["keys"]]
    for text in (keys.text, operator.get("/v1/admin/audit").text):
        assert secret not in text
    assert 204 == operator.delete(f"/v1/admin/keys/{made['id']}").status_code
    gone = operator.delete(f"/v1/admin/keys/{made['id']}")
    assert (404, "unknown_key") == (gone.status_code, gone.json()["code"])
    for body in ({"name": ""}, {"name": "a", "role": "boss"}, {"name": "a\nb"}, {}):
        assert 422 == operator.post("/v1/admin/keys", json=body).status_code
