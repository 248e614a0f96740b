"""Files for browsers: read once, named by their content, and nothing else is ever served.

A URL carries the hash of what it names, so browsers may keep it for a year and a new release is
seen at once.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from fastapi import APIRouter, Response

from waitroom.errors import NotFound

FOLDER = Path(__file__).parent / "static"
router = APIRouter(include_in_schema=False)
_TYPES = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
    ".png": "image/png",
}
_LEAN = {"waiting.css", "waiting.js"}
"""Sent without indents and lines of comment: a crowd on phones loads these in the same minute."""

_FOR_A_YEAR = "public, max-age=31536000, immutable"


@dataclass(frozen=True, slots=True)
class Static:
    """One file: what it holds and the URL to ask it by."""

    content: bytes
    media_type: str
    version: str
    url: str


@cache
def files() -> dict[str, Static]:
    """Return the files that exist, by name; a path that a visitor makes up is never opened."""
    return {
        path.name: _static(path.name, path.read_bytes())
        for path in sorted(FOLDER.iterdir())
        if path.suffix in _TYPES
    }


def lean(content: bytes) -> bytes:
    """Return a script or style sheet without its indents and lines of comment."""
    lines = (line.strip() for line in content.decode().splitlines())
    return "\n".join(line for line in lines if line and not line.startswith(("//", "/*"))).encode()


def _static(name: str, content: bytes) -> Static:
    content = lean(content) if name in _LEAN else content
    version = hashlib.sha256(content).hexdigest()[:12]
    return Static(content, _TYPES[Path(name).suffix], version, f"/static/{name}?v={version}")


def url_of(name: str) -> str:
    """Return the URL of a file, with its version."""
    return files()[name].url


@router.api_route("/static/{name}", methods=["GET", "HEAD"])
async def static(name: str, v: str = "") -> Response:
    """Serve a file; only a URL of its present version may be kept."""
    found = files().get(name)
    if found is None:
        raise NotFound("there is no such file")
    headers = {
        "cache-control": _FOR_A_YEAR if v == found.version else "no-cache",
        "cross-origin-resource-policy": "same-origin",
        "x-content-type-options": "nosniff",
    }
    return Response(found.content, media_type=found.media_type, headers=headers)
