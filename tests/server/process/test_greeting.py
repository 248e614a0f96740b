"""What `waitroom serve` says at a terminal, and that it says nothing to a machine."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

from tests.support.servers import free_port, wait_for
from waitroom.server.process.greeting import base_url, greeting
from waitroom.settings import Settings

LONGEST_S = 60


def answers(port: int) -> bool:
    """Tell whether somebody listens on the port."""
    with socket.socket() as client:
        return client.connect_ex(("127.0.0.1", port)) == 0


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        (Settings(), "http://127.0.0.1:8080"),
        (Settings(host="0.0.0.0", port=80), "http://127.0.0.1:80"),  # noqa: S104 - not bound
        (Settings(host="::1", tls_cert=Path("c"), tls_key=Path("k")), "https://[::1]:8080"),
        (Settings(public_url="https://wait.example/"), "https://wait.example"),
    ],
)
def test_where_it_listens(settings: Settings, expected: str) -> None:
    """The address that works on this machine, or the public one; no backend password."""
    assert expected == base_url(settings)
    assert f"{expected}/admin " in greeting(settings)


def test_the_backend_is_named_without_its_password() -> None:
    """Other people may see the terminal's screen."""
    assert "hidden" not in greeting(Settings(redis_url="redis://:hidden@db.internal"))


def test_text_at_a_terminal_and_json_elsewhere(tmp_path: Path) -> None:
    """A person reads where to go next; a machine reads lines of JSON."""
    for terminal in (True, False):
        ours, theirs = os.openpty() if terminal else os.pipe()
        port = free_port()
        command = ["-m", "waitroom.cli", "--data-dir", str(tmp_path / str(port))]
        command += ["serve", "--port", str(port), "--log-level", "debug"]
        process = subprocess.Popen([sys.executable, *command], stderr=theirs)
        os.close(theirs)
        said = b""
        try:
            ends = b"Ctrl+C stops it." if terminal else b"\n"
            while ends not in said:
                said += os.read(ours, 4096)
            wait_for(partial(answers, port), "listening")  # it may log before it can be stopped
        finally:
            process.send_signal(signal.SIGTERM)
            assert 0 == process.wait(LONGEST_S)
            os.close(ours)
        if terminal:
            assert f"listens at http://127.0.0.1:{port}".encode() in said
            assert b"waitroom key create" in said
        else:
            assert "level" in json.loads(said.splitlines()[0])
