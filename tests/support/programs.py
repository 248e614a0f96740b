"""Programs of the system that some tests need."""

from __future__ import annotations

import os
import shutil

import pytest


def needed(name: str, package: str | None = None) -> str:
    """Return a program's path; without it the test is skipped, but fails in CI."""
    program = shutil.which(name) or shutil.which(name, path="/usr/sbin:/usr/local/sbin")
    if program is None and os.environ.get("CI") == "true":
        pytest.fail(f"{name} is not installed, and CI must test with it")
    if program is None:
        pytest.skip(f"{name} is not installed: `apt install {package or name}` to test with it")
    return program
