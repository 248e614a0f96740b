"""The manifests: kubectl renders them, the Kubernetes schemas accept them, and they fit."""

from __future__ import annotations

import base64
import re
import subprocess
import tomllib
from ipaddress import ip_address, ip_network
from pathlib import Path
from typing import Any

import kubernetes_validate  # type: ignore[import-untyped]
import pytest

from tests.deploy.files import DEPLOY, OVERLAY, rendered
from tests.support.programs import needed
from waitroom.settings import declared_rooms, load
from waitroom.tickets import KeyRing

OLDEST = "1.32.0"
"""The oldest Kubernetes that the available schemas know and that is still in wide use."""

Documents = list[dict[str, Any]]


@pytest.fixture(scope="module")
def documents(tmp_path_factory: pytest.TempPathFactory) -> Documents:
    """Everything that `kubectl apply -k` would send."""
    return rendered(tmp_path_factory.mktemp("manifests"))


@pytest.fixture(scope="module")
def kinds(documents: Documents) -> dict[str, Any]:
    """The documents by kind; there are two NetworkPolicies."""
    return {document["kind"]: document for document in documents}


@pytest.fixture(scope="module")
def pod(kinds: dict[str, Any]) -> Any:
    """What runs."""
    return kinds["Deployment"]["spec"]["template"]["spec"]


@pytest.fixture(scope="module")
def config(kinds: dict[str, Any]) -> Any:
    """The settings in the ConfigMap."""
    return tomllib.loads(kinds["ConfigMap"]["data"]["waitroom.toml"])


@pytest.mark.parametrize("version", [OLDEST, kubernetes_validate.latest_version()])
def test_kubernetes_takes_every_document(documents: Documents, version: str) -> None:
    """Each is valid by the schema of its kind, without fields unknown to Kubernetes."""
    for document in documents:
        kubernetes_validate.validate(document, version, strict=True)
    spoilt = documents[0] | {"sepc": {}}
    with pytest.raises(kubernetes_validate.ValidationError, match="sepc"):
        kubernetes_validate.validate(spoilt, version, strict=True)


def test_the_base_stands_alone() -> None:
    """kubectl renders it too, for other people's overlays."""
    kubectl = needed("kubectl", "kubernetes-client")
    command = [kubectl, "kustomize", str(DEPLOY / "kubernetes/base")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    assert {"ConfigMap", "Service", "Deployment"} == set(
        re.findall(r"^kind: (\w+)$", done.stdout, re.M)
    )


def test_nothing_is_sent_without_secrets() -> None:
    """Without secret files there are no manifests, instead of ones with our secrets."""
    kubectl = needed("kubectl", "kubernetes-client")
    command = [kubectl, "kustomize", str(DEPLOY / OVERLAY)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert 0 != done.returncode
    assert "secrets/" in done.stderr


def test_every_part_is_there(kinds: dict[str, Any]) -> None:
    """All for the same pods; and for those the autoscaler keeps, a budget that lets one go."""
    parts = {"Namespace", "ConfigMap", "Secret", "Deployment", "Service", "Ingress"}
    more = {"HorizontalPodAutoscaler", "PodDisruptionBudget", "NetworkPolicy"}
    assert parts | more == set(kinds)
    labels = kinds["Deployment"]["spec"]["template"]["metadata"]["labels"]
    assert labels == kinds["Service"]["spec"]["selector"]
    assert labels == kinds["Deployment"]["spec"]["selector"]["matchLabels"]
    assert labels == kinds["PodDisruptionBudget"]["spec"]["selector"]["matchLabels"]
    assert 1 == kinds["PodDisruptionBudget"]["spec"]["maxUnavailable"]
    scaler = kinds["HorizontalPodAutoscaler"]["spec"]
    assert kinds["Deployment"]["metadata"]["name"] == scaler["scaleTargetRef"]["name"]
    assert 3 <= scaler["minReplicas"] < scaler["maxReplicas"]
    assert "replicas" not in kinds["Deployment"]["spec"]


def test_the_settings_are_good(kinds: dict[str, Any], pod: Any, tmp_path: Path) -> None:
    """The TOML is accepted, rooms included, and each secret is the file of a setting."""
    path = tmp_path / "waitroom.toml"
    path.write_text(kinds["ConfigMap"]["data"]["waitroom.toml"], "utf-8")
    (container,) = pod["containers"]
    mounts = {mount["name"]: mount["mountPath"] for mount in container["volumeMounts"]}
    assert f"{mounts['config']}/waitroom.toml" == container["args"][1]
    env = {pair["name"]: pair["value"] for pair in container["env"]}
    for name, text in kinds["Secret"]["data"].items():
        variable = f"WAITROOM_{name.upper()}_FILE"
        assert f"{mounts['secrets']}/{name}" == env[variable]
        (tmp_path / name).write_bytes(base64.b64decode(text))
        env[variable] = str(tmp_path / name)
    settings = load(env, toml=path)
    assert (10, Path(mounts["data"])) == (settings.drain_s, settings.data_dir)
    assert settings.secret
    KeyRing.from_text(settings.secret)
    assert {"concert"} == set(declared_rooms(path))


def test_a_change_of_settings_rolls_out(kinds: dict[str, Any], pod: Any) -> None:
    """Names contain a hash of the content, and the pod refers to exactly those."""
    volumes = {volume["name"]: volume for volume in pod["volumes"]}
    names = kinds["ConfigMap"]["metadata"]["name"], kinds["Secret"]["metadata"]["name"]
    assert all(re.fullmatch(r"waitroom-\w{10}", name) for name in names)
    assert names == (
        volumes["config"]["configMap"]["name"],
        volumes["secrets"]["secret"]["secretName"],
    )


def test_probes_ask_paths_that_exist(pod: Any) -> None:
    """Liveness does not depend on Redis, readiness does."""
    (container,) = pod["containers"]
    probes = {name: container[f"{name}Probe"]["httpGet"]["path"] for name in
              ("startup", "liveness", "readiness")}  # fmt: skip
    assert {"startup": "/healthz", "liveness": "/healthz", "readiness": "/readyz"} == probes


def test_the_grace_period_outlasts_the_drain(pod: Any, config: Any) -> None:
    """The pod is not killed while it still drains."""
    (container,) = pod["containers"]
    pause = re.search(r"sleep\((\d+)\)", container["lifecycle"]["preStop"]["exec"]["command"][2])
    assert pause
    drained = int(pause[1]) + config["waitroom"]["drain_s"] + 10
    assert drained < pod["terminationGracePeriodSeconds"]


def test_no_service_variables(kinds: dict[str, Any], pod: Any) -> None:
    """The Service `waitroom` would set WAITROOM_PORT, which is one of our settings."""
    assert "waitroom" == kinds["Service"]["metadata"]["name"]
    assert pod["enableServiceLinks"] is False
    assert 8080 == load({"WAITROOM_PORT": "tcp://10.0.0.1:80"}).port


def test_pods_have_no_rights(kinds: dict[str, Any], pod: Any) -> None:
    """Not root, only the data folder is writable, no capabilities, no token: `restricted`."""
    assert {"pod-security.kubernetes.io/enforce": "restricted"} == kinds["Namespace"]["metadata"][
        "labels"
    ]
    assert pod["securityContext"]["runAsNonRoot"] is True
    assert "RuntimeDefault" == pod["securityContext"]["seccompProfile"]["type"]
    assert pod["automountServiceAccountToken"] is False
    (container,) = pod["containers"]
    own = container["securityContext"]
    assert own["readOnlyRootFilesystem"] is True
    assert own["allowPrivilegeEscalation"] is False
    assert ["ALL"] == own["capabilities"]["drop"]
    assert {"cpu", "memory"} == set(container["resources"]["requests"])


def test_the_ingress_opens_what_the_crowd_needs(kinds: dict[str, Any]) -> None:
    """Operators, gates and metrics are not in the Ingress."""
    (rule,) = kinds["Ingress"]["spec"]["rules"]
    paths = [entry["path"] for entry in rule["http"]["paths"]]
    assert ["/v1/rooms", "/rooms", "/static", "/waitroom.js", "/.well-known/jwks.json"] == paths
    services = {entry["backend"]["service"]["name"] for entry in rule["http"]["paths"]}
    assert {kinds["Service"]["metadata"]["name"]} == services


def test_policies_name_who_may_connect(documents: Documents, kinds: dict[str, Any]) -> None:
    """Waitroom's pods reach Valkey and nobody else does; no policy lets everybody in."""
    policies = {
        document["metadata"]["name"]: document["spec"]
        for document in documents
        if document["kind"] == "NetworkPolicy"
    }
    pods = kinds["Deployment"]["spec"]["template"]["metadata"]["labels"]
    assert pods == policies["waitroom"]["podSelector"]["matchLabels"]
    (valkey,) = policies["waitroom-valkey"]["ingress"]
    assert [{"podSelector": {"matchLabels": pods}}] == valkey["from"]
    assert [{"protocol": "TCP", "port": 6379}] == valkey["ports"]
    for policy in policies.values():
        assert ["Ingress"] == policy["policyTypes"]
        assert policy["podSelector"]
        for peer in (peer for rule in policy["ingress"] for peer in rule["from"]):
            assert any(selector for selector in peer.values()), peer


def test_no_range_is_believed(config: Any) -> None:
    """The example proxy is an address that nobody has, so forgetting to change it is harmless."""
    assert ip_address(config["waitroom"]["proxies"]) in ip_network("192.0.2.0/24")
