"""The decision without a framework: options, bypasses, programs, half-used sessions."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from waitroom.errors import InvalidInput, InvalidRoomName
from waitroom.gates.decision import Decision, GoodPass, Join, PassOn, Redeem, Refuse, Wait, decide
from waitroom.gates.facts import Facts
from waitroom.gates.options import Options, Rule

URL = "http://waitroom.test"
RULES = {"/concert": "concert"}
CODE = "0123456789abcdefghijkl"
GOOD = GoodPass("concert", "t", 7, 1_000, "k", "good", 500)


def passes(room: str, text: str, _: float) -> GoodPass | None:
    """Recognise one good pass."""
    return GOOD if (room, text) == ("concert", "good") else None


def facts(method: str = "GET", path: str = "/concert", query: str = "", **headers: str) -> Facts:
    """Make a request."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Facts(method, path, query, "http", "192.0.2.1", named.get)


def said(request: Facts, now_s: float = 0, **given: Any) -> Decision:
    """Decide."""
    return decide(Options(URL, **{"rules": RULES, **given}), request, passes, now_s)


def test_a_pass_lets_through() -> None:
    """As a cookie, in its own header, or as a bearer token."""
    for request in (
        facts(cookie="a=b; waitroom-pass-concert=good"),
        facts(cookie='waitroom-pass-concert="good"'),
        facts(cookie="waitroom-pass-concert=bad; waitroom-pass-concert=good"),
        facts(waitroom_pass="good"),
        facts(authorization="bearer good"),
    ):
        assert PassOn(GOOD) == said(request)
    for bad in (
        "waitroom-pass-concert2=good",
        "xwaitroom-pass-concert=good",
        "waitroom-pass-concert=",
    ):
        assert isinstance(said(facts(cookie=bad)), Wait), bad


def test_half_of_a_session_is_when_it_is_renewed() -> None:
    """Not before, not if the site does not want it, and not when it ends anyway."""
    request = facts(cookie="waitroom-pass-concert=good")
    assert PassOn(GOOD, renew=False) == said(request, 499)
    assert PassOn(GOOD, renew=True) == said(request, 500)
    assert PassOn(GOOD, renew=False) == said(request, 500, renew=False)
    assert PassOn(GOOD, renew=False, finish=True) == said(request, 500, finish=["GET /concert"])


def test_a_chosen_path_ends_the_session_though_it_is_not_protected() -> None:
    """The thank-you page need not be behind the gate."""
    thanks = facts("POST", "/thanks", cookie="waitroom-pass-concert=good")
    assert PassOn(GOOD, finish=True) == said(thanks, finish=["POST /thanks"])
    assert PassOn() == said(facts("POST", "/thanks"), finish=["POST /thanks"])
    assert PassOn() == said(facts("GET", "/thanks"), finish=["POST /thanks"])


def test_a_program_joins_and_a_browser_waits() -> None:
    """A program is recognised by what it accepts or sends."""
    ticket = "AQd0-_x"
    url = f"{URL}/rooms/concert"
    assert Wait("concert", url) == said(facts(accept="text/html,application/json;q=0.9"))
    assert Wait("concert", url) == said(facts(accept="*/*"))
    assert Join("concert", url, None, None) == said(facts(accept="application/json"))
    assert Join("concert", url, None, None) == said(facts(accept="application/vnd.api+json"))
    assert Join("concert", url, None, None) == said(facts(x_requested_with="XMLHttpRequest"))
    assert Join("concert", url, ticket, None) == said(facts(waitroom_ticket=ticket))
    cookie = f"waitroom-ticket-concert={ticket}"
    assert Join("concert", url, ticket, None) == said(facts(accept="text/json", cookie=cookie))
    assert Join("concert", url, None, CODE) == said(facts(waitroom_key=CODE))
    assert Join("concert", url, None, None) == said(facts(waitroom_key="short"))
    assert Join("concert", url, None, None) == said(facts(waitroom_ticket="a\r\nx: y"))


def test_a_code_is_redeemed_on_a_protected_path_only() -> None:
    """Elsewhere it is left alone; and only a possible code counts, and only with GET."""
    query = f"a=1&waitroom_code={CODE}"
    assert Redeem(CODE, "/concert?a=1") == said(facts(query=query))
    assert PassOn() == said(facts(path="/", query=query))
    assert PassOn() == said(facts(path="/thanks", query=query), finish=["/thanks"])
    free = facts(path="/concert/free", query=query)
    assert PassOn() == said(free, bypass_paths=["/concert/free"])
    assert isinstance(said(facts("POST", query=query)), Wait)
    assert isinstance(said(facts(query="waitroom_code=short")), Wait)
    assert isinstance(said(facts(query=f"waitroom_code={CODE}%0d")), Wait)


def test_a_form_does_not_come_back_to_itself() -> None:
    """After the wait its page is requested with GET, which a form's target may not have."""
    decision = said(facts("POST", "/concert/hold", host="shop.test"), hosts=["shop.test"])
    assert (
        Wait("concert", f"{URL}/rooms/concert?return=http%3A%2F%2Fshop.test%2Fconcert") == decision
    )


def test_addresses_may_be_let_by_also_through_a_proxy() -> None:
    """The proxy's header counts only if the proxy is listed."""
    office: dict[str, Any] = {"bypass_addresses": ["198.51.100.0/24", "2001:db8::/32"]}
    request = facts(x_forwarded_for="203.0.113.9, 198.51.100.7, 192.0.2.1")
    assert isinstance(said(request, **office), Wait)
    assert PassOn() == said(request, proxies=["192.0.2.0/24"], **office)
    forged = facts(x_forwarded_for="198.51.100.7, 203.0.113.9")
    assert isinstance(said(forged, proxies=["192.0.2.0/24"], **office), Wait)
    ported = facts(x_forwarded_for="198.51.100.7:80")
    assert PassOn() == said(ported, proxies=["192.0.2.1"], **office), "some proxies name the port"
    for text in ("nonsense", "198.51.100.7:nonsense", "", ","):
        assert isinstance(said(facts(x_forwarded_for=text), proxies=["192.0.2.1"], **office), Wait)


def test_a_question_before_a_request_goes_by() -> None:
    """A browser asks with OPTIONS and no cookie whether it may send something; nothing else."""
    asks = {"origin": "https://app.test", "access_control_request_method": "POST"}
    assert PassOn() == said(facts("OPTIONS", **asks))
    assert isinstance(said(facts("OPTIONS")), Wait)
    assert isinstance(said(facts("GET", **asks)), Wait)


def test_a_claimed_method_is_believed_to_protect() -> None:
    """What a framework may read as a DELETE needs the pass for a DELETE; HEAD the one for GET."""
    rules: dict[str, Any] = {"rules": [Rule("/concert", "concert", ["delete", "get"])]}
    assert PassOn() == said(facts("POST"), **rules)
    assert isinstance(said(facts("POST", x_http_method_override="delete"), **rules), Wait)
    assert isinstance(said(facts("HEAD"), **rules), Wait)


@pytest.mark.attack
@pytest.mark.parametrize(
    "attempt",
    [
        facts(x_http_method_override="post"),
        facts(x_method_override="POST"),
        facts(x_http_method="POST"),
        facts(x_http_method_override="GET", x_method_override="POST"),
        facts(x_http_method_override="GET, post"),
        facts("HEAD", x_http_method_override="POST"),
        facts(query="a=b&_method=post"),
        facts(query="%5Fmethod=%50OST"),
        facts("post"),
    ],
)
def test_no_claimed_method_is_a_way_around(attempt: Facts) -> None:
    """Free as a GET, but a site may read it as the protected POST, so it needs a pass."""
    rules: dict[str, Any] = {"rules": [Rule("/concert", "concert", ["POST"])]}
    assert PassOn() == said(facts(), **rules)
    assert isinstance(said(attempt, **rules), Wait)


@pytest.mark.attack
def test_a_claimed_method_is_no_way_around_a_bypass_or_a_mount() -> None:
    """A bypass of GET is for GET only, and a mounted app's own path counts too."""
    bypass: dict[str, Any] = {"bypass_paths": ["GET /concert/info"]}
    assert PassOn() == said(facts(path="/concert/info"), **bypass)
    claimed = facts(path="/concert/info", x_http_method_override="PURGE")
    assert isinstance(said(claimed, **bypass), Wait)
    headers = {"x-http-method-override": "POST"}
    mounted = Facts("GET", "/shop/concert", "", "http", "192.0.2.1", headers.get, "/concert")
    assert isinstance(said(mounted, rules=[Rule("/concert", "concert", ["POST"])]), Wait)


@pytest.mark.attack
def test_a_claimed_method_of_another_room_is_refused() -> None:
    """A pass for the room of the GET must not open the room of the POST."""
    rules = [Rule("/concert", "concert", ["GET"]), Rule("/concert", "buying", ["POST"])]
    shown = {"cookie": "waitroom-pass-concert=good"}
    assert PassOn(GOOD) == said(facts(**shown), rules=rules)
    refusal = said(facts(x_http_method_override="POST", **shown), rules=rules)
    assert isinstance(refusal, Refuse)
    assert 400 == refusal.status


@pytest.mark.attack
def test_a_form_may_name_its_method_in_a_field() -> None:
    """The gate does not read bodies: a form counts as any method its `_method` may name."""
    rules: dict[str, Any] = {"rules": [Rule("/concert", "concert", ["DELETE"])]}
    form = "application/x-www-form-urlencoded; charset=utf-8"
    assert isinstance(said(facts("POST", content_type=form), **rules), Wait)
    assert PassOn() == said(facts("POST", content_type="application/json"), **rules)
    assert PassOn() == said(facts("GET", content_type=form), **rules)


@pytest.mark.attack
def test_a_claimed_method_ends_the_session_too() -> None:
    """Ordering by a PUT that the site reads as a POST still ends the visit."""
    request = facts("PUT", "/pay", cookie="waitroom-pass-concert=good", x_method_override="POST")
    assert PassOn(GOOD, finish=True) == said(request, finish=["POST /pay"])


def test_a_mounted_app_is_protected_by_either_path() -> None:
    """Whether the rule was written with the mount's path or without it."""
    for path, inner in (("/shop/concert", "/concert"), ("/concert", "/"), ("/concert/x", "/x")):
        request = Facts("GET", path, "", "http", "192.0.2.1", lambda _: None, inner)
        assert isinstance(said(request), Wait)
        assert isinstance(said(request, rules={"/": "all", **RULES}), Wait)
    other = Facts("GET", "/shop/x", "", "http", "192.0.2.1", lambda _: None, "/x\0")
    assert isinstance(said(other), Refuse)


def test_an_unreadable_path_is_refused_even_with_a_pass() -> None:
    """400, whoever asks."""
    decision = said(facts(path="/concert\0", cookie="waitroom-pass-concert=good"))
    assert isinstance(decision, Refuse)
    assert 400 == decision.status


@pytest.mark.parametrize(
    "wrong",
    [
        {"rules": {}},
        {"rules": [("concert", "concert")]},
        {"url": "waitroom:8080"},
        {"public_url": "//x"},
        {"hosts": "shop.test"},
        {"hosts": ["*"]},
        {"when_away": "maybe"},
        {"bypass_headers": {"x-health": "short"}},
        {"bypass_addresses": ["10.0.0.0/99"]},
        {"proxies": "10.0.0.1"},
        {"deadline_s": 0},
        {"away_after_s": 0},
        {"away_after_s": 61},
        {"finish": "/thanks"},
        {"finish": ["thanks"]},
    ],
)
def test_options_that_cannot_be_meant_are_refused(wrong: dict[str, Any]) -> None:
    """When the app starts, with a sentence that names the option."""
    with pytest.raises(InvalidInput) as error:
        Options(**{"url": URL, "rules": RULES, **wrong})
    assert str(error.value).count(":") >= 1


def test_a_room_has_the_name_of_a_room() -> None:
    """A name that no room can have is refused."""
    with pytest.raises(InvalidRoomName):
        Options(URL, {"/concert": "no such room"})


@given(
    st.text(max_size=40),
    st.text(max_size=40),
    st.dictionaries(st.text(max_size=20), st.text(max_size=60)),
)
def test_no_request_raises(path: str, query: str, headers: dict[str, str]) -> None:
    """Whatever the headers contain, there is a decision, and it lets nobody in."""
    names = [
        "cookie",
        "authorization",
        "accept",
        "host",
        "x-forwarded-for",
        "waitroom-pass",
        "origin",
    ]
    values = [*headers.values(), *headers][: len(names)]
    given = dict(zip(names, values, strict=False))
    request = Facts("GET", f"/concert/{path}", query, "http", "192.0.2.1", given.get)
    decision = decide(Options(URL, RULES, proxies=["192.0.2.1"]), request, lambda *_: None, 0)
    assert not isinstance(decision, PassOn)
