"""The files that `make vectors` writes: their names and their contents."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from tests.contract import addresses, claims, decisions, folding, outcomes, passes, paths, returns

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "contract"
MAKERS = {
    "passes": passes.document,
    "paths": paths.document,
    "returns": returns.document,
    "addresses": addresses.document,
    "claims": claims.document,
    "decisions": decisions.document,
    "outcomes": outcomes.document,
}


@cache
def texts() -> dict[Path, str]:
    """Return every file with its content."""
    made = {FOLDER / f"{name}.json": _text(make()) for name, make in MAKERS.items()}
    return made | ({ROOT / "gates/go/folding.txt": folding.table()} if folding.is_ours() else {})


def write() -> Iterator[Path]:
    """Write every file."""
    for path, text in texts().items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
        yield path.relative_to(ROOT)


def read(name: str) -> dict[str, Any]:
    """Return a file of the contract."""
    document: dict[str, Any] = json.loads((FOLDER / f"{name}.json").read_text("utf-8"))
    return document


def _text(document: dict[str, Any]) -> str:
    """Return JSON in ASCII, with a line per case, so that a change is easy to see."""
    lines = []
    for name, value in document.items():
        if isinstance(value, list):
            rows = ",\n".join(f"    {json.dumps(row)}" for row in value)
            lines.append(f"  {json.dumps(name)}: [\n{rows}\n  ]")
        else:
            lines.append(f"  {json.dumps(name)}: {json.dumps(value)}")
    return "{\n" + ",\n".join(lines) + "\n}\n"
