"""Checks before a wheel is built that it will contain the minified scripts and style sheets."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class AssetsHook(BuildHookInterface[Any]):
    """Refuses to build a wheel whose pages would be twice as heavy as tested."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:  # noqa: ARG002
        """Stop if the assets are missing or old; an editable installation serves the sources."""
        assets = runpy.run_path(str(Path(self.root) / "src/waitroom/server/http/assets.py"))
        if version != "editable" and not assets["are_built"]():
            raise RuntimeError(
                "the minified scripts and style sheets are missing or older than their sources:"
                " run `make assets` (it needs npm), then build the wheel again"
            )
