"""Where the waiting page leads next: the page the visitor came from, never somebody else's."""

from __future__ import annotations

import re
from urllib.parse import parse_qs, quote, urljoin, urlsplit

import httpx2
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from waitroom.server.waiting.onward import Onward, onward, returning
from waitroom.web.browser_mark import mark_of, new_secret
from waitroom.web.return_urls import with_code

HOST = "wait.example"
SHOP = "https://shop.example/tickets"
GOOD = {f"http://{HOST}", f"https://{HOST}", "https://shop.example"}
EVIL = "evil.example"

PREFIXES = (
    "//",
    "///",
    "////",
    "/\\",
    "\\/",
    "\\\\",
    "/\t/",
    "\t//",
    "/\n/",
    "/\r\n/",
    " //",
    "\x00//",
    "\x0b//",
    "\u00a0//",
    "\u2028//",
    "\ufeff//",
    "http://",
    "HTTP://",
    "http:/",
    "http:",
    "http:\\\\",
    "https://",
    "https:///",
    "https:/\\",
    "hTTps:\\/",
    "ftp://",
    "ws://",
    "blob:https://",
    "view-source:https://",
    "javascript://",
    "java\tscript://",
    "data:text/html,//",
    "https://shop.example@",
    "https://shop.example:x@",
    "https://shop.example%40",
    "https://shop.example\\@",
    "https://shop.example\t@",
    "https://shop.example.",
    "https://shop.example%2e",
    "https://shop.example%00.",
    "https://shop.example\uff0e",
    "https://shop.example\u3002",
    "https://shop.example-",
    "https://wait.example@",
    "http://wait.example:80@",
    "http://[::ffff:1.2.3.4]@",
    "http://[",
    "/./\\",
    "/.\\/",
    "/%09/\\",
    "/..//\\",
)
SUFFIXES = (
    EVIL,
    f"{EVIL}/",
    f"{EVIL}%2f..",
    f"{EVIL}?shop.example",
    f"{EVIL}#https://shop.example",
    f"{EVIL}\\.shop.example",
)
PAYLOADS = [prefix + suffix for prefix in PREFIXES for suffix in SUFFIXES]
PLAIN = [
    EVIL,
    f"@{EVIL}",
    f":80//{EVIL}",
    "javascript:alert(1)",
    "JaVaScRiPt:alert(1)//https://shop.example",
    "data:text/html,x",
    "https://shop.example:444/",
    "http://shop.example/",
    "https://shop.example:80/",
    "https://SHOP.example.evil.example/",
    "https://shop.exam\u00adple/",
    "",
    "?",
    "#",
    ".",
    "\u0000",
]


def origin(url: str) -> str:
    """Return which host a browser on our page would contact; it reads a backslash as a slash."""
    seen = re.sub(r"[\t\r\n]", "", url).strip().replace("\\", "/")
    whole = urlsplit(urljoin(f"https://{HOST}/rooms/concert", seen))
    return f"{whole.scheme}://{whole.netloc}"


def test_there_are_enough_payloads() -> None:
    """At least two hundred."""
    assert 200 <= len({*PAYLOADS, *PLAIN})


@pytest.mark.parametrize("go_to", [SHOP, "/shop", None])
def test_no_payload_leads_elsewhere(go_to: str | None) -> None:
    """Any address is refused, or stays on our host or the room's site."""
    for text in (*PAYLOADS, *PLAIN):
        for payload in (text, quote(text), text.upper()):
            address = returning(payload, HOST, go_to)
            assert address is None or origin(address) in GOOD, (payload, address)
            assert address is None or address.isascii()


@given(st.text(alphabet="/\\:@.?#%&=[]ab\t\n hps", max_size=30) | st.text(max_size=40))
@example("/\t/evil.example")
@example("//" * 50)
def test_no_text_leads_elsewhere(text: str) -> None:
    """So do generated addresses, alone or after our own."""
    for payload in (text, f"https://shop.example{text}", f"/{text}", f"https://{HOST}{text}"):
        address = returning(payload, HOST, SHOP)
        assert address is None or origin(address) in GOOD, (payload, address)
        assert address is None or address == returning(address, HOST, SHOP), "rebuilt, it stays so"
        assert address is None or not re.search(r"[\x00-\x20\x7f-\uffff\\]", address)


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        ("/concert?seat=4&x=%2F#map", "/concert?seat=4&x=%2F#map"),
        ("/a b/ü?q=한", "/a%20b/%C3%BC?q=%ED%95%9C"),
        (f"https://{HOST}/concert", "/concert"),
        (f"https://{HOST.upper()}:443//{EVIL}/x", f"/{EVIL}/x"),
        ("https://shop.example/a?b=1", "https://shop.example/a?b=1"),
        ("https://SHOP.example:443/a", "https://shop.example/a"),
        ("https://shop.example", "https://shop.example/"),
        ("/?waitroom_code=x&a=1&waitroom%5Fcode=y&WAITROOM_CODE=z", "/?a=1"),
        ("concert", None),
    ],
)
def test_a_good_address_is_kept(wanted: str, expected: str | None) -> None:
    """Visitors go back to where they came from, without a code that somebody else put there."""
    assert expected == returning(wanted, HOST, SHOP)


def test_without_a_site_only_paths_are_taken() -> None:
    """A room that leads nowhere trusts nobody; with a forged Host, an address becomes a path."""
    assert returning("https://shop.example/a", HOST, None) is None
    assert "/a" == returning(f"https://{EVIL}/a", EVIL, None)


@pytest.mark.parametrize(
    ("back", "host", "go_to", "secure", "expected"),
    [
        (None, HOST, None, True, None),
        ("/a", HOST, SHOP, True, Onward("/a", hand_off=False)),
        (None, HOST, SHOP, True, Onward(SHOP, hand_off=True)),
        (None, HOST, "/shop", True, Onward("/shop", hand_off=False)),
        (
            None,
            "127.0.0.1:8080",
            "http://127.0.0.1:8000/",
            False,
            ("http://127.0.0.1:8000/", False),
        ),
        (None, HOST, f"http://{HOST}/", True, Onward(f"http://{HOST}/", hand_off=True)),
        (None, None, SHOP, True, Onward(SHOP, hand_off=True)),
    ],
)
def test_a_code_where_the_cookie_does_not_reach(
    back: str | None, host: str | None, go_to: str | None, secure: bool, expected: Onward | None
) -> None:
    """Cookies ignore ports, but a Secure one is not sent where there is no https."""
    assert expected == onward(back, host, go_to, secure=secure)


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://a/b", "https://a/b?waitroom_code=c-1"),
        ("https://a/b?x=1", "https://a/b?x=1&waitroom_code=c-1"),
        ("https://a/b?x=%20#top?", "https://a/b?x=%20&waitroom_code=c-1#top?"),
    ],
)
def test_a_code_is_merged(url: str, expected: str) -> None:
    """It is added to the existing query, before the fragment."""
    assert expected == with_code(url, "c-1")


# Over HTTP ------------------------------------------------------------------------------------


@pytest.fixture
def lead(operator: httpx2.Client, room: str) -> str:
    """Make the room lead to a site on another host."""
    change = {"policy": {"go_to": SHOP}}
    operator.patch(f"/v1/admin/rooms/{room}", json=change).raise_for_status()
    return room


def test_forms_keep_the_way_back(http: httpx2.Client, lead: str) -> None:
    """From the first view to the redirect with a code, which can be redeemed for the pass."""
    back = "https://shop.example/seats?day=2&x=%26#map"
    secret = new_secret()
    known = {"return": back, "browser": mark_of(secret)}
    page = http.get(f"/rooms/{lead}", params=known)
    field = re.search(r'name="return" value="([^"]*)"', page.text)
    assert field is not None
    assert back.replace("&", "&amp;") == field[1]
    assert f'name="browser" value="{known["browser"]}"' in page.text
    query = f"return={quote(back, safe='/')}&amp;browser={known['browser']}"
    assert f"?lang=ko&amp;{query}" in page.text
    joined = http.post(f"/rooms/{lead}/join", data=known)
    where = urlsplit(joined.headers["location"])
    assert f"/rooms/{lead}" == where.path
    assert {name: [text] for name, text in known.items()} == parse_qs(where.query)
    entered = http.post(f"/rooms/{lead}/enter", data=known)
    assert 303 == entered.status_code
    match = re.fullmatch(
        r"https://shop\.example/seats\?day=2&x=%26&waitroom_code=([\w-]+)#map",
        entered.headers["location"],
    )
    assert match is not None, entered.headers["location"]
    assert 410 == http.post("/v1/redeem", json={"code": match[1]}).status_code
    redeemed = http.post("/v1/redeem", json={"code": match[1], "browser": secret})
    assert lead == redeemed.json()["room"]


def test_inside_the_button_asks_for_a_code(http: httpx2.Client, lead: str) -> None:
    """Anybody who returns to the page goes on by a form, with a new code each time."""
    http.post(f"/rooms/{lead}/join")
    form = {"browser": mark_of(new_secret())}
    codes = {http.post(f"/rooms/{lead}/enter", data=form).headers["location"] for _ in range(2)}
    assert 2 == len(codes)
    page = http.get(f"/rooms/{lead}").text
    inside = page[page.index('data-face="inside"') :]
    assert f'action="/rooms/{lead}/enter"' in inside
    assert SHOP not in inside.partition("<script")[0]


def test_the_same_host_needs_no_code(http: httpx2.Client, lead: str) -> None:
    """The cookie is enough there."""
    http.post(f"/rooms/{lead}/join")
    entered = http.post(f"/rooms/{lead}/enter", data={"return": f"{http.base_url}/concert?a=1"})
    assert "/concert?a=1" == entered.headers["location"]


def test_no_payload_is_echoed(http: httpx2.Client, lead: str) -> None:
    """Neither the page nor its redirects lead to any host but those two."""
    http.post(f"/rooms/{lead}/join")
    for text in (*PAYLOADS[::5], *PLAIN):
        page = http.get(f"/rooms/{lead}", params={"return": text}).text
        fields = re.findall(r'name="return" value="([^"]*)"', page)
        assert all(origin(field.replace("&amp;", "&")) in GOOD for field in fields), text
        sent = http.post(f"/rooms/{lead}/enter", data={"return": text}).headers["location"]
        assert origin(sent) in GOOD, (text, sent)
        back = http.post(f"/rooms/{lead}/join", data={"return": text}).headers["location"]
        assert back.startswith(f"/rooms/{lead}")
