"""Builds what a release contains: an sdist from the tree, and the wheel from the sdist."""

from __future__ import annotations

import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

from packaging.metadata import Metadata

ROOT = Path(__file__).parents[2]


def build(folder: Path) -> tuple[Path, Path]:
    """Build both into a folder, and return the sdist and the wheel.

    The wheel is built from the unpacked sdist, because a distribution's packager has nothing else.
    """
    _hatchling(ROOT, "sdist", folder)
    (sdist,) = folder.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        archive.extractall(folder, filter="data")
    _hatchling(folder / sdist.name.removesuffix(".tar.gz"), "wheel", folder)
    (wheel,) = folder.glob("*.whl")
    return sdist, wheel


def _hatchling(tree: Path, target: str, folder: Path) -> None:
    command = [sys.executable, "-m", "hatchling", "build", "-t", target, "-d", str(folder)]
    done = subprocess.run(command, cwd=tree, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"the {target} cannot be built:\n{done.stdout}{done.stderr}")


def metadata(wheel: Path) -> Metadata:
    """Return the metadata that an index reads from a wheel; raises if the index would refuse it."""
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        return Metadata.from_email(archive.read(name), validate=True)
