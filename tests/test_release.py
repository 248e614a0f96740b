"""What an image consists of: the versions of constraints.txt, a hash for each file, and no more."""

from __future__ import annotations

import re
import tomllib
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.release import ALSO, BUILD, EXTRAS, PYTHON, RELEASE, ROOT, requirements, written

DOCKERFILE = (ROOT / "deploy" / "Dockerfile").read_text("utf-8")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
PIN = re.compile(r"^([A-Za-z0-9._-]+)==([^\s;]+)", re.M)


def pins(name: str) -> dict[str, str]:
    """Return the versions of a file, by name."""
    text = (ROOT / name).read_text("utf-8")
    return {canonicalize_name(package): version for package, version in PIN.findall(text)}


def closure(texts: list[str]) -> set[str]:
    """Return the names of everything that requirements need, on this machine."""
    names: set[str] = set()
    tasks = [Requirement(text) for text in texts]
    seen: set[tuple[str, frozenset[str]]] = set()
    while tasks:
        wanted = tasks.pop()
        name = canonicalize_name(wanted.name)
        if (name, frozenset(wanted.extras)) in seen:
            continue
        seen.add((name, frozenset(wanted.extras)))
        if wanted.marker is not None and not wanted.marker.evaluate():
            continue
        names.add(name)
        for text in metadata.requires(name) or []:
            inner = Requirement(text)
            extras = ["", *wanted.extras]
            if inner.marker is None or any(inner.marker.evaluate({"extra": e}) for e in extras):
                inner.marker = None
                tasks.append(inner)
    return names


@pytest.mark.parametrize("name", [RELEASE, BUILD])
def test_versions_are_those_of_the_constraints(name: str) -> None:
    """What is released is what was tested."""
    assert pins(name).items() <= pins("constraints.txt").items()


def test_nothing_is_missing_and_nothing_is_too_much() -> None:
    """The file has everything that the image's extras need, down to the last package."""
    wanted_names = closure(list(requirements(PROJECT["project"], EXTRAS)))
    assert wanted_names | {Requirement(text).name for text in ALSO} == set(pins(RELEASE))
    wanted = {Requirement(text).name for text in PROJECT["build-system"]["requires"]}
    assert wanted <= set(pins(BUILD))


@pytest.mark.parametrize("name", [RELEASE, BUILD])
def test_every_file_has_a_hash_and_none_an_address(name: str) -> None:
    """pip finds files by name wherever it is told to, and accepts only known ones."""
    text = (ROOT / name).read_text("utf-8")
    assert "://" not in text
    assert [] == re.findall(r"^-", text, re.M)
    body = re.sub(r"^#.*\n", "", text, flags=re.M)
    entry = r"[a-z0-9.-]+==[a-z0-9.]+(?: \\\n    --hash=sha256:[0-9a-f]{64})+\n"
    assert re.fullmatch(rf"(?:{entry})+", body)


@pytest.mark.attack
def test_the_image_installs_nothing_without_a_hash() -> None:
    """A package replaced on the index, or on the way, cannot get into the image."""
    joined = DOCKERFILE.replace("\\\n", " ")
    installs = re.findall(r"pip (?:--python \S+ )?install (.+?)(?: &&|$)", joined, re.M)
    assert 3 == len(re.findall(r"pip.* install ", joined))
    hashed = "--require-hashes --only-binary :all: -r "
    assert [hashed + BUILD, hashed + RELEASE, "--no-index --no-deps /dist/*.whl"] == installs
    assert f"FROM python:{PYTHON}-slim-bookworm AS build" in DOCKERFILE


def test_hashes_are_those_of_the_files(tmp_path: Path) -> None:
    """A package with a wheel per machine has a hash per wheel."""
    for machine in ("x86_64", "aarch64"):
        (tmp_path / f"Some_Thing-1.0-cp311-cp311-manylinux_2_28_{machine}.whl").write_text(machine)
    lines = written("A test", sorted(tmp_path.iterdir())).splitlines()[3:]
    assert "some-thing==1.0 \\" == lines[0]
    assert 2 == len({*lines[1:]})
