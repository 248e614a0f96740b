"""Waitroom gone or silent: pass holders notice nothing, newcomers get what was configured.

Gone means down at once. Silent means slow at first, and newcomers wait; it is down once the probes
have failed for long enough.
"""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator
from typing import Any

import pytest

from tests.gates.conftest import Sign, public_pem
from tests.gates.sites import GATES, site
from tests.support.clients import HOST, Reply, ask, request
from tests.support.counts import count
from tests.support.links import Link, linked
from tests.support.servers import wait_for
from tests.support.serving import Serving
from waitroom.gates.health import State
from waitroom.gates.options import Options
from waitroom.passes import PassKeys

HANGS, GONE = "hangs", "gone"
JSON = {"accept": "application/json"}
FRAMEWORKS = ["starlette", "wsgi", "flask", "django", "django-async"]


@pytest.fixture
def link(waitroom: Serving) -> Iterator[Link]:
    """Return the link to Waitroom, which can be cut."""
    with linked(waitroom.port) as link:
        yield link


def options(link: Link, when_away: str = "closed", **more: Any) -> Options:
    """Protect `/concert`; silence soon counts as an outage."""
    url = f"http://{HOST}:{link.port}"
    return Options(url, {"/concert": "concert"}, when_away=when_away, away_after_s=0.5, **more)


def get(port: int, headers: dict[str, str]) -> Reply:
    """Request the protected page."""
    return ask(port, request("GET", "/concert", headers), 60)


def newcomers(port: int) -> tuple[Reply, Reply]:
    """Ask as a browser and as a program."""
    return get(port, {}), get(port, JSON)


@pytest.mark.sample(4)
@pytest.mark.parametrize("how", [HANGS, GONE])
@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_pass_holders_notice_nothing_and_newcomers_are_told_to_try_again(
    framework: str, how: str, link: Link, sign: Sign
) -> None:
    """Only a probe checks whether Waitroom is back, and then everything is as before."""
    mine = {"cookie": f"waitroom-pass-concert={sign(ends_s=int(time.time()) + 900)}"}
    with site(framework, options(link)) as port:
        (gate,) = GATES
        wait_for(lambda: get(port, mine).status == 200, "the keys")
        wait_for(lambda: get(port, {}).status == 303, "the way to the waiting room")
        link.cut(hangs=how == HANGS)
        holders: list[Reply] = []

        def is_down() -> bool:
            holders.append(get(port, mine))
            browser, program = newcomers(port)
            assert browser.status in (303, 503)
            assert program.status in (429, 503)
            return gate.remote.health.state is State.DOWN

        wait_for(is_down, "the outage")
        calls = gate.remote.calls
        for _ in range(count("gate_away_requests")):
            holders.append(get(port, mine))
            for reply in newcomers(port):
                assert (503, "5") == (reply.status, reply.header("retry-after"))
        assert {200} == {reply.status for reply in holders}
        assert calls == gate.remote.calls

        link.mend()

        wait_for(lambda: get(port, {}).status == 303, "the way to the waiting room")
        assert 200 == get(port, mine).status


@pytest.mark.sample(4)
@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_open_lets_everybody_in_while_nobody_is_there(framework: str, link: Link) -> None:
    """With `when_away` open a newcomer sees the site, from the first request on."""
    link.cut(hangs=False)
    # A busy machine needs longer than usual to find that nobody is there.
    with site(framework, options(link, "open", deadline_s=5)) as port:
        replies = [get(port, JSON if number % 2 else {}) for number in range(20)]
        assert {(200, b"secret")} == {(reply.status, reply.body) for reply in replies}

        link.mend()

        wait_for(lambda: get(port, {}).status == 303, "the way to the waiting room")


@pytest.mark.sample(4)
@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_open_lets_nobody_in_before_a_silent_waitroom_is_down(framework: str, link: Link) -> None:
    """Until the probes have decided, a browser goes to the waiting page and a program waits."""
    link.cut(hangs=True)
    with site(framework, options(link, "open")) as port:
        (gate,) = GATES

        def is_down() -> bool:
            # Read this first: it may become known between the two.
            known = gate.remote.health.state is State.DOWN
            browser, program = newcomers(port)
            if gate.remote.health.state is not State.DOWN:
                assert (303, 429) == (browser.status, program.status)
                assert "slow" == program.json()["code"]
            return known and (200, 200) == (browser.status, program.status)

        assert not is_down(), "the first newcomers"
        wait_for(is_down, "the outage")

        link.mend()

        wait_for(lambda: get(port, {}).status == 303, "the way to the waiting room")


def test_keys_in_pem_need_no_waitroom_at_all(sign: Sign, pem: bytes) -> None:
    """A gate that is given the keys verifies passes without ever having reached Waitroom."""
    with socket.socket() as nobody:
        nobody.bind((HOST, 0))  # bound, and not listening
        url = f"http://{HOST}:{nobody.getsockname()[1]}"
        with site("wsgi", Options(url, {"/concert": "concert"}, keys=pem, deadline_s=5)) as port:
            assert 200 == get(port, {"waitroom-pass": sign()}).status
            assert 503 == get(port, {"waitroom-pass": sign("vip")}).status


def test_keys_in_pem_stay_when_waitroom_has_others(waitroom: Serving, sign: Sign) -> None:
    """Checking whether Waitroom is there does not replace its keys."""
    pem = public_pem(PassKeys.derive("another-secret-than-that-of-waitroom"))
    options = Options(waitroom.base, {"/concert": "concert"}, keys=pem, deadline_s=5)
    with site("wsgi", options) as port:
        for _ in range(2):
            assert 303 == get(port, {}).status
            assert 303 == get(port, {"cookie": f"waitroom-pass-concert={sign()}"}).status
