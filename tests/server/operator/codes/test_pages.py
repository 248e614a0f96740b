"""Entry codes on the operator page: made as a file, counted, revoked after a question."""

from __future__ import annotations

import csv
import io
import re
import secrets

import httpx2
import pytest

from tests.server.operator.forms import token_of
from tests.support.serving import Serving


@pytest.fixture
def invited(operator: httpx2.Client) -> str:
    """Return a room for invited people."""
    room = f"c-{secrets.token_hex(6)}"
    body = {"name": room, "policy": {"needs": "code", "mode": "paused"}}
    operator.post("/v1/admin/rooms", json=body).raise_for_status()
    return room


def form_of(page: httpx2.Client, room: str, **fields: str) -> dict[str, str]:
    """Return the form that makes codes, filled in."""
    text = page.get(f"/admin/rooms/{room}/codes").text
    op_id = re.search(r'name="op_id" value="(\w+)"', text)
    assert op_id is not None
    return {"token": token_of(text), "op_id": op_id[1], **fields}


def codes_in(answer: httpx2.Response) -> list[str]:
    """Return the codes of a file."""
    return [row["code"] for row in csv.DictReader(io.StringIO(answer.text))]


def test_a_file(page: httpx2.Client, operator: httpx2.Client, invited: str) -> None:
    """The answer to the form is the file, which a repeat of the form gets again."""
    path = f"/admin/rooms/{invited}/codes"
    form = form_of(page, invited, count="1201", uses="2", note="팬클럽")
    first, again = page.post(path, data=form), page.post(path, data=form)
    batch = codes_in(first)[0][:4]
    assert (200, "no-store", f'attachment; filename="{invited}-{batch}.csv"') == (
        first.status_code,
        first.headers["cache-control"],
        first.headers["content-disposition"],
    )
    assert first.headers["content-type"].startswith("text/csv")
    assert (1201, codes_in(first)) == (len(set(codes_in(first))), codes_in(again))
    body, key = {"code": codes_in(first)[7]}, {"Idempotency-Key": secrets.token_hex(16)}
    operator.post(f"/v1/rooms/{invited}/tickets", json=body, headers=key).raise_for_status()
    listed = page.get(path).text
    assert "2,402" in listed  # places of all codes
    assert re.search(r"<dt>Used</dt><dd>1</dd>", listed)
    assert "팬클럽" in listed
    assert not any(code in listed for code in codes_in(first))
    assert f"Created 1,201 entry codes, batch {batch}" in page.get("/admin/audit").text


def test_revoke(page: httpx2.Client, operator: httpx2.Client, invited: str) -> None:
    """A revocation asks first, is in the log, and cannot be asked for twice."""
    path = f"/admin/rooms/{invited}/codes"
    answer = page.post(path, data=form_of(page, invited, count="3"))
    batch = codes_in(answer)[0][:4]
    question = page.get(f"{path}/{batch}/revoke")
    assert "Nobody can join with these codes any more" in question.text
    assert None is operator.get(f"/v1{path}").json()["batches"][0]["revoked_ms"]
    done = page.post(f"{path}/{batch}/revoke", data={"token": token_of(question.text)})
    assert (303, path) == (done.status_code, done.headers["location"])
    assert operator.get(f"/v1{path}").json()["batches"][0]["revoked_ms"]
    assert f"{batch}/revoke" not in page.get(path).text
    assert f"Revoked entry codes, batch {batch}" in page.get("/admin/audit").text
    assert 404 == page.get(f"{path}/UUUU/revoke").status_code


@pytest.mark.parametrize(
    ("field", "text"),
    [("count", "0"), ("count", "many"), ("count", "100001"), ("uses", "0"), ("note", "x" * 101)],
)
def test_wrong_numbers(page: httpx2.Client, invited: str, field: str, text: str) -> None:
    """What cannot be is said at the form, which keeps what was typed."""
    form = form_of(page, invited, **({"count": "5", "uses": "1", "note": ""} | {field: text}))
    answer = page.post(f"/admin/rooms/{invited}/codes", data=form)
    assert 422 == answer.status_code
    assert "Give 1 to 100,000 codes" in answer.text
    assert f'value="{text}"' in answer.text


def test_viewers(served: Serving, operator: httpx2.Client, invited: str) -> None:
    """A viewer sees the page without its forms, and cannot send them."""
    key = operator.post("/v1/admin/keys", json={"name": "viewer"}).json()["key"]
    path = f"/admin/rooms/{invited}/codes"
    with httpx2.Client(base_url=served.base, timeout=60) as viewer:
        viewer.post("/admin/sign-in", data={"key": key})
        assert 'name="count"' not in viewer.get(path).text
        assert 403 == viewer.post(path, data={"count": "1"}).status_code


def test_korean(page: httpx2.Client, invited: str) -> None:
    """The page is there in Korean, and the room's page leads to it."""
    assert (
        f'href="/admin/rooms/{invited}/codes">Entry codes'
        in page.get(f"/admin/rooms/{invited}").text
    )
    assert "입장 코드" in page.get(f"/admin/rooms/{invited}/codes?lang=ko").text
