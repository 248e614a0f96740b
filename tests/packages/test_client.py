"""`@waitroom/client`: what its tarball contains, and that its types are those of the current API.

How an app uses it is in tests/browser/test_react.py.
"""

from __future__ import annotations

import json
import subprocess
import tarfile
from pathlib import Path

import pytest

from tests.support import packages
from tests.support.openapi import document
from tests.support.programs import needed
from tests.support.serving import Serving
from waitroom.version import __version__

CLIENT = packages.ROOT / "packages" / "client"


@pytest.fixture(scope="module")
def tarball(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Pack it."""
    return packages.pack("client", tmp_path_factory.mktemp("packed"))


def test_what_is_packed(tarball: Path) -> None:
    """The built files with their types, licence and README, and nothing else."""
    with tarfile.open(tarball) as packed:
        names = {name.removeprefix("package/") for name in packed.getnames()}
        script = packed.extractfile("package/dist/index.js")
        assert script is not None
        text = script.read().decode()
    built = {"index.js", "react.js", "api.js"}
    types = {"index.d.ts", "line.d.ts", "react.d.ts", "api.d.ts", "waitroom.d.ts", "work.d.ts"}
    expected = {f"dist/{name}" for name in built | types}
    assert expected | {"package.json", "README.md", "LICENSE"} == names
    assert "/v1/rooms/" in text, "the client that the server serves is part of it"
    # A bundler would look for a file at that address.
    assert "import.meta" not in text


def test_publint_has_nothing_to_say(tarball: Path) -> None:
    """Entry points, types and fields are as bundlers and Node read them."""
    command = ("exec", "--offline", "--", "publint", "run", str(tarball), "--strict")
    assert "All good!" in packages.npm(packages.ROOT, *command)


def test_the_version_is_that_of_the_server() -> None:
    """A client and a server of the same version belong together."""
    assert __version__ == json.loads((CLIENT / "package.json").read_text("utf-8"))["version"]


def test_the_types_of_the_api_are_current() -> None:
    """They are what `make api-types` generates from the OpenAPI document."""
    packages.need_modules()
    made = subprocess.run(
        [needed("node"), CLIENT / "api.mjs"],
        input=document().encode(),
        capture_output=True,
        timeout=120,
        check=True,
    )
    same = made.stdout == (CLIENT / "src" / "api.ts").read_bytes()
    assert same, "the HTTP API has changed: run `make api-types`, and commit what it writes"


def test_an_app_in_node_solves_a_challenge(tarball: Path, tmp_path: Path, served: Serving) -> None:
    """The package has the solver in it: no file of the server is needed."""
    with tarfile.open(tarball) as packed:
        packed.extractall(tmp_path, filter="data")
    room = served.new_room(mode="paused", challenge="work")
    script = (
        f"import {{ Waitroom }} from '{tmp_path}/package/dist/index.js';"
        f"const place = new Waitroom('{room}', {{ base: '{served.base}', bearer: true }});"
        "console.log((await place.join()).position);"
    )
    command = [needed("node"), "--input-type=module", "--eval", script]
    printed = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    assert "1" == printed.stdout.strip()
