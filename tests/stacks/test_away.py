"""While Waitroom is away: pass holders notice nothing, newcomers get what was configured."""

from __future__ import annotations

import contextlib
import socket
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.stacks import tools
from tests.stacks.conftest import Inside
from tests.stacks.test_nginx import opened
from tests.stacks.tools import Stack, let_in
from tests.support.clients import HOST
from tests.support.counts import count
from tests.support.links import linked
from tests.support.servers import wait_for
from tests.support.serving import Serving

Run = Callable[[Path, int, str, int], contextlib.AbstractContextManager[Stack]]
Start = Callable[[int, str], contextlib.AbstractContextManager[Stack]]
DEADLINE_MS = 250
ONLY_NGINX = pytest.mark.parametrize("start", ["nginx"], indirect=True)
"""The gates in Python, JavaScript, Go and Java play the scenes of the contract."""

PROGRAM = {"accept": "application/json"}


@pytest.fixture(params=["nginx", "node", "go", "java"])
def start(request: pytest.FixtureRequest, site: int, tmp_path: Path) -> Start:
    """Return a function that runs a stack in front of a Waitroom on another port."""

    def run(port: int, when_away: str) -> contextlib.AbstractContextManager[Stack]:
        if request.param == "nginx":
            edit = opened if when_away == "open" else str
            return tools.nginx(tmp_path, port, site, edit, patient=False)
        folder = request.getfixturevalue(f"{request.param}_folder")
        runs: dict[str, Run] = {"node": tools.node, "go": tools.go, "java": tools.java}
        return runs[request.param](folder, port, when_away, DEADLINE_MS)

    return run


@contextlib.contextmanager
def cut_off(start: Start, served: Serving, inside: Inside, when_away: str) -> Iterator[Stack]:
    """Run a stack whose Waitroom goes away after it has let somebody in."""
    with contextlib.ExitStack() as link:
        port = link.enter_context(linked(served.port)).port
        with start(port, when_away) as stack:
            wait_for(lambda: let_in(stack.ask("/concert", inside.pass_)), "the first visit")
            link.close()
            # For some seconds an offline gate believes that Waitroom is there.
            noticed = {"closed": 503, "open": 200}[when_away]
            wait_for(lambda: stack.ask("/concert").status == noticed, "that it is away")
            time.sleep(count("away_seconds"))  # longer than an answer is believed
            yield stack


@ONLY_NGINX
def test_closed(start: Start, served: Serving, inside: Inside) -> None:
    """Pass holders continue; newcomers, and anybody with a forged pass, get 503."""
    with cut_off(start, served, inside, "closed") as stack:
        assert let_in(stack.ask("/concert", inside.pass_))
        for shown in (None, inside.pass_[:-8] + "AAAAAAAA"):
            page = stack.ask("/concert", shown)
            reply = stack.ask("/concert", shown, PROGRAM)
            assert (503, 503) == (page.status, reply.status)
            assert b"tries again" in page.body
            assert "waitroom_away" == reply.json()["code"]
        assert let_in(stack.ask("/free"))


def test_a_waitroom_that_hangs(start: Start) -> None:
    """Accepting requests without answering is slow first: closed for newcomers, free pages free."""
    with socket.create_server((HOST, 0)) as deaf, start(deaf.getsockname()[1], "closed") as stack:
        assert not let_in(stack.ask("/concert", "a.b.c"))
        assert let_in(stack.ask("/free"))
        wait_for(lambda: stack.ask("/concert", "a.b.c").status == 503, "that it is away")


def test_slow_is_not_away(start: Start) -> None:
    """A late Waitroom opens nothing, though the site is open while it is away."""
    with socket.create_server((HOST, 0)) as deaf, start(deaf.getsockname()[1], "open") as stack:
        assert not let_in(stack.ask("/concert"))
        assert not let_in(stack.ask("/concert", "a.b.c"))
        if stack.name == "nginx":  # it has no probe, and so stays on the safe side
            time.sleep(count("away_seconds"))
            assert 503 == stack.ask("/concert").status
        else:
            wait_for(lambda: let_in(stack.ask("/concert")), "that it is away")


@ONLY_NGINX
def test_open(start: Start, served: Serving, inside: Inside) -> None:
    """Everybody gets in."""
    with cut_off(start, served, inside, "open") as stack:
        assert let_in(stack.ask("/concert", inside.pass_))
        assert let_in(stack.ask("/concert"))
