"""Nobody is sent to a host that the site has not listed, whatever they put into a request."""

from __future__ import annotations

import itertools
import random
import re
from urllib.parse import parse_qs, unquote, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.attacks import tried
from tests.support.counts import count
from waitroom.errors import InvalidInput
from waitroom.gates.decision import Join, PassOn, Redeem, Refuse, Wait, decide
from waitroom.gates.facts import Facts
from waitroom.gates.options import Options
from waitroom.gates.returns import listed, origin, return_to
from waitroom.web.return_urls import on_site

pytestmark = pytest.mark.attack

OURS = {"shop.example", "www.shop.example:8443", "wait.example"}
OPTIONS = Options(
    "http://10.0.0.7:8080",
    {"/": "concert"},
    public_url="https://wait.example",
    hosts=["shop.example", "https://www.shop.example:8443"],
)
_EVIL = [
    "evil.example",
    "shop.example.evil.example",
    "evilshop.example",
    "wait.example.evil.example",
]
_STARTS = [
    "//", "///", "////", "/\\", "\\\\", "\\/", "/\\/", "/%09/", "/%5c", "/%2f", "%2f%2f", "/%2f%2f",
    "/.//", "/..//", "/;//", "http://", "https://", "https:", "https:/", "http:\\\\", "HTTPS://",
    "//shop.example@", "https://shop.example@", "https://shop.example%40", "https://shop.example\\@",
    "//shop.example%2f@", "https://shop.example:443@", "https://shop.example#@", "\t//", "\r\n//",
    "%0d%0aLocation:%20https://", "/%0d%0a%0d%0ahttps://", "javascript:alert(1)//",
    "data:text/html,//",
    "\u3002//", "\uff0f\uff0f", "/\u2215/", "//%00", "/\u0000/", "/ /", "/%20//", "//[::1]@",
    "//user:pass@",
    "x:", "/x/..//", "/x/../..//", "./..//", "?//", "#//", "&return=https://", "?return=https://",
    "?waitroom_code=0123456789abcdef0123&x=//", "@", ":", "://", "//\u200b", "/\u00ad/", "\ufeff//",
]  # fmt: skip
_ENDS = ["", "/", "/%2e%2e", "?a=b#c"]
PAYLOADS = ["".join(parts) for parts in itertools.product(_STARTS, _EVIL, _ENDS)]
_PIECES = [*_STARTS, *_EVIL, *"/\\.:@?#%&=;", "shop.example", "%2e", "%252f", "\u0130", "\ud7ff"]


def facts(path: str, query: str = "", host: str = "shop.example", scheme: str = "https") -> Facts:
    """Make a request."""
    headers = {"host": host, "x-forwarded-host": "evil.example", "referer": "https://evil.example"}
    return Facts("GET", path, query, scheme, "192.0.2.1", headers.get)


def leads_to(url: str, base: str) -> str:
    """Return the host that a browser goes to; like one, it drops tabs and reads \\ as /."""
    text = re.sub(r"[\t\r\n]", "", url).strip().replace("\\", "/")
    if re.match(r"[a-z][a-z0-9+.-]*:", text, re.IGNORECASE):
        return urlsplit(re.sub(r"^(https?:)/*", r"\1//", text, flags=re.IGNORECASE)).netloc
    if re.match(r"//+", text):
        return urlsplit("//" + text.lstrip("/")).netloc
    return base


def targets(request: Facts) -> list[str]:
    """Return every host that the answer to a request leads to, at once or later."""
    decision = decide(OPTIONS, request, lambda *_: None, 0)
    if isinstance(decision, Refuse | PassOn):
        return []
    if isinstance(decision, Redeem):
        return [leads_to(decision.clean_url, "shop.example")]
    assert isinstance(decision, Wait | Join)
    assert decision.url.isascii()
    assert decision.url.isprintable()
    asked = parse_qs(urlsplit(decision.url).query)
    assert asked.keys() <= {"return"}
    back = [leads_to(url, "nowhere") for url in asked.get("return", [])]
    return [leads_to(decision.url, "nowhere"), *back]


def check(text: str) -> None:
    """Put a payload everywhere it can go."""
    path, _, query = text.partition("?")
    for request in (
        facts(text), facts("/" + text), facts(unquote(path), query), facts("/x", text),
        facts("/x", f"next={text}&waitroom_code=0123456789abcdef0123"), facts("/x", host=text),
        facts(text, f"waitroom_code=0123456789abcdef0123&r={text}"), facts("/x", "", text, text),
        facts(unquote(unquote(text)), "waitroom_code=0123456789abcdef0123"),
        facts("/x", "waitroom_code=" + text), facts("/x", host="shop.example" + text),
    ):  # fmt: skip
        assert set() == set(targets(request)) - OURS, text


def test_there_are_enough_payloads() -> None:
    """At least 500 that differ."""
    assert 500 <= len(set(PAYLOADS))


def test_no_payload_leaves_the_listed_hosts() -> None:
    """The handmade list, everywhere in a request where it fits."""
    for text in PAYLOADS:
        check(text)
    tried(len(PAYLOADS))


def test_no_mixture_of_them_leaves_the_listed_hosts() -> None:
    """Pieces of payloads, combined at random."""
    dice = random.Random(7)
    for _ in range(count("gate_redirects")):
        check("".join(dice.choices(_PIECES, k=dice.randint(1, 6))))
    tried(count("gate_redirects"))


@given(st.text(max_size=60), st.text(max_size=60), st.text(max_size=30))
def test_no_text_leaves_the_listed_hosts(path: str, query: str, host: str) -> None:
    """Any text at all; and nothing raises."""
    for request in (facts(path, query, host), facts("/" + path, query), facts("/x", "", host)):
        assert set() == set(targets(request)) - OURS


@given(st.text(max_size=80), st.text(max_size=80))
def test_an_address_on_site_stays_on_it(path: str, query: str) -> None:
    """One leading slash, ASCII, no control character, no code."""
    target = on_site(path, query, decoded=True)
    assert re.fullmatch(r"/(?![/\\])[!-~]*|/", target)
    assert "waitroom_code=" not in target or "waitroom_code=" in path


def test_a_listed_host_is_returned_to_as_it_was_listed() -> None:
    """With its configured scheme, without a default port, in upper or lower case."""
    hosts = listed(("shop.example", "https://www.shop.example:8443", "[::1]:8000"))
    cases = [
        ("shop.example", "https", "https://shop.example/a?b=c"),
        ("SHOP.example:443", "https", "https://shop.example/a?b=c"),
        ("shop.example:80", "http", "http://shop.example/a?b=c"),
        ("www.shop.example:8443", "http", "https://www.shop.example:8443/a?b=c"),
        ("[::1]:8000", "http", "http://[::1]:8000/a?b=c"),
        ("shop.example:8000", "https", None),
        ("", "https", None),
    ]
    for host, scheme, expected in cases:
        assert expected == return_to(hosts, host, scheme, "/a", "b=c")


@pytest.mark.parametrize(
    "text", ["", "ftp://x", "https://", "x.example", "https://a b", "https://u:p@x", "https://x?y"]
)
def test_an_address_that_is_none_is_refused(text: str) -> None:
    """When the gate is made, not when a visitor comes."""
    with pytest.raises(InvalidInput):
        origin(text, "url")


@pytest.mark.parametrize("text", ["", "*", "a b", "x/y", "https://", "u@x", "-x", "x\n"])
def test_a_host_that_is_none_is_refused(text: str) -> None:
    """Wildcards are not hosts either: each host is listed by name."""
    with pytest.raises(InvalidInput):
        listed((text,))
