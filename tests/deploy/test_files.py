"""What the files of deploy/ have in common: existing variables, images with a tag, no secret."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.deploy.files import COMPOSE, DEPLOY, ROOT
from waitroom import __version__
from waitroom.settings import SETTINGS

ENVS = {setting.env for setting in SETTINGS} | {
    f"{setting.env}_FILE" for setting in SETTINGS if setting.by_file
}
FILES = [path for path in sorted(DEPLOY.rglob("*")) if path.is_file()]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(DEPLOY).as_posix())
def test_every_variable_is_a_setting(path: Path) -> None:
    """No file sets a variable that Waitroom does not read."""
    names = set(re.findall(r"\bWAITROOM_[A-Z_]+\b", path.read_text("utf-8")))
    assert set() == names - ENVS


@pytest.mark.parametrize(
    "image",
    [
        *re.findall(r"^FROM (\S+)", (DEPLOY / "Dockerfile").read_text("utf-8"), re.M),
        *(service["image"] for service in COMPOSE["services"].values()),
        *re.findall(r"image: (\S+)", (DEPLOY / "kubernetes/base/deployment.yaml").read_text()),
    ],
)
def test_images_are_pinned(image: str) -> None:
    """Every image has a tag, and not `latest`."""
    name, _, tag = image.partition(":")
    assert name
    assert tag not in ("", "latest")
    if name == "waitroom":
        assert __version__ == tag


def test_files_with_secrets_are_not_kept() -> None:
    """git ignores what the commands in the headers create."""
    ignored = (ROOT / ".gitignore").read_text("utf-8").splitlines()
    secrets = {"/deploy/waitroom.env", "/deploy/valkey.acl", "/deploy/kubernetes/**/secrets/"}
    assert secrets <= set(ignored)
