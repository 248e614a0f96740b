"""Every framework, on a real server of its kind: nobody reaches a protected view without a pass."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import parse_qs, unquote, urlsplit

import pytest

from tests.gates.conftest import Sign
from tests.gates.sites import FRAMEWORKS, site, text_of
from tests.support.clients import Reply, ask, request
from tests.support.serving import Serving
from waitroom.gates.options import Options, Rule

TRICKS = [
    "/concert", "/concert/", "/Concert", "/CONCERT/seats", "/%63oncert", "/%43oncert",
    "/%2563oncert", "/%252563oncert", "//concert", "///concert//", "/./concert", "/%2e/concert",
    "/x/../concert", "/x/%2e%2e/concert", "/x/%2E%2E/concert", "/x/..%2fconcert",
    "/x/%252e%252e/concert", "/x/..%252fconcert", "/..//concert", "/concert;x=1",
    "/concert;/seats", "/;/concert", "/;x/concert", "/concert%3bx", "/concert.", "/concert..",
    "/concert%20", "/concert%20/", "/concert./seats", "/\\concert", "/%5cconcert", "\\concert",
    "/x\\..\\concert", "/x/..;/concert", "/%ef%bc%83/../concert", "/%ef%bd%83oncert",
    "/%ef%bc%8fconcert", "/%e2%84%82oncert", "/concert%e2%80%8b", "/con%c2%adcert",
    "/concert%ff", "/%ffconcert", "/concert%c0%af", "/concert%2f", "/concert%2fseats",
    "/%2fconcert", "/%2f%2fconcert", "/concert/%2e%2e/free", "/concert/../free",
    "/free/../concert", "/free/%2e%2e/concert", "/free/..;/concert", "/concert%3f",
    "/concert%23", "/concert/?x", "/concert/.", "/concert/..%2f..%2ffree", "/con%25%36%33ert",
    "/%25%36%33oncert", "/concert%09", "/concert%0a", "/concert%0d%0ax", "/concert%00",
    "/%00/concert", "/concert%00.css", "/x%2f..%2fconcert", "/concert/free", "/concert//free",
    "/concert/Free", "/concert/free/../seats", "/concert/free%2f..%2fseats", "/concert/free;x",
    "/%u0063oncert", "/concert%80", "/concert%7f", "/concert/free./", "/concert/free%20",
    "/K/../concert", "/%e2%84%aaoncert/../concert", "/a/b/c/../../../concert",
    "/a/b/c/../../../../../concert", "/concert" + "/x" * 300, "/" + "%25" * 30 + "63oncert",
    "http://shop.test/concert", "/x?/../concert", "/concert?a=/free", "/free/%2e%2e%2fconcert",
]  # fmt: skip


def test_the_tricks_are_some() -> None:
    """The site can tell: without a gate it would show the protected page for most of them."""
    shown = [path for path in TRICKS if text_of(unquote(path)) == "secret"]
    assert 70 <= len(shown)


@pytest.fixture(scope="module", params=FRAMEWORKS)
def port(request: pytest.FixtureRequest, waitroom: Serving) -> Iterator[int]:
    """Run the site of one framework; `/concert` is protected, `/concert/free` is not."""
    options = Options(
        waitroom.base,
        [Rule("/concert", "concert"), Rule("/vip", "vip")],
        hosts=["waitroom.test"],
        bypass_paths=["/concert/free", "/free"],
        bypass_headers={"x-health": "a secret of the health check"},
        finish=["POST /concert/order"],
        renew=False,
        deadline_s=5,
    )
    with site(request.param, options) as port:
        yield port


def get(port: int, path: str, method: str = "GET", **headers: str) -> Reply:
    """Send a request to the site."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return ask(port, request(method, path, named))


def let_in(port: int, path: str, token: str, method: str = "GET") -> Reply:
    """Send a request with a pass."""
    return get(port, path, method, cookie=f"theme=dark; waitroom-pass-concert={token}; a=b")


def test_no_spelling_of_a_path_is_a_way_around(port: int) -> None:
    """No trick reaches what the site itself would read as the protected part."""
    free = ("/concert/free", "/concert/free/")
    for path in TRICKS:
        reply = get(port, path)
        if path not in free:
            assert b"secret" != reply.body, path
            assert reply.status in (200, 303, 400, 404), path


@pytest.mark.parametrize("method", ["GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS"])
def test_no_method_is_a_way_around(port: int, method: str) -> None:
    """A rule without methods applies to all, also to those that a header claims."""
    for more in ({}, {"x_http_method_override": "TRACE"}, {"x_forwarded_for": "127.0.0.1"}):
        assert 303 == get(port, "/concert", method, **more).status


def test_what_is_not_protected_is_open(port: int) -> None:
    """Other paths, and bypassed ones, need no pass."""
    for path in (
        "/",
        "/about",
        "/concerts",
        "/free/x",
        "/caf%C3%A9",
        "/%EB%8C%80%EA%B8%B0",
        "/a;b",
    ):
        assert (200, b"open") == (get(port, path).status, get(port, path).body), path
    assert (200, b"secret") == (get(port, "/concert/free").status, get(port, "/concert/free").body)


def test_a_good_pass_lets_in(port: int, sign: Sign) -> None:
    """A pass opens its room, by cookie, by header and as a bearer token, and nothing else."""
    token = sign()
    for path in ("/concert", "/Concert/seats", "/concert/x/../seats", "/%63oncert"):
        assert b"secret" == let_in(port, path, token).body, path
    assert b"secret" == get(port, "/concert", waitroom_pass=token).body
    assert b"secret" == get(port, "/concert", authorization=f"Bearer {token}").body
    assert 303 == get(port, "/vip", authorization=f"Bearer {token}").status
    assert 400 == let_in(port, "/concert/../vip", token).status


def test_a_planted_cookie_does_not_lock_out(port: int, sign: Sign) -> None:
    """If another page has set a cookie of the same name, the good one still counts."""
    both = f"waitroom-pass-concert=planted; waitroom-pass-concert={sign()}"
    assert b"secret" == get(port, "/concert", cookie=both).body


def test_a_browser_is_sent_to_the_waiting_page(port: int, waitroom: Serving) -> None:
    """It gets the return address, on a listed host, and its mark for a code."""
    reply = get(port, "/concert/seats?row=7&x=%2F%2Fevil.test", accept="text/html")

    assert (303, "no-store") == (reply.status, reply.header("cache-control"))
    target = urlsplit(reply.header("location") or "")
    assert f"{waitroom.base}/rooms/concert" == f"{target.scheme}://{target.netloc}{target.path}"
    back = "http://waitroom.test/concert/seats?row=7&x=%2F%2Fevil.test"
    query = parse_qs(target.query)
    assert ({"return", "browser"}, [back]) == (set(query), query["return"])


def test_a_secret_header_lets_by(port: int) -> None:
    """A health check passes only with the whole secret."""
    assert b"secret" == get(port, "/concert", x_health="a secret of the health check").body
    for wrong in ("", "a secret of the health", "a secret of the health check "[::-1]):
        assert 303 == get(port, "/concert", x_health=wrong).status


def test_forged_and_foreign_passes_let_nobody_in(port: int, sign: Sign) -> None:
    """A pass that is over, changed or for another room is refused; and nothing breaks."""
    good = sign()
    head, body, tail = good.split(".")
    bad = [
        sign(now_s=1_000, ends_s=2_000), sign("vip"), good[:-2], good + "A", f"{head}.{body}.",
        f"{body}.{head}.{tail}", "eyJhbGciOiJub25lIn0.e30.", "AQd0", "null", "a.b.c", "." * 9,
        "x" * 5000,
    ]  # fmt: skip
    for token in bad:
        for path in ("/concert", "/concert/pay"):
            assert 303 == let_in(port, path, token).status, token
