"""`make release`: each reason not to release is found, on a real repository."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.release_check import (
    changelog_problem,
    git,
    packages_problem,
    tag_problem,
    tree_problem,
    version_problem,
)

EMPTY = "# Changelog\n\n## [Unreleased]\n\n"
LINES = "### Added\n- A thing.\n"


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """Make a repository with one commit."""
    git(tmp_path, "init", "--quiet")
    (tmp_path / "file").write_text("1")
    git(tmp_path, "add", "file")
    name = ["-c", "user.name=test", "-c", "user.email=test@example.test"]
    git(tmp_path, *name, "commit", "--quiet", "--message", "one")
    return tmp_path


@pytest.mark.parametrize("version", ["0.1", "0.1.0", "1.0.0rc1"])
def test_a_version(version: str) -> None:
    """Releases and candidates are versions."""
    assert version_problem(version) is None


@pytest.mark.parametrize("version", ["0.1.0+mine", "v0.1.0", "next", "1.0.0-rc1"])
def test_no_version(version: str) -> None:
    """An index would refuse these, or write them differently."""
    assert "version.py" in str(version_problem(version))


def test_a_changelog() -> None:
    """A section with a date and lines is all that is needed."""
    assert changelog_problem(f"{EMPTY}## [0.1.0] - 2026-11-18\n\n{LINES}", "0.1.0") is None


@pytest.mark.parametrize(
    ("text", "word"),
    [
        (f"# Changelog\n\n## [0.1.0] - 2026-11-18\n\n{LINES}", "begin with"),
        (f"{EMPTY}{LINES}## [0.1.0] - 2026-11-18\n\n{LINES}", "still has lines"),
        (EMPTY, "needs the section"),
        (f"{EMPTY}## [0.1.0]\n\n{LINES}", "needs the section"),
        (f"{EMPTY}## [0.0.9] - 2026-11-18\n\n{LINES}", "needs the section"),
        (f"{EMPTY}## [0.1.0] - 2026-11-18\n\n## [0.0.9] - 2026-01-01\n\n{LINES}", "is empty"),
    ],
)
def test_no_changelog(text: str, word: str) -> None:
    """It reports what a reader of the changelog would miss."""
    assert word in str(changelog_problem(text, "0.1.0"))


def test_a_tree_and_its_tag(repository: Path) -> None:
    """A clean tree and a new tag are fine; a changed file and a second tag are not."""
    assert tree_problem(repository) is None
    assert tag_problem(repository, "0.1.0", None) is None
    git(repository, "tag", "v0.1.0")
    assert "there already" in str(tag_problem(repository, "0.1.0", None))
    assert tag_problem(repository, "0.1.0", "v0.1.0") is None
    assert "not v0.2.0" in str(tag_problem(repository, "0.2.0", "v0.1.0"))
    (repository / "file").write_text("2")
    assert "M file" in str(tree_problem(repository))


def test_packages_go_together(tmp_path: Path) -> None:
    """An npm package with another version is named."""
    (tmp_path / "packages/client").mkdir(parents=True)
    package = tmp_path / "packages/client/package.json"
    package.write_text('{"version": "0.1.0"}')
    assert packages_problem(tmp_path, "0.1.0") is None
    assert "packages/client/package.json" in str(packages_problem(tmp_path, "0.2.0"))
