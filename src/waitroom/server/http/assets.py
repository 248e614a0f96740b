"""The minified copies of scripts and style sheets that `make assets` builds from `static`.

They count only while they match their sources, so an edit is seen at once and nobody needs npm to
run Waitroom: without them the sources are served. Nothing but the standard library is imported
here, because the build of the wheel reads this file too.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

SOURCES = Path(__file__).parents[1] / "static"
BUILT = SOURCES.with_name("static_built")
_KINDS = (".css", ".js")


def are_built(sources: Path = SOURCES) -> bool:
    """Tell whether the built files are there, and made of the present sources."""
    digest = sources.with_name(BUILT.name) / "SOURCES"
    return digest.is_file() and digest.read_text("ascii") == _digest(sources)


def _digest(sources: Path) -> str:
    """Return the hash of all sources, as `assets.mjs` writes it beside what it builds."""
    digest = hashlib.sha256()
    names = (path.relative_to(sources).as_posix() for path in sources.rglob("*.*"))
    for name in sorted(name for name in names if name.endswith(_KINDS)):
        digest.update(f"{name}\0".encode() + (sources / name).read_bytes() + b"\0")
    return digest.hexdigest()
