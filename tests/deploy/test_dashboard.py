"""The dashboard by Grafana's own types: no unknown field, and none of another type."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from tests.deploy.files import DEPLOY, ROOT
from tests.support.programs import needed

TYPES = ROOT / "node_modules/@grafana/schema/dist/types/index.d.ts"
# JSON has the values of enumerations, not their names.
MODULE = """
import type {{ Dashboard }} from "@grafana/schema";
type Plain<T> = T extends string ? `${{T}}`
    : T extends object ? {{ [K in keyof T]: Plain<T[K]> }} : T;
export const dashboard: Plain<Dashboard> = {json};
"""


def complaints(text: str, folder: Path) -> str:
    """Return what the compiler says about a dashboard."""
    options = {
        "strict": True,
        "noEmit": True,
        "skipLibCheck": True,
        "target": "es2022",
        "types": [],
    }
    options |= {"module": "es2022", "moduleResolution": "bundler"}
    options["paths"] = {"@grafana/schema": [str(TYPES)]}
    config = {"compilerOptions": options, "files": ["dashboard.ts"]}
    (folder / "tsconfig.json").write_text(json.dumps(config), "utf-8")
    (folder / "dashboard.ts").write_text(MODULE.format(json=text), "utf-8")
    command = [needed("node", "nodejs"), str(ROOT / "node_modules/typescript/bin/tsc"), "-p", "."]
    done = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, timeout=120, check=False
    )
    return done.stdout + done.stderr


def test_grafana_knows_every_field(tmp_path: Path) -> None:
    """The types are those that Grafana publishes for the version in package.json."""
    if not TYPES.exists():
        if os.environ.get("CI") == "true":
            pytest.fail("@grafana/schema is not installed, and CI must test with it: npm install")
        pytest.skip("@grafana/schema is not installed: `npm install` to test with it")
    text = (DEPLOY / "grafana.json").read_text("utf-8")
    assert "" == complaints(text, tmp_path)
    unknown = text.replace('"templating"', '"templates"')
    assert "'\"templates\"' does not exist" in complaints(unknown, tmp_path)
    assert "TS2322" in complaints(text.replace('"absolute"', '"relative"'), tmp_path)
