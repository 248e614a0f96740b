"""One account, one place, behind the real nginx: only the site says who somebody is."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator

import httpx2
import pytest

from tests.stacks.tools import EXAMPLES, NAME, ROOM, Quiet, Site, Stack, let_in, run_nginx, upstream
from tests.support.clients import HOST, Reply
from tests.support.servers import free_port
from tests.support.serving import SECRET, Serving
from waitroom.tickets import KeyRing

RING = KeyRing.from_text(SECRET)
KEY = RING.claim_key(ROOM)
ANN, BEN = (KEY.account(ROOM, user) for user in ("ann", "ben"))


class SignedIn(Site):
    """A site whose sessions are a cookie; it tells nginx who has signed in."""

    def do_GET(self) -> None:  # noqa: N802 - the name that http.server looks for
        """Answer, at /_who with a claim."""
        if self.path != "/_who":
            Site.do_GET(self)
            return
        user = re.search(r"user=(\w+)", self.headers.get("cookie", ""))
        self.send_response(204)
        if user is not None:
            account = KEY.account(ROOM, user[1])
            self.send_header("Waitroom-Claim", KEY.claim(ROOM, account, time.time()))
        self.end_headers()

    do_POST = do_GET  # noqa: N815 - a name that http.server looks for


@pytest.fixture(scope="module")
def stack(served: Serving, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    """Run nginx with the example, before a site with sessions."""
    port, folder = free_port(), tmp_path_factory.mktemp("nginx-accounts")
    text = (EXAMPLES / "nginx" / "accounts.conf").read_text("utf-8")
    handler: type[Quiet] = SignedIn
    with upstream(handler) as site:
        for old, new in (
            ("worker_processes auto;", "worker_processes 1;"),
            ("server 127.0.0.1:8080;", f"server {HOST}:{served.port};"),
            ("server 127.0.0.1:3000;", f"server {HOST}:{site};"),
            ("listen 80;", f"listen {HOST}:{port};"),
            ("server_name tickets.example;", f"server_name {NAME};"),
            ("unix:second.sock", f"unix:{folder}/second.sock"),
        ):
            assert old in text
            text = text.replace(old, new)
        with run_nginx(folder, text, port):
            yield Stack("nginx", port)


def pass_of(served: Serving, user: str | None) -> str:
    """Go inside, and return the pass: as a user, or as a stranger."""
    body: dict[str, object] = {"enter": True}
    if user is not None:
        body["claim"] = KEY.claim(ROOM, KEY.account(ROOM, user), time.time())
    answer = httpx2.post(f"{served.base}/v1/rooms/{ROOM}/tickets", json=body, timeout=20)
    return str(answer.raise_for_status().json()["pass"])


def ask(stack: Stack, user: str | None, pass_: str | None, **headers: str) -> Reply:
    """Ask for the protected page as somebody, with a pass."""
    parts = [f"user={user}"] if user else []
    parts += [f"waitroom-pass-{ROOM}={pass_}"] if pass_ else []
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return stack.ask("/concert", None, {"cookie": "; ".join(parts), **named})


def test_the_pass_of_the_account(stack: Stack, served: Serving) -> None:
    """Who has signed in comes in with their own pass; with another's they are handed over."""
    anns, bens, strangers = (pass_of(served, user) for user in ("ann", "ben", None))
    assert let_in(ask(stack, "ann", anns))
    assert let_in(ask(stack, "ben", bens))
    for other in (bens, strangers):
        reply = ask(stack, "ann", other)
        assert 200 == reply.status
        assert b'action="/rooms/concert/claim"' in reply.body
    assert let_in(ask(stack, None, strangers))
    assert 303 == ask(stack, None, None).status


def test_from_the_form_to_the_place(stack: Stack) -> None:
    """The form brings the account to its place, through nginx, and no claim is in an address."""
    reply = ask(stack, "ann", None)
    claim = re.search(rb'name="claim" value="([\w-]+)"', reply.body)
    assert claim is not None
    assert ANN == RING.read_claim(ROOM, claim[1].decode(), time.time()).id
    with httpx2.Client(base_url=f"http://{HOST}:{stack.port}", headers={"host": NAME}) as browser:
        origin = {"origin": f"http://{NAME}", "sec-fetch-site": "same-origin"}
        sent = browser.post(
            f"/rooms/{ROOM}/claim", data={"claim": claim[1].decode()}, headers=origin
        )
        assert (303, f"/rooms/{ROOM}") == (sent.status_code, sent.headers["location"])
        ticket = re.search(rf"waitroom-ticket-{ROOM}=([\w-]+)", sent.headers["set-cookie"])
        assert ticket is not None
        assert ANN == RING.read(ROOM, ticket[1]).id


@pytest.mark.attack(4)
def test_nobody_says_themselves_who_they_are(stack: Stack, served: Serving) -> None:
    """A visitor's own header goes nowhere, not even with a real claim of somebody else."""
    anns = pass_of(served, "ann")
    good = KEY.claim(ROOM, ANN, time.time())
    assert b"claim" in ask(stack, "ben", anns, waitroom_claim=good).body
    assert b"claim" in ask(stack, "ben", anns, waitroom_claim="").body
    assert b"claim" in ask(stack, "ben", anns, Waitroom_Claim=good, waitroom_claim=good).body
    assert 303 == ask(stack, None, None, waitroom_claim=good).status


@pytest.mark.attack(2)
@pytest.mark.parametrize("claim", ["forged", "expired", "another room", "x"])
def test_a_claim_that_is_not_good_opens_nothing(served: Serving, claim: str) -> None:
    """The check itself judges the header, so a line that goes missing in nginx opens nothing."""
    own = KEY.claim(ROOM, ANN, time.time())
    text = {
        "forged": own[:-2] + ("BA" if own.endswith("AA") else "AA"),  # never the good one
        "expired": KEY.claim(ROOM, ANN, time.time() - 60),
        "another room": RING.claim_key("other").claim("other", ANN, time.time()),
        "x": "x",
    }[claim]
    headers = {"authorization": f"Bearer {pass_of(served, 'ann')}"}
    path = f"{served.base}/v1/check?room={ROOM}"
    assert 204 == httpx2.get(path, headers=headers, timeout=20).status_code
    refused = httpx2.get(path, headers=headers | {"waitroom-claim": text}, timeout=20)
    assert (401, "invalid_pass") == (refused.status_code, refused.json()["code"])
    good = {"waitroom-claim": KEY.claim(ROOM, ANN, time.time())}
    for _ in range(2):  # for checks it may be used again
        assert 204 == httpx2.get(path, headers=headers | good, timeout=20).status_code
    bens = {"waitroom-claim": KEY.claim(ROOM, BEN, time.time())}
    assert 401 == httpx2.get(path, headers=headers | bens, timeout=20).status_code
