"""The image of deploy/Dockerfile without Docker: its own steps, run one by one in a fresh Debian.

debootstrap makes a root in place of the base image: the same Debian with the same Python. Each RUN
runs in it by chroot, without a network. The wheels are beside it, downloaded by name and checked
against their hashes as usual. The finished root runs like a container: read-only, another user, no
capabilities, its own process namespace.
"""

from __future__ import annotations

import contextlib
import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from string import Template
from typing import NamedTuple

import pytest
from dockerfile_parse import DockerfileParser  # type: ignore[import-untyped]

from tests.release import PYTHON
from tests.support.programs import needed
from tests.support.serving import children

ROOT = Path(__file__).parent.parent.parent
SUITE = "bookworm"
BASE = f"python:{PYTHON}-slim-{SUITE}"
_NOT_IN_SLIM = (
    *("usr/share/doc", "usr/share/man", "usr/share/locale"),
    *("var/cache/apt", "var/lib/apt"),
)
_SAYS_NOTHING = {"COMMENT", "LABEL", "EXPOSE"}
_PATH = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"}
_WHEELS = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": "/mnt"}
_APART = ("unshare", "--mount", "--pid", "--fork", "--kill-child")
_STEP = """
root=$1 given=$2; shift 2
mount -t proc proc "$root/proc"
mount --bind "$given" "$root/mnt"
exec chroot "$root" "$@"
"""
_RUN = """
root=$1; shift
mount --bind "$root" "$root"
mount -t proc proc "$root/proc"
mount -t tmpfs tmpfs "$root/tmp"
while [ "$1" != -- ]; do
    mount --bind "$1" "$root$2"
    [ "$3" = rw ] || mount -o remount,bind,ro "$root$2"
    shift 3
done
shift
mount -o remount,bind,ro "$root"
exec chroot "$root" "$@"
"""


class Mount(NamedTuple):
    """A folder of this machine, and where a run sees it."""

    source: Path
    target: str
    writable: bool = False


@dataclass(slots=True)
class Image:
    """A stage of the Dockerfile: its root, and what the instructions so far have set."""

    root: Path
    env: dict[str, str] = field(default_factory=lambda: dict(_PATH))
    folder: str = "/"
    user: str = "0:0"
    volume: str = ""
    stop_signal: str = ""
    healthcheck: list[str] = field(default_factory=list)
    entrypoint: list[str] = field(default_factory=list)
    command: list[str] = field(default_factory=list)
    steps: list[str] = field(default_factory=list)

    def step(self, shell_line: str, wheels: Path) -> None:
        """Do what a RUN says; an error contains the step's output."""
        words = ["env", "-i", f"--chdir={self.folder}", *_pairs(self.env | _WHEELS)]
        command = [*_APART, "--net", "sh", "-euc", _STEP, "sh", str(self.root), str(wheels)]
        command += [*words, "/bin/sh", "-c", shell_line]
        done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
        assert 0 == done.returncode, f"{shell_line}\n{done.stdout}{done.stderr}"

    def started(self, mounts: list[Mount], env: Mapping[str, str], words: list[str]) -> list[str]:
        """Return the command that runs `words` as a container: read-only, without privileges."""
        uid, gid = self.user.split(":")
        limits = [f"--reuid={uid}", f"--regid={gid}", "--clear-groups", "--no-new-privs"]
        limits += ["--bounding-set=-all", "--inh-caps=-all"]
        command = [*_APART, "sh", "-euc", _RUN, "sh", str(self.root)]
        for mount in mounts:
            (self.root / mount.target.lstrip("/")).mkdir(parents=True, exist_ok=True)
            command += [str(mount.source), mount.target, "rw" if mount.writable else "ro"]
        command += ["--", "env", "-i", f"--chdir={self.folder}", *_pairs(self.env | dict(env))]
        return [*command, "setpriv", *limits, "--", *words]


@contextlib.contextmanager
def ended(process: subprocess.Popen[bytes]) -> Iterator[subprocess.Popen[bytes]]:
    """End a run at the end of the block, by force: `--kill-child` ends the namespace with it."""
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def stop(image: Image, process: subprocess.Popen[bytes]) -> int:
    """Send the image's signal to its first process, and return its exit code."""
    (first,) = children(process.pid)
    os.kill(first, signal.Signals[image.stop_signal])
    return process.wait(60)


def build(folder: Path, wheels: Path) -> dict[str, Image]:
    """Build every stage of the Dockerfile in `folder`; the last one has the name ``""``."""
    with (ROOT / "deploy" / "Dockerfile").open("rb") as file:
        steps = DockerfileParser(fileobj=file).structure
    stages: dict[str, Image] = {}
    image = Image(folder)
    for step in steps:
        word, value = step["instruction"], step["value"]
        if word == "FROM":
            base, _, name = value.partition(" AS ")
            assert BASE == base
            image = stages[name] = Image(_copy_of_base(folder / (name or "image")))
        elif word not in _SAYS_NOTHING:
            _apply(image, word, value, stages, wheels)
    return stages


def _apply(image: Image, word: str, value: str, stages: dict[str, Image], wheels: Path) -> None:
    match word:
        case "ENV":
            pairs = dict(pair.split("=", 1) for pair in shlex.split(value))
            image.env |= {key: Template(text).substitute(image.env) for key, text in pairs.items()}
        case "WORKDIR":
            image.folder = value
            (image.root / value.lstrip("/")).mkdir(parents=True, exist_ok=True)
        case "COPY":
            _copy(image, value.split(), stages)
        case "RUN":
            image.steps.append(value)
            image.step(value, wheels)
        case "USER":
            image.user = value
        case "VOLUME":
            image.volume = value
        case "STOPSIGNAL":
            image.stop_signal = value
        case "HEALTHCHECK":
            image.healthcheck = json.loads(value.partition(" CMD ")[2])
        case "ENTRYPOINT":
            image.entrypoint = json.loads(value)
        case "CMD":
            image.command = json.loads(value)
        case _:
            raise AssertionError(f"{word}: the test does not know this instruction")


def _copy(image: Image, words: list[str], stages: dict[str, Image]) -> None:
    """Copy as Docker does: a folder's content, links as links, caches left out (.dockerignore)."""
    source = ROOT
    if words[0].startswith("--from="):
        source = stages[words.pop(0).removeprefix("--from=")].root
    target = image.root / image.folder.lstrip("/") / words[-1].lstrip("/")
    if words[-1].startswith("/"):
        target = image.root / words[-1].lstrip("/")
    for name in words[:-1]:
        path = source / name.lstrip("/")
        if path.is_dir():
            left_out = shutil.ignore_patterns("__pycache__") if source == ROOT else None
            shutil.copytree(path, target, symlinks=True, ignore=left_out, dirs_exist_ok=True)
        else:
            shutil.copy(path, target)


def _pairs(env: Mapping[str, str]) -> list[str]:
    return [f"{key}={value}" for key, value in env.items()]


def downloaded(folder: Path) -> Path:
    """Make this machine's pip download the image's packages, by name and hash."""
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--only-binary=:all:"]
    command += [f"--python-version={PYTHON}", "--implementation=cp", "--no-deps"]
    command += ["--require-hashes", f"--dest={folder}", "--disable-pip-version-check"]
    for name in ("requirements-release.txt", "requirements-build.txt"):
        subprocess.run([*command, "-r", str(ROOT / name)], timeout=600, check=True)
    return folder


def _copy_of_base(target: Path) -> Path:
    subprocess.run([needed("cp"), "-a", str(_base()), str(target)], check=True)
    return target


def _base() -> Path:
    """Return a fresh Debian with Python, made once and kept under build/."""
    made = ROOT / "build" / f"image-{SUITE}"
    if made.exists():
        return made
    needed("unshare", "util-linux")
    begun = made.with_suffix(f".{os.getpid()}")
    # debootstrap follows no virtual packages, and venv needs one that distutils provides.
    packages = f"python{PYTHON}-venv,python3-distutils"
    command = [needed("debootstrap"), "--variant=minbase", f"--include={packages}"]
    command += [SUITE, str(begun), _mirror()]
    begun.parent.mkdir(exist_ok=True)
    subprocess.run(command, capture_output=True, timeout=600, check=True)
    for name in _NOT_IN_SLIM:
        shutil.rmtree(begun / name)
    (begun / "usr/local/bin/python").symlink_to(f"/usr/bin/python{PYTHON}")
    begun.rename(made)
    return made


def _mirror() -> str:
    """Return where this machine's apt gets that Debian from."""
    command = [needed("apt-get"), "indextargets", "--format", "$(RELEASE) $(REPO_URI)"]
    listed = subprocess.run(
        [*command, "Identifier: Packages", "Component: main"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    mirrors = [line.split()[1] for line in listed.splitlines() if line.startswith(f"{SUITE} ")]
    if mirrors:
        return mirrors[0]
    if os.environ.get("CI") == "true":
        pytest.fail(f"this machine's apt knows no Debian {SUITE}, and CI must test with it")
    pytest.skip(f"this machine's apt knows no Debian {SUITE}, which the image stands on")


def need_root() -> None:
    """Skip a test that needs root; in CI it fails."""
    if os.geteuid() == 0:
        return
    if os.environ.get("CI") == "true":
        pytest.fail("CI must run as root: the image is built by chroot")
    pytest.skip("only root can build the image by chroot")
