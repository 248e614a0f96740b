"""The previous Waitroom, from the git history: what a rolling upgrade starts with."""

from __future__ import annotations

import io
import os
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
COMMIT = "c480421"
"""The last state of 0.1 whose behaviour the next minor version must stay compatible with.

It moves to the tag of each minor version once released. docs/compatibility.md promises one minor
version back, no more.
"""


def previous(folder: Path) -> tuple[str, ...]:
    """Unpack it into a folder; return the command that runs it, with this version's packages."""
    command = ["git", "-C", str(ROOT), "archive", COMMIT, "src"]
    archived = subprocess.run(command, capture_output=True, check=False)
    if archived.returncode != 0:
        word = f"commit {COMMIT} is not in this copy: a clone with its whole history has it"
        if os.environ.get("CI") == "true":
            pytest.fail(word)
        pytest.skip(word)
    with tarfile.open(fileobj=io.BytesIO(archived.stdout)) as archive:
        archive.extractall(folder, filter="data")
    return ("env", f"PYTHONPATH={folder / 'src'}", sys.executable, "-m", "waitroom.cli")
