"""Real nginx, Node and Java with the files of examples/, each before or with a site of its own."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import subprocess
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from tests.support.clients import HOST, Reply, ask, request
from tests.support.programs import needed
from tests.support.servers import free_port, wait_for

EXAMPLES = Path(__file__).parents[2] / "examples"
DEPLOYED = Path(__file__).parents[2] / "deploy" / "nginx.conf"
PATIENT_MS = 5_000
"""The deadline of gates where it is not the point: a busy machine may be late."""

ROOM = "concert"
NAME = "waitroom.test"
"""The host that `tests.support.clients.request` asks for."""

GATES_ONLY = (
    "/v1/passes/announce",
    "/v1/passes/renew",
    "/v1/passes/finish",
    "/v1/redeem",
    "/v1/check",
)
"""The calls of gates, which no visitor needs."""


def spellings(path: str) -> tuple[str, ...]:
    """Return ways to write the path of a call that a proxy and a server may read differently."""
    call = path.removeprefix("/v1/")
    return (
        path,
        f"/{path}",
        path.replace("/v1/", "/v1//"),
        f"/v1/%{ord(call[0]):x}{call[1:]}",
        f"/v1/./{call}",
        f"/v1/rooms/../{call}",
        f"/v1/rooms/..%2f{call}",
        f"/rooms/%2e%2e{path}",
        f"/static/..{path}",
        f"{path}/",
        f"{path}?x",
        f"{path}#x",
        f"{path}#/../rooms/x",
        f"http://waitroom.test{path}",
    )


@dataclass(frozen=True, slots=True)
class Stack:
    """A site behind a gate; what gets through is answered with "the site, at …"."""

    name: str
    port: int

    @property
    def site(self) -> str:
        """The origin that people are sent back to."""
        return f"http://{NAME if self.name == 'nginx' else f'{HOST}:{self.port}'}"

    def ask(
        self,
        path: str | bytes = "/concert",
        shown: str | None = None,
        headers: Mapping[str, str | bytes] | None = None,
        method: str = "GET",
    ) -> Reply:
        """Send one request, with a pass in the room's cookie."""
        cookie = {} if shown is None else {"cookie": f"a=b; waitroom-pass-{ROOM}={shown}"}
        return ask(self.port, request(method, path, cookie | dict(headers or {})))


def let_in(reply: Reply) -> bool:
    """Tell whether a request has reached the site."""
    return reply.body.startswith(b"the site")


@contextlib.contextmanager
def running(command: list[str], folder: Path, port: int, env: Mapping[str, str]) -> Iterator[None]:
    """Run a process until the end of the block; it is ready when its port answers."""
    log = folder / "out.log"
    with log.open("wb") as out:
        process = subprocess.Popen(
            command, cwd=folder, env=os.environ | env, stdout=out, stderr=out
        )

    def ready() -> bool:
        if process.poll() is not None:
            raise AssertionError(f"{command[0]} ended:\n{log.read_text('utf-8', 'replace')}")
        with contextlib.suppress(OSError, AssertionError):
            return ask(port, request("GET", "/free")).status > 0
        return False

    try:
        wait_for(ready, command[0])
        yield
    finally:
        process.terminate()
        process.wait(60)


class Quiet(BaseHTTPRequestHandler):
    """Handles requests without a word."""

    def log_message(self, *_: object) -> None:
        """Say nothing."""


class Site(Quiet):
    """A site that answers everything."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        """Answer with what was asked for."""
        body = f"the site, at {self.requestline}\n".encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        for name in ("x-original-url", "x-rewrite-url", "authorization"):
            self.send_header(f"saw-{name}", self.headers.get(name, "-"))
        self.end_headers()
        self.wfile.write(b"" if self.command == "HEAD" else body)

    do_POST = do_HEAD = do_PUT = do_GET  # noqa: N815 - names that http.server looks for


@contextlib.contextmanager
def upstream(handler: type[Quiet] = Site) -> Iterator[int]:
    """Run a site, and return its port."""
    server = ThreadingHTTPServer((HOST, 0), handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        server.server_close()
        thread.join(5)


@contextlib.contextmanager
def nginx(
    folder: Path,
    waitroom: int,
    site: int,
    edit: Callable[[str], str] = str,
    *,
    patient: bool = True,
) -> Iterator[Stack]:
    """Run nginx with our file, on a free port; `patient` gives a busy machine more time."""
    port = free_port()
    text = (EXAMPLES / "nginx" / "nginx.conf").read_text("utf-8")
    for old, new in (
        ("worker_processes auto;", "worker_processes 1;"),
        ("server 127.0.0.1:8080;", f"server {HOST}:{waitroom};"),
        ("server 127.0.0.1:3000;", f"server {HOST}:{site};"),
        ("listen 80", f"listen {HOST}:{port}"),
        ("server_name tickets.example;", f"server_name {NAME};"),
    ):
        assert old in text
        text = text.replace(old, new)
    if patient:
        text = re.sub(r"(proxy_connect_timeout|proxy_read_timeout) \d+ms;", r"\1 5s;", text)
    with run_nginx(folder, edit(text), port):
        yield Stack("nginx", port)


@contextlib.contextmanager
def deployed_nginx(
    folder: Path, upstreams: list[int], edit: Callable[[str], str] = str
) -> Iterator[int]:
    """Run nginx with the file of deploy/, on a free port, before these servers of Waitroom."""
    port = free_port()
    servers = "".join(
        f"        server {HOST}:{upstream} max_fails=1 fail_timeout=2s;\n" for upstream in upstreams
    )
    text = DEPLOYED.read_text("utf-8")
    text = re.sub(r"        server 127\.0\.0\.1:8080 .*\n", servers, text, count=1)
    text = text.replace("listen 80;", f"listen {HOST}:{port};")
    text = text.replace("worker_processes auto;", "worker_processes 1;")
    text = re.sub(r"access_log .*;", "access_log off;", text)
    # A busy machine may take seconds for an answer; only a server that is gone is another matter.
    text = re.sub(r"(proxy_\w*timeout) (1s|3s|10s|500ms);", r"\1 60s;", text)
    with run_nginx(folder, edit(text), port):
        yield port


@contextlib.contextmanager
def run_nginx(folder: Path, text: str, port: int) -> Iterator[None]:
    """Run nginx with a configuration that listens on a port, in a folder of its own."""
    paths = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    temp = "".join(f"    {name}_temp_path {folder}/{name};\n" for name in paths)
    config = folder / "nginx.conf"
    config.write_text(text.replace("http {\n", "http {\n" + temp, 1))
    # Its workers would be `nobody`, who may not look into the folders of a test.
    directives = "daemon off;" + (" user root;" if os.geteuid() == 0 else "")
    binary = needed("nginx")
    command = [binary, "-p", str(folder), "-c", str(config), "-g", directives]
    with running(command, folder, port, {}):
        yield


@contextlib.contextmanager
def node(
    folder: Path, waitroom: int, when_away: str = "closed", deadline_ms: int = PATIENT_MS
) -> Iterator[Stack]:
    """Run the example for Node, with jose as npm has it."""
    binary, port = needed("node", "nodejs"), free_port()
    npm = needed("npm")
    shutil.copytree(EXAMPLES / "node", folder, dirs_exist_ok=True)
    if not (folder / "node_modules" / "jose").is_dir():
        quiet = ("--no-package-lock", "--no-audit", "--no-fund", "--loglevel=error")
        install = [npm, "install", *quiet]
        done = subprocess.run(
            install, cwd=folder, capture_output=True, text=True, timeout=180, check=False
        )
        if done.returncode and os.environ.get("CI") != "true":
            pytest.skip(f"npm cannot install jose here: {done.stderr[-200:]}")
        assert 0 == done.returncode, done.stderr
    env = {
        "PORT": str(port),
        "SITE": f"http://{HOST}:{port}",
        "WAITROOM_URL": f"http://{HOST}:{waitroom}",
        "WHEN_AWAY": when_away,
        "WAITROOM_DEADLINE_MS": str(deadline_ms),
    }
    with running([binary, "server.mjs"], folder, port, env):
        yield Stack("node", port)


@contextlib.contextmanager
def java(
    folder: Path, waitroom: int, when_away: str = "closed", deadline_ms: int = PATIENT_MS
) -> Iterator[Stack]:
    """Run the example for Java, compiled without a single warning."""
    binary, port = needed("java", "openjdk-17-jdk-headless"), free_port()
    javac = needed("javac", "openjdk-17-jdk-headless")
    if not (folder / "Site.class").exists():
        sources = [str(path) for path in sorted((EXAMPLES / "java").glob("*.java"))]
        compile_ = [javac, "--release", "17", "-Xlint:all", "-Werror", "-d", str(folder), *sources]
        done = subprocess.run(compile_, capture_output=True, text=True, timeout=180, check=False)
        assert (0, "") == (done.returncode, done.stdout + done.stderr)
    flags = ["-XX:TieredStopAtLevel=1", "-Xmx128m", "-cp", str(folder)]
    flags.append(f"-Dwaitroom.deadline_ms={deadline_ms}")
    command = [binary, *flags, "Site", f"http://{HOST}:{waitroom}", str(port), when_away]
    with running(command, folder, port, {}):
        yield Stack("java", port)
