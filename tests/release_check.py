"""Tells whether this tree can be released, builds the release, and says how to tag it.

`make release` runs it; nothing is pushed. The release workflow runs it once more with `TAG`.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from packaging.version import InvalidVersion, Version

from tests.support.dist import ROOT, build, metadata
from waitroom.server.http import assets
from waitroom.version import __version__

CHANGES = re.compile(r"^### .+\n\n?- .+\n", re.M)


def git(root: Path, *args: str) -> str:
    """Return git's output."""
    command = ["git", "-C", str(root), *args]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def version_problem(version: str) -> str | None:
    """A version must be one that an index accepts, and not a local build."""
    try:
        good = str(Version(version)) == version and Version(version).local is None
    except InvalidVersion:
        good = False
    return None if good else f"{version} is no version to release; edit src/waitroom/version.py"


def changelog_problem(text: str, version: str) -> str | None:
    """The version has its own section with a date, above all others, and it is not empty."""
    sections = re.split(r"^## ", text, flags=re.M)[1:]
    heading = re.compile(rf"\[{re.escape(version)}\] - \d{{4}}-\d\d-\d\d\n")
    if not sections or not sections[0].startswith("[Unreleased]"):
        return "CHANGELOG.md does not begin with ## [Unreleased]"
    if CHANGES.search(sections[0]):
        return f"CHANGELOG.md still has lines under [Unreleased]; move them to ## [{version}]"
    if len(sections) < 2 or not heading.match(sections[1]):
        return f"CHANGELOG.md needs the section ## [{version}] - YYYY-MM-DD below [Unreleased]"
    return None if CHANGES.search(sections[1]) else f"the section [{version}] is empty"


def tree_problem(root: Path) -> str | None:
    """Only what is committed is released."""
    changed = git(root, "status", "--porcelain").splitlines()
    return f"the tree is not clean: {changed[0].strip()}, …; commit it first" if changed else None


def tag_problem(root: Path, version: str, tag: str | None) -> str | None:
    """The tag is new; or, once it was pushed, it is this version's."""
    if tag is not None:
        return None if tag == f"v{version}" else f"the tag {tag} is not v{version}"
    there = git(root, "tag", "--list", f"v{version}").strip()
    return f"the tag {there} is there already; raise src/waitroom/version.py" if there else None


def packages_problem(root: Path, version: str) -> str | None:
    """The npm packages have the same version, so users need not know which fits which."""
    for path in sorted(root.glob("packages/*/package.json")):
        found = json.loads(path.read_text("utf-8")).get("version")
        if found != version:
            return f"{path.relative_to(root)} has version {found}, not {version}"
    return None


def assets_problem() -> str | None:
    """The pages' scripts and styles are minified, and fresh."""
    return None if assets.are_built() else "the assets are missing or old: run `make assets`"


def built_problem(folder: Path) -> str | None:
    """Both files can be built, and an index would accept them."""
    shutil.rmtree(folder, ignore_errors=True)
    try:
        sdist, wheel = build(folder)
        found = metadata(wheel)
    except (RuntimeError, ExceptionGroup) as error:
        return str(error)
    finally:
        for unpacked in folder.glob("*/"):
            shutil.rmtree(unpacked)
    if (str(found.version), found.description_content_type) != (__version__, "text/markdown"):
        return f"{wheel.name} says that it is {found.version}, {found.description_content_type}"
    return None if {sdist, wheel} == set(folder.iterdir()) else f"{folder} holds other files"


def checks(root: Path, tag: str | None) -> Iterator[tuple[str, str | None]]:
    """Go through all checks, cheap ones first."""
    yield "version", version_problem(__version__)
    yield "changelog", changelog_problem((root / "CHANGELOG.md").read_text("utf-8"), __version__)
    yield "tree", tree_problem(root)
    yield "tag", tag_problem(root, __version__, tag)
    yield "npm", packages_problem(root, __version__)
    yield "assets", assets_problem()
    yield "dist", built_problem(root / "dist")


def main() -> int:
    """Print each check, and what to do next."""
    failed = 0
    for name, problem in checks(ROOT, os.environ.get("TAG") or None):
        failed += problem is not None
        print(f"{'✗' if problem else '✓'} {name:10} {problem or 'ok'}", flush=True)  # noqa: T201
    if failed:
        print(f"\n{failed} to mend before {__version__} can be released.")  # noqa: T201
        return 1
    print(  # noqa: T201
        f"\ndist/ holds what will be released. Nothing was pushed. Once CI is green:\n\n"
        f"  git tag --sign v{__version__} --message 'Waitroom {__version__}'\n"
        f"  git push origin v{__version__}\n\n"
        "The workflow `release` then publishes to PyPI and npm, and pushes the image."
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
