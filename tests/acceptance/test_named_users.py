"""Named users behind a real nginx, with the lines of docs/operators.md, and a sign-in service."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.stacks.tools import Quiet, deployed_nginx, upstream
from tests.support.clients import ask, request
from tests.support.serving import Serving, serving

DOCS = Path(__file__).parents[2] / "docs" / "operators.md"
SECRET = "change-this-to-what-openssl-rand-hex-32-says"
ALICE, VERA = "alice@example.com", "vera@example.com"
BEFORE = "        # Operators: from this machine alone"
ADMIN = ("/admin", "//admin", "/./admin", "/%61dmin", "/rooms/../admin", "/static/..%2fadmin")


class SignInService(Quiet):
    """Stands in for oauth2-proxy: the cookie says who is signed in."""

    def do_GET(self) -> None:  # noqa: N802 - the name that http.server looks for
        """Name the signed-in user, or refuse."""
        match = re.search(r"session=(\S+)", self.headers.get("cookie", ""))
        self.send_response(202 if match else 401)
        if match:
            self.send_header("X-Auth-Request-Email", match[1])
        self.send_header("Content-Length", "0")
        self.end_headers()


def lines_of_docs(sign_in_service: int) -> str:
    """Return the lines for nginx as the page has them."""
    (block,) = re.findall(r"```nginx\n(.*?auth_request.*?)```", DOCS.read_text("utf-8"), re.DOTALL)
    assert SECRET in block
    return str(block).replace("127.0.0.1:4180", f"127.0.0.1:{sign_in_service}")


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    """Run a server that trusts nginx about users."""
    with serving(
        tmp_path_factory.mktemp("users"),
        proxies="127.0.0.1",
        user_header="X-Auth-Request-Email",
        user_peers="127.0.0.1",
        user_secret=SECRET,
        user_roles=f"{ALICE}=admin,*@example.com=viewer",
    ) as running:
        yield running


@pytest.fixture(scope="module")
def outside(served: Serving, tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """Run nginx and the sign-in service; return the port of nginx."""
    folder = tmp_path_factory.mktemp("nginx")
    with upstream(SignInService) as service:

        def with_users(text: str) -> str:
            assert BEFORE in text
            return text.replace(BEFORE, f"{lines_of_docs(service)}\n{BEFORE}", 1)

        with deployed_nginx(folder, [served.port], with_users) as port:
            yield port


def test_the_lines_of_the_docs_work(outside: int) -> None:
    """A user signed in at the service sees the page; anybody else is redirected to the service."""
    shown = ask(outside, request("GET", "/admin", {"cookie": f"session={ALICE}"}))
    assert (200, True) == (shown.status, f"{ALICE}</b> <small>admin</small>" in shown.body.decode())
    stranger = ask(outside, request("GET", "/admin/keys"))
    assert (302, "/oauth2/start?rd=/admin/keys") == (
        stranger.status,
        re.sub(r"^https?://[^/]+", "", stranger.header("location") or ""),
    )
    refused = ask(outside, request("GET", "/admin/keys", {"cookie": f"session={VERA}"}))
    assert (403, True) == (refused.status, f"{VERA} is a viewer" in refused.body.decode())


@pytest.mark.attack(12)
@pytest.mark.parametrize("cookie", ["", f"session={VERA}"])
@pytest.mark.parametrize("path", ADMIN)
def test_nobody_names_themselves(outside: int, path: str, cookie: str) -> None:
    """A browser's own header counts for nothing, even if it has the secret: nginx sets both."""
    claim = {"x-auth-request-email": ALICE, "x-waitroom-proxy-secret": SECRET, "cookie": cookie}
    reply = ask(outside, request("GET", path, claim))
    assert f"{ALICE}</b> <small>" not in reply.body.decode()
    if reply.status == 200:
        assert f"{VERA}</b> <small>viewer</small>" in reply.body.decode()
