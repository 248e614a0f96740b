"""The files of deploy/ cannot be run here, so they are read: names, paths and limits are right."""

from __future__ import annotations

import asyncio
import json
import re
import shutil
import subprocess
import tomllib
from ipaddress import ip_address, ip_network
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.support.clock import open_engine
from tests.support.programs import needed
from tests.support.servers import Config, Server
from waitroom import __version__
from waitroom.rehearsal.scenario_file import read as read_scenario
from waitroom.server.metrics.families import METRICS
from waitroom.settings import SETTINGS, declared_rooms, load
from waitroom.web.addresses import Proxies

ROOT = Path(__file__).parent.parent
DEPLOY = ROOT / "deploy"
DOCKERFILE = (DEPLOY / "Dockerfile").read_text("utf-8")
COMPOSE = yaml.safe_load((DEPLOY / "compose.yaml").read_text("utf-8"))
DOCUMENTS: list[Any] = [
    *yaml.safe_load_all((DEPLOY / "kubernetes.yaml").read_text("utf-8")),
]
KINDS: dict[str, Any] = {
    document["kind"]: document for document in DOCUMENTS if document["kind"] != "NetworkPolicy"
}
POLICIES: dict[str, Any] = {
    document["metadata"]["name"]: document["spec"]
    for document in DOCUMENTS
    if document["kind"] == "NetworkPolicy"
}
POD = KINDS["Deployment"]["spec"]["template"]["spec"]
CONTAINER = POD["containers"][0]
ALERTS = yaml.safe_load((DEPLOY / "alerts.yaml").read_text("utf-8"))
RULES = [rule for group in ALERTS["groups"] for rule in group["rules"]]
DASHBOARD = json.loads((DEPLOY / "grafana.json").read_text("utf-8"))
ENVS = {setting.env for setting in SETTINGS}
PROBE_PATHS = {"/healthz", "/readyz"}


def known_samples() -> set[str]:
    """Return every name under which Prometheus keeps a sample of ours."""
    names = set()
    for family in METRICS:
        suffixes = ["_bucket", "_sum", "_count"] if family.kind == "histogram" else [""]
        names |= {family.shown + suffix for suffix in suffixes}
    return names


def labels_of(name: str) -> set[str]:
    """Return the labels that a sample has, with those that Prometheus adds."""
    base = re.sub(r"_(bucket|sum|count)$", "", name)
    (family,) = (metric for metric in METRICS if metric.shown in (name, base))
    return {*family.labels, "le", "instance", "job"}


def test_every_file_says_that_it_was_not_run() -> None:
    """Whoever uses them knows how far they were tried."""
    for name in ("Dockerfile", "compose.yaml", "kubernetes.yaml"):
        text = (DEPLOY / name).read_text("utf-8")
        assert re.search(r"has\s+(#\s+)?not been run", text), name


# Environment ---------------------------------------------------------------------------------


def test_every_variable_is_a_setting() -> None:
    """No file sets a variable that Waitroom does not read."""
    for path in DEPLOY.iterdir():
        names = set(re.findall(r"\bWAITROOM_[A-Z_]+\b", path.read_text("utf-8")))
        assert set() == names - ENVS, path.name


def test_the_values_are_good() -> None:
    """What compose and the Dockerfile set is accepted as settings."""
    env = COMPOSE["services"]["waitroom"]["environment"]
    env |= dict(re.findall(r"\b(WAITROOM_[A-Z_]+)=(\S+)", DOCKERFILE))
    settings = load(env)
    assert ("0.0.0.0", 8080, 2) == (settings.host, settings.port, settings.workers)  # noqa: S104


def test_the_toml_is_good(tmp_path: Path) -> None:
    """The TOML of the ConfigMap is accepted, rooms included."""
    path = tmp_path / "waitroom.toml"
    path.write_text(KINDS["ConfigMap"]["data"]["waitroom.toml"], "utf-8")
    settings = load({}, toml=path)
    assert 10 == settings.drain_s
    assert {"concert"} == set(declared_rooms(path))
    mount = next(entry for entry in CONTAINER["volumeMounts"] if entry["name"] == "config")
    assert f"{mount['mountPath']}/waitroom.toml" == CONTAINER["args"][1]


# Images --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "image",
    [
        *re.findall(r"^FROM (\S+)", DOCKERFILE, re.M),
        *(service["image"] for service in COMPOSE["services"].values()),
        CONTAINER["image"],
    ],
)
def test_images_are_pinned(image: str) -> None:
    """Every image has a tag, and not `latest`."""
    name, _, tag = image.partition(":")
    assert name
    assert tag not in ("", "latest")
    if name == "waitroom":
        assert __version__ == tag


def test_the_image_is_small_and_careful() -> None:
    """Two stages, another user than root, the exec form, and a check without curl."""
    assert 2 == len(re.findall(r"^FROM ", DOCKERFILE, re.M))
    assert re.search(r"^USER 10001", DOCKERFILE, re.M)
    assert re.search(r'^ENTRYPOINT \["waitroom"\]', DOCKERFILE, re.M)
    assert re.search(r'^CMD \["serve"\]', DOCKERFILE, re.M)
    assert "/healthz" in DOCKERFILE
    assert not re.search(r"\bcurl \S", re.sub(r"^#.*$", "", DOCKERFILE, flags=re.M))


def test_what_the_build_copies_is_not_ignored() -> None:
    """The ignore file lets through just what the Dockerfile copies."""
    lines = (DEPLOY / "Dockerfile.dockerignore").read_text("utf-8").splitlines()
    let_through = {line[1:] for line in lines if line.startswith("!")}
    copied = {
        name
        for line in re.findall(r"^COPY (?!--from)(.+)$", DOCKERFILE, re.M)
        for name in line.split()[:-1]
    }
    assert let_through == copied
    for name in copied:
        assert (ROOT / name).exists(), name


# Compose -------------------------------------------------------------------------------------


def test_compose_keeps_everybody() -> None:
    """Valkey evicts nobody, writes everything down, and Waitroom is reached from loopback only."""
    command = " ".join(COMPOSE["services"]["valkey"]["command"])
    assert "--maxmemory-policy noeviction" in command
    assert "--appendonly yes" in command
    assert all(port.startswith("127.0.0.1:") for port in COMPOSE["services"]["waitroom"]["ports"])
    assert (DEPLOY / COMPOSE["services"]["waitroom"]["build"]["context"] / "src").is_dir()


@pytest.mark.attack
def test_compose_believes_one_proxy() -> None:
    """No other container can choose the address it is counted by: the gateway alone is believed."""
    proxy = COMPOSE["services"]["waitroom"]["environment"]["WAITROOM_PROXIES"]
    (front,) = COMPOSE["networks"]["front"]["ipam"]["config"]
    assert ip_address(proxy) in ip_network(front["subnet"])
    assert proxy == front["gateway"]
    proxies = Proxies([proxy], "proxies")
    assert "203.0.113.9" == proxies.visitor(proxy, "203.0.113.9")
    for neighbour in ("172.30.17.3", "172.17.0.2", "10.0.0.7"):
        assert neighbour == proxies.visitor(neighbour, "203.0.113.9")


@pytest.mark.attack
def test_compose_shows_valkey_to_waitroom_alone() -> None:
    """Valkey has no published port and no way out, and only Waitroom is in its network."""
    services = COMPOSE["services"]
    assert "ports" not in services["valkey"]
    assert ["backend"] == services["valkey"]["networks"]
    assert COMPOSE["networks"]["backend"]["internal"] is True
    inside = {name for name, service in services.items() if "backend" in service["networks"]}
    assert {"valkey", "waitroom"} == inside


@pytest.mark.attack
def test_compose_starts_valkey_with_its_users(tmp_path: Path) -> None:
    """Valkey takes the options and the file made by the commands in the head of compose.yaml."""
    _follow_the_head(tmp_path)
    words = COMPOSE["services"]["valkey"]["command"][1:]
    options = dict(zip(words[::2], words[1::2], strict=True))
    secret = options.pop("--aclfile").removeprefix("/run/secrets/")
    users = tmp_path / "deploy" / COMPOSE["secrets"][secret]["file"]
    config: dict[str, Config] = {name.lstrip("-"): value for name, value in options.items()}
    server = Server("valkey", tmp_path / "s", config | {"aclfile": str(users)})
    env = (users.parent / "waitroom.env").read_text("utf-8")
    (url,) = re.findall(r"^WAITROOM_REDIS_URL=(.+)$", env, re.M)
    server.start()
    try:
        assert server.command("GET", "wr:keys").startswith(b"-NOAUTH")
        assert () == asyncio.run(_rooms(url.replace("valkey:6379", f"127.0.0.1:{server.port}")))
    finally:
        server.stop()


def _follow_the_head(folder: Path) -> None:
    """Run the commands of the head of compose.yaml, except the one that needs Docker."""
    needed("openssl")
    (folder / "deploy").mkdir()
    for name in ("waitroom.env.example", "valkey.acl.example"):
        shutil.copy(DEPLOY / name, folder / "deploy")
    text = (DEPLOY / "compose.yaml").read_text("utf-8")
    lines = re.findall(r"^#   (.+)$", text.partition("\nname:")[0], re.M)
    script = "\n".join(line for line in lines if not line.startswith("docker "))
    subprocess.run([needed("bash"), "-euc", script], cwd=folder, timeout=20, check=True)


async def _rooms(url: str) -> tuple[str, ...]:
    async with open_engine(url) as engine:
        return await engine.rooms()


def test_files_with_secrets_are_not_kept() -> None:
    """git leaves out what the commands make."""
    ignored = (ROOT / ".gitignore").read_text("utf-8").splitlines()
    assert {"/deploy/waitroom.env", "/deploy/valkey.acl"} <= set(ignored)


def test_secrets_are_not_in_the_files() -> None:
    """Secrets come from a file that is not kept, and its example is empty."""
    assert "waitroom.env" == COMPOSE["services"]["waitroom"]["env_file"]
    example = (DEPLOY / "waitroom.env.example").read_text("utf-8")
    assert ["WAITROOM_SECRET=", "WAITROOM_ADMIN_KEY="] == re.findall(
        r"^WAITROOM_(?:SECRET|ADMIN_KEY)=.*$", example, re.M
    )


def test_the_secret_of_the_example_is_refused() -> None:
    """Who forgets to change the Secret is told so at the start, rather than run with ours."""
    from waitroom.errors import InvalidInput
    from waitroom.tickets import KeyRing

    with pytest.raises(InvalidInput, match="secret"):
        KeyRing.from_text(KINDS["Secret"]["stringData"]["WAITROOM_SECRET"])


# Kubernetes ----------------------------------------------------------------------------------


def test_kubernetes_has_every_part() -> None:
    """Deployment, Service, Ingress, budget, Secret and ConfigMap, for the same pods."""
    kinds = {"ConfigMap", "Secret", "Deployment", "Service", "Ingress", "PodDisruptionBudget"}
    assert kinds == set(KINDS)
    labels = KINDS["Deployment"]["spec"]["template"]["metadata"]["labels"]
    assert labels == KINDS["Service"]["spec"]["selector"]
    assert labels == KINDS["Deployment"]["spec"]["selector"]["matchLabels"]
    assert labels == KINDS["PodDisruptionBudget"]["spec"]["selector"]["matchLabels"]
    assert KINDS["PodDisruptionBudget"]["spec"]["minAvailable"] < 3
    assert 3 == KINDS["Deployment"]["spec"]["replicas"]


def test_probes_ask_paths_that_exist() -> None:
    """Liveness asks nothing of Redis, readiness does."""
    probes = {name: CONTAINER[f"{name}Probe"]["httpGet"]["path"] for name in
              ("startup", "liveness", "readiness")}  # fmt: skip
    assert {"startup": "/healthz", "liveness": "/healthz", "readiness": "/readyz"} == probes


def test_the_grace_period_outlasts_the_drain() -> None:
    """The pod is not killed while it still drains."""
    config = tomllib.loads(KINDS["ConfigMap"]["data"]["waitroom.toml"])
    pause = re.search(r"sleep\((\d+)\)", CONTAINER["lifecycle"]["preStop"]["exec"]["command"][2])
    assert pause
    needed = int(pause[1]) + config["waitroom"]["drain_s"] + 10
    assert needed < POD["terminationGracePeriodSeconds"]


def test_no_service_variables() -> None:
    """The Service `waitroom` would set WAITROOM_PORT, which is a setting of ours."""
    assert "waitroom" == KINDS["Service"]["metadata"]["name"]
    assert POD["enableServiceLinks"] is False
    assert 8080 == load({"WAITROOM_PORT": "tcp://10.0.0.1:80"}).port


def test_pods_have_no_rights() -> None:
    """Not root, nothing to write but the data folder, no capabilities, no token."""
    assert POD["securityContext"]["runAsNonRoot"] is True
    assert POD["automountServiceAccountToken"] is False
    own = CONTAINER["securityContext"]
    assert own["readOnlyRootFilesystem"] is True
    assert own["allowPrivilegeEscalation"] is False
    assert ["ALL"] == own["capabilities"]["drop"]
    assert {"cpu", "memory"} == set(CONTAINER["resources"]["requests"])


def test_the_ingress_opens_what_the_crowd_needs() -> None:
    """Operators, gates and numbers are not in the Ingress."""
    (rule,) = KINDS["Ingress"]["spec"]["rules"]
    paths = [entry["path"] for entry in rule["http"]["paths"]]
    assert ["/v1/rooms", "/rooms", "/static", "/waitroom.js", "/.well-known/jwks.json"] == paths
    services = {entry["backend"]["service"]["name"] for entry in rule["http"]["paths"]}
    assert {KINDS["Service"]["metadata"]["name"]} == services


def test_policies_name_who_may_connect() -> None:
    """Waitroom's pods reach Valkey and nobody else does; no policy lets everybody in."""
    pods = KINDS["Deployment"]["spec"]["template"]["metadata"]["labels"]
    assert pods == POLICIES["waitroom"]["podSelector"]["matchLabels"]
    (valkey,) = POLICIES["waitroom-valkey"]["ingress"]
    assert [{"podSelector": {"matchLabels": pods}}] == valkey["from"]
    assert [{"protocol": "TCP", "port": 6379}] == valkey["ports"]
    for policy in POLICIES.values():
        assert ["Ingress"] == policy["policyTypes"]
        assert policy["podSelector"]
        for peer in (peer for rule in policy["ingress"] for peer in rule["from"]):
            assert any(selector for selector in peer.values()), peer


def test_kubernetes_believes_no_range() -> None:
    """The example of a proxy is one address that nobody has, so that forgetting it is harmless."""
    config = tomllib.loads(KINDS["ConfigMap"]["data"]["waitroom.toml"])
    assert ip_address(config["waitroom"]["proxies"]) in ip_network("192.0.2.0/24")


# Prometheus and Grafana ----------------------------------------------------------------------

EXPRESSIONS = [
    *((rule["alert"], rule["expr"]) for rule in RULES),
    *(
        (panel["title"], target["expr"])
        for panel in DASHBOARD["panels"]
        for target in panel.get("targets", [])
    ),
]


@pytest.mark.parametrize(("where", "expr"), EXPRESSIONS, ids=lambda value: str(value)[:40])
def test_every_metric_exists(where: str, expr: str) -> None:
    """Alerts and panels ask for metrics that exist, by labels that they have."""
    used = re.findall(r"\b(waitroom_\w+)(?:\{([^}]*)\})?", expr)
    assert used or 'up{job="waitroom"}' in expr, where
    for name, matchers in used:
        assert name in known_samples(), where
        assert set(re.findall(r"(\w+)\s*[=!]~?", matchers)) <= labels_of(name), where
    for by in re.findall(r"by \(([^)]*)\)", expr):
        known = set().union(*(labels_of(name) for name, _ in used))
        assert set(re.split(r",\s*", by)) <= known, where
    assert expr.count("(") == expr.count(")"), where


def test_every_metric_is_on_the_dashboard() -> None:
    """A metric that nobody looks at is not worth counting."""
    text = " ".join(expr for _, expr in EXPRESSIONS)
    exempt = {
        "waitroom_build_info",  # for joins
        "waitroom_rooms",
        "waitroom_room_restored_total",
        "waitroom_room_deferrals_total",
        "waitroom_room_reinstated_total",
    }
    missing = {family.shown for family in METRICS if family.shown not in text}
    assert set() == missing - exempt


def test_panels_do_not_overlap() -> None:
    """Every panel of the dashboard has its own place, and its own id."""
    panels = DASHBOARD["panels"]
    assert len({panel["id"] for panel in panels}) == len(panels)
    cells: set[tuple[int, int]] = set()
    for panel in panels:
        at = panel["gridPos"]
        own = {(at["x"] + x, at["y"] + y) for x in range(at["w"]) for y in range(at["h"])}
        assert set() == cells & own, panel["title"]
        assert at["x"] + at["w"] <= 24, panel["title"]
        cells |= own


def test_every_alert_is_in_the_runbook() -> None:
    """docs/runbook.md has a section per alert, each with meaning, check and action."""
    text = (ROOT / "docs" / "runbook.md").read_text("utf-8")
    sections = dict(re.findall(r"^## `(\w+)`\n(.*?)(?=^## |\Z)", text, re.M | re.S))
    assert sorted(rule["alert"] for rule in RULES) == sorted(sections)
    for name, section in sections.items():
        for word in ("**Means**", "**Check**", "**Do**"):
            assert word in section, f"{name}: {word}"


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: str(rule["alert"]))
def test_alerts_say_what_to_do(rule: dict[str, Any]) -> None:
    """An alert has a severity, waits a moment, says what happens, and leads to its section."""
    assert rule["labels"]["severity"] in ("page", "ticket")
    assert re.fullmatch(r"\d+[sm]", rule["for"])
    assert rule["annotations"]["summary"]
    link = f"docs/runbook.md#{rule['alert'].lower()}"
    assert link == rule["annotations"]["runbook_url"]


# nginx ---------------------------------------------------------------------------------------

NGINX = (DEPLOY / "nginx.conf").read_text("utf-8")


def test_nginx_takes_its_file(tmp_path: Path) -> None:
    """The real nginx finds nothing wrong with it."""
    command = [needed("nginx"), "-t", "-p", str(tmp_path), "-c", str(DEPLOY / "nginx.conf")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=20, check=False)
    assert "test is successful" in done.stderr, done.stderr
    assert 0 == done.returncode
    assert "[warn]" not in done.stderr.replace('[warn] the "user"', "")


def test_nginx_lets_events_through() -> None:
    """Streams are not buffered, other requests have a bound, and a POST is never sent twice."""
    events = re.search(r"location ~ \S+/events\$ \{(.*?)\}", NGINX, re.S)
    assert events
    assert "proxy_buffering off;" in events[1]
    assert "proxy_read_timeout 1h;" in events[1]
    assert "proxy_next_upstream error timeout;" in NGINX
    assert "proxy_set_header X-Forwarded-For $remote_addr;" in NGINX
    assert not re.search(r"^\s*proxy_next_upstream\b.*(non_idempotent|http_50)", NGINX, re.M)


def test_nginx_keeps_operators_pages_from_the_crowd() -> None:
    """The closed locations stand before the open one, for the first that matches counts."""
    order = [NGINX.index(part) for part in ("^/(admin|v1/admin)", "^/(metrics|", "^/(v1/rooms|")]
    assert sorted(order) == order


# TOML in the docs ----------------------------------------------------------------------------

BLOCKS = [
    pytest.param(block, id=f"{page.name}-{number}")
    for page in sorted((ROOT / "docs").glob("*.md"))
    for number, block in enumerate(
        re.findall(r"^```toml\n(.*?)^```", page.read_text("utf-8"), re.M | re.S)
    )
]


@pytest.mark.parametrize("block", BLOCKS)
def test_toml_of_the_docs_is_accepted(block: str, tmp_path: Path) -> None:
    """Every TOML block that a reader might copy is taken: settings with rooms, or a scenario."""
    path = tmp_path / "waitroom.toml"
    path.write_text(block, "utf-8")
    if "[room]" in block:
        assert read_scenario(path).title
        return
    load({}, toml=path)
    declared_rooms(path)
