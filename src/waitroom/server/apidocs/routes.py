"""`/docs`: every call of this server in one line, and where it is described; its errors; and `/`.

No script and nothing from elsewhere, so they work in a closed network; the policy of the pages
allows their own style and nothing else. The `type` of a problem links to `/docs/errors`.
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
from waitroom.server.context import Here
from waitroom.server.http import problems
from waitroom.server.pages import templates
from waitroom.server.pages.headers import document_headers
from waitroom.version import __version__

router = APIRouter(include_in_schema=False)
SITE = "https://waitroom.readthedocs.io"
"""The documentation; the only address that these pages know outside of the server."""

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
    return _answer("apidocs/landing.html", desk=server.desk is not None)


@router.get("/docs")
async def docs(request: Request) -> Response:
    """List the calls, and say where they are described."""
    document = request.app.openapi()
    return _answer("apidocs/calls.html", tags=document["tags"], calls=calls(document))


@router.get("/docs/errors")
async def error_docs() -> Response:
    """Show every error that an answer may have."""
    return _answer("apidocs/errors.html", troubles=troubles())


def calls(document: dict[str, Any]) -> dict[str, list[tuple[str, str, str]]]:
    """Return method, path and first sentence of each call, by tag."""
    by_tag: dict[str, list[tuple[str, str, str]]] = {}
    for path, item in document["paths"].items():
        for method, operation in item.items():
            about = operation["description"].partition("\n\n")[0].replace("\n", " ")
            by_tag.setdefault(operation["tags"][0], []).append((method.upper(), path, about))
    return by_tag


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


def _element(match: re.Match[str]) -> str:
    return f"<code>{match[1]}</code>" if match[1] else f"<strong>{match[2]}</strong>"


@cache
def _style() -> str:
    return (templates.FOLDER / "apidocs/page.css").read_text("utf-8")


def _answer(name: str, **values: Any) -> Response:
    style = _style()
    page = templates.render(
        name,
        prose=prose,
        inline=inline,
        site=SITE,
        version=__version__,
        style=Markup(style),  # noqa: S704 - a file of ours
        **values,
    )
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    return HTMLResponse(page, headers=document_headers(digest))
