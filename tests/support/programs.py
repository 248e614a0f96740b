"""System programs that some tests need."""

from __future__ import annotations

import os
import shutil

import pytest

from waitroom.server.http import assets


def needed(name: str, package: str | None = None) -> str:
    """Return a program's path; without it the test is skipped, in CI it fails."""
    program = shutil.which(name) or shutil.which(name, path="/usr/sbin:/usr/local/sbin")
    if program is None and os.environ.get("CI") == "true":
        pytest.fail(f"{name} is not installed, and CI must test with it")
    if program is None:
        pytest.skip(f"{name} is not installed: `apt install {package or name}` to test with it")
    return program


def need_assets() -> None:
    """Skip a test of minified pages if they were not built; in CI it fails."""
    if assets.are_built():
        return
    if os.environ.get("CI") == "true":
        pytest.fail("the assets are not built, and CI must test with them: `make assets`")
    pytest.skip("the assets are not built, or older than their sources: `make assets` to test them")
