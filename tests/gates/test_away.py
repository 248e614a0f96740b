"""Waitroom away for a while: those with a pass notice nothing, newcomers get what was chosen."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator

import pytest

from tests.gates.conftest import Sign
from tests.gates.sites import site
from tests.support.clients import HOST, Reply, ask, request
from tests.support.counts import count
from tests.support.links import Link, linked
from tests.support.servers import wait_for
from tests.support.serving import Serving
from waitroom.gates.options import Options

HANGS, GONE = "hangs", "gone"
JSON = {"accept": "application/json"}


@pytest.fixture
def link(waitroom: Serving) -> Iterator[Link]:
    """Return the way to Waitroom, which can be cut."""
    with linked(waitroom.port) as link:
        yield link


def get(port: int, headers: dict[str, str]) -> Reply:
    """Ask for what is protected."""
    return ask(port, request("GET", "/concert", headers))


@pytest.mark.sample(4)
@pytest.mark.parametrize("how", [HANGS, GONE])
@pytest.mark.parametrize("framework", ["starlette", "wsgi", "flask", "django"])
def test_pass_holders_notice_nothing(framework: str, how: str, link: Link, sign: Sign) -> None:
    """They get in all the time; a newcomer is told to try again, and waits for nobody."""
    options = Options(f"http://{HOST}:{link.port}", {"/concert": "concert"})
    mine = {"cookie": f"waitroom-pass-concert={sign(ends_s=int(time.time()) + 900)}"}
    with site(framework, options) as port:
        assert (200, 303) == (get(port, mine).status, get(port, {}).status)
        time.sleep(0.6)  # so that the gate has to look anew
        link.cut(hangs=how == HANGS)
        asked = link.asked
        holders: list[Reply] = []
        newcomers: list[Reply] = []
        began = time.monotonic()
        while time.monotonic() < began + count("gate_away_seconds"):
            newcomers.append(get(port, JSON if len(newcomers) % 2 else {}))
            holders += [get(port, mine) for _ in range(3)]
            time.sleep(0.02)
        assert {200} == {reply.status for reply in holders}
        assert {503} == {reply.status for reply in newcomers}
        assert {"5"} == {reply.header("retry-after") for reply in newcomers}

        # Once a second somebody asks whether Waitroom is back; nobody else waits for it.
        assert link.asked - asked <= 2 + time.monotonic() - began

        link.mend()

        wait_for(lambda: get(port, {}).status == 303, "the way to the waiting room")
        assert 200 == get(port, mine).status


@pytest.mark.sample(4)
@pytest.mark.parametrize("how", [HANGS, GONE])
@pytest.mark.parametrize("framework", ["starlette", "wsgi", "flask", "django"])
def test_open_lets_everybody_in(framework: str, how: str, link: Link) -> None:
    """With `when_away` open a newcomer sees the site, from the first request on."""
    options = Options(f"http://{HOST}:{link.port}", {"/concert": "concert"}, when_away="open")
    link.cut(hangs=how == HANGS)
    with site(framework, options) as port:
        replies = [get(port, JSON if number % 2 else {}) for number in range(20)]
        assert {(200, b"secret")} == {(reply.status, reply.body) for reply in replies}


def test_keys_in_pem_need_no_waitroom_at_all(sign: Sign) -> None:
    """A gate that is given the keys verifies passes though it has never reached Waitroom."""
    from cryptography.hazmat.primitives import serialization

    from tests.support.serving import SECRET
    from waitroom.passes import PassKeys

    pem = PassKeys.derive(SECRET)._first.public.public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    with socket.socket() as nobody:
        nobody.bind((HOST, 0))  # bound, and not listening
        url = f"http://{HOST}:{nobody.getsockname()[1]}"
        with site("wsgi", Options(url, {"/concert": "concert"}, keys=pem)) as port:
            assert 200 == get(port, {"waitroom-pass": sign()}).status
            assert 503 == get(port, {"waitroom-pass": sign("vip")}).status
