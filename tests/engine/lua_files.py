"""The Lua files that verbs share."""

from __future__ import annotations

from pathlib import Path

from waitroom.engine import scripts

LUA = Path(scripts.__file__).parent / "lua"
PARTS = sorted(f"parts/{path.stem}" for path in (LUA / "parts").glob("*.lua"))
SHARED = (scripts.COMMON, *PARTS)
