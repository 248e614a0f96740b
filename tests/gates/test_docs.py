"""The sites of docs/gates.md: each is one file that runs with one command, and its gate works."""

from __future__ import annotations

import os
import re
import shlex
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx2
import pytest

from tests.support.servers import free_port, wait_for
from tests.support.serving import Serving, clean_env

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "gates.md").read_text("utf-8")
FRAMEWORKS = ("FastAPI", "Flask", "Django")


@dataclass(frozen=True, slots=True)
class Example:
    """A file from the page, and the command that runs it."""

    code: str
    command: list[str]


def example(framework: str) -> Example:
    """Return the example for a framework, as on the page."""
    section = PAGE.split(f"### {framework}\n")[1].split("\n##")[0]
    blocks = dict(re.findall(r"```(console|python)\n(.*?)```", section, re.DOTALL))
    command = shlex.split(blocks["console"].splitlines()[-1].removeprefix("$ "))
    return Example(blocks["python"], command)


def replaced(text: str, changes: dict[str, str]) -> str:
    """Return a text with every change made; each must match."""
    for old, new in changes.items():
        assert old in text, old
        text = text.replace(old, new)
    return text


def send_people_to(port: str, waitroom: Serving, room: str) -> None:
    """Run the command from the page that tells the room where the site is."""
    line = re.search(r"^\$ (waitroom room set demo .*)$", PAGE, re.MULTILINE)
    assert line
    words = shlex.split(replaced(line[1], {" demo ": f" {room} ", ":8000": f":{port}"}))[1:]
    command = [sys.executable, "-m", "waitroom.cli", "--data-dir", str(waitroom.data_dir), *words]
    subprocess.run(command, env=clean_env(), check=True, capture_output=True)


@pytest.fixture
def room(make_room: Callable[..., str]) -> str:
    """Make a room for one person."""
    return make_room(capacity=1, session_s=600)


@pytest.fixture(params=FRAMEWORKS)
def shop(
    request: pytest.FixtureRequest, waitroom: Serving, room: str, tmp_path: Path
) -> Iterator[str]:
    """Run the example of a framework, on its own port; return its address."""
    given, port = example(request.param), str(free_port())
    send_people_to(port, waitroom, room)
    addresses = {":8080": f":{waitroom.port}", ":8000": f":{port}", '"demo"': f'"{room}"'}
    (tmp_path / "shop.py").write_text(replaced(given.code, addresses), "utf-8")
    program, *words = [port if word == "8000" else word for word in given.command]
    start = [sys.executable, *(() if program == "python" else ("-m", program)), *words]
    log = tmp_path / "log"
    with log.open("wb") as out:
        process = subprocess.Popen(
            start, cwd=tmp_path, env=clean_env(), stdout=out, stderr=out, start_new_session=True
        )
    url = f"http://127.0.0.1:{port}"

    def answers() -> bool:
        assert process.poll() is None, log.read_text("utf-8")
        try:
            return httpx2.get(url, timeout=60).status_code == 200
        except httpx2.HTTPError:
            return False

    try:
        wait_for(answers, f"the site in {request.param}")
        yield url
    finally:
        os.killpg(process.pid, signal.SIGKILL)  # Django's runs another process, which reloads
        process.wait(30)


def face(page: httpx2.Response) -> str:
    """Return the name of the state that the waiting page shows."""
    shown = re.search(r'<section data-face="(\w+)">', page.text)
    assert shown, page.text
    return shown[1]


def press(browser: httpx2.Client, page: httpx2.Response, act: str) -> httpx2.Response:
    """Press a button on the waiting page, as a browser without JavaScript does."""
    form = re.search(rf'action="(/rooms/[^"]+/{act})">(.*?)</form>', page.text, re.DOTALL)
    assert form, page.text
    fields = dict(re.findall(r'name="([^"]+)" value="([^"]+)"', form[2]))
    return browser.post(page.url.join(form[1]), data=fields)


def until(
    browser: httpx2.Client, url: str, *, shows: str = "", leads_to: str = ""
) -> httpx2.Response:
    """Open an address until it shows or leads to something, and return the page.

    On a busy machine a gate sends people to the waiting page even if they have a pass.
    """
    pages: list[httpx2.Response] = []

    def there() -> bool:
        pages.append(browser.get(url))
        return shows in pages[-1].text and str(pages[-1].url).startswith(leads_to)

    wait_for(there, f"{shows}{leads_to} at {url}")
    return pages[-1]


def test_a_site_to_paste(shop: str, waitroom: Serving, room: str) -> None:
    """A visitor waits until somebody has left, is let in, buys, and then has to wait again."""
    api = f"{waitroom.base}/v1/rooms/{room}/tickets"
    first = httpx2.post(api, json={"enter": True}, timeout=60).raise_for_status().json()
    with httpx2.Client(follow_redirects=True, timeout=60) as visitor:
        assert "Anybody may see this" in visitor.get(shop).text
        page = until(visitor, f"{shop}/concert", leads_to=f"{waitroom.base}/rooms/{room}?")
        page = press(visitor, page, "join")
        assert "waiting" == face(page)
        bearer = {"authorization": f"Bearer {first['ticket']}"}
        httpx2.post(f"{api}/me/finish", headers=bearer, timeout=60).raise_for_status()
        page = visitor.get(page.url)
        assert "called" == face(page)
        entered = press(visitor, page, "enter")
        assert f"{shop}/concert" in (str(entered.url), *(str(past.url) for past in entered.history))
        until(visitor, f"{shop}/concert", shows="You are in. ")
        until(visitor, f"{shop}/concert/thanks", shows="Thank you. ")
        until(visitor, f"{shop}/concert", leads_to=f"{waitroom.base}/rooms/{room}?")
