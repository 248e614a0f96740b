"""The files of deploy/, parsed; and the commands in their headers."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import yaml

from tests.support.programs import needed

ROOT = Path(__file__).parent.parent.parent
DEPLOY = ROOT / "deploy"
COMPOSE = yaml.safe_load((DEPLOY / "compose.yaml").read_text("utf-8"))
ALERTS = yaml.safe_load((DEPLOY / "alerts.yaml").read_text("utf-8"))
RULES = [rule for group in ALERTS["groups"] for rule in group["rules"]]
DASHBOARD = json.loads((DEPLOY / "grafana.json").read_text("utf-8"))
EXPRESSIONS = [
    *((rule["alert"], rule["expr"]) for rule in RULES),
    *(
        (panel["title"], target["expr"])
        for panel in DASHBOARD["panels"]
        for target in panel.get("targets", [])
    ),
]
"""Every query of an alert or a panel, with its name."""

OVERLAY = Path("kubernetes/overlays/production")


def follow_head(path: Path, folder: Path, skip: str) -> None:
    """Run the commands in a file's header, except the one that begins with `skip`."""
    needed("openssl")
    head = path.read_text("utf-8").partition("\n\n")[0]
    head = re.split(r"^[^#]", head, maxsplit=1, flags=re.M)[0]
    lines = re.findall(r"^#   (.+)$", head, re.M)
    assert any(line.startswith(skip) for line in lines)
    script = "\n".join(line for line in lines if not line.startswith(skip))
    subprocess.run([needed("bash"), "-euc", script], cwd=folder, timeout=20, check=True)


def compose_env(folder: Path) -> dict[str, str]:
    """Make the secret files in a copy of deploy/, and return Waitroom's variables."""
    (folder / "deploy").mkdir()
    for name in ("waitroom.env.example", "valkey.acl.example"):
        shutil.copy(DEPLOY / name, folder / "deploy")
    follow_head(DEPLOY / "compose.yaml", folder, "docker ")
    service = COMPOSE["services"]["waitroom"]
    text = (folder / "deploy" / service["env_file"]).read_text("utf-8")
    return {**dict(re.findall(r"^(\w+)=(.*)$", text, re.M)), **service["environment"]}


def rendered(folder: Path) -> list[dict[str, Any]]:
    """Make the secrets in a copy of the manifests, and return how kubectl renders the overlay."""
    kubectl = needed("kubectl", "kubernetes-client")
    shutil.copytree(DEPLOY / "kubernetes", folder / "kubernetes")
    overlay = folder / OVERLAY
    follow_head(overlay / "kustomization.yaml", overlay, "kubectl ")
    command = [kubectl, "kustomize", str(overlay)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert 0 == done.returncode, done.stderr
    return list(yaml.safe_load_all(done.stdout))
