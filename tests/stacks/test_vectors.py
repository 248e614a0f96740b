"""Gates in every language answer the vectors of the contract as the Python gate does."""

from __future__ import annotations

import re
from pathlib import Path

from tests.contract.files import FOLDER
from tests.stacks.tools import EXAMPLES, GO, PACKAGE, run
from tests.support.programs import needed

HERE = Path(__file__).parent


def test_javascript(node_folder: Path) -> None:
    """The package `@waitroom/gate`, installed from its tarball."""
    node = needed("node", "nodejs")
    installed = node_folder / "node_modules" / "@waitroom" / "gate"
    test = installed / "test" / "vectors.test.mjs"
    test.parent.mkdir(exist_ok=True)
    text = (PACKAGE / "test" / "vectors.test.mjs").read_text("utf-8")
    test.write_text(text.replace("../../../contract/", f"{FOLDER.as_uri()}/"), "utf-8")
    done = run([node, "--test", str(test)], node_folder)
    assert (0, "5") == (done.returncode, _number(r"# pass (\d+)", done.stdout)), done.stdout


def test_go() -> None:
    """The Go gate, which is formatted and vetted too."""
    go = needed("go", "golang-go")
    for command in ([needed("gofmt", "golang-go"), "-l", "."], [go, "vet", "./..."]):
        done = run(command, GO)
        assert (0, "") == (done.returncode, done.stdout + done.stderr)
    done = run([go, "test", "-count=1", "-v", "."], GO)
    assert 0 == done.returncode, done.stdout
    assert 6 == done.stdout.count("--- PASS: ")


def test_java(tmp_path: Path) -> None:
    """The Java gate, compiled without a single warning."""
    javac, java = (needed(name, "openjdk-17-jdk-headless") for name in ("javac", "java"))
    gate = sorted((EXAMPLES / "java").glob("Waitroom*.java"))  # what the docs say to copy
    sources = [*map(str, gate), str(HERE / "java" / "Vectors.java")]
    done = run([javac, "--release", "17", "-Xlint:all", "-Werror", "-d", ".", *sources], tmp_path)
    assert (0, "") == (done.returncode, done.stdout + done.stderr)
    done = run([java, "-cp", str(tmp_path), "Vectors", str(FOLDER)], tmp_path)
    assert (0, "0") == (done.returncode, _number(r" vectors, (\d+) wrong", done.stdout)), done
    assert int(_number(r"(\d+) vectors", done.stdout) or 0) > 300


def _number(pattern: str, text: str) -> str | None:
    match = re.search(pattern, text)
    return match[1] if match else None
