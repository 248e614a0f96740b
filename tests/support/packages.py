"""The npm packages of this repository, packed as they would be published."""

from __future__ import annotations

import fcntl
import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.support.programs import needed

ROOT = Path(__file__).parents[2]


def need_modules() -> str:
    """Return npm. Without npm or its packages the test is skipped; in CI it fails."""
    npm = needed("npm")
    if not (ROOT / "node_modules" / ".stamp").is_file():
        why = "npm's packages are not installed: `make assets` installs them"
        if os.environ.get("CI") == "true":
            pytest.fail(why)
        pytest.skip(why)
    return npm


def npm(folder: Path, *command: str, env: Mapping[str, str] | None = None) -> str:
    """Run npm in a folder, and return its output."""
    done = subprocess.run(
        [need_modules(), *command],
        cwd=folder,
        env=os.environ | dict(env or {}),
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, f"npm {' '.join(command)}:\n{done.stdout}\n{done.stderr}"
    return done.stdout


def pack(name: str, into: Path) -> Path:
    """Build and pack a package, one test at a time; return the tarball."""
    (ROOT / "build").mkdir(exist_ok=True)
    with (ROOT / "build" / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        npm(ROOT / "packages" / name, "pack", "--pack-destination", str(into))
    (tarball,) = into.glob("*.tgz")
    return tarball


def install(folder: Path, *packages: Path) -> None:
    """Install what an app needs, with our packages; without a network the test is skipped."""
    try:
        quiet = ("--no-audit", "--no-fund", "--prefer-offline")
        npm(folder, "install", *quiet, *(str(package) for package in packages))
    except AssertionError as error:
        if os.environ.get("CI") == "true" or not _no_network(str(error)):
            raise
        pytest.skip("npm reaches no registry, and what the app needs is not in its cache")


def _no_network(text: str) -> bool:
    return any(code in text for code in ("ENOTFOUND", "EAI_AGAIN", "ECONNREFUSED", "ETIMEDOUT"))
