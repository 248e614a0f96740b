"""How compose.yaml and the manifests run the image: its command, variables and mounts."""

from __future__ import annotations

import base64
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tests.deploy.files import COMPOSE, compose_env, rendered
from tests.deploy.image import Mount


@dataclass(frozen=True, slots=True)
class Container:
    """What a file says about Waitroom's container; without `args` the image's own are used."""

    env: dict[str, str]
    admin_key: str
    probes: list[str]
    mounts: list[Mount]
    args: list[str]


Way = Callable[[Path, str], Container]


def by_compose(folder: Path, redis_url: str) -> Container:
    """Return the service of compose.yaml, with another backend."""
    service = COMPOSE["services"]["waitroom"]
    assert service["read_only"] is True
    assert (["/tmp"], ["waitroom:/data"]) == (service["tmpfs"], service["volumes"])  # noqa: S108
    env = compose_env(folder) | {"WAITROOM_REDIS_URL": redis_url}
    return Container(env, env["WAITROOM_ADMIN_KEY"], ["/readyz"], [], [])


def by_kubernetes(folder: Path, redis_url: str) -> Container:
    """Return the container of the rendered Deployment, its volumes as folders."""
    documents = {document["kind"]: document for document in rendered(folder)}
    pod = documents["Deployment"]["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    volumes = {
        documents["ConfigMap"]["metadata"]["name"]: {
            name: text.encode() for name, text in documents["ConfigMap"]["data"].items()
        },
        documents["Secret"]["metadata"]["name"]: {
            name: base64.b64decode(text) for name, text in documents["Secret"]["data"].items()
        }
        | {"redis_url": redis_url.encode()},
    }
    names = {
        volume["name"]: (volume.get("configMap") or {}).get("name")
        or (volume.get("secret") or {}).get("secretName")
        for volume in pod["volumes"]
    }
    group = pod["securityContext"]["fsGroup"]
    mounts = [
        _volume(folder / each["name"], each["mountPath"], volumes[names[each["name"]]], group)
        for each in container["volumeMounts"]
        if names[each["name"]]
    ]
    kinds = ("startup", "liveness", "readiness")
    return Container(
        {pair["name"]: pair["value"] for pair in container["env"]},
        volumes[documents["Secret"]["metadata"]["name"]]["admin_key"].decode().strip(),
        [container[f"{kind}Probe"]["httpGet"]["path"] for kind in kinds],
        mounts,
        container["args"],
    )


def _volume(folder: Path, target: str, files: dict[str, bytes], group: int) -> Mount:
    """Write a volume as Kubernetes does: the files belong to root, readable only by the group."""
    folder.mkdir()
    for name, content in files.items():
        path = folder / name
        path.write_bytes(content)
        shutil.chown(path, 0, group)
        path.chmod(0o440)
    return Mount(folder, target)
