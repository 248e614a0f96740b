"""`/docs`: the HTTP reference as one page of plain HTML, made from the OpenAPI document; and `/`.

No script and nothing from elsewhere, so it works offline and in a closed network; the policy of the
page allows its own style and nothing else. The `type` of a problem links to `/docs/errors`.
"""

from __future__ import annotations

import base64
import hashlib
import re
from dataclasses import dataclass
from functools import cache
from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.responses import HTMLResponse
from markupsafe import Markup, escape

from waitroom import errors
from waitroom.server.apidocs import reference
from waitroom.server.context import Here
from waitroom.server.http import problems
from waitroom.server.pages import templates
from waitroom.server.pages.headers import document_headers
from waitroom.version import __version__

router = APIRouter(include_in_schema=False)
DEFAULT_BASE = "http://localhost:8080"
_CODE = re.compile(r"`([^`\n]+)`|\*\*([^*\n]+)\*\*")


@dataclass(frozen=True, slots=True)
class Trouble:
    """One error as the page shows it."""

    code: str
    status: int
    title: str
    about: str
    above: str | None


@router.api_route("/", methods=["GET", "HEAD"])
async def landing(server: Here) -> Response:
    """Say what runs here, to somebody who has only the address."""
    return _answer(_render("apidocs/landing.html", desk=server.desk is not None))


@router.get("/docs")
async def docs(server: Here, request: Request) -> Response:
    """Show the reference."""
    app = request.app
    page: str | None = getattr(app.state, "reference_page", None)
    if page is None:  # the document does not change while the app lives
        base = (server.settings.public_url or DEFAULT_BASE).rstrip("/")
        page = app.state.reference_page = reference_page(app.openapi(), base)
    return _answer(page)


def reference_page(document: reference.Document, base: str) -> str:
    """Return the whole reference as HTML; `base` is where its curl lines point."""
    return _render(
        "apidocs/calls.html",
        about=document["info"].get("description", ""),
        base=base,
        groups=reference.groups(document, base),
        schemas=reference.schemas(document),
    )


@router.get("/docs/errors")
async def error_docs() -> Response:
    """Show every error that an answer may have."""
    return _answer(_render("apidocs/errors.html", troubles=troubles()))


@cache
def troubles() -> list[Trouble]:
    """Return the tree of errors, the root first."""
    tree: list[Trouble] = []

    def add(kind: type[errors.WaitroomError], above: str | None) -> None:
        status = next(
            problems.STATUS[parent] for parent in kind.__mro__ if parent in problems.STATUS
        )
        about = (kind.__doc__ or "").replace("\n    ", "\n")
        tree.append(Trouble(kind.code, status, problems.TITLES[status], about, above))
        for child in kind.__subclasses__():
            add(child, kind.code)

    add(errors.WaitroomError, None)
    return tree


def prose(text: str) -> Markup:
    """Return text with `code`, **bold** and blank lines as HTML; everything else is escaped."""
    paragraphs = [part.replace("\n", " ") for part in text.strip().split("\n\n") if part.strip()]
    return Markup("").join(Markup("<p>{}</p>").format(inline(part)) for part in paragraphs)


def inline(text: str) -> Markup:
    """Return one line of text with `code` and **bold** as HTML."""
    return Markup(_CODE.sub(_element, str(escape(text))))  # noqa: S704 - escaped just before


def breakable(path: str) -> Markup:
    """Return a path that may be broken after each of its slashes."""
    return Markup("/<wbr>").join(escape(part) for part in path.split("/"))


def _element(match: re.Match[str]) -> str:
    return f"<code>{match[1]}</code>" if match[1] else f"<strong>{match[2]}</strong>"


@cache
def _style() -> str:
    return (templates.FOLDER / "apidocs/page.css").read_text("utf-8")


def _render(name: str, **values: Any) -> str:
    return templates.render(
        name,
        prose=prose,
        inline=inline,
        breakable=breakable,
        titles={str(status): text for status, text in problems.TITLES.items()},
        problem_type=problems.MEDIA_TYPE,
        version=__version__,
        style=Markup(_style()),  # noqa: S704 - a file of ours
        **values,
    )


def _answer(page: str) -> Response:
    digest = base64.b64encode(hashlib.sha256(_style().encode()).digest()).decode()
    return HTMLResponse(page, headers=document_headers(digest))
