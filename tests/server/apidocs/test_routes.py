"""`/docs` is complete, needs no script, and matches what is served; so does docs/http.md."""

from __future__ import annotations

import base64
import hashlib
import re
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.test_docs import every_error
from waitroom.server.apidocs import routes
from waitroom.server.app import create
from waitroom.server.http.openapi import TAGS
from waitroom.settings import Settings

DOCS = Path(__file__).parents[3] / "docs"


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    """The app's OpenAPI document, with everything it can serve."""
    return create(Settings(desk=True)).framework.openapi()


def operations(document: dict[str, Any]) -> set[tuple[str, str]]:
    """Return each method and path of the document."""
    return {(method.upper(), path) for path, item in document["paths"].items() for method in item}


def test_every_operation_has_a_known_group_and_a_sentence(document: dict[str, Any]) -> None:
    """No operation ends up in an unnamed group, and each has a description."""
    for item in document["paths"].values():
        for operation in item.values():
            assert operation["tags"][0] in TAGS
            assert len(operation.get("description", "")) > 10, operation["operationId"]


def test_every_operation_has_a_name_for_programs(document: dict[str, Any]) -> None:
    """Like `joinRoom`: a verb and its object, chosen by us, and no two alike. Clients generated
    from the document name their methods after them.
    """
    names = [
        operation["operationId"]
        for item in document["paths"].values()
        for operation in item.values()
    ]
    assert len(names) == len(set(names))
    assert [] == [name for name in names if not re.fullmatch(r"[a-z]+(?:[A-Z][a-z]+)+", name)]
    assert {"joinRoom", "pollTicket", "listRooms", "noShowParty"} <= set(names)


def test_the_document_says_where_the_server_is() -> None:
    """The public address, if known; otherwise clients use where they got the document from."""
    public = create(Settings(public_url="https://wait.example/queue/")).framework.openapi()
    assert [{"url": "https://wait.example/queue"}] == public["servers"]
    assert "servers" not in create(Settings()).framework.openapi()


def test_every_operation_is_listed(document: dict[str, Any]) -> None:
    """The page has a line for each method of each path, and no other."""
    listed = [
        (method, path) for group in routes.calls(document).values() for method, path, _ in group
    ]
    assert sorted(operations(document)) == sorted(listed)


def test_hostile_words_are_escaped() -> None:
    """Everything in a sentence is text on the page, except for `code` and **bold**."""
    told = routes.prose("<script>alert(1)</script> `<b>`\n\n**<i>**")
    escaped = "&lt;script&gt;alert(1)&lt;/script&gt; <code>&lt;b&gt;</code>"
    assert f"<p>{escaped}</p><p><strong>&lt;i&gt;</strong></p>" == told


# As served -----------------------------------------------------------------------------------


@pytest.mark.parametrize("path", ["/", "/docs", "/docs/errors"])
def test_the_pages_need_nothing_from_elsewhere(http: httpx2.Client, path: str) -> None:
    """No script, no external file; the policy allows the page's style and nothing else."""
    answer = http.get(path)
    assert 200 == answer.status_code
    assert "text/html; charset=utf-8" == answer.headers["content-type"]
    page, policy = answer.text, answer.headers["content-security-policy"]
    assert not re.search(r"<script|<img|<link|<iframe|javascript:| on\w+=| style=", page)
    links = set(re.findall(r'(?:src|href)="([^"]+)"', page))
    # Readers may follow links elsewhere; nothing is fetched from there.
    assert set() == {link for link in links - {routes.SITE} if not link.startswith(("#", "/"))}
    style = re.search(r"<style>(.*?)</style>", page, re.S)
    assert style
    digest = base64.b64encode(hashlib.sha256(style[1].encode()).digest()).decode()
    assert f"default-src 'none'; style-src 'sha256-{digest}'" in policy
    assert "http" not in style[1]


def test_every_error_has_its_anchor(http: httpx2.Client) -> None:
    """The `type` of every problem leads to a section of the page."""
    ids = set(re.findall(r'<article id="([^"]+)"', http.get("/docs/errors").text))
    assert {kind.code for kind in every_error()} == ids


def test_the_type_of_a_problem_leads_there(http: httpx2.Client) -> None:
    """A real problem names a page that exists, and a section on it."""
    problem = http.get("/v1/rooms/nobody-made-this-room").json()
    path, _, code = problem["type"].partition("#")
    assert f'id="{code}"' in http.get(path).text


def test_the_calls_of_this_server_are_shown(http: httpx2.Client) -> None:
    """`/docs` leads to the document, and lists what the server has: no desk here."""
    page = http.get("/docs").text
    assert 'href="/openapi.json"' in page
    assert "<code>GET /v1/check</code>" in page
    assert "/v1/stores" not in page


def test_the_document_is_served(http: httpx2.Client, document: dict[str, Any]) -> None:
    """`/openapi.json` is the same document, without the desk, which this server does not have."""
    without = {
        operation for operation in operations(document) if not operation[1].startswith("/v1/stores")
    }
    assert without == operations(http.get("/openapi.json").json())
    assert len(without) < len(operations(document))


# docs/http.md --------------------------------------------------------------------------------


def test_every_route_has_its_heading(document: dict[str, Any]) -> None:
    """docs/http.md explains each route once, and none that does not exist."""
    text = (DOCS / "http.md").read_text("utf-8")
    headings = re.findall(r"^### `([A-Z]+) (\S+)`$", text, re.M)
    assert sorted(operations(document)) == sorted(headings)


def test_codes_in_the_docs_exist() -> None:
    """Every code that docs/http.md names after a status is the code of an error."""
    text = (DOCS / "http.md").read_text("utf-8")
    named = set(re.findall(r"\b[45]\d\d\s+`([a-z_]+)`", text))
    assert len(named) > 5
    assert set() == named - {kind.code for kind in every_error()}
