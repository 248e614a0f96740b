"""The minified copies of scripts and style sheets that `make assets` builds from `static`.

A copy is used only while its sources are unchanged, so an edit shows at once and nobody needs npm
to run Waitroom: without a copy the source is served. Only TypeScript cannot be served: a page whose
script is written in it then works without the script. Only the standard library is imported here,
because the build of the wheel reads this file too.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

SOURCES = Path(__file__).parents[1] / "static"
BUILT = SOURCES.with_name("static_built")
_KINDS = {".css", ".js", ".ts"}


def are_built(sources: Path = SOURCES) -> bool:
    """Return whether every source is part of a built file that is up to date."""
    made = _made_of(sources)
    used = {name for output in up_to_date(sources) for name in made[output]}
    names = {path.relative_to(sources).as_posix() for path in sources.rglob("*.*")}
    code = {name for name in names if Path(name).suffix in _KINDS and not name.endswith(".d.ts")}
    return code <= used


def up_to_date(sources: Path = SOURCES) -> set[str]:
    """Return the names of the built files whose sources are unchanged."""
    return {
        output
        for output, inputs in _made_of(sources).items()
        if all(_hash(sources / name) == digest for name, digest in inputs.items())
    }


def _made_of(sources: Path) -> dict[str, dict[str, str]]:
    """Return the sources of each built file with their hashes, as `assets.mjs` writes them."""
    path = sources.with_name(BUILT.name) / "SOURCES.json"
    made: dict[str, dict[str, str]] = json.loads(path.read_bytes()) if path.is_file() else {}
    return made


def _hash(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""
