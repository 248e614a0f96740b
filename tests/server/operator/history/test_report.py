"""The report on the operator page: a form, the report itself, and its files."""

from __future__ import annotations

import io
import zipfile

import httpx2
import pytest

from tests.support.serving import Serving
from waitroom.report.tables import TABLES

TIMES = {"since": "2030-01-01T10:00", "until": "2030-01-01T12:00"}


def span(page: httpx2.Client, room: str) -> dict[str, str]:
    """Return the times that the form suggests."""
    text = page.get(f"/admin/rooms/{room}/report").text
    return {
        name: text.partition(f'name="{name}"')[2].partition('value="')[2].partition('"')[0]
        for name in ("since", "until")
    }


def test_the_form(page: httpx2.Client, room: str) -> None:
    """It suggests the last day, and explains what an archive is good for if there is none."""
    shown = page.get(f"/admin/rooms/{room}/report").text
    assert "<code>archive</code>" in shown
    assert "Times are in UTC" in shown
    assert f"/admin/rooms/{room}/report" in page.get(f"/admin/rooms/{room}").text
    assert "판매 후 보고서" in page.get(f"/admin/rooms/{room}/report?lang=ko").text


def test_the_report(page: httpx2.Client, room: str) -> None:
    """It is a page without scripts that is not cached, and says that it is incomplete."""
    answer = page.get(f"/admin/rooms/{room}/report/show", params=span(page, room))
    assert 200 == answer.status_code, answer.text
    assert "Incomplete" in answer.text
    assert "no-store" == answer.headers["cache-control"]
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'; style-src 'sha256-" in policy
    assert "<script" not in answer.text


def test_files(page: httpx2.Client, room: str) -> None:
    """HTML and CSV are downloaded under the room's name."""
    times = span(page, room)
    answer = page.get(f"/admin/rooms/{room}/report/html", params=times)
    assert f'attachment; filename="{room}-report.html"' == answer.headers["content-disposition"]
    answer = page.get(f"/admin/rooms/{room}/report/csv", params=times)
    with zipfile.ZipFile(io.BytesIO(answer.content)) as files:
        assert {f"{room}/{name}.csv" for name in TABLES} == set(files.namelist())


@pytest.mark.parametrize("kind", ["show", "html", "csv"])
@pytest.mark.parametrize(
    "times",
    [{}, {"since": "soon", "until": "now"}, TIMES, {"since": "2020-01-01", "until": "2020-01-02"}],
)
def test_other_times(page: httpx2.Client, room: str, kind: str, times: dict[str, str]) -> None:
    """Invalid times, or times about which nothing is known, are refused on a page."""
    answer = page.get(f"/admin/rooms/{room}/report/{kind}", params=times)
    assert 422 == answer.status_code
    assert "<!doctype html>" in answer.text


def test_who_may_see_it(served: Serving, operator: httpx2.Client, room: str) -> None:
    """A viewer may; anybody not signed in is redirected to the sign-in."""
    made = operator.post("/v1/admin/keys", json={"name": "v", "role": "viewer"}).json()
    with httpx2.Client(base_url=served.base, timeout=60) as client:
        assert 303 == client.get(f"/admin/rooms/{room}/report/show").status_code
        client.post("/admin/sign-in", data={"key": made["key"]})
        assert 200 == client.get(f"/admin/rooms/{room}/report").status_code
        assert 404 == client.get("/admin/rooms/nowhere/report").status_code
