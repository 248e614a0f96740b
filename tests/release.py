"""Writes requirements-release.txt and requirements-build.txt: what an image consists of.

`make release-hashes` runs it. pip downloads by name, for each kind of machine that images are built
for; the hashes are those of the downloaded files. No index address gets into the files.
"""

from __future__ import annotations

import hashlib
import re
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
EXTRAS = ("server", "postgres")
"""What deploy/Dockerfile installs."""

ALSO = ("async-timeout>=4.0.3",)
"""redis needs it on Pythons before 3.11.3, as in Debian 12. pip checks the Python that it runs on,
not the one that it downloads for, so it would be left out elsewhere."""

PYTHON = "3.11"
MACHINES = ("x86_64", "aarch64")
GLIBC = ("2_17", "2_28", "2_34")
"""Versions of glibc that wheels require; Debian's, which the image uses, is newer."""

RELEASE, BUILD = "requirements-release.txt", "requirements-build.txt"
_HEAD = """\
# {about}, with hashes. Made by `make release-hashes`; do not edit.
# Versions are those of constraints.txt. Files are wheels for CPython {python} on Linux with glibc,
# x86_64 and aarch64, as pip downloads them by name; other machines install with constraints.txt.
"""


def requirements(project: dict[str, Any], extras: Iterable[str]) -> Iterator[str]:
    """Return what the project needs with some extras, following extras that name others."""
    yield from project["dependencies"]
    for extra in extras:
        for requirement in project["optional-dependencies"][extra]:
            if inner := re.fullmatch(r"waitroom\[(.+)\]", requirement):
                yield from requirements(project | {"dependencies": []}, inner[1].split(","))
            else:
                yield requirement


def downloaded(wanted: Iterable[str], machine: str, folder: Path) -> list[Path]:
    """Make pip download the packages, and what they need, for a kind of machine."""
    platforms = [f"--platform=manylinux_{glibc}_{machine}" for glibc in GLIBC]
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--only-binary=:all:"]
    command += [f"--python-version={PYTHON}", "--implementation=cp", *platforms]
    command += [f"--constraint={ROOT / 'constraints.txt'}", f"--dest={folder}", *wanted]
    subprocess.run(command, check=True)
    return sorted(folder.glob("*.whl"))


def written(about: str, files: Iterable[Path]) -> str:
    """Return the text of a requirements file."""
    hashes: dict[str, set[str]] = {}
    for path in files:
        name, version, _ = path.name.split("-", 2)
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        hashes.setdefault(f"{name.lower().replace('_', '-')}=={version}", set()).add(digest)
    lines = [
        " \\\n    ".join([pin, *(f"--hash=sha256:{digest}" for digest in sorted(digests))])
        for pin, digests in sorted(hashes.items())
    ]
    return _HEAD.format(about=about, python=PYTHON) + "\n".join(lines) + "\n"


def main() -> None:
    """Write both files."""
    pyproject = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    for name, about, wanted in (
        (RELEASE, "What Waitroom runs on", [*requirements(pyproject["project"], EXTRAS), *ALSO]),
        (BUILD, "What builds Waitroom's wheel", pyproject["build-system"]["requires"]),
    ):
        needed = list(wanted)
        with tempfile.TemporaryDirectory() as folder:
            for machine in MACHINES:
                files = downloaded(needed, machine, Path(folder))
            (ROOT / name).write_text(written(about, files), "utf-8")


if __name__ == "__main__":
    main()
