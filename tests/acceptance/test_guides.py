"""The guides are true: their commands run in order, unchanged, and print what the pages show.

A newcomer would do the same, in an empty folder. Only the installation is left out, and ports are
replaced by free ones; test_installed.py follows one guide with what it installs. The Korean pages
have the same commands and files, so they are true as well.
"""

from __future__ import annotations

import fnmatch
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.servers import free_port, wait_for
from tests.support.serving import clean_env
from tests.test_docs import DOCS

GUIDES = ("start", "guide-fastapi", "guide-on-sale", "guide-restaurant")
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", re.M | re.S)
INSTALLING = ("python3 -m venv", ". .venv", "pip install")
SERVERS = ("waitroom serve", "uvicorn ")
ELSEWHERE = ("waitroom load", "waitroom --archive")
"""Commands with their own tests, which take minutes or need a finished sale."""


def blocks(page: str) -> list[tuple[str, str]]:
    """Return the language and the text of each code block on a page."""
    return BLOCK.findall((DOCS / f"{page}.md").read_text("utf-8"))


def without_comments(text: str) -> str:
    """Return what a block does; comments are in the language of the page."""
    return re.sub(r" *(?:^|  )# .*$", "", text, flags=re.M)


class Folder:
    """An empty folder in which somebody follows a guide."""

    def __init__(self, path: Path, tools: Path = Path(sys.executable).parent) -> None:
        self.path = path
        self.ports = {"8000": str(free_port()), "8080": str(free_port())}
        self.env = clean_env() | {"PATH": f"{tools}{os.pathsep}{os.environ['PATH']}"}
        self.env["WAITROOM_PORT"] = self.ports["8080"]
        self.running: list[subprocess.Popen[bytes]] = []

    def here(self, text: str) -> str:
        """Return a text with the ports of this folder."""
        return re.sub(r"(?<=[: ])(8000|8080)\b", lambda port: self.ports[port[0]], text)

    def follow(self, page: str) -> int:
        """Do what a page says; return how many commands ran."""
        done = 0
        for language, text in blocks(page):
            named = re.match(r"# ([\w.]+)\n", text)
            if named:
                (self.path / named[1]).write_text(self.here(text), "utf-8")
            if language == "console":
                for part in re.split(r"^\$ ", text, flags=re.M)[1:]:
                    command, _, shown = part.partition("\n")
                    done += self.type(self.here(command), self.here(shown).strip())
        return done

    def type(self, command: str, shown: str) -> bool:
        """Run a command, and check that it prints what the page shows; "…" stands for anything."""
        if command.startswith((*INSTALLING, *ELSEWHERE)):
            return False
        if command.startswith(SERVERS):
            self.start(command)
        elif command.startswith("curl"):  # a change reaches a gate after a moment
            wait_for(lambda: self.says(command, shown), f"`{command}` shows {shown}")
        else:
            assert self.says(command, shown), command
        return True

    def start(self, command: str) -> None:
        """Start a server, and wait until it listens."""
        log = (self.path / f"log-{len(self.running)}").open("wb")
        with log:
            self.running.append(
                subprocess.Popen(
                    ["/bin/sh", "-c", f"exec {command}"],
                    cwd=self.path,
                    env=self.env,
                    stdout=log,
                    stderr=log,
                    start_new_session=True,
                )
            )
        port = int(self.ports["8080" if command.startswith("waitroom") else "8000"])

        def listens() -> bool:
            assert self.running[-1].poll() is None, Path(log.name).read_text("utf-8")
            with socket.socket() as probe:
                return probe.connect_ex(("127.0.0.1", port)) == 0

        wait_for(listens, command)

    def says(self, command: str, shown: str) -> bool:
        """Run a command to its end, and tell whether it prints what is shown."""
        ran = subprocess.run(
            ["/bin/sh", "-c", command],
            cwd=self.path,
            env=self.env,
            input="y\n",  # confirm any question
            capture_output=True,
            text=True,
        )
        assert 0 == ran.returncode, f"{command}\n{ran.stdout}{ran.stderr}"
        pattern = re.sub(r"([\[*?])", r"[\1]", shown).replace("…", "*")
        return not shown or fnmatch.fnmatchcase(ran.stdout.strip(), pattern)

    def close(self) -> None:
        """End what was started, newest first."""
        for process in reversed(self.running):
            os.killpg(process.pid, signal.SIGINT)
            process.wait(60)


@pytest.fixture
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Folder]:
    """Return an empty folder with a short path, because the path of a Unix socket is limited."""
    path = tmp_path_factory.mktemp("g")
    made = Folder(path)
    yield made
    made.close()
    shutil.rmtree(path)


@pytest.mark.parametrize("page", GUIDES)
def test_the_guide_as_it_stands(folder: Folder, page: str) -> None:
    """Each command of the page works in turn, and prints what the page shows."""
    assert folder.follow(page) >= 1


@pytest.mark.parametrize("page", GUIDES)
def test_the_korean_page_does_the_same(page: str) -> None:
    """The Korean page has the same blocks, except for comments and the names of people's things."""
    korean = [without_comments(text) for _, text in blocks(f"ko/{page}")]
    english = [without_comments(text) for _, text in blocks(page)]
    quoted = re.compile(r'"[^"]*"|<p>.*?</p>')
    assert [quoted.sub("", text) for text in english] == [quoted.sub("", text) for text in korean]
