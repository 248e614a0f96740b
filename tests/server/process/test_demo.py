"""`waitroom serve --demo`: somebody who has just installed it sees a moving line."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator

import httpx2
import pytest

from tests.support.counts import count
from tests.support.servers import wait_for
from tests.support.serving import Serving, end, launch

WITHIN_S = 300


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    """Run the demo until it says where to look."""
    server = launch(tmp_path_factory.mktemp("demo"), "--demo", admin_key="", secret="")
    try:
        wait_for(lambda: "Ctrl-C ends it" in server.said(), "a word of welcome")
        yield server
    finally:
        end(server)


def waiting(server: Serving) -> int:
    """Return how many people wait, as the public can see it."""
    return int(httpx2.get(f"{server.base}/v1/rooms/demo").json().get("waiting", 0))


def test_it_says_where_to_look(demo: Serving) -> None:
    """Soon the screen shows addresses, all of them work, and the key signs in."""
    output = demo.said()
    for path in ("/rooms/demo", "/admin", "/docs", "/metrics"):
        assert f"{demo.base}{path} " in output.replace("\n", " "), output
        assert 200 == httpx2.get(demo.base + path, follow_redirects=True).status_code, path
    match = re.search(r"sign in with (wr_\S+)", output)
    assert match is not None
    headers = {"authorization": f"Bearer {match[1]}"}
    assert 200 == httpx2.get(f"{demo.base}/v1/admin/rooms/demo", headers=headers).status_code


def test_a_newcomer_gets_in(demo: Serving) -> None:
    """There is a line; a newcomer's number falls, and (in CI, where there is time) they get in."""
    wait_for(lambda: waiting(demo) > 10, "a line")
    joined = httpx2.post(f"{demo.base}/v1/rooms/demo/tickets").json()
    deadline = time.monotonic() + WITHIN_S
    assert "waiting" == joined["state"]
    assert joined["position"] > 1
    url = f"{demo.base}/v1/rooms/demo/tickets/{joined['ticket']}"

    def moved() -> bool:
        view = httpx2.get(url).json()
        enough = count("demo_called") == 0 and view["position"] < joined["position"]
        return bool(enough or view["state"] == "called")

    while not moved():
        assert time.monotonic() < deadline, httpx2.get(url).json()
        time.sleep(0.5)
    if count("demo_called"):
        assert "inside" == httpx2.post(f"{url}/enter").json()["state"]
