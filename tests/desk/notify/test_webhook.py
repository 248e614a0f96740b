"""One POST to a receiver: signed, to the intended host, and never to a forbidden address."""

from __future__ import annotations

import re
import ssl
import time
from contextlib import aclosing
from pathlib import Path
from typing import Any

import pytest
from standardwebhooks import WebhookVerificationError

from tests.desk.receivers import Receiver, receiving
from tests.server.process.test_parent import certificate
from waitroom.desk.notify.webhook import Poster, standard
from waitroom.events import signing
from waitroom.posting import Undelivered

SECRET = "whs_only-for-tests"
DOCS = Path(__file__).parents[3] / "docs" / "desk.md"


async def post(url: str) -> str:
    """Post something; return what went wrong, or nothing."""
    async with aclosing(Poster(patience_s=5)) as poster:
        try:
            await poster.post(url, SECRET, "1-a", b"{}", int(time.time() * 1000))
        except Undelivered as error:
            return str(error)
    return ""


def test_the_documented_check() -> None:
    """The function in docs/desk.md accepts what we sign, and refuses what is changed or old."""
    block = re.search(r"```python\n(.*?)```", DOCS.read_text("utf-8"), re.DOTALL)
    assert block
    namespace: dict[str, Any] = {}
    exec(block[1], namespace)  # noqa: S102 - our own documentation
    verified = namespace["verified"]
    now_ms, body = int(time.time() * 1000), '{"name": "소라"}'.encode()
    own = signing.new_secret()

    def headers(secret: str, at_ms: int = now_ms) -> dict[str, str]:
        return signing.headers([standard(secret)], "1-a", at_ms, body)

    for secret in (own, SECRET):  # made by us; by hand or by an earlier version
        assert {"name": "소라"} == verified(secret, headers(secret), body)
    for made, content in (
        (headers(own), body + b" "),
        (headers(SECRET), body),
        (headers(own, now_ms - 301_000), body),
    ):
        with pytest.raises(WebhookVerificationError):
            verified(own, made, content)


@pytest.mark.parametrize("status", [200, 201, 202, 204])
async def test_2xx_is_taken(status: int) -> None:
    """Any success status will do."""
    async with receiving(Receiver(answers=[status])) as receiver:
        assert "" == await post(receiver.url)


@pytest.mark.parametrize("status", [302, 400, 401, 404, 410, 429, 500, 503])
async def test_everything_else_is_not(status: int) -> None:
    """Everything else is retried later, because the operator may fix it."""
    async with receiving(Receiver(answers=[status])) as receiver:
        assert f"answered {status}" == await post(receiver.url)


async def test_the_host_is_named() -> None:
    """A receiver behind a proxy with many hosts sees the intended one, and the query."""
    async with receiving() as receiver:
        assert "" == await post(f"http://localhost:{receiver.port}/a?key=1")
    assert f"localhost:{receiver.port}" == receiver.got[0].headers["host"]


async def test_the_certificate_is_the_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Over TLS the certificate must match the host in the address; otherwise nothing is sent."""
    cert, key = certificate(tmp_path)  # for 127.0.0.1
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(cert, key)
    async with receiving(tls=context) as receiver:
        assert "no answer (ConnectError)" == await post(f"https://127.0.0.1:{receiver.port}/")
        monkeypatch.setenv("SSL_CERT_FILE", str(cert))
        assert "no answer (ConnectError)" == await post(f"https://localhost:{receiver.port}/")
        assert [] == receiver.got
        assert "" == await post(f"https://127.0.0.1:{receiver.port}/")


async def test_a_name_that_nobody_has() -> None:
    """A receiver that cannot be found is a failed attempt."""
    assert "the name of the receiver is not known" == await post("http://nobody.invalid/")


async def test_no_proxy_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    """Proxies from the environment would hide where a notice really goes."""
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    async with receiving() as receiver:
        assert "" == await post(receiver.url)
