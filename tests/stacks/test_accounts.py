"""One account, one place, at gates in every language: one story, played on real servers.

Each site has sessions of its own and a sign-in at `/sign-in?user=`. A browser is a client with
cookies that sends the forms of pages by hand; tests/browser/test_hand_over.py has a real one.
"""

from __future__ import annotations

import contextlib
import html
import re
import secrets
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Self
from urllib.parse import parse_qsl, urlsplit

import httpx2
import jwt
import pytest
from starlette.applications import Starlette
from starlette.requests import HTTPConnection, Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from tests.examples.serving import running
from tests.stacks import tools
from tests.stacks.test_sessions import SCRIPTS
from tests.stacks.tools import PATIENT_MS, ROOM, Stack
from tests.support.clients import HOST
from tests.support.servers import free_port
from tests.support.serving import SECRET, Serving, serving
from waitroom.gates.asgi import WaitroomGate
from waitroom.tickets import KeyRing

RING = KeyRing.from_text(SECRET)
KEY = RING.claim_key(ROOM)
ANN, BEN = (KEY.account(ROOM, user) for user in ("ann", "ben"))
PAGE = "/concert?row=7"
COOKIE = f"waitroom-pass-{ROOM}"


@contextlib.contextmanager
def python(waitroom: int) -> Iterator[Stack]:
    """Run the same site as the examples in Python."""
    users: dict[str, str] = {}

    async def sign_in(request: Request) -> Response:
        session = secrets.token_hex(16)
        users[session] = request.query_params["user"]
        answer = PlainTextResponse("the site")
        answer.set_cookie("session", session, httponly=True)
        return answer

    async def page(request: Request) -> Response:
        return PlainTextResponse(f"the site, at {request.url}\n")

    port = free_port()
    gated = WaitroomGate(
        Starlette(routes=[Route("/sign-in", sign_in), Route("/concert", page)]),
        url=f"http://{HOST}:{waitroom}",
        rules={"/concert": ROOM},
        hosts=[f"http://{HOST}:{port}"],
        identity=lambda scope: users.get(HTTPConnection(scope).cookies.get("session", "")),
        claim_key=KEY.text(),
        deadline_s=PATIENT_MS / 1000,
    )
    with running(gated, port, lifespan="off"):
        yield Stack("python", port)
    gated.gate.close()


@pytest.fixture(scope="module")
def waitroom(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    """Run a Waitroom for these sites alone: all have the room `concert`, and lead to themselves."""
    with serving(tmp_path_factory.mktemp("accounts")) as served:
        served.new_room(ROOM, mode="manual", session_s=600, enter_within_s=600, presence_s=3600)
        yield served


@pytest.fixture(scope="module", params=["python", *SCRIPTS, "go", "java"])
def stack(request: pytest.FixtureRequest, waitroom: Serving) -> Iterator[Stack]:
    """Run the site of one language; in JavaScript, of each adapter."""
    name, key = request.param, KEY.text()
    if name == "python":
        started = python(waitroom.port)
    elif name in SCRIPTS:
        folder = request.getfixturevalue("node_folder")
        started = tools.node(folder, waitroom.port, script=SCRIPTS[name], claim_key=key)
    else:
        start = {"go": tools.go, "java": tools.java}[name]
        folder = request.getfixturevalue(f"{name}_folder")
        started = start(folder, waitroom.port, claim_key=key)
    with started as stack:
        yield stack


@dataclass
class Line:
    """The room of a site, as its operator sees it."""

    operator: httpx2.Client

    def ids(self, state: str) -> list[str]:
        """Return who waits, was called or is inside, in order."""
        query = {"state": state}
        answer = self.operator.get(f"/v1/admin/rooms/{ROOM}/tickets", params=query)
        return [ticket["id"] for ticket in answer.raise_for_status().json()["tickets"]]

    def call(self, ticket_id: str) -> None:
        """Call one person."""
        wish = {"ticket_id": ticket_id}
        self.operator.post(f"/v1/admin/rooms/{ROOM}/call", json=wish).raise_for_status()


@pytest.fixture
def line(waitroom: Serving, stack: Stack) -> Iterator[Line]:
    """Empty the room, and let it lead to the site."""
    path = f"/v1/admin/rooms/{ROOM}"
    with waitroom.operator() as operator:
        operator.post(f"{path}/clear", json={"confirm": ROOM}).raise_for_status()
        change = {"policy": {"go_to": f"{stack.site}/concert"}}
        operator.patch(path, json=change).raise_for_status()
        yield Line(operator)


@dataclass
class Browser:
    """A browser without a script: cookies of a host, whatever its port, and forms."""

    site: str
    waitroom: str
    http: httpx2.Client = field(default_factory=lambda: httpx2.Client(timeout=60))
    asked: list[str] = field(default_factory=list)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.http.close()

    def get(self, url: str, **headers: str) -> httpx2.Response:
        """Open an address, and remember it."""
        self.asked.append(url)
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return self.http.get(url, headers={"accept": "text/html"} | named)

    def sign_in(self, user: str) -> None:
        """Tell the site who this is."""
        self.get(f"{self.site}/sign-in?user={user}").raise_for_status()

    def claim(self) -> tuple[str, str]:
        """Open the protected page, and return where its form leads, with which claim."""
        page = self.get(self.site + PAGE)
        assert 200 == page.status_code
        assert not page.text.startswith("the site")
        origin = "/".join(self.waitroom.split("/")[:3])
        assert f"form-action {origin};" in page.headers["content-security-policy"]
        assert ("strict-origin", "no-store") == (
            page.headers["referrer-policy"],
            page.headers["cache-control"],
        )
        action = re.search(r'<form method="post" action="([^"]+)"', page.text)
        claim = re.search(r'name="claim" value="([\w-]+)"', page.text)
        assert action is not None, page.text
        assert claim is not None, page.text
        return html.unescape(action[1]), claim[1]

    def hand_over(self) -> str:
        """Send that form; return the address of the waiting page."""
        action, claim = self.claim()
        self.asked.append(action)
        sent = {"origin": self.site, "sec-fetch-site": "same-site", "sec-fetch-mode": "navigate"}
        answer = self.http.post(action, data={"claim": claim}, headers=sent)
        assert 303 == answer.status_code, answer.text
        page = self.waitroom + answer.headers["location"].removeprefix(self.waitroom)
        assert 200 == self.get(page).status_code
        assert not [url for url in self.asked if claim in url]
        return page

    def enter(self, page: str) -> httpx2.Response:
        """Press the button of the waiting page; return what the site answers then."""
        url = urlsplit(page)
        form = dict(parse_qsl(url.query))
        answer = self.http.post(f"{self.waitroom}{url.path}/enter", data=form)
        while answer.status_code == 303:
            answer = self.get(answer.headers["location"])
        return answer

    def pass_(self) -> str:
        """Return the pass that it shows to the site."""
        return str(self.http.cookies[COOKIE])

    def view(self) -> dict[str, object]:
        """Return where it is in the line."""
        view: dict[str, object] = self.get(f"{self.waitroom}/v1/rooms/{ROOM}/tickets/me").json()
        return view


def browser(stack: Stack, waitroom: Serving) -> Browser:
    """Return the browser of a new person, or another one of the same."""
    return Browser(stack.site, waitroom.base)


def subject(text: str) -> str:
    """Return whose pass it is."""
    return str(jwt.decode(text, options={"verify_signature": False})["sub"])


def test_from_sign_in_to_the_page(stack: Stack, waitroom: Serving, line: Line) -> None:
    """Two devices of an account have one place; called, it comes in with a pass of its own."""
    with browser(stack, waitroom) as laptop, browser(stack, waitroom) as phone:
        assert 303 == phone.get(stack.site + PAGE).status_code, "nobody has signed in"
        for device in (laptop, phone):
            device.sign_in("ann")
            page = device.hand_over()
        assert ([ANN], 1) == (line.ids("waiting"), laptop.view()["position"])
        line.call(ANN)
        inside = phone.enter(page)
        assert (200, True) == (inside.status_code, inside.text.startswith("the site, at"))
        assert (ANN, [ANN]) == (subject(phone.pass_()), line.ids("inside"))
        assert phone.get(stack.site + PAGE).text.startswith("the site, at")


@pytest.mark.attack
def test_another_accounts_pass(stack: Stack, waitroom: Serving, line: Line) -> None:
    """In the same browser or in another one it counts as none; the first account keeps it."""
    with browser(stack, waitroom) as anns, browser(stack, waitroom) as bens:
        anns.sign_in("ann")
        page = anns.hand_over()
        line.call(ANN)
        anns.enter(page)
        stolen = anns.pass_()
        bens.sign_in("ben")
        for shown in ({"waitroom_pass": stolen}, {"authorization": f"Bearer {stolen}"}):
            refused = bens.get(stack.site + PAGE, **shown)
            assert not refused.text.startswith("the site")
        bens.http.cookies.set(COOKIE, stolen, domain=HOST)
        bens.hand_over()
        assert ([ANN], [BEN]) == (line.ids("inside"), line.ids("waiting"))
        anns.sign_in("ben")
        anns.hand_over()
        assert ([ANN], [BEN]) == (line.ids("inside"), line.ids("waiting"))
        anns.sign_in("ann")
        assert anns.get(stack.site + PAGE).text.startswith("the site, at")


def test_a_program_of_an_account(stack: Stack, waitroom: Serving, line: Line) -> None:
    """It gets the account's place: by the claim that it is given, or from the gate itself."""
    with browser(stack, waitroom) as program:
        program.sign_in("ann")
        told = program.get(stack.site + PAGE, accept="application/json")
        assert (429, "application/problem+json") == (
            told.status_code,
            told.headers["content-type"],
        )
        problem = told.json()
        assert ("waiting", ROOM) == (problem["code"], problem["room"])
        ticket = problem.get("ticket")
        if ticket is None:
            joined = program.http.post(problem["join"], json={"claim": problem["claim"]})
            ticket = joined.raise_for_status().json()["ticket"]
        assert ([ANN], ANN) == (line.ids("waiting"), RING.read(ROOM, ticket).id)
        line.call(ANN)
        bearer = {"authorization": f"Bearer {ticket}"}
        enter = f"{waitroom.base}/v1/rooms/{ROOM}/tickets/me/enter"
        given = program.http.post(enter, headers=bearer).raise_for_status().json()["pass"]
        program.http.cookies.clear()
        program.sign_in("ann")
        assert program.get(stack.site + PAGE, waitroom_pass=given).text.startswith("the site, at")
        program.sign_in("ben")
        assert 429 == program.get(stack.site + PAGE, waitroom_pass=given).status_code
