"""The package `@waitroom/gate` as npm would publish it: its files, its types, its imports."""

from __future__ import annotations

import json
import re
import tarfile
from pathlib import Path

import pytest

from tests.stacks.tools import PACKAGE, ROOT, run
from tests.support.programs import needed
from waitroom.version import __version__

BIN = ROOT / "node_modules" / ".bin"
USER = """
import { waitroom, type Visit } from "@waitroom/gate";
import { middleware as onHono } from "@waitroom/gate/hono";
import { middleware as onNode } from "@waitroom/gate/node";
import { Hono } from "hono";

const gate = waitroom({ url: "http://w:8080", site: "https://a.example", rules: { "/": "room" } });
const answer: Promise<Response | undefined> = gate(new Request("https://a.example/"));
const visit: Promise<Visit> = gate.visit(new Request("https://a.example/"));
void answer, void visit, void onNode(gate), new Hono().use(onHono(gate));
// @ts-expect-error: there is no such word
waitroom({ url: "", site: "", rules: {}, whenAway: "maybe" });
"""


@pytest.fixture
def packed(node_folder: Path) -> Path:
    """Return the tarball that the sites of these tests were installed from."""
    (tarball,) = (node_folder / "packed").glob("*.tgz")
    return tarball


def test_files(packed: Path) -> None:
    """It has its sources, a declaration for each, its licence, and neither tests nor settings."""
    with tarfile.open(packed) as archive:
        names = {name.removeprefix("package/") for name in archive.getnames()}
    sources = {f"src/{path.name}" for path in (PACKAGE / "src").glob("*.js")}
    types = {name.replace("src/", "types/").replace(".js", ".d.ts") for name in sources}
    assert sources | types | {"package.json", "README.md", "LICENSE"} == names


def test_version_and_exports() -> None:
    """Its version is Waitroom's; every file that it exports exists."""
    package = json.loads((PACKAGE / "package.json").read_text("utf-8"))
    assert __version__ == package["version"]
    assert all((PACKAGE / entry["default"]).is_file() for entry in package["exports"].values())


@pytest.mark.parametrize("platform", ["neutral", "browser"])
def test_it_needs_nothing_of_node(node_folder: Path, tmp_path: Path, platform: str) -> None:
    """Bundled with all its imports for a runtime other than Node, it names no Node module."""
    esbuild, out = str(BIN / "esbuild"), tmp_path / "out.js"
    source = node_folder / "entry.mjs"
    entries = ("", "/node", "/hono")
    source.write_text(
        "".join(
            f'export * as a{at} from "@waitroom/gate{entry}";\n' for at, entry in enumerate(entries)
        )
    )
    fields = "--main-fields=module,main"
    command = [esbuild, str(source), "--bundle", "--format=esm", f"--platform={platform}", fields]
    done = run([*command, f"--outfile={out}"], node_folder)
    assert 0 == done.returncode, done.stderr
    assert [] == re.findall(
        r"""["'](?:node:\w+|fs|crypto|http)["']|process\.env""", out.read_text()
    )


def test_types(node_folder: Path) -> None:
    """A strict TypeScript user finds every type, also as Hono middleware."""
    needed("node", "nodejs")
    (node_folder / "user.mts").write_text(USER, "utf-8")
    options = {
        "strict": True,
        "noEmit": True,
        "skipLibCheck": True,
        "target": "es2022",
        "module": "nodenext",
        "lib": ["es2022", "dom", "dom.iterable"],
        "types": [],
    }
    settings = {"compilerOptions": options, "files": ["user.mts"]}
    (node_folder / "tsconfig.user.json").write_text(json.dumps(settings), "utf-8")
    done = run([str(BIN / "tsc"), "-p", "tsconfig.user.json"], node_folder)
    assert (0, "") == (done.returncode, done.stdout + done.stderr)


def test_a_visitor_who_leaves(node_folder: Path) -> None:
    """An edge runtime knows of the requests that others wait for."""
    installed = node_folder / "node_modules" / "@waitroom" / "gate"
    test = installed / "test" / "leaving.test.mjs"
    test.parent.mkdir(exist_ok=True)
    test.write_text((PACKAGE / "test" / test.name).read_text("utf-8"), "utf-8")
    done = run([needed("node", "nodejs"), "--test", str(test)], node_folder)
    assert 0 == done.returncode, done.stdout
