"""TLS to the backend, with a real server and our own certificates."""

from __future__ import annotations

import asyncio
import contextlib
import ssl
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.conftest import Cli
from tests.support.certificates import Authority, Certificate
from tests.support.clients import live
from tests.support.clock import open_engine
from tests.support.servers import HOST, Server, free_port, start_server
from tests.support.serving import serving
from waitroom.engine.connection.connect import connect
from waitroom.errors import BackendUnavailable, BackendUnfit, InvalidInput
from waitroom.models import Policy, State

PASSWORD = "s3cret"
REMEDY = "; correct ssl_ca_certs and the host in the URL, or its certificate"


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    """Make the authority that clients are told to trust."""
    return Authority.make(tmp_path_factory.mktemp("authority"))


@contextlib.contextmanager
def encrypted(
    folder: Path, authority: Authority, certificate: Certificate, clients: str = "no"
) -> Iterator[Server]:
    """Run Redis, which Debian builds with TLS, with an additional TLS port."""
    with start_server(
        "redis",
        folder / "s",
        requirepass=PASSWORD,
        tls_port=free_port(),
        tls_cert_file=str(certificate.path),
        tls_key_file=str(certificate.key),
        tls_ca_cert_file=str(authority.path),
        tls_auth_clients=clients,
    ) as server:
        yield server


@pytest.fixture(scope="module")
def server(authority: Authority, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Run a server with a good certificate."""
    good = authority.issue("good", "localhost", HOST)
    with encrypted(tmp_path_factory.mktemp("tls"), authority, good) as server:
        yield server


def url_of(server: Server, host: str = "localhost", **options: Path) -> str:
    """Return the URL of the TLS port."""
    query = "&".join(f"{name}={value}" for name, value in options.items())
    return f"rediss://:{PASSWORD}@{host}:{server.config['tls_port']}?{query}"


async def refusal(url: str, folder: Path, kind: type[Exception] = BackendUnfit) -> str:
    """Return why a URL is refused; the reason never contains its password."""
    with pytest.raises(kind) as caught:
        await connect(url, folder, 20)
    assert PASSWORD not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize("host", ["localhost", HOST])
async def test_a_good_certificate(server: Server, authority: Authority, host: str) -> None:
    """With the authority of `ssl_ca_certs` the engine works, by name and by address."""
    url = url_of(server, host, ssl_ca_certs=authority.path)
    async with open_engine(url) as engine:
        await engine.create(f"room-{host}", Policy(capacity=1))
        assert State.CALLED == (await engine.join(f"room-{host}")).state


async def test_the_server_runs_over_tls(
    server: Server, authority: Authority, tmp_path: Path
) -> None:
    """`waitroom serve` admits people with TLS to the backend, and `doctor` finds nothing wrong."""
    url = url_of(server, ssl_ca_certs=authority.path)
    with serving(tmp_path, redis_url=url) as running:
        tickets = f"/v1/rooms/{running.new_room(capacity=1)}/tickets"
        with running.operator() as visitor:
            ticket = visitor.post(tickets).json()["ticket"]
        async with live(running.port, f"{tickets}/{ticket}/events") as events:
            await events.until("ticket", state="called")


def test_doctor_over_tls(server: Server, authority: Authority) -> None:
    """`doctor` shows the address without the password; a wrong authority is a problem to fix."""
    good = Cli(url_of(server, ssl_ca_certs=authority.path)).json("doctor")
    assert good["ok"]
    failed = Cli(url_of(server)).run("doctor")
    assert 1 == failed.exit_code
    assert "certificate" in failed.output
    assert PASSWORD not in failed.output


@pytest.mark.attack
async def test_another_authority(server: Server, tmp_path: Path) -> None:
    """An attacker in between with their own certificate learns nothing from us."""
    other = Authority.make(tmp_path / "other", "Somebody else")
    for url in (url_of(server, ssl_ca_certs=other.path), url_of(server)):
        sentence = await refusal(url, tmp_path)
        assert "has a certificate that we do not trust" in sentence
        assert sentence.endswith(REMEDY)


@pytest.mark.attack
async def test_somebody_in_between_hears_nothing(authority: Authority, tmp_path: Path) -> None:
    """A server that answers with its own certificate gets no password; the connection just ends."""
    own = Authority.make(tmp_path / "own", "In between").issue("between", "localhost", HOST)
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(own.path, own.key)
    heard = bytearray()

    async def listen(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError):
            heard.extend(await reader.read())
        writer.close()

    listener = await asyncio.start_server(listen, HOST, 0, ssl=context)
    async with listener:
        port = listener.sockets[0].getsockname()[1]
        url = f"rediss://:{PASSWORD}@{HOST}:{port}?ssl_ca_certs={authority.path}"
        assert "do not trust" in await refusal(url, tmp_path)
    assert b"" == heard


@pytest.mark.attack
@pytest.mark.parametrize(
    ("hosts", "ended", "why"),
    [
        (("db.example",), False, "Hostname mismatch"),
        ((), False, "Hostname mismatch"),
        (("*.example", "localhost.example"), False, "Hostname mismatch"),
        (("localhost",), True, "certificate has expired"),
    ],
)
async def test_a_certificate_that_is_not_for_us(
    authority: Authority, tmp_path: Path, hosts: tuple[str, ...], ended: bool, why: str
) -> None:
    """A certificate of the right authority is refused if it is for another host, or expired."""
    bad = authority.issue(f"bad-{len(hosts)}-{ended}", *hosts, ended=ended)
    with encrypted(tmp_path, authority, bad) as server:
        sentence = await refusal(url_of(server, ssl_ca_certs=authority.path), tmp_path)
    assert why in sentence


async def test_a_server_that_asks_for_our_certificate(authority: Authority, tmp_path: Path) -> None:
    """The server accepts us with `ssl_certfile` and `ssl_keyfile`, and not without them."""
    good, ours = authority.issue("asking", "localhost"), authority.issue("ours")
    with encrypted(tmp_path, authority, good, "yes") as server:
        trusting = url_of(server, ssl_ca_certs=authority.path)
        await refusal(trusting, tmp_path, BackendUnavailable)
        shown = f"&ssl_certfile={ours.path}&ssl_keyfile={ours.key}"
        async with open_engine(trusting + shown) as engine:
            assert () == await engine.rooms()


async def test_urls_that_cannot_work(server: Server, authority: Authority, tmp_path: Path) -> None:
    """Missing files, and TLS options without TLS, are told apart from an outage."""
    missing = url_of(server, ssl_ca_certs=tmp_path / "none.pem")
    assert "none.pem" in await refusal(missing, tmp_path, InvalidInput)
    plain = f"redis://:{PASSWORD}@{HOST}:{server.port}?ssl_ca_certs={authority.path}"
    assert "ssl_ca_certs needs TLS" in await refusal(plain, tmp_path, InvalidInput)


async def test_tls_and_plain_text_do_not_mix(
    server: Server, authority: Authority, tmp_path: Path
) -> None:
    """A plain URL for a TLS port, and the other way round, fail at once."""
    plain = url_of(server).replace("rediss", "redis").partition("?")[0]
    await refusal(plain, tmp_path, BackendUnavailable)
    mixed = f"rediss://:{PASSWORD}@{HOST}:{server.port}?ssl_ca_certs={authority.path}"
    await refusal(mixed, tmp_path, BackendUnavailable)
