"""What pyproject.toml says about versions is what we use, and can be installed."""

from __future__ import annotations

import ast
import os
import re
import shutil
import sys
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests import versions
from tests.release import ROOT

SRC = ROOT / "src" / "waitroom"
# Sites with a framework's gate have the framework.
BROUGHT_ALONG = {"asgiref", "django"}
# Packages whose module has another name.
PACKAGES = {"jwt": "pyjwt", "multipart": "python-multipart", "phonenumbers": "phonenumberslite"}


def imported() -> set[str]:
    """Return the packages that our modules import, by module name."""
    names: set[str] = set()
    for path in SRC.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Import):
                names |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                names.add(node.module.partition(".")[0])
    return names - sys.stdlib_module_names - {"waitroom", "__future__"}


def test_what_we_import_is_what_we_require() -> None:
    """A package that another one happens to bring along may be gone in its next version."""
    required = {canonicalize_name(wanted.name) for wanted in versions.direct(versions.project())}
    used = {canonicalize_name(PACKAGES.get(name, name)) for name in imported()}
    assert set() == used - required - BROUGHT_ALONG


def test_every_requirement_has_a_floor() -> None:
    """Without one, `make test-lowest` would test with a version from ten years ago."""
    without = [
        str(wanted)
        for wanted in versions.direct(versions.project())
        if ">=" not in {bound.operator for bound in wanted.specifier}
    ]
    assert [] == without


def test_a_package_has_one_range() -> None:
    """Extras that need the same package need the same version of it."""
    ranges: dict[str, set[str]] = {}
    for wanted in versions.direct(versions.project()):
        ranges.setdefault(canonicalize_name(wanted.name), set()).add(str(wanted.specifier))
    assert {} == {name: found for name, found in ranges.items() if len(found) > 1}


def test_a_floor_that_cannot_be_installed_is_found() -> None:
    """As rich>=13 was, beside a typer that needs a newer one."""
    table = {
        "name": "waitroom",
        "dependencies": ["PyJWT>=2.10,<3"],
        "optional-dependencies": {"a": ["waitroom[b]"], "b": ["rich>=13"]},
    }
    found = {"pyjwt": "2.10.0", "rich": "13.8.0"}
    assert ["rich>=13: the lowest that can be installed is 13.8.0"] == versions.untrue_floors(
        table, found
    )
    assert [] == versions.untrue_floors(table, found | {"rich": "13.0"})


def test_versions_of_an_environment_are_read() -> None:
    """By their canonical names, from the environment's own Python."""
    found = versions.installed(Path(sys.executable))
    assert metadata.version("PyJWT") == found["pyjwt"]
    assert metadata.version("prometheus_client") == found["prometheus-client"]


def test_pythons() -> None:
    """From 3.11 on without a gap, and each is searched under its own name."""
    minors = [int(version.partition(".")[2]) for version in versions.pythons()]
    assert list(range(11, 11 + len(minors))) == minors
    assert Requirement(f"x{versions.project()['requires-python']}").specifier.contains("3.11")
    here = ".".join(map(str, sys.version_info[:2]))
    assert versions.found(here) is not None
    assert versions.found("3.99") is None


def test_a_python_that_does_not_run_is_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A name on PATH may be a shim for a version that is not installed."""
    (tmp_path / "python3.99").write_text("#!/bin/sh\nexit 127\n")
    (tmp_path / "python3.99").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    assert shutil.which("python3.99") is not None
    assert versions.found("3.99") is None


def test_missing_pythons_are_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The last lines say what was not tested."""
    monkeypatch.setattr(versions, "found", lambda _: None)
    assert 0 == versions.main("pythons", [])
    named = re.search(r"not tested: Python (.*)\n", capsys.readouterr().out)
    assert named is not None
    assert versions.others() == named[1].split(", ")


def test_this_python_is_left_to_make_test() -> None:
    """The whole suite runs on it anyway."""
    here = ".".join(map(str, sys.version_info[:2]))
    assert {here} == {*versions.pythons()} - {*versions.others()}
