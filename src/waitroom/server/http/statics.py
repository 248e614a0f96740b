"""Static files: read once, named by their content; nothing else is ever served.

A URL carries the hash of what it names, so browsers may keep it for a year and a new release is
seen at once. The client for apps is also at `/waitroom.js`, a fixed address that is cached for
a few minutes.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Annotated

from fastapi import APIRouter, Header, Request, Response

from waitroom.errors import NotFound
from waitroom.server.http import assets
from waitroom.server.http.packing import packed, takes_gzip

FOLDER = assets.SOURCES
router = APIRouter(include_in_schema=False)
public = APIRouter()
CLIENT = "waitroom.js"
CLIENT_PATH = f"/{CLIENT}"
WORK = "work.js"
"""What the client loads when a room asks for a proof of work; apps elsewhere may import it too."""

_TYPES = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
    ".png": "image/png",
}
_FOR_A_YEAR = "public, max-age=31536000, immutable"
_FOR_MINUTES = "public, max-age=300"
_FOR_ALL = {  # an app on another origin may import it: everything in it is public
    "access-control-allow-origin": "*",
    "cross-origin-resource-policy": "cross-origin",
}


@dataclass(frozen=True, slots=True)
class Static:
    """One file: its content, and its URL."""

    content: bytes
    packed: bytes
    media_type: str
    version: str
    url: str


@cache
def files() -> dict[str, Static]:
    """Return the files that exist, by name; a path from a visitor is never opened."""
    built = assets.up_to_date()
    sources = {path.relative_to(FOLDER).as_posix() for path in FOLDER.rglob("*.*")}
    names = sorted(name for name in sources | built if Path(name).suffix in _TYPES)
    contents = {
        name: ((assets.BUILT if name in built else FOLDER) / name).read_bytes() for name in names
    }
    client = _static(CLIENT, contents[CLIENT].replace(b'"./work.js"', f'"/static/{WORK}"'.encode()))
    others = {name: _static(name, _linked(content, client)) for name, content in contents.items()}
    return others | {CLIENT: client}


def _linked(content: bytes, client: Static) -> bytes:
    """Let a script import the client by its version: a page never mixes two releases."""
    return content.replace(f'from "{CLIENT_PATH}"'.encode(), f'from "{client.url}"'.encode())


def _static(name: str, content: bytes) -> Static:
    version = hashlib.sha256(content).hexdigest()[:12]
    url = f"/static/{name}?v={version}"
    return Static(content, packed(content), _TYPES[Path(name).suffix], version, url)


def _answer(request: Request, file: Static, headers: dict[str, str]) -> Response:
    headers["vary"] = "Accept-Encoding"
    content = file.content
    if takes_gzip(request.headers.get("accept-encoding")) and len(file.packed) < len(content):
        content, headers["content-encoding"] = file.packed, "gzip"
    return Response(content, media_type=file.media_type, headers=headers)


def url_of(name: str) -> str:
    """Return the URL of a file, with its version."""
    return files()[name].url


def is_there(name: str) -> bool:
    """Return whether there is such a file: one that is made of TypeScript has to be built."""
    return name in files()


def imported_by(name: str) -> str | None:
    """Return the URL of the client, if a script imports it: a built script contains it."""
    url = url_of(CLIENT)
    return url if url.encode() in files()[name].content else None


@router.api_route("/static/{name:path}", methods=["GET", "HEAD"])
async def static(request: Request, name: str, v: str = "") -> Response:
    """Serve a file; only a URL with its current version may be cached."""
    file = files().get(name)
    if file is None:
        raise NotFound("there is no such file")
    headers = {
        "cache-control": _FOR_A_YEAR if v == file.version else "no-cache",
        "cross-origin-resource-policy": "same-origin",
        "x-content-type-options": "nosniff",
    }
    if name == WORK:
        headers |= _FOR_ALL
    return _answer(request, file, headers)


@router.head(CLIENT_PATH)
@public.get(
    CLIENT_PATH,
    operation_id="getClientScript",
    tags=["visitors"],
    response_class=Response,
    responses={
        200: {"content": {"text/javascript": {"schema": {"type": "string"}}}},
        304: {"description": "Not changed"},
    },
)
async def client(
    request: Request,
    if_none_match: Annotated[str, Header(include_in_schema=False)] = "",
) -> Response:
    """Return the JavaScript client, an ES module for single-page apps."""
    file = files()[CLIENT]
    tag = f'"{file.version}"'
    headers = {
        "etag": tag,
        "cache-control": _FOR_MINUTES,
        "x-content-type-options": "nosniff",
        **_FOR_ALL,
    }
    if tag in if_none_match:
        return Response(status_code=304, headers=headers)
    return _answer(request, file, headers)
