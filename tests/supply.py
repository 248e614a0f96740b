"""`python -m tests.supply audit|sbom`: are our packages known to be unsafe, and which are they?

`audit` checks constraints.txt for known vulnerabilities; a package that could not be checked does
not count as safe. `sbom` writes build/sbom.json, CycloneDX, for an environment made from
requirements-release.txt, like the image, and for the npm packages in the scripts of our pages.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote

from tests.release import PYTHON, RELEASE, ROOT
from waitroom.server.http import assets
from waitroom.version import __version__

SBOM = ROOT / "build" / "sbom.json"
PIP_AUDIT, CYCLONEDX = "pip-audit==2.10.1", "cyclonedx-bom==7.5.0"
_UV = str(Path(sys.executable).with_name("uv"))
_UNREACHABLE = "the vulnerability service could not be reached, so nothing was audited\n"


def tool(package: str, *words: str) -> subprocess.CompletedProcess[str]:
    """Run a program from a package that we do not require, in its own environment."""
    command = [_UV, "tool", "run", "--quiet", "--from", package, *words]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


def verdict(report: Mapping[str, Any]) -> tuple[int, str]:
    """Return the exit code for a pip-audit report, and what to print."""
    packages = report["dependencies"]
    skipped = [package["name"] for package in packages if "skip_reason" in package]
    if packages and len(skipped) == len(packages):
        return 2, _UNREACHABLE
    lines = [
        f"{package['name']} {package['version']}: {known['id']}, "
        f"fixed in {', '.join(known['fix_versions']) or 'no version yet'}\n"
        for package in packages
        for known in package.get("vulns", ())
    ]
    lines += [f"{name}: could not be audited\n" for name in skipped]
    audited = len(packages) - len(skipped)
    return (1 if lines else 0), "".join([*lines, f"{audited} packages were audited\n"])


def audit() -> int:
    """Audit constraints.txt: 0 if nothing is known, 1 if something is, 2 if nothing was checked."""
    words = ("--no-deps", "--disable-pip", "--format=json", "--progress-spinner=off")
    done = tool(PIP_AUDIT, "pip-audit", "--requirement=constraints.txt", *words)
    try:
        code, text = verdict(json.loads(done.stdout))
    except ValueError:  # it broke off: there is no report
        code, text = 2, done.stderr.strip().rpartition("\n")[2] + "\n" + _UNREACHABLE
    sys.stdout.write(text)
    return code


def in_scripts() -> list[dict[str, str]]:
    """Return the npm packages that the minified scripts contain, as `make assets` noted them."""
    packages: list[dict[str, str]] = json.loads((assets.BUILT / "PACKAGES.json").read_bytes())
    return packages


def add_npm(document: dict[str, Any], packages: Iterable[Mapping[str, str]]) -> None:
    """Add npm packages to an SBOM, as parts of the whole."""
    root = document["metadata"]["component"]["bom-ref"]
    (whole,) = (entry for entry in document["dependencies"] if entry["ref"] == root)
    for package in packages:
        purl = f"pkg:npm/{quote(package['name'])}@{package['version']}"
        document["components"].append(
            {
                "bom-ref": purl,
                "type": "library",
                "name": package["name"],
                "version": package["version"],
                "licenses": [{"license": {"id": package["license"]}}],
                "purl": purl,
            }
        )
        document["dependencies"].append({"ref": purl})
        whole.setdefault("dependsOn", []).append(purl)


def sbom() -> int:
    """Write the SBOM; the scripts must be built."""
    if not assets.are_built():
        sys.stderr.write("the scripts of the pages are missing or old: run `make assets`\n")
        return 1
    folder = ROOT / "build" / "sbom"
    python = str(folder / "bin" / "python")
    install = [_UV, "pip", "install", "--quiet", f"--python={python}"]
    for command in (
        [_UV, "venv", "--quiet", "--clear", f"--python={PYTHON}", str(folder)],
        [*install, "--require-hashes", "--only-binary=:all:", "--requirement", RELEASE],
    ):
        subprocess.run(command, cwd=ROOT, check=True)
    words = ("--output-reproducible", "--pyproject=pyproject.toml", f"--output-file={SBOM}")
    done = tool(CYCLONEDX, "cyclonedx-py", "environment", *words, python)
    sys.stderr.write(done.stderr)
    if not done.returncode:
        document = json.loads(SBOM.read_text("utf-8"))
        document["metadata"]["component"]["version"] = __version__  # dynamic in pyproject.toml
        add_npm(document, in_scripts())
        SBOM.write_text(json.dumps(document, indent=2) + "\n", "utf-8")
    return done.returncode


if __name__ == "__main__":
    raise SystemExit({"audit": audit, "sbom": sbom}[sys.argv[1]]())
