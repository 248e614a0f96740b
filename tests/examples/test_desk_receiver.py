"""examples/desk-receiver: it accepts what the desk has signed, once, and nothing else."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.support.servers import free_port, wait_for
from waitroom.events import signing

PROGRAM = Path(__file__).parents[2] / "examples" / "desk-receiver" / "receiver.py"
SECRET = signing.new_secret()
NOTICE = {
    "id": "7-18c",
    "kind": "called",
    "store": "noodle",
    "title": "Noodle House",
    "number": 12,
    "phone": "+821012345678",
    "teams_ahead": 0,
    "url": "https://wait.example/desk/noodle/p/x",
}


@dataclass
class Running:
    """The receiver as a process."""

    url: str
    log: Path

    def output(self) -> list[str]:
        """Return what it has printed so far."""
        return self.log.read_text("utf-8").splitlines()

    def send(self, notice: dict[str, Any], *, secret: str = SECRET, age_s: int = 0) -> int:
        """Send a notice as the desk does; return the answer's status."""
        now_ms = int((time.time() - age_s) * 1000)
        body = signing.body(f"party.{notice['kind']}", now_ms, notice)
        headers = signing.headers([secret], notice["id"], now_ms, body)
        return httpx2.post(self.url, content=body, headers=headers).status_code


@pytest.fixture
def receiver(tmp_path: Path) -> Iterator[Running]:
    """Run the receiver."""
    port = free_port()
    log = tmp_path / "receiver.log"
    env = os.environ | {"SECRET": SECRET, "PYTHONIOENCODING": "utf-8"}
    with log.open("wb") as out:
        process = subprocess.Popen(
            [sys.executable, str(PROGRAM), str(port)], env=env, stdout=out, stderr=out
        )
    made = Running(f"http://127.0.0.1:{port}/", log)
    try:
        wait_for(lambda: _answers(made.url), "the receiver")
        yield made
    finally:
        process.terminate()
        process.wait(10)


def _answers(url: str) -> bool:
    try:
        return httpx2.post(url).status_code == 401
    except httpx2.HTTPError:
        return False


def test_a_signed_notice_is_told_once(receiver: Running) -> None:
    """The same notice sent twice is answered twice and told once; phones stay out of the log."""
    assert [204, 204] == [receiver.send(NOTICE), receiver.send(NOTICE)]
    assert [
        "to …5678: Noodle House: number 12, your table is ready! " + str(NOTICE["url"])
    ] == receiver.output()


def test_near_and_no_phone(receiver: Running) -> None:
    """A notice of another kind has its own text, and a party without a phone is no error."""
    near = NOTICE | {"id": "8-18c", "kind": "near", "phone": None, "teams_ahead": 3}
    assert 204 == receiver.send(near)
    assert "3 teams before you" in receiver.output()[0]


def test_forged_and_old_notices_are_refused(receiver: Running) -> None:
    """Another secret, no signature or an old notice is answered 401, and nobody is told."""
    assert 401 == receiver.send(NOTICE, secret=signing.new_secret())
    assert 401 == receiver.send(NOTICE, age_s=301)
    assert 401 == httpx2.post(receiver.url, json=NOTICE).status_code
    assert [] == receiver.output()
