"""Real nginx, Node, Workers, Next.js, Go and Java with our gates, each with a site."""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import shutil
import socket
import subprocess
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from http.client import HTTPException, HTTPResponse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from tests.support.clients import HOST, Reply, ask, request
from tests.support.programs import needed
from tests.support.servers import free_port, wait_for

ROOT = Path(__file__).parents[2]
EXAMPLES, PACKAGE, GO = ROOT / "examples", ROOT / "packages" / "gate", ROOT / "gates" / "go"
SITES, EDGE = Path(__file__).parent / "sites", Path(__file__).parent / "edge"
DEPLOYED = ROOT / "deploy" / "nginx.conf"
FRAMEWORKS = ("express@5.3.0", "hono@4.13.18", "@hono/node-server@2.1.8")
RUNTIMES = ("miniflare@4.20260426.0", "next@16.4.6", "react@19.3.1", "react-dom@19.3.1")
PATIENT_MS = 5_000
"""The deadline of gates where it is not under test: a busy machine may be late."""

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
"""The gates' routes, which no visitor needs."""


def spellings(path: str) -> tuple[str, ...]:
    """Return ways to write a path that a proxy and a server may read differently."""
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
    """A site behind a gate; requests that get through are answered with "the site, at …"."""

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
        whole = request(method, path, cookie | dict(headers or {}))
        return (ask_once if self.name == "workers" else ask)(self.port, whole)


def ask_once(port: int, data: bytes) -> Reply:
    """Send bytes and read one answer, from a server that may leave the connection open."""
    with socket.create_connection((HOST, port), 60) as connection:
        connection.sendall(data)
        answer = HTTPResponse(connection)
        answer.begin()
        headers = tuple((name.lower(), value) for name, value in answer.getheaders())
        return Reply(answer.status, headers, answer.read())


def let_in(reply: Reply) -> bool:
    """Tell whether a request has reached the site."""
    return reply.body.startswith(b"the site")


@contextlib.contextmanager
def running(command: list[str], folder: Path, port: int, env: Mapping[str, str]) -> Iterator[None]:
    """Run a process until the end of the block; it is ready when its port answers."""
    log = folder / f"out-{port}.log"
    with log.open("wb") as out:
        process = subprocess.Popen(
            command, cwd=folder, env=os.environ | env, stdout=out, stderr=out
        )

    def ready() -> bool:
        if process.poll() is not None:
            raise AssertionError(f"{command[0]} ended:\n{log.read_text('utf-8', 'replace')}")
        with contextlib.suppress(OSError, HTTPException):
            return ask_once(port, request("GET", "/free")).status > 0
        return False

    try:
        wait_for(ready, command[0])
        yield
    finally:
        process.terminate()
        process.wait(60)


class Quiet(BaseHTTPRequestHandler):
    """Handles requests without logging."""

    def log_message(self, *_: object) -> None:
        """Log nothing."""


class Site(Quiet):
    """A site that answers everything."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        """Answer with the requested path."""
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
    """Run nginx with the file from deploy/, on a free port, in front of these Waitroom servers."""
    port = free_port()
    servers = "".join(
        f"        server {HOST}:{upstream} max_fails=1 fail_timeout=2s;\n" for upstream in upstreams
    )
    text = DEPLOYED.read_text("utf-8")
    text = re.sub(r"        server 127\.0\.0\.1:8080 .*\n", servers, text, count=1)
    text = text.replace("listen 80;", f"listen {HOST}:{port};")
    text = text.replace("worker_processes auto;", "worker_processes 1;")
    text = re.sub(r"access_log .*;", "access_log off;", text)
    # A busy machine may take seconds for an answer; only a server that is gone counts as down.
    text = re.sub(r"(proxy_\w*timeout) (1s|3s|10s|500ms);", r"\1 60s;", text)
    with run_nginx(folder, edit(text), port):
        yield port


@contextlib.contextmanager
def run_nginx(folder: Path, text: str, port: int) -> Iterator[None]:
    """Run nginx with a configuration that listens on a port, in its own folder."""
    paths = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    temp = "".join(f"    {name}_temp_path {folder}/{name};\n" for name in paths)
    config = folder / "nginx.conf"
    config.write_text(text.replace("http {\n", "http {\n" + temp, 1))
    # Its workers would be `nobody`, who may not read the folders of a test.
    directives = "daemon off;" + (" user root;" if os.geteuid() == 0 else "")
    binary = needed("nginx")
    command = [binary, "-p", str(folder), "-c", str(config), "-g", directives]
    with running(command, folder, port, {}):
        yield


def tarball(folder: Path) -> Path:
    """Pack the JavaScript gate as npm would publish it."""
    if not (ROOT / "node_modules" / "typescript").is_dir() and os.environ.get("CI") != "true":
        pytest.skip("node_modules is not there: `make assets` installs what packs the package")
    folder.mkdir(parents=True, exist_ok=True)
    done = run([needed("npm"), "pack", "--silent", "--pack-destination", str(folder)], PACKAGE)
    assert 0 == done.returncode, done.stderr
    (made,) = folder.glob("*.tgz")
    return made


def installed(folder: Path) -> Path:
    """Return a folder with the Node sites and all their needs; the first caller installs it."""
    folder.mkdir(exist_ok=True)
    with (folder / "lock").open("w") as lock:  # the workers of one run share it
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "done").exists():
            _install(folder)
            (folder / "done").touch()
    return folder


def _install(folder: Path) -> None:
    ours = shutil.ignore_patterns("node_modules")
    shutil.copytree(EXAMPLES / "node", folder, dirs_exist_ok=True, ignore=ours)
    shutil.copytree(SITES, folder, dirs_exist_ok=True)
    package = folder / "package.json"
    text = package.read_text("utf-8")
    assert "file:../../packages/gate" in text
    packed = tarball(folder / "packed")
    package.write_text(text.replace("file:../../packages/gate", f"file:{packed}"), "utf-8")
    _npm_install(folder, *FRAMEWORKS)


def _npm_install(folder: Path, *packages: str) -> None:
    quiet = ("--prefer-offline", "--no-package-lock", "--no-audit", "--no-fund", "--loglevel=error")
    done = run([needed("npm"), "install", *quiet, *packages], folder)
    if done.returncode and os.environ.get("CI") != "true":
        pytest.skip(f"npm cannot install packages here: {done.stderr[-200:]}")
    assert 0 == done.returncode, done.stderr


def run(
    command: Sequence[str], folder: Path, env: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run a command to its end."""
    return subprocess.run(
        command,
        cwd=folder,
        env=os.environ | dict(env or {}),
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def site_env(port: int, waitroom: int, when_away: str, deadline_ms: int) -> dict[str, str]:
    """Return the environment in which a site finds Waitroom."""
    return {
        "PORT": str(port),
        "SITE": f"http://{HOST}:{port}",
        "WAITROOM_URL": f"http://{HOST}:{waitroom}",
        "WHEN_AWAY": when_away,
        "WAITROOM_DEADLINE_MS": str(deadline_ms),
    }


@contextlib.contextmanager
def node(
    folder: Path,
    waitroom: int,
    when_away: str = "closed",
    deadline_ms: int = PATIENT_MS,
    *,
    script: str = "server.mjs",
    strict: bool = False,
    claim_key: str = "",
) -> Iterator[Stack]:
    """Run a site on Node: the example, or one of our test sites with a framework."""
    binary, port = needed("node", "nodejs"), free_port()
    env = site_env(port, waitroom, when_away, deadline_ms) | {"STRICT": str(strict).lower()}
    env |= {"CLAIM_KEY": claim_key} if claim_key else {}
    with running([binary, script], folder, port, env):
        yield Stack("node", port)


def edge(folder: Path, packed: Path) -> Path:
    """Return a folder with the sites for Workers and Next.js and all their needs."""
    shutil.copytree(EDGE, folder, dirs_exist_ok=True)
    _npm_install(folder, str(packed), *RUNTIMES)
    return folder


@contextlib.contextmanager
def workers(folder: Path, waitroom: int) -> Iterator[Stack]:
    """Run the bundled Worker in the runtime of Workers."""
    binary, port = needed("node", "nodejs"), free_port()
    esbuild = str(ROOT / "node_modules" / ".bin" / "esbuild")
    bundle = ["--bundle", "--format=esm", "--conditions=workerd", "--outfile=bundle.mjs"]
    done = run([esbuild, "worker.js", *bundle], folder)
    assert 0 == done.returncode, done.stderr
    env = site_env(port, waitroom, "closed", PATIENT_MS)
    with running([binary, "workers.mjs"], folder, port, env):
        yield Stack("workers", port)


@contextlib.contextmanager
def next_js(folder: Path, waitroom: int, convention: str) -> Iterator[Stack]:
    """Build and run the site on Next.js, whose gate is in `proxy.js` or in `middleware.js`."""
    binary, port = needed("node", "nodejs"), free_port()
    for name in ("proxy", "middleware"):  # it accepts only one of them
        (folder / f"{name}.js").unlink(missing_ok=True)
    shutil.copy(EDGE / f"{convention}.js", folder)
    program = [binary, str(folder / "node_modules" / "next" / "dist" / "bin" / "next")]
    env = {"BUILT": f"built-{convention}", "NEXT_TELEMETRY_DISABLED": "1"}
    env |= site_env(port, waitroom, "closed", PATIENT_MS)
    done = run([*program, "build"], folder, env)
    assert 0 == done.returncode, done.stdout + done.stderr
    with running([*program, "start", "-H", HOST, "-p", str(port)], folder, port, env):
        yield Stack("next", port)


@contextlib.contextmanager
def go(
    folder: Path,
    waitroom: int,
    when_away: str = "closed",
    deadline_ms: int = PATIENT_MS,
    *,
    strict: bool = False,
    claim_key: str = "",
) -> Iterator[Stack]:
    """Run the example for Go."""
    binary, port = needed("go", "golang-go"), free_port()
    env = site_env(port, waitroom, when_away, deadline_ms) | {"STRICT": str(strict).lower()}
    env |= {"CLAIM_KEY": claim_key} if claim_key else {}
    if not (folder / "site").exists():
        done = run([binary, "build", "-o", str(folder / "site"), "./site"], GO)
        assert (0, "") == (done.returncode, done.stdout + done.stderr)
    with running([str(folder / "site")], folder, port, env):
        yield Stack("go", port)


@contextlib.contextmanager
def java(
    folder: Path,
    waitroom: int,
    when_away: str = "closed",
    deadline_ms: int = PATIENT_MS,
    *,
    strict: bool = False,
    claim_key: str = "",
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
    env = {"STRICT": str(strict).lower()} | ({"CLAIM_KEY": claim_key} if claim_key else {})
    with running(command, folder, port, env):
        yield Stack("java", port)
