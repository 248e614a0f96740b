"""Every operator action leaves one entry in the audit log, whichever way it is done."""

from __future__ import annotations

import os
import platform
import pwd
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.cli.conftest import Cli
from tests.support.servers import Server
from tests.support.serving import ADMIN_KEY, SECRET, Serving, serving
from waitroom.engine.audit import Log

ACTORS = {
    "api": ("settings", "settings", "admin", "127.0.0.1"),
    "page": ("settings", "settings", "admin", "127.0.0.1"),
    "cli": ("cli", pwd.getpwuid(os.getuid()).pw_name, "admin", platform.node()),
}
WEBHOOK_KEY = "k3y-of-the-vendor"  # long: a few letters may be in a random ticket id by chance
WEBHOOK = ("--webhook-url", f"https://sms.example/{WEBHOOK_KEY}")
PAUSED = {"mode": "paused"}


@dataclass
class Ways:
    """One room, and the three ways to act on it."""

    cli: Cli
    api: httpx2.Client
    page: httpx2.Client
    room: str
    folder: Path

    def line(self, people: int = 1) -> list[str]:
        """Make people join; return the ids of those who wait."""
        for _ in range(people):
            self.api.post(f"/v1/rooms/{self.room}/tickets").raise_for_status()
        waiting = self.api.get(f"{self.path}/tickets").json()["tickets"]
        return [ticket["id"] for ticket in waiting]

    @property
    def path(self) -> str:
        """The room in the API."""
        return f"/v1/admin/rooms/{self.room}"

    def post(self, path: str, **body: Any) -> str:
        """Post to the API; return the answer."""
        return self.api.post(path, json=body).raise_for_status().text

    def press(self, **form: str) -> str:
        """Use a lever of the operator page, with its confirmation."""
        shown = self.page.get(f"/admin/rooms/{self.room}/confirm", params=form)
        fields = dict(re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)"', shown.text))
        answer = self.page.post(f"/admin/rooms/{self.room}/do", data=fields)
        assert 303 == answer.status_code, answer.text
        return answer.headers["location"]

    def send(self, path: str, **form: str) -> str:
        """Send a form of the operator page; return the answer."""
        token = re.findall(r'name="token" value="([^"]+)"', self.page.get("/admin").text)[0]
        answer = self.page.post(path, data=form | {"token": token})
        assert answer.status_code in (200, 201, 303), answer.text
        return answer.text

    def run(self, *words: str | int) -> str:
        """Run a command; return all its output."""
        return self.cli.text(*words, "--json")

    def log(self) -> list[dict[str, Any]]:
        """Return the newest entries of the audit log, and of the log of sign-ins."""
        logs = [self.api.get("/v1/admin/audit", params={"log": log}) for log in Log]
        return [entry for answer in logs for entry in answer.json()["entries"]]


@pytest.fixture(scope="module")
def served(valkey: Server, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    """Run a server on a backend that the command line can reach too."""
    with serving(tmp_path_factory.mktemp("ways"), redis_url=valkey.url, desk=True) as running:
        yield running


@pytest.fixture
def ways(served: Serving, valkey: Server, room: str, tmp_path: Path) -> Iterator[Ways]:
    """Make a room and sign in everywhere."""
    env: dict[str, str | None] = {
        "WAITROOM_DATA_DIR": str(served.data_dir),
        "WAITROOM_SECRET": SECRET,
    }
    served.new_room(room, capacity=1, session_s=60)
    with served.operator() as api, httpx2.Client(base_url=served.base) as page:
        page.post("/admin/sign-in", data={"key": ADMIN_KEY})
        yield Ways(Cli(valkey.url, env), api, page, room, tmp_path)


def key_id(ways: Ways) -> str:
    """Make an API key to be revoked."""
    made: str = ways.api.post("/v1/admin/keys", json={"name": "a"}).json()["id"]
    return made


def store(ways: Ways) -> str:
    """Make a store to be changed."""
    ways.post("/v1/stores", id=ways.room, title="Noodles")
    return ways.room


def host_key_id(ways: Ways) -> str:
    """Make a store with a host key to be revoked."""
    body = {"name": "tablet"}
    made: str = ways.api.post(f"/v1/stores/{store(ways)}/hosts", json=body).json()["id"]
    return made


def undo(ways: Ways) -> Callable[[], str]:
    """Change something on the page, and return what undoes it."""
    shown = ways.page.get(ways.press(do="mode", mode="paused")).text
    names = ("entry", "token")
    form = {name: re.findall(rf'name="{name}" value="([^"]+)"', shown)[0] for name in names}
    return lambda: ways.page.post(f"/admin/rooms/{ways.room}/undo", data=form).text


def paused(ways: Ways) -> str:
    """Change something with the API, to be undone."""
    return ways.api.patch(ways.path, json={"policy": PAUSED}).raise_for_status().text


def declared(ways: Ways) -> str:
    """Write a file that declares a new room."""
    path = ways.folder / "rooms.toml"
    path.write_text(f"[rooms.{ways.room}-file]\ncapacity = 3\n")
    return str(path)


def ready(act: Callable[[Ways], str]) -> Callable[[Ways], Callable[[], str]]:
    """Declare that an action needs no preparation."""
    return lambda ways: lambda: act(ways)


def after(
    prepare: Callable[[Ways], str], act: Callable[[Ways, str], str]
) -> Callable[[Ways], Callable[[], str]]:
    """Declare that an action works on something made before."""

    def prepared(ways: Ways) -> Callable[[], str]:
        made = prepare(ways)
        return lambda: act(ways, made)

    return prepared


def second_of_two(ways: Ways) -> str:
    """Return the id of somebody who waits: one is admitted, so there must be two."""
    return ways.line(2)[-1]


def kicked(ways: Ways) -> str:
    """Return the id of somebody who was kicked by mistake."""
    ticket_id = second_of_two(ways)
    ways.post(f"{ways.path}/kick", ticket_ids=[ticket_id])
    return ticket_id


# The action, the way, the log entry: the first call prepares, the second acts.
ACTIONS: list[tuple[str, str, str, set[str], Callable[[Ways], Callable[[], str]]]] = [
    (
        "create a room",
        "api",
        "room.create",
        {"policy"},
        ready(lambda w: w.post("/v1/admin/rooms", name=f"{w.room}-new", preset="slots")),
    ),
    (
        "create a room",
        "cli",
        "room.create",
        {"policy"},
        ready(lambda w: w.run("room", "create", f"{w.room}-new", "--preset", "slots")),
    ),
    (
        "create a room of a file",
        "cli",
        "room.create",
        {"policy"},
        ready(lambda w: w.run("apply", declared(w), "--yes")),
    ),
    (
        "change a room",
        "api",
        "room.change",
        {"changed", "version"},
        ready(lambda w: w.api.patch(w.path, json={"policy": {"capacity": 7}}).text),
    ),
    (
        "change a room",
        "page",
        "room.change",
        {"changed", "version"},
        ready(lambda w: w.press(do="capacity", capacity="7")),
    ),
    ("undo a change", "page", "room.change", {"changed", "version", "undoes"}, undo),
    (
        "undo a change",
        "api",
        "room.change",
        {"changed", "version", "undoes"},
        after(paused, lambda w, _: w.post(f"{w.path}/undo")),
    ),
    (
        "undo a change",
        "cli",
        "room.change",
        {"changed", "version", "undoes"},
        after(paused, lambda w, _: w.run("room", "undo", w.room)),
    ),
    (
        "change a room",
        "cli",
        "room.change",
        {"changed", "version"},
        ready(lambda w: w.run("room", "set", w.room, "--capacity", 7)),
    ),
    (
        "empty a room",
        "api",
        "room.clear",
        {"cleared"},
        ready(lambda w: w.post(f"{w.path}/clear", confirm=w.room)),
    ),
    (
        "empty a room",
        "cli",
        "room.clear",
        {"cleared"},
        ready(lambda w: w.run("room", "clear", w.room, "--yes")),
    ),
    ("remove a room", "api", "room.drop", {"people"}, ready(lambda w: w.api.delete(w.path).text)),
    (
        "remove a room",
        "cli",
        "room.drop",
        {"people"},
        ready(lambda w: w.run("room", "drop", w.room, "--yes")),
    ),
    (
        "admit",
        "api",
        "admit",
        {"count", "called", "force"},
        ready(lambda w: w.post(f"{w.path}/admit", count=2)),
    ),
    (
        "admit",
        "page",
        "admit",
        {"count", "called", "force"},
        ready(lambda w: w.press(do="admit", count="2")),
    ),
    (
        "admit",
        "cli",
        "admit",
        {"count", "called", "force"},
        ready(lambda w: w.run("admit", w.room, 2)),
    ),
    (
        "call",
        "api",
        "call",
        {"ticket", "force"},
        ready(lambda w: w.post(f"{w.path}/call", ticket_id=second_of_two(w), force=True)),
    ),
    (
        "call",
        "page",
        "call",
        {"ticket", "force"},
        ready(lambda w: w.press(do="call", ticket=second_of_two(w), force="1")),
    ),
    (
        "call",
        "cli",
        "call",
        {"ticket", "force"},
        ready(lambda w: w.run("call", w.room, second_of_two(w), "--force")),
    ),
    (
        "kick",
        "api",
        "kick",
        {"asked", "kicked", "ban", "tickets"},
        ready(lambda w: w.post(f"{w.path}/kick", ticket_ids=[second_of_two(w)])),
    ),
    (
        "kick",
        "page",
        "kick",
        {"asked", "kicked", "ban", "tickets"},
        ready(lambda w: w.press(do="kick", ticket=second_of_two(w))),
    ),
    (
        "kick",
        "cli",
        "kick",
        {"asked", "kicked", "ban", "tickets"},
        ready(lambda w: w.run("kick", w.room, second_of_two(w))),
    ),
    (
        "reinstate",
        "api",
        "reinstate",
        {"ticket", "lift_ban", "force", "position"},
        after(kicked, lambda w, i: w.post(f"{w.path}/reinstate", ticket=i)),
    ),
    (
        "reinstate",
        "page",
        "reinstate",
        {"ticket", "lift_ban", "force", "position"},
        after(kicked, lambda w, i: w.press(do="reinstate", ticket=i)),
    ),
    (
        "reinstate",
        "cli",
        "reinstate",
        {"ticket", "lift_ban", "force", "position"},
        after(kicked, lambda w, i: w.run("reinstate", w.room, i)),
    ),
    (
        "kick by age",
        "api",
        "kick",
        {"asked", "kicked", "tickets", "state", "older_than_s", "newer_than_s"},
        ready(lambda w: w.post(f"{w.path}/kick", newer_than_s=60) + second_of_two(w)),
    ),
    (
        "kick by age",
        "cli",
        "kick",
        {"asked", "kicked", "tickets", "state", "older_than_s", "newer_than_s"},
        ready(lambda w: w.run("kick", w.room, "--state", "waiting", "--newer-than", "1m", "--yes")),
    ),
    (
        "create a room",
        "page",
        "room.create",
        {"policy"},
        ready(lambda w: w.send("/admin/new-room", name=f"{w.room}-new", begin="slots")),
    ),
    (
        "empty a room",
        "page",
        "room.clear",
        {"cleared"},
        ready(lambda w: w.send(f"/admin/rooms/{w.room}/clear", confirm=w.room)),
    ),
    (
        "remove a room",
        "page",
        "room.drop",
        {"people"},
        ready(lambda w: w.send(f"/admin/rooms/{w.room}/drop", confirm=w.room)),
    ),
    (
        "note",
        "api",
        "note",
        {"text"},
        ready(lambda w: w.post(f"{w.path}/notes", text="doors open")),
    ),
    (
        "note",
        "page",
        "note",
        {"text"},
        ready(lambda w: w.send(f"/admin/rooms/{w.room}/notes", text="doors open")),
    ),
    ("note", "cli", "note", {"text"}, ready(lambda w: w.run("note", w.room, "doors open"))),
    (
        "make an API key",
        "page",
        "key.create",
        {"id", "name", "role"},
        ready(lambda w: w.send("/admin/keys", name="box office", role="viewer")),
    ),
    (
        "revoke an API key",
        "page",
        "key.revoke",
        {"id", "name"},
        after(key_id, lambda w, made: w.send(f"/admin/keys/{made}/revoke")),
    ),
    (
        "make an API key",
        "api",
        "key.create",
        {"id", "name", "role"},
        ready(lambda w: w.post("/v1/admin/keys", name="box office")),
    ),
    (
        "make an API key",
        "cli",
        "key.create",
        {"id", "name", "role"},
        ready(lambda w: w.run("key", "create", "--name", "box office")),
    ),
    (
        "revoke an API key",
        "api",
        "key.revoke",
        {"id", "name"},
        after(key_id, lambda w, made: w.api.delete(f"/v1/admin/keys/{made}").text),
    ),
    (
        "revoke an API key",
        "cli",
        "key.revoke",
        {"id", "name"},
        after(key_id, lambda w, made: w.run("key", "revoke", made, "--yes")),
    ),
    ("rotate pass keys", "cli", "key.rotate", {"name"}, ready(lambda w: w.run("key", "rotate"))),
    (
        "prune pass keys",
        "cli",
        "key.prune",
        {"names"},
        ready(lambda w: w.run("key", "prune", "--yes")),
    ),
    (
        "make a claim key",
        "cli",
        "claim_key.make",
        {"renewed"},
        ready(lambda w: w.run("claim-key", w.room)),
    ),
    (
        "create a store",
        "api",
        "store.create",
        {"store", "title"},
        ready(lambda w: w.post("/v1/stores", id=w.room, title="Noodles")),
    ),
    (
        "create a store with a webhook",
        "cli",
        "store.create",
        {"store", "title"},
        ready(lambda w: w.run("desk", "store", "create", w.room, *WEBHOOK)),
    ),
    (
        "change a store",
        "api",
        "store.change",
        {"store", "changed"},
        after(store, lambda w, made: w.api.patch(f"/v1/stores/{made}", json=PAUSED).text),
    ),
    (
        "change a store's webhook",
        "cli",
        "store.change",
        {"store", "changed"},
        after(store, lambda w, made: w.run("desk", "store", "set", made, *WEBHOOK)),
    ),
    (
        "make a host key",
        "api",
        "host.create",
        {"store", "id", "name"},
        after(store, lambda w, made: w.post(f"/v1/stores/{made}/hosts", name="tablet")),
    ),
    (
        "make a host key",
        "cli",
        "host.create",
        {"store", "id", "name"},
        after(store, lambda w, made: w.run("desk", "host", "create", made, "--name", "tablet")),
    ),
    (
        "revoke a host key",
        "api",
        "host.revoke",
        {"store", "id", "name"},
        after(host_key_id, lambda w, made: w.api.delete(f"/v1/stores/{w.room}/hosts/{made}").text),
    ),
    (
        "revoke a host key",
        "cli",
        "host.revoke",
        {"store", "id", "name"},
        after(host_key_id, lambda w, made: w.run("desk", "host", "revoke", w.room, made, "--yes")),
    ),
    (
        "rebuild live lines",
        "cli",
        "desk.rebuild",
        {"store", "lines", "settled", "removed"},
        after(store, lambda w, made: w.run("desk", "rebuild", made)),
    ),
    (
        "sign in",
        "page",
        "sign_in",
        set(),
        ready(lambda w: w.page.post("/admin/sign-in", data={"key": ADMIN_KEY}).text),
    ),
]


@pytest.mark.parametrize(
    ("way", "action", "fields", "prepare"),
    [row[1:] for row in ACTIONS],
    ids=[f"{row[0]}-{row[1]}" for row in ACTIONS],
)
def test_one_line_each(
    ways: Ways,
    way: str,
    action: str,
    fields: set[str],
    prepare: Callable[[Ways], Callable[[], str]],
) -> None:
    """The entry says who did what, which way and from where, and contains no secret."""
    act = prepare(ways)
    before = {entry["id"] for entry in ways.log()}
    answer = act()
    (entry,) = (entry for entry in ways.log() if entry["id"] not in before)
    assert (way, action) == (entry["way"], entry["action"])
    who = (entry["key_id"], entry["key_name"], entry["role"], entry["address"])
    assert ACTORS[way] == who
    assert fields == set(entry["detail"])
    if action.startswith(("room", "admit", "call", "kick")):
        assert entry["room"].startswith(ways.room)
    secrets = re.findall(r"wrh?_[0-9a-f]{10}_([\w-]{43})|(whsec_[\w+/=-]+)", answer)
    assert (action in ("key.create", "host.create") or "whsec_" in answer) == bool(secrets)
    assert WEBHOOK_KEY not in str(entry)
    for secret in filter(None, (part for pair in secrets for part in pair)):
        assert secret not in str(entry)
    assert ADMIN_KEY not in str(entry)
