"""Statements about the safety of our packages, and the list of what a release contains."""

from __future__ import annotations

import json
from typing import Any

import pytest
import yaml
from packaging.utils import canonicalize_name

from tests import supply
from tests.release import RELEASE, ROOT
from tests.support.programs import need_assets
from tests.test_release import pins
from waitroom.version import __version__

GOOD: dict[str, Any] = {"name": "good", "version": "1.0", "vulns": []}
SKIPPED = {"name": "skipped", "skip_reason": "not found on PyPI"}
BAD = {
    "name": "bad",
    "version": "1.0",
    "vulns": [{"id": "CVE-2026-0001", "fix_versions": ["1.1"]}, {"id": "X", "fix_versions": []}],
}


@pytest.mark.parametrize(
    ("packages", "code", "text"),
    [
        ([GOOD], 0, "1 packages were audited\n"),
        ([SKIPPED], 2, "the vulnerability service could not be reached, so nothing was audited\n"),
        ([GOOD, SKIPPED], 1, "skipped: could not be audited\n1 packages were audited\n"),
        (
            [BAD, GOOD],
            1,
            "bad 1.0: CVE-2026-0001, fixed in 1.1\nbad 1.0: X, fixed in no version yet\n"
            "2 packages were audited\n",
        ),
    ],
)
def test_a_package_that_was_not_audited_is_not_safe(
    packages: list[dict[str, Any]], code: int, text: str
) -> None:
    """pip-audit itself says "no known vulnerabilities" if it could not check any package."""
    assert (code, text) == supply.verdict({"dependencies": packages})


@pytest.mark.sample(0)
def test_the_sbom() -> None:
    """It is valid CycloneDX, and lists what a release consists of, with a licence for each."""
    need_assets()
    assert 0 == supply.sbom()
    document = json.loads(supply.SBOM.read_text("utf-8"))
    assert ("CycloneDX", "1.6") == (document["bomFormat"], document["specVersion"])
    root = document["metadata"]["component"]
    assert ("waitroom", __version__, "application") == (root["name"], root["version"], root["type"])
    wanted = {f"pkg:pypi/{name}@{version}" for name, version in pins(RELEASE).items()}
    wanted |= {f"pkg:npm/{part['name']}@{part['version']}" for part in supply.in_scripts()}
    assert wanted == {
        part["purl"].replace(part["name"], canonicalize_name(part["name"]))
        for part in document["components"]
    }
    assert [] == [part["name"] for part in document["components"] if not part.get("licenses")]
    references = {part["bom-ref"] for part in document["components"]} | {root["bom-ref"]}
    assert references == {entry["ref"] for entry in document["dependencies"]}


def test_the_scripts_of_the_pages_are_in_it() -> None:
    """The wheel contains uPlot and idiomorph, in the versions of package.json."""
    need_assets()
    pinned = json.loads((ROOT / "package.json").read_text("utf-8"))["dependencies"]
    assert [
        {"name": "idiomorph", "version": pinned["idiomorph"], "license": "0BSD"},
        {"name": "uplot", "version": pinned["uplot"], "license": "MIT"},
    ] == supply.in_scripts()


def test_an_npm_package_is_a_part_of_the_whole() -> None:
    """It has an address, a licence, and is a dependency of the release."""
    document: dict[str, Any] = {
        "metadata": {"component": {"bom-ref": "root"}},
        "components": [],
        "dependencies": [{"ref": "root", "dependsOn": ["redis"]}, {"ref": "redis"}],
    }
    supply.add_npm(document, [{"name": "@a/b", "version": "1.0", "license": "MIT"}])
    (part,) = document["components"]
    purl = "pkg:npm/%40a/b@1.0"
    assert (purl, purl, "@a/b", "1.0") == tuple(
        part[key] for key in ("purl", "bom-ref", "name", "version")
    )
    assert [{"license": {"id": "MIT"}}] == part["licenses"]
    assert [
        {"ref": "root", "dependsOn": ["redis", purl]},
        {"ref": "redis"},
        {"ref": purl},
    ] == document["dependencies"]


def test_updates_are_looked_for_where_we_have_packages() -> None:
    """Each folder that dependabot.yml names has the file of its ecosystem."""
    document = yaml.safe_load((ROOT / ".github/dependabot.yml").read_text("utf-8"))
    files = {
        "pip": "pyproject.toml",
        "npm": "package.json",
        "docker": "Dockerfile",
        "github-actions": ".github/workflows",
    }
    updates = document["updates"]
    assert set(files) == {update["package-ecosystem"] for update in updates}
    for update in updates:
        path = ROOT / update["directory"].strip("/") / files[update["package-ecosystem"]]
        assert path.exists(), path
