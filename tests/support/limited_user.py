"""A backend on which Waitroom is the user of deploy/valkey.acl.example, and nobody else may log in.

One extra user, for the test only, reads what that user was refused.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from redis import Redis

from tests.support.servers import HOST, Kind, Server, start_server

EXAMPLE = Path(__file__).parents[2] / "deploy" / "valkey.acl.example"
PASSWORD = "a password of the tests"
OVERSEER = "user overseer on >overseer ~* &* +@all\n"


def acl_text() -> str:
    """Return the file as written by somebody who follows the docs."""
    digest = hashlib.sha256(PASSWORD.encode()).hexdigest()
    return EXAMPLE.read_text("utf-8").replace("PASSWORD_SHA256", digest)


def rules() -> list[str]:
    """Return the rules of Waitroom's user, without its password."""
    words = re.search(r"^user waitroom on #\S+ (.+)$", acl_text(), re.M)
    assert words is not None
    return words[1].split()


def commands() -> set[str]:
    """Return the commands that Waitroom's user may run, like `get` and `cluster|slots`."""
    return {rule[1:] for rule in rules() if rule.startswith("+")}


@dataclass(frozen=True, slots=True)
class LimitedBackend:
    """A server with the users of the file."""

    server: Server

    @property
    def url(self) -> str:
        """The URL with Waitroom's user."""
        return f"redis://waitroom:{PASSWORD.replace(' ', '%20')}@{HOST}:{self.server.port}"

    def overseer(self) -> Redis:
        """Return a client that may do everything; the caller closes it."""
        return Redis(
            host=HOST, port=self.server.port, username="overseer", password="overseer", protocol=2
        )

    def refused(self) -> set[str]:
        """Return what Waitroom's user was refused: commands, keys and channels."""
        with self.overseer() as overseer:
            entries: list[dict[str, Any]] = overseer.acl_log(128)
        return {str(entry["object"]) for entry in entries if entry["username"] == "waitroom"}


@contextmanager
def limited_backend(kind: Kind, folder: Path) -> Iterator[LimitedBackend]:
    """Run a server with the file from deploy/; it writes an append-only file."""
    folder.mkdir(parents=True, exist_ok=True)
    users = folder / "users.acl"
    users.write_text(acl_text() + OVERSEER, "utf-8")
    with start_server(kind, folder, aof=True, aclfile=str(users)) as server:
        yield LimitedBackend(server)
