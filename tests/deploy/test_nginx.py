"""nginx.conf: nginx accepts it, streams pass, and operators' pages are closed to the public."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from tests.deploy.files import DEPLOY
from tests.support.programs import needed

NGINX = (DEPLOY / "nginx.conf").read_text("utf-8")


def test_nginx_takes_its_file(tmp_path: Path) -> None:
    """The real nginx finds nothing wrong with it."""
    command = [needed("nginx"), "-t", "-p", str(tmp_path), "-c", str(DEPLOY / "nginx.conf")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=20, check=False)
    assert "test is successful" in done.stderr, done.stderr
    assert 0 == done.returncode
    assert "[warn]" not in done.stderr.replace('[warn] the "user"', "")


def test_nginx_lets_events_through() -> None:
    """Streams are not buffered, other requests have a limit, and a POST is never sent twice."""
    events = re.search(r"location ~ \S+/events\$ \{(.*?)\}", NGINX, re.S)
    assert events
    assert "proxy_buffering off;" in events[1]
    assert "proxy_read_timeout 1h;" in events[1]
    assert "proxy_next_upstream error timeout;" in NGINX
    assert "proxy_set_header X-Forwarded-For $remote_addr;" in NGINX
    assert not re.search(r"^\s*proxy_next_upstream\b.*(non_idempotent|http_50)", NGINX, re.M)


def test_nginx_keeps_operators_pages_from_the_crowd() -> None:
    """The closed locations come before the open one, because the first match counts."""
    order = [NGINX.index(part) for part in ("^/(admin|v1/admin)", "^/(metrics|", "^/(v1/rooms|")]
    assert sorted(order) == order
