"""`python -m tests.versions lowest|newest|pythons TESTS…`: do our stated versions work?

`lowest` installs the lowest version of every requirement in pyproject.toml, `newest` the newest,
`pythons` those of constraints.txt on each other Python that we support and that is installed here.
Each gets a fresh environment under build/, and runs the tests in it.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

ROOT = Path(__file__).parent.parent
ENDS = {
    "lowest": ("--resolution", "lowest-direct"),
    "newest": ("--resolution", "highest", "--upgrade"),
}
_PYTHON = re.compile(r"Programming Language :: Python :: (3\.\d+)")
# `pip` of a fresh environment, and the release tools, are not our requirements.
_LIST = "from importlib.metadata import distributions as d; [print(f.name, f.version) for f in d()]"


def project() -> dict[str, Any]:
    """Return the table `project` of pyproject.toml."""
    pyproject = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    table: dict[str, Any] = pyproject["project"]
    return table


def pythons() -> list[str]:
    """Return the versions of Python that we claim to support."""
    return [found[1] for text in project()["classifiers"] if (found := _PYTHON.fullmatch(text))]


def direct(table: Mapping[str, Any]) -> Iterator[Requirement]:
    """Yield what we require directly on this machine, with all extras."""
    lists = [table["dependencies"], *table["optional-dependencies"].values()]
    for requirement in map(Requirement, chain.from_iterable(lists)):
        here = requirement.marker is None or requirement.marker.evaluate()
        if here and requirement.name != table["name"]:
            yield requirement


def untrue_floors(table: Mapping[str, Any], installed: Mapping[str, str]) -> list[str]:
    """Return the floors that nobody can install: the lowest set has something newer."""
    return [
        f"{requirement}: the lowest that can be installed is {version}"
        for requirement in direct(table)
        for bound in requirement.specifier
        if bound.operator == ">="
        and Version(version := installed[canonicalize_name(requirement.name)])
        != Version(bound.version)
    ]


def found(version: str) -> str | None:
    """Return a working Python of that version: on PATH, or from pyenv."""
    candidates = [shutil.which(f"python{version}")]
    if pyenv := shutil.which("pyenv"):
        root = subprocess.run([pyenv, "root"], capture_output=True, text=True, check=True)
        versions = Path(root.stdout.strip(), "versions")
        candidates += [str(path) for path in sorted(versions.glob(f"{version}.*/bin/python"))]
    runs = [
        path
        for path in candidates
        if path
        and not subprocess.run([path, "-c", ""], capture_output=True, check=False).returncode
    ]
    return runs[0] if runs else None


def environment(name: str, python: str, options: Sequence[str]) -> Path:
    """Make an environment with `.[dev]`, and return its Python."""
    folder = ROOT / "build" / name
    uv = str(Path(sys.executable).with_name("uv"))
    subprocess.run(
        [uv, "venv", "--quiet", "--clear", f"--python={python}", str(folder)], check=True
    )
    inside = folder / "bin" / "python"
    install = [uv, "pip", "install", "--quiet", f"--python={inside}", *options, "-e", ".[dev]"]
    subprocess.run(install, check=True, cwd=ROOT)
    return inside


def installed(python: Path) -> dict[str, str]:
    """Return what an environment has, by name."""
    done = subprocess.run([python, "-c", _LIST], capture_output=True, text=True, check=True)
    pairs = (line.split() for line in done.stdout.splitlines())
    return {canonicalize_name(name): version for name, version in pairs}


def tests_pass(python: Path, tests: Sequence[str]) -> bool:
    """Run tests in an environment, with its programs first on PATH."""
    env = os.environ | {"PATH": f"{python.parent}{os.pathsep}{os.environ['PATH']}"}
    return not subprocess.run([python, "-m", "pytest", *tests], env=env, check=False).returncode


def check_end(end: str, tests: Sequence[str]) -> list[str]:
    """Test with the lowest or the newest versions; return what is wrong."""
    python = environment(end, sys.executable, ENDS[end])
    wrong = untrue_floors(project(), installed(python)) if end == "lowest" else []
    return wrong or ([] if tests_pass(python, tests) else [f"tests failed with {end} versions"])


def others() -> list[str]:
    """Return the Pythons that we support beside the one of .venv, on which `make test` runs."""
    own = ".".join(map(str, sys.version_info[:2]))
    return [version for version in pythons() if version != own]


def check_pythons(tests: Sequence[str]) -> list[str]:
    """Test on each other Python that is installed; return what is wrong."""
    wrong, missing = [], []
    for version in others():
        if (path := found(version)) is None:
            missing.append(version)
            continue
        sys.stdout.write(f"\n== Python {version}\n")
        sys.stdout.flush()
        python = environment(f"python{version}", path, ("--constraint", "constraints.txt"))
        if not tests_pass(python, tests):
            wrong.append(f"tests failed on Python {version}")
    if missing:
        sys.stdout.write(f"\nnot installed here, so not tested: Python {', '.join(missing)}\n")
    return wrong


def main(what: str, tests: Sequence[str]) -> int:
    """Run one of the three, and return the exit code."""
    wrong = check_pythons(tests) if what == "pythons" else check_end(what, tests)
    sys.stderr.write("".join(f"{line}\n" for line in wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1], sys.argv[2:]))
