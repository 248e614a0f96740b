"""`waitroom serve` as processes: several workers, TLS, signals, and deaths on either side."""

from __future__ import annotations

import asyncio
import contextlib
import datetime
import http.client
import ipaddress
import json
import os
import signal
import socket
import ssl
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from tests.support.clients import Live, ask, live, metric, request, scrape
from tests.support.servers import wait_for
from tests.support.serving import (
    ADMIN_KEY,
    SECRET,
    Serving,
    children,
    command_of,
    end,
    launch,
    serving,
    sockets,
)
from waitroom.server.process import listening

ROOM = "hall"
EVENTS = "/v1/rooms/hall/tickets/me/events"


def post(server: Serving, path: str, **given: Any) -> httpx2.Response:
    """Post until accepted: on a busy machine the backend may be late, and we answer 503."""
    answers: list[httpx2.Response] = []
    wait_for(lambda: _taken(server.base + path, given, answers), path)
    return answers[-1]


def _taken(url: str, given: dict[str, Any], answers: list[httpx2.Response]) -> bool:
    answers.append(httpx2.post(url, **given))
    return answers[-1].status_code != 503


def make_room(server: Serving) -> None:
    """Make a room in which one person may be inside."""
    body = {"name": ROOM, "policy": {"capacity": 1}}
    headers = {"authorization": f"Bearer {ADMIN_KEY}"}
    post(server, "/v1/admin/rooms", json=body, headers=headers).raise_for_status()


def join(server: Serving) -> dict[str, str]:
    """Join, and return the headers with the ticket."""
    ticket = post(server, f"/v1/rooms/{ROOM}/tickets").raise_for_status().json()["ticket"]
    return {"authorization": f"Bearer {ticket}"}


@contextlib.asynccontextmanager
async def streams(server: Serving, count: int) -> AsyncIterator[list[Live]]:
    """Open event streams of new visitors; each has been told its place."""
    async with contextlib.AsyncExitStack() as stack:
        opened: list[Live] = []
        while len(opened) < count:
            stream = await stack.enter_async_context(live(server.port, EVENTS, join(server)))
            if stream.status == 200:
                await stream.until("ticket")
                opened.append(stream)
        yield opened


def alive(pid: int) -> bool:
    """Tell whether a process is running; an uncollected one is not."""
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    return False


def lines(server: Serving) -> list[dict[str, object]]:
    """Return what the server logged; every line is a JSON object, and none contains a secret."""
    text = server.said()
    assert ADMIN_KEY not in text
    assert SECRET not in text
    return [json.loads(line) for line in text.splitlines()]


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    """Run a server with two workers."""
    with serving(tmp_path_factory.mktemp("pair"), workers=2) as server:
        wait_for(lambda: metric(scrape(server.port), "waitroom_workers") == 2, "two workers")
        make_room(server)
        yield server


def test_two_workers_are_one_server(pair: Serving) -> None:
    """Both workers answer, their metrics add up wherever you ask, and there is one backend."""
    # A status that no other test causes, because earlier numbers may still be on their way.
    name, labels = "waitroom_requests_total", {"route": "GET /v1/rooms/{room}", "status": "404"}
    for _ in range(40):  # one connection each: the kernel chooses the worker
        assert 404 == httpx2.get(f"{pair.base}/v1/rooms/nobody-made-it").status_code
    wait_for(lambda: metric(scrape(pair.port), name, **labels) == 40, "a sum of 40")
    stores = [pid for pid in children(pair.process.pid) if "unixsocket" in command_of(pid)]
    assert (2, 1) == (len(pair.workers), len(stores))
    used = [cpu_ticks(pid) for pid in pair.workers]
    assert all(used), used


def cpu_ticks(pid: int) -> int:
    """Return the processor time of a process."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return int(fields[11]) + int(fields[12])


def test_a_killed_worker_is_replaced(pair: Serving) -> None:
    """The other worker continues, a new one replaces the dead one, and nobody is reset."""
    dead, left = pair.workers
    os.kill(dead, signal.SIGKILL)
    wait_for(lambda: not alive(dead), "the death of a worker")
    for _ in range(20):  # connections of the dead one wait for its successor
        httpx2.get(f"{pair.base}/v1/rooms/{ROOM}", timeout=60).raise_for_status()
    wait_for(lambda: metric(scrape(pair.port), "waitroom_workers") == 2, "a second worker")
    assert left in pair.workers
    assert dead not in pair.workers
    assert any("a worker died" in str(line["message"]) for line in lines(pair))


async def test_sigterm_drains(tmp_path: Path) -> None:
    """Not ready at once; answers without keep-alive; streams are sent away; then exit code 0.

    The workers get the signal too, as from a supervisor that signals the whole group.
    """
    drain_s = 8.0  # a busy machine must ask all this meanwhile
    with serving(tmp_path, drain_s=drain_s) as server:
        make_room(server)
        async with streams(server, 5) as opened:
            began = time.monotonic()
            for pid in (server.process.pid, *server.workers):
                os.kill(pid, signal.SIGTERM)
            await asyncio.to_thread(wait_for, lambda: not server.ready(), "not ready")
            for path in ("/readyz", f"/v1/rooms/{ROOM}", f"/rooms/{ROOM}", "/healthz"):
                answer = ask(server.port, request("GET", path, close=False))
                assert "close" == answer.header("connection"), path
                assert (503 if path == "/readyz" else 200) == answer.status
            join(server)
            for stream in opened:
                again = await stream.until("reconnect")
                assert again.retry_ms is not None
                assert None is await stream.next()
            assert 0 == await asyncio.to_thread(server.process.wait, 120)
            assert drain_s <= time.monotonic() - began
        assert any("draining" in str(line["message"]) for line in lines(server))


async def test_a_second_signal_ends_at_once(tmp_path: Path) -> None:
    """If you cannot wait for the drain, signal again; the backend is still closed cleanly."""
    with serving(tmp_path, drain_s=60) as server:
        make_room(server)
        family = children(server.process.pid)
        async with streams(server, 2):
            server.process.send_signal(signal.SIGTERM)
            await asyncio.to_thread(wait_for, lambda: not server.ready(), "not ready")
            server.process.send_signal(signal.SIGTERM)
            assert 0 == await asyncio.to_thread(server.process.wait, 40)  # of the 60
        wait_for(lambda: not any(map(alive, family)), "the end of the family")


async def test_workers_follow_a_killed_parent(tmp_path: Path) -> None:
    """`kill -9` of the parent: streams are told, and soon none of its processes is left."""
    with serving(tmp_path, workers=2, drain_s=60) as server:
        make_room(server)
        family = children(server.process.pid)
        assert len(family) >= 3  # two workers and the backend
        async with streams(server, 3) as opened:
            server.process.kill()
            gone = asyncio.to_thread(
                wait_for, lambda: not any(map(alive, family)), "the end of the family"
            )
            await asyncio.gather(gone, *(stream.until("reconnect") for stream in opened))


def test_sighup_reloads_without_a_lost_request(tmp_path: Path) -> None:
    """The file is read again and new workers take over; requests meanwhile are answered."""
    file = tmp_path / "rooms.toml"
    file.write_text("[rooms.hall]\ncapacity = 5\n")
    with serving(tmp_path, config=file, workers=2, drain_s=1) as server:
        old = set(server.workers)
        file.write_text("[rooms.hall]\ncapacity = 6\n[rooms.annexe]\ncapacity = 1\n")
        server.process.send_signal(signal.SIGHUP)
        answered = 0
        while old & set(server.workers):
            httpx2.get(f"{server.base}/v1/rooms/{ROOM}", timeout=60).raise_for_status()
            answered += 1
        httpx2.get(f"{server.base}/v1/rooms/annexe").raise_for_status()
        assert (2, True) == (len(server.workers), answered > 0)
        file.write_text("[rooms.hall]\ncapacity = -1\n")
        server.process.send_signal(signal.SIGHUP)
        wait_for(lambda: "stay as they were" in server.said(), "a refusal")
        assert server.ready()


def test_a_worker_that_cannot_start(tmp_path: Path) -> None:
    """If no worker ever starts, the server exits with an error instead of retrying for ever."""
    server = launch(tmp_path, redis_url="redis://127.0.0.1:1")
    try:
        assert 0 != server.process.wait(120)
    finally:
        end(server)


def test_connections_are_spread_evenly(pair: Serving) -> None:
    """Each worker gets about its share of the connections."""
    clients = [socket.create_connection(("127.0.0.1", pair.port)) for _ in range(400)]
    try:
        for client in clients:
            client.sendall(request("GET", f"/v1/rooms/{ROOM}", close=False))
        for client in clients:
            assert client.recv(12) == b"HTTP/1.1 200"
        shares = [sockets(pid) for pid in pair.workers]
    finally:
        for client in clients:
            client.close()
    assert max(shares) <= 1.3 * sum(shares) / len(shares), shares


def certificate(folder: Path) -> tuple[Path, Path]:
    """Make a self-signed certificate for 127.0.0.1."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "waitroom.test")])
    now, day = datetime.datetime.now(datetime.UTC), datetime.timedelta(days=1)
    address = x509.IPAddress(ipaddress.ip_address("127.0.0.1"))
    made = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - day)
        .not_valid_after(now + day)
        .add_extension(x509.SubjectAlternativeName([address]), critical=False)
        .sign(key, hashes.SHA256())
    )
    cert_file, key_file = folder / "cert.pem", folder / "key.pem"
    cert_file.write_bytes(made.public_bytes(serialization.Encoding.PEM))
    key_file.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )
    return cert_file, key_file


def test_tls_and_ctrl_c(tmp_path: Path) -> None:
    """It speaks https from TLS 1.2 on, its cookies are Secure, and Ctrl-C does not take long."""
    cert, key = certificate(tmp_path)
    trust = ssl.create_default_context(cafile=cert)
    server = launch(tmp_path, tls_cert=cert, tls_key=key, drain_s=60)
    try:
        with httpx2.Client(base_url=f"https://127.0.0.1:{server.port}", verify=trust) as client:
            wait_for(lambda: answers(client), "https")
            headers = {"authorization": f"Bearer {ADMIN_KEY}"}
            body = {"name": ROOM, "policy": {"capacity": 1}}
            client.post("/v1/admin/rooms", json=body, headers=headers).raise_for_status()
            browser = {"sec-fetch-mode": "cors"}
            joined = client.post(f"/v1/rooms/{ROOM}/tickets", headers=browser)
            cookies = joined.headers.get_list("set-cookie")
            assert cookies
            assert all("Secure" in cookie for cookie in cookies), cookies
        trust.maximum_version = ssl.TLSVersion.TLSv1_2
        older = http.client.HTTPSConnection("127.0.0.1", server.port, context=trust)
        older.request("GET", "/healthz")
        assert 200 == older.getresponse().status
        older.close()
        for pid in (server.process.pid, *server.workers):  # a terminal signals the whole group
            os.kill(pid, signal.SIGINT)
        assert 0 == server.process.wait(40)  # of the 60
        assert "Traceback" not in server.said()
    finally:
        end(server)


def answers(client: httpx2.Client) -> bool:
    """Tell whether a server answers yet."""
    with contextlib.suppress(httpx2.TransportError):
        return client.get("/readyz").status_code == 200
    return False


def test_refused_connections_leave_no_trace() -> None:
    """A socket told to refuse accepts earlier connections but no later ones: it can be closed."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(16)
        port = listener.getsockname()[1]
        with socket.create_connection(("127.0.0.1", port)) as before:
            assert listening.refuse(listener)
            with pytest.raises(TimeoutError):
                socket.create_connection(("127.0.0.1", port), timeout=0.2)
            before.sendall(b"still heard")
            taken, _ = listener.accept()
            with taken:
                assert b"still heard" == taken.recv(100)
            listener.settimeout(0.1)
            with pytest.raises(TimeoutError):
                listener.accept()


def test_a_kernel_that_says_no_does_not_stop_the_stop() -> None:
    """Some kernels let only root filter a socket; nobody may change a locked filter."""
    so_lock_filter = 44
    with socket.socket() as listener:
        listener.setsockopt(socket.SOL_SOCKET, so_lock_filter, 1)
        assert not listening.refuse(listener)


def test_declared_rooms_are_there_from_the_start(tmp_path: Path) -> None:
    """The file's rooms exist once the server is ready; a manual change outlives a restart."""
    file = tmp_path / "rooms.toml"
    file.write_text('[rooms.hall]\ncapacity = 5\nmessage = "Please wait."\n')
    headers = {"authorization": f"Bearer {ADMIN_KEY}"}
    with serving(tmp_path, config=file) as server:
        url = f"{server.base}/v1/admin/rooms/{ROOM}"
        room = httpx2.get(url, headers=headers).json()
        assert (5, "Please wait.") == (room["policy"]["capacity"], room["policy"]["message"])
        changes = {"version": room["version"], "policy": {"capacity": 7}}
        httpx2.patch(url, json=changes, headers=headers).raise_for_status()
        assert any("hall" in str(line["message"]) for line in lines(server))
    file.write_text('[rooms.hall]\ncapacity = 5\nmessage = "Soon."\n')
    with serving(tmp_path, config=file) as server:
        room = httpx2.get(f"{server.base}/v1/admin/rooms/{ROOM}", headers=headers).json()
        assert (7, "Soon.") == (room["policy"]["capacity"], room["policy"]["message"])
    assert 0 == server.process.returncode
