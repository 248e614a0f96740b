"""One account, one place: what a gate does with somebody who has signed in, in every framework."""

from __future__ import annotations

import html
import re
import time
from collections.abc import Iterator, MutableMapping
from typing import Any
from uuid import UUID

import flask
import httpx2
import pytest

from tests.gates.conftest import Sign
from tests.gates.sites import FRAMEWORKS, site
from tests.support.clients import Reply, ask, request
from tests.support.serving import SECRET, Serving
from waitroom.accounts import ClaimKey
from waitroom.errors import InvalidInput
from waitroom.gates import flask as flask_gate
from waitroom.gates.identities import user_id
from waitroom.gates.options import Options
from waitroom.tickets import KeyRing

RING = KeyRing.from_text(SECRET)
ROOM = "accounts"
KEY = RING.claim_key(ROOM)
ANN, BEN = "ann@example.com", "ben@example.com"
ASKED: list[str] = []


def user_of(visit: Any) -> str | None:
    """Return who has signed in, by a header that stands for a site's session."""
    ASKED.append("it")
    if not isinstance(visit, MutableMapping):  # Django, Flask
        user: str | None = visit.headers.get("x-user")
        return user
    if "wsgi.version" in visit:
        return visit.get("HTTP_X_USER")
    found = [value for name, value in visit["headers"] if name == b"x-user"]
    return found[0].decode() if found else None


async def later_user_of(visit: Any) -> str | None:
    """Return the same, as a site whose sessions are asked for does."""
    return user_of(visit)


@pytest.fixture(scope="module")
def room(waitroom: Serving) -> str:
    """Make the room, once."""
    # Nobody here polls; whoever were dropped for that would move the others.
    policy: dict[str, object] = {"mode": "paused", "presence_s": 3600}
    return waitroom.new_room(ROOM, go_to="http://shop.test/concert", **policy)


@pytest.fixture(scope="module", params=FRAMEWORKS)
def port(request: pytest.FixtureRequest, waitroom: Serving, room: str) -> Iterator[int]:
    """Run the site of one framework; those with a loop wait for who it is."""
    waits = request.param in ("fastapi", "django-async")
    options = Options(
        waitroom.base,
        {"/concert": room},
        hosts=["waitroom.test"],
        identity=later_user_of if waits else user_of,
        claim_key=KEY.text(),
        deadline_s=5,
    )
    with site(request.param, options) as port:
        yield port


def get(port: int, user: str | None, path: str = "/concert", **headers: str) -> Reply:
    """Ask the site as somebody."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return ask(port, request("GET", path, named | ({"x-user": user} if user else {})))


def form_of(reply: Reply) -> tuple[str, str]:
    """Return action and claim of the form by which a gate hands somebody over."""
    text = reply.body.decode()
    action = re.search(r'<form method="post" action="([^"]+)">', text)
    claim = re.search(r'<input type="hidden" name="claim" value="([^"]+)">', text)
    assert action is not None, text
    assert claim is not None
    return html.unescape(action[1]), html.unescape(claim[1])


def pass_cookie(token: str) -> dict[str, str]:
    """Return the header with a pass."""
    return {"cookie": f"waitroom-pass-{ROOM}={token}"}


def test_who_has_signed_in_is_handed_over(port: int, waitroom: Serving) -> None:
    """A form brings the claim to the waiting page; the page has no user id, and runs one script."""
    reply = get(port, ANN, "/concert?row=7", accept="text/html")
    assert (200, "no-store") == (reply.status, reply.header("cache-control"))
    action, claim = form_of(reply)
    assert action.startswith(f"{waitroom.base}/rooms/{ROOM}/claim?return=")
    assert "concert%3Frow%3D7" in action
    assert claim not in action
    assert KEY.account(ROOM, ANN) == RING.read_claim(ROOM, claim, time.time()).id
    assert ANN not in reply.body.decode() + str(reply.headers)
    policy = reply.header("content-security-policy") or ""
    assert f"form-action {waitroom.base};" in policy
    nonce = re.search(r"script-src 'nonce-([\w-]+)'", policy)
    assert nonce is not None
    assert f'<script nonce="{nonce[1]}">' in reply.body.decode()
    assert "strict-origin" == reply.header("referrer-policy")


def test_nobody_is_told_apart_who_has_not_signed_in(port: int, sign: Sign) -> None:
    """Strangers go to the waiting page as ever, and come in with a pass."""
    assert 303 == get(port, None, accept="text/html").status
    assert b"secret" == get(port, None, **pass_cookie(sign(ROOM))).body


@pytest.mark.attack
def test_only_the_own_pass_counts(port: int, sign: Sign) -> None:
    """The account's pass lets in; another account's, or a stranger's, counts as none."""
    own = sign(ROOM, KEY.account(ROOM, ANN))
    assert b"secret" == get(port, ANN, **pass_cookie(own)).body
    assert b"secret" == get(port, ANN, waitroom_pass=own).body
    for stolen in (sign(ROOM, KEY.account(ROOM, BEN)), sign(ROOM, RING.new_id())):
        reply = get(port, ANN, **pass_cookie(stolen))
        assert 200 == reply.status
        assert b"secret" != reply.body
        form_of(reply)
        assert 429 == get(port, ANN, waitroom_pass=stolen).status
    both = f"waitroom-pass-{ROOM}={sign(ROOM)}; waitroom-pass-{ROOM}={own}"
    assert b"secret" == get(port, ANN, cookie=both).body


def test_a_pass_without_a_session(port: int, sign: Sign) -> None:
    """What anybody is given while the backend is away counts for everybody, for its minute."""
    assert b"secret" == get(port, ANN, **pass_cookie(sign(ROOM, RING.new_id(), 0))).body


def test_who_it_is_is_asked_where_it_matters(port: int) -> None:
    """A free path does not make the site look up its user."""
    ASKED.clear()
    assert b"open" == get(port, ANN, "/about").body
    assert [] == ASKED
    get(port, ANN)
    assert ["it"] == ASKED


def test_a_program_joins_as_its_account(port: int) -> None:
    """Two devices of one account get one ticket, another account gets another."""
    tickets = [
        get(port, user, accept="application/json").json()["ticket"] for user in (ANN, ANN, BEN)
    ]
    ids = [RING.read(ROOM, ticket).id for ticket in tickets]
    assert [KEY.account(ROOM, user) for user in (ANN, ANN, BEN)] == ids


def test_a_program_that_waited_before_it_signed_in(port: int, waitroom: Serving) -> None:
    """Its place becomes the account's."""
    first = get(port, None, accept="application/json").json()
    user = f"{first['ticket'][-9:]}@example.com"
    second = get(port, user, waitroom_ticket=first["ticket"]).json()
    assert first["position"] == second["position"]
    assert KEY.account(ROOM, user) == RING.read(ROOM, second["ticket"]).id
    with httpx2.Client(base_url=waitroom.base) as client:
        gone = client.get(f"/v1/rooms/{ROOM}/tickets/{first['ticket']}")
    assert (410, "left") == (gone.status_code, gone.json()["reason"])


def test_from_the_form_to_the_place(port: int, waitroom: Serving) -> None:
    """Browsers of one account have one place; the claim is in no address, and counts once."""
    views = []
    for _ in range(2):
        action, claim = form_of(get(port, ANN, accept="text/html"))
        with httpx2.Client() as browser:
            origin = {"origin": "http://shop.test", "sec-fetch-site": "same-site"}
            sent = browser.post(action, data={"claim": claim}, headers=origin)
            assert 303 == sent.status_code
            assert "claim" not in sent.headers["location"]
            views.append(browser.get(f"{waitroom.base}/v1/rooms/{ROOM}/tickets/me").json())
            with httpx2.Client() as thief:
                again = thief.post(action, data={"claim": claim}, headers=origin)
            assert (303, None) == (again.status_code, again.headers.get("set-cookie"))
    assert views[0]["position"] == views[1]["position"]
    assert {KEY.account(ROOM, ANN)} == {RING.read(ROOM, view["ticket"]).id for view in views}


def test_flask_knows_its_session(waitroom: Serving, room: str) -> None:
    """The gate stands before the app, and `identity` may use Flask's session all the same."""
    app = flask.Flask(__name__)
    app.secret_key = "only for tests"

    @app.route("/login/<user>")
    def login(user: str) -> str:
        flask.session["user"] = user
        return "signed in"

    flask_gate.WaitroomGate(
        app,
        url=waitroom.base,
        rules={"/concert": room},
        identity=lambda _: flask.session.get("user"),
        claim_key=KEY.text(),
        deadline_s=5,
    )
    try:
        browser = app.test_client()
        assert 303 == browser.get("/concert").status_code
        browser.get("/login/ann")
        answer = browser.get("/concert")
        claim = re.search(r'name="claim" value="([^"]+)"', answer.text)
        assert claim is not None
        read = RING.read_claim(ROOM, claim[1], time.time())
        assert KEY.account(ROOM, "ann") == read.id
    finally:
        app.extensions["waitroom"].close()


@pytest.mark.parametrize(
    ("given", "user"),
    [
        (None, None),
        (False, None),
        ("", None),
        (0, "0"),
        (7, "7"),
        ("ann", "ann"),
        ("False", "False"),
        (UUID(int=7), "00000000-0000-0000-0000-000000000007"),
    ],
)
def test_what_is_a_user(given: object, user: str | None) -> None:
    """Text, a whole number and a UUID are ids; nothing, `False` and the empty text are nobody."""
    assert user == user_id(given)


@pytest.mark.attack
@pytest.mark.parametrize("given", [True, 1.0, b"ann", object(), ["ann"], {"id": 7}])
def test_what_is_no_user(given: object) -> None:
    """Anything else is refused: as text, it would be one account for many people."""
    with pytest.raises(InvalidInput, match="return a str, an int, a UUID, or None"):
        user_id(given)


def test_signed_in_and_then(waitroom: Serving, room: str) -> None:
    """With `is_authenticated and pk`, whoever has not signed in is nobody, and hands over none."""

    class User:
        is_authenticated, pk = False, None

    options = Options(
        waitroom.base,
        {"/concert": room},
        identity=lambda _: User.is_authenticated and User.pk,
        claim_key=KEY.text(),
        deadline_s=5,
    )
    with site("flask", options) as port:
        assert 303 == get(port, None, accept="text/html").status


# Options ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "given",
    [
        {"identity": user_of},
        {"claim_key": KEY.text()},
        {"identity": user_of, "claim_key": "wr_something"},
        {"identity": user_of, "claim_key": {}},
        {"identity": user_of, "claim_key": {"other": KEY.text()}},
    ],
)
def test_options_that_cannot_work(given: dict[str, Any]) -> None:
    """Both or neither, and a key for each room: said when the site starts."""
    with pytest.raises(InvalidInput, match="claim_key"):
        Options("http://waitroom.test", {"/concert": ROOM}, **given)


def test_several_rooms_have_keys_of_their_own() -> None:
    """One key does not fit two rooms; a mapping names them, and no key is printed."""
    rules = {"/concert": ROOM, "/vip": "vip"}
    with pytest.raises(InvalidInput, match="claim_key"):
        Options("http://waitroom.test", rules, identity=user_of, claim_key=KEY.text())
    keys = {ROOM: KEY.text(), "vip": RING.claim_key("vip").text()}
    options = Options("http://waitroom.test", rules, identity=user_of, claim_key=keys)
    assert ClaimKey.parse(keys["vip"]) == options.claim_keys["vip"]
    assert "wrc_" not in repr(options)
