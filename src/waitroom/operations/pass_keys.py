"""Keys of passes, in their folder: add one, and remove those that no pass uses any more."""

from __future__ import annotations

from pathlib import Path

from waitroom.credentials import pass_keys
from waitroom.operations.trail import Trail


async def rotate(trail: Trail, folder: Path, algorithm: str) -> Path:
    """Add a new key; it signs a few seconds later."""
    path = pass_keys.rotate(folder, algorithm)
    await trail.record("key.rotate", name=path.name)
    return path


async def prune(trail: Trail, folder: Path, older_than_s: float) -> list[Path]:
    """Remove keys that stopped signing at least this long ago; return their files."""
    removed = pass_keys.prune(folder, older_than_s)
    await trail.record("key.prune", names=[path.name for path in removed])
    return removed
