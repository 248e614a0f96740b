"""The HTTP reference: whole, offline, without script, and the same as what is served."""

from __future__ import annotations

import base64
import hashlib
import re
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.test_docs import every_error
from waitroom.server.apidocs import reference, routes
from waitroom.server.app import create
from waitroom.settings import Settings

DOCS = Path(__file__).parents[3] / "docs"


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    """The OpenAPI document of the app, with all that it can serve."""
    return create(Settings(desk=True)).framework.openapi()


def operations(document: dict[str, Any]) -> set[tuple[str, str]]:
    """Return each method and path of the document."""
    return {
        (method.upper(), path)
        for path, item in document["paths"].items()
        for method in item
        if method in reference.METHODS
    }


def test_every_operation_is_on_the_page(document: dict[str, Any]) -> None:
    """Each method of each path has its section, with a line for curl."""
    page = routes.reference_page(document, "http://localhost:8080")
    ids = set(re.findall(r'<article id="([^"]+)"', page))
    assert {reference.anchor(method.lower(), path) for method, path in operations(document)} <= ids
    assert len(operations(document)) < page.count("<pre tabindex")


def test_every_link_within_the_page_leads_somewhere(document: dict[str, Any]) -> None:
    """No anchor is dead, and every schema that is named is shown."""
    page = routes.reference_page(document, "http://localhost:8080")
    ids = re.findall(r'\bid="([^"]+)"', page)
    assert len(set(ids)) == len(ids)
    assert set() == set(re.findall(r'href="#([^"]+)"', page)) - set(ids)


def test_every_tag_is_known(document: dict[str, Any]) -> None:
    """No operation ends up in a group without a name."""
    tags = {
        operation["tags"][0] for item in document["paths"].values() for operation in item.values()
    }
    assert tags <= set(reference.TAGS)


def test_every_operation_explains_itself(document: dict[str, Any]) -> None:
    """Each operation has a sentence of its own."""
    for item in document["paths"].values():
        for operation in item.values():
            assert len(operation.get("description", "")) > 10, operation["operationId"]


def test_hostile_words_are_escaped() -> None:
    """Whatever a document holds is text on the page."""
    evil = "<script>alert(1)</script>`<b>`"
    document = {
        "info": {"description": evil},
        "paths": {f"/{evil}": {"get": {"tags": [evil], "description": evil, "responses": {}}}},
        "components": {"schemas": {evil: {"description": evil, "properties": {evil: {}}}}},
    }
    page = routes.reference_page(document, evil)
    assert "<script" not in page
    assert "<b>" not in page


# As served -----------------------------------------------------------------------------------


@pytest.mark.parametrize("path", ["/", "/docs", "/docs/errors"])
def test_the_pages_need_nothing_from_elsewhere(http: httpx.Client, path: str) -> None:
    """No script, no file from anywhere; the policy allows the page's style and nothing else."""
    answer = http.get(path)
    assert 200 == answer.status_code
    assert "text/html; charset=utf-8" == answer.headers["content-type"]
    page, policy = answer.text, answer.headers["content-security-policy"]
    assert not re.search(r"<script|<img|<link|<iframe|javascript:| on\w+=| style=", page)
    assert set() == {link for link in re.findall(r'(?:src|href)="([^"]+)"', page)
                     if not link.startswith(("#", "/"))}  # fmt: skip
    style = re.search(r"<style>(.*?)</style>", page, re.S)
    assert style
    digest = base64.b64encode(hashlib.sha256(style[1].encode()).digest()).decode()
    assert f"default-src 'none'; style-src 'sha256-{digest}'" in policy
    assert "http" not in style[1]


def test_every_error_has_its_anchor(http: httpx.Client) -> None:
    """The `type` of every problem leads to a section of the page."""
    ids = set(re.findall(r'<article id="([^"]+)"', http.get("/docs/errors").text))
    assert {kind.code for kind in every_error()} == ids


def test_the_type_of_a_problem_leads_there(http: httpx.Client) -> None:
    """A real problem names a page that exists, and a section on it."""
    problem = http.get("/v1/rooms/nobody-made-this-room").json()
    path, _, code = problem["type"].partition("#")
    assert f'id="{code}"' in http.get(path).text


def test_the_document_is_served(http: httpx.Client, document: dict[str, Any]) -> None:
    """`/openapi.json` is the same document, but for the desk, which this server does not have."""
    without = {
        operation for operation in operations(document) if not operation[1].startswith("/v1/stores")
    }
    assert without == operations(http.get("/openapi.json").json())
    assert len(without) < len(operations(document))


# docs/http.md --------------------------------------------------------------------------------


def test_every_route_has_its_heading(document: dict[str, Any]) -> None:
    """docs/http.md explains each call once, and none that does not exist."""
    text = (DOCS / "http.md").read_text("utf-8")
    headings = re.findall(r"^### `([A-Z]+) (\S+)`$", text, re.M)
    assert sorted(operations(document)) == sorted(headings)


def test_codes_in_the_docs_exist() -> None:
    """Every code that docs/http.md names behind a status is the code of an error."""
    text = (DOCS / "http.md").read_text("utf-8")
    named = set(re.findall(r"\b[45]\d\d\s+`([a-z_]+)`", text))
    assert len(named) > 5
    assert set() == named - {kind.code for kind in every_error()}
