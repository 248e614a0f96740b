"""Alerts and dashboard, run on a real Prometheus that scrapes a real server."""

from __future__ import annotations

import contextlib
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.deploy.files import DASHBOARD, DEPLOY, EXPRESSIONS, RULES
from tests.support.programs import needed
from tests.support.servers import free_port, wait_for
from tests.support.serving import Serving, serving

CASES = Path(__file__).with_name("alerts_test.yaml")
CONFIG = """
global: {{scrape_interval: 1s, evaluation_interval: 1s}}
rule_files: [{rules}]
scrape_configs:
  - job_name: waitroom
    static_configs: [{{targets: ["127.0.0.1:{port}"]}}]
"""
VARIABLES = {"$__rate_interval": "1m", "$room": ".*"}
"""What Grafana fills in: all rooms for the dashboard's variable, and an interval."""

QUIET = {
    # Nothing fails here, nobody is refused, and no webhook is late.
    "Errors of ours per second, by route",
    "Told to come later, and challenges, per second",
    "Late entries",
    "Age of the oldest late entry",
    # 0 / 0, until somebody is called within the minute.
    "Share of no-shows",
}
"""Panels in which some query may have nothing to show."""

ABSENT = {
    "waitroom_limited_total",
    "waitroom_challenges_total",
    "waitroom_webhook_late",
    "waitroom_webhook_oldest_seconds",
}
"""Metrics that only appear once something happens that does not happen here."""

OF_THE_MACHINE = {"WaitroomBackendSlow", "WaitroomLatencyHigh", "WaitroomLoopLagging"}
"""Alerts on milliseconds: on a busy machine they are rightly pending. Their cases are in CASES."""


def promtool(*words: str, folder: Path = DEPLOY) -> subprocess.CompletedProcess[str]:
    """Run Prometheus's own tool."""
    command = [needed("promtool", "prometheus"), *words]
    return subprocess.run(
        command, cwd=folder, capture_output=True, text=True, timeout=60, check=False
    )


def test_promtool_takes_the_rules() -> None:
    """Every rule parses, with its templates and labels."""
    done = promtool("check", "rules", "alerts.yaml")
    assert 0 == done.returncode, done.stderr
    assert f"SUCCESS: {len(RULES)} rules found" in done.stdout


def test_alerts_fire_when_they_should(tmp_path: Path) -> None:
    """The cases hold, each with a quiet moment; with another threshold they do not."""
    done = promtool("test", "rules", str(CASES))
    assert 0 == done.returncode, done.stdout + done.stderr
    rules = (DEPLOY / "alerts.yaml").read_text("utf-8")
    (tmp_path / "alerts.yaml").write_text(rules.replace("> 0.01", "> 0.03"), "utf-8")
    cases = CASES.read_text("utf-8").replace("../../deploy/alerts.yaml", "alerts.yaml")
    (tmp_path / "cases.yaml").write_text(cases, "utf-8")
    spoilt = promtool("test", "rules", "cases.yaml", folder=tmp_path)
    assert 0 != spoilt.returncode
    assert "WaitroomErrorsHigh" in spoilt.stdout + spoilt.stderr


def test_whatever_wakes_somebody_has_a_case() -> None:
    """Every alert of severity `page` is among the cases."""
    tried = set(re.findall(r"alertname: (\w+)", CASES.read_text("utf-8")))
    assert (
        set() == {rule["alert"] for rule in RULES if rule["labels"]["severity"] == "page"} - tried
    )
    assert tried <= {rule["alert"] for rule in RULES}


# A real Prometheus ---------------------------------------------------------------------------


class Prometheus:
    """A running Prometheus: what it answers."""

    def __init__(self, port: int) -> None:
        self._client = httpx2.Client(base_url=f"http://127.0.0.1:{port}", timeout=30)

    def close(self) -> None:
        """Close its connection."""
        self._client.close()

    def ready(self) -> bool:
        """Tell whether it answers queries."""
        with contextlib.suppress(httpx2.TransportError):
            return self._client.get("/-/ready").status_code == 200
        return False

    def asked(self, query: str) -> list[Any]:
        """Return the current series of a query; one that does not parse is an error."""
        answer = self._client.get("/api/v1/query", params={"query": query}).json()
        assert "success" == answer["status"], f"{query}: {answer.get('error')}"
        series: list[Any] = answer["data"]["result"]
        return series

    def shown(self, query: str, what: str) -> list[Any]:
        """Return the series of a query that must have some.

        On a busy machine a scrape may fail: until the next one there is nothing to show.
        """
        series: list[Any] = []

        def there() -> bool:
            series[:] = self.asked(query)
            return bool(series)

        wait_for(there, what)
        return series

    def rules(self) -> list[Any]:
        """Return its rules, with their health."""
        groups = self._client.get("/api/v1/rules").json()["data"]["groups"]
        return [rule for group in groups for rule in group["rules"]]


@pytest.fixture(scope="module")
def prometheus(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Prometheus]:
    """Prometheus with our rules, once it has scraped a server in use for a while."""
    program = needed("prometheus")
    folder = tmp_path_factory.mktemp("prometheus")
    with serving(folder, workers=2) as server:
        use(server)
        port = free_port()
        config = folder / "prometheus.yml"
        rules = DEPLOY / "alerts.yaml"
        config.write_text(CONFIG.format(rules=rules, port=server.port), "utf-8")
        command = [program, f"--config.file={config}", f"--storage.tsdb.path={folder / 'tsdb'}"]
        command += [f"--web.listen-address=127.0.0.1:{port}", "--log.level=error"]
        with (folder / "log").open("wb") as out:
            process = subprocess.Popen(command, stdout=out, stderr=out)
        running = Prometheus(port)
        try:
            wait_for(running.ready, "Prometheus")
            scraped = "count_over_time(waitroom_room_waiting{room='hall'}[1m]) > 3"
            wait_for(lambda: bool(running.asked(scraped)), "a few scrapes")
            yield running
        finally:
            running.close()
            process.terminate()
            process.wait(30)


def use(server: Serving) -> None:
    """Admit people, and make some wait, in a room that opens, ends and has a limit."""
    policy = {"capacity": 2, "opens_at": "2020-01-01T00:00:00Z", "ends_at": "2099-01-01T00:00:00Z"}
    server.new_room("hall", **policy)
    with httpx2.Client(base_url=server.base) as visitor:
        for _ in range(5):
            joined = visitor.post("/v1/rooms/hall/tickets", json={})
            joined.raise_for_status()
            visitor.cookies.clear()
        assert "waiting" == joined.json()["state"]
        visitor.get("/rooms/hall").raise_for_status()


def test_prometheus_evaluates_every_alert(prometheus: Prometheus) -> None:
    """No rule has an error, and none is pending or fires on a healthy server."""
    wait_for(
        lambda: all(rule["lastEvaluation"][:4] != "0001" for rule in prometheus.rules()), "rules"
    )
    assert {rule["alert"]: "ok" for rule in RULES} == {
        rule["name"]: rule["health"] for rule in prometheus.rules()
    }
    alarmed: set[str] = set()

    def is_quiet() -> bool:
        nonlocal alarmed
        found = {rule["name"] for rule in prometheus.rules() if rule["state"] != "inactive"}
        # People wait and nobody is called: that one would rightly fire in some minutes.
        alarmed = found - OF_THE_MACHINE - {"WaitroomNobodyCalled"}
        return not alarmed

    # After a scrape that took longer than a second the server counts as away, until the next one.
    with contextlib.suppress(AssertionError):
        wait_for(is_quiet, "a quiet moment")
    assert set() == alarmed


@pytest.mark.parametrize(("where", "expr"), EXPRESSIONS, ids=lambda value: str(value)[:40])
def test_every_query_is_understood(prometheus: Prometheus, where: str, expr: str) -> None:
    """Prometheus accepts each query and has its metrics, and panels have something to show."""
    for name, value in VARIABLES.items():
        expr = expr.replace(name, value)
    prometheus.asked(expr)
    for metric in set(re.findall(r"\b(?:waitroom|process)_\w+", expr)) - ABSENT:
        prometheus.shown(metric, f"{where}: a sample of {metric}")
    if where in {panel["title"] for panel in DASHBOARD["panels"]} - QUIET:
        prometheus.shown(expr, f"{where}: {expr}")


def test_the_variable_of_the_dashboard_lists_rooms(prometheus: Prometheus) -> None:
    """Grafana queries the values of a label; there is one per room."""
    (variable,) = (each for each in DASHBOARD["templating"]["list"] if each["name"] == "room")
    asked = re.fullmatch(r"label_values\((\w+), (\w+)\)", variable["query"])
    assert asked
    shown = prometheus.shown(asked[1], "the rooms")
    assert {"hall"} == {each["metric"][asked[2]] for each in shown}
