"""What an image is made of: the versions of constraints.txt, each file with a hash, and no more."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.release import BUILD, EXTRAS, PYTHON, RELEASE, ROOT, requirements, written
from tests.support.programs import need_assets

DOCKERFILE = (ROOT / "deploy" / "Dockerfile").read_text("utf-8")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
PIN = re.compile(r"^([A-Za-z0-9._-]+)==([^\s;]+)", re.M)


def pins(name: str) -> dict[str, str]:
    """Return the versions of a file, by name."""
    text = (ROOT / name).read_text("utf-8")
    return {canonicalize_name(package): version for package, version in PIN.findall(text)}


def closure(texts: list[str]) -> set[str]:
    """Return the names of all that requirements need, on this machine."""
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
    """The file has all that the image's extras need, down to the last package."""
    assert closure(list(requirements(PROJECT["project"], EXTRAS))) == set(pins(RELEASE))
    wanted = {Requirement(text).name for text in PROJECT["build-system"]["requires"]}
    assert wanted <= set(pins(BUILD))


@pytest.mark.parametrize("name", [RELEASE, BUILD])
def test_every_file_has_a_hash_and_none_an_address(name: str) -> None:
    """pip finds files by name wherever it is told to, and takes only those that it knows."""
    text = (ROOT / name).read_text("utf-8")
    assert "://" not in text
    assert [] == re.findall(r"^-", text, re.M)
    body = re.sub(r"^#.*\n", "", text, flags=re.M)
    entry = r"[a-z0-9.-]+==[a-z0-9.]+(?: \\\n    --hash=sha256:[0-9a-f]{64})+\n"
    assert re.fullmatch(rf"(?:{entry})+", body)


@pytest.mark.attack
def test_the_image_installs_nothing_without_a_hash() -> None:
    """Whoever replaces a package on the index, or on the way, cannot get into the image."""
    installs = re.findall(r"pip install (.+?)(?: &&|$)", DOCKERFILE, re.M)
    hashed = "--require-hashes --only-binary :all: -r "
    assert [hashed + RELEASE, hashed + BUILD, "--no-index --no-deps /dist/*.whl"] == installs
    assert f"FROM python:{PYTHON}-slim AS build" in DOCKERFILE


def test_hashes_are_those_of_the_files(tmp_path: Path) -> None:
    """A package with a wheel per machine has a hash per wheel."""
    for machine in ("x86_64", "aarch64"):
        (tmp_path / f"Some_Thing-1.0-cp311-cp311-manylinux_2_28_{machine}.whl").write_text(machine)
    lines = written("A test", sorted(tmp_path.iterdir())).splitlines()[3:]
    assert "some-thing==1.0 \\" == lines[0]
    assert 2 == len({*lines[1:]})


@pytest.mark.attack
@pytest.mark.sample(0)
def test_the_steps_of_the_image_run(tmp_path: Path) -> None:
    """Without Docker: the steps one by one. A file with another hash than ours ends them."""
    if not sys.version.startswith(f"{PYTHON}."):
        pytest.skip(f"the image has Python {PYTHON}")
    need_assets()
    copied = re.findall(r"^COPY (?!--from)(.+) (\S+)$", DOCKERFILE, re.M)
    for name in " ".join(names for names, _ in copied).split():
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        copy(ROOT / name, tmp_path / name)
    steps = re.findall(r"^RUN (.+)$", DOCKERFILE.rpartition("\nFROM")[0], re.M)
    assert 3 == len(steps)
    for step in steps:
        run(step, tmp_path)
    packages = next((tmp_path / "venv/lib").glob("*/site-packages"))
    assert (packages / "waitroom/server/static_built/waiting/page.js").is_file()
    shutil.rmtree(tmp_path / "src/waitroom/server/static_built")
    with pytest.raises(subprocess.CalledProcessError) as without_assets:
        run(steps[2], tmp_path)
    assert "run `make assets`" in without_assets.value.stderr
    help_text = run("/venv/bin/waitroom serve --help", tmp_path)
    assert "--proxies" in help_text
    forged = tmp_path / BUILD
    forged.write_text(re.sub(r"(sha256:)....", r"\g<1>0000", forged.read_text("utf-8")), "utf-8")
    with pytest.raises(subprocess.CalledProcessError) as refused:
        run(steps[1].replace("pip install", "pip install --force-reinstall"), tmp_path)
    assert "THESE PACKAGES DO NOT MATCH THE HASHES" in refused.value.stderr


def run(step: str, folder: Path) -> str:
    """Run a step with the image's folders inside the one of the test."""
    step = re.sub(r"(?<![\w.])/(venv|build|dist)\b", rf"{folder}/\1", step)
    step = step.replace("python -m venv", f"{sys.executable} -m venv")
    env = os.environ | {"PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    env.pop("PYTHONPATH", None)
    command = ["/bin/sh", "-ec", step]
    done = subprocess.run(
        command, cwd=folder, env=env, capture_output=True, text=True, timeout=600, check=True
    )
    return done.stdout
