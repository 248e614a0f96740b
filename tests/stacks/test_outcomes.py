"""The scenes of the contract: Waitroom is up, silent or gone, for gates in every language."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import httpx2
import pytest

from tests.contract.files import read
from tests.gates.sites import site as python_site
from tests.stacks import tools
from tests.stacks.conftest import Inside, come_in
from tests.stacks.tools import ROOM, Stack
from tests.support.clients import Reply
from tests.support.links import Link, linked
from tests.support.servers import wait_for
from tests.support.serving import Serving
from waitroom.gates.options import Options

DEADLINE_MS = 250
SCENES: list[dict[str, Any]] = read("outcomes")["cases"]
PLAYED = [
    pytest.param(language, scene, id=f"{language}: {scene['name']}")
    for language in ("python", "node", "go", "java")
    for scene in SCENES
]


@contextlib.contextmanager
def gate(
    language: str, port: int, scene: dict[str, Any], request: pytest.FixtureRequest
) -> Iterator[Stack]:
    """Run a site behind the gate of a language."""
    strict, when_away = scene["strict"], scene["when_away"]
    if language == "python":
        options = Options(
            f"http://127.0.0.1:{port}",
            {"/concert": ROOM},
            strict=strict,
            when_away=when_away,
            deadline_s=DEADLINE_MS / 1000,
        )
        with python_site("starlette", options) as own:
            yield Stack("python", own)
        return
    folder = request.getfixturevalue(f"{language}_folder")
    start = {"node": tools.node, "go": tools.go, "java": tools.java}[language]
    with start(folder, port, when_away, DEADLINE_MS, strict=strict) as stack:
        yield stack


@pytest.fixture(autouse=True)
def plain_room(served: Serving) -> Iterator[None]:
    """Leave the room, which other tests share, without a challenge."""
    yield
    change_room(served, challenge="none")


def change_room(served: Serving, **policy: str) -> None:
    """Change the policy of the room."""
    with served.operator() as operator:
        answer = operator.patch(f"/v1/admin/rooms/{ROOM}", json={"policy": policy})
        answer.raise_for_status()


def bring(waitroom: str, link: Link, served: Serving, person: Inside) -> None:
    """Bring Waitroom into a state, as the gate sees it."""
    if waitroom == "finished":
        bearer = {"authorization": f"Bearer {person.pass_}"}
        url = f"{served.base}/v1/passes/finish"
        httpx2.post(url, headers=bearer, timeout=20).raise_for_status()
    elif waitroom == "asks":
        change_room(served, challenge="work")
    elif waitroom == "up":
        link.mend()
    else:
        link.cut(hangs=waitroom == "silent")


@pytest.mark.parametrize(("language", "scene"), PLAYED)
def test_scene(
    language: str, scene: dict[str, Any], served: Serving, request: pytest.FixtureRequest
) -> None:
    """Everybody gets what the contract says; free pages are free in every scene."""
    person = come_in(served)
    texts = {"pass": person.pass_, "forged": person.pass_[:-8] + "AAAAAAAA", "nothing": None}
    with linked(served.port) as link, gate(language, link.port, scene, request) as stack:
        before = None
        for step in scene["steps"]:
            if step["waitroom"] != before:
                bring(step["waitroom"], link, served, person)
            before = step["waitroom"]
            headers = {"accept": "application/json"} if step.get("program") else {}
            reply = _expect(step, lambda: stack.ask("/concert", texts[step["shows"]], headers))  # noqa: B023
            if step.get("join"):
                problem = reply.json()
                join = f"http://127.0.0.1:{link.port}/v1/rooms/{ROOM}/tickets"
                assert (join, ROOM) == (problem["join"], problem["room"])
                # Only a gate that asked for a place knows what the room asks for.
                code = "challenge_required" if language == "python" else "waiting"
                assert (code, "Please wait") == (problem["code"], problem["title"])
            assert 200 == stack.ask("/free").status


def _expect(step: dict[str, Any], ask: Callable[[], Reply]) -> Reply:
    replies: list[Reply] = []

    def came() -> bool:
        replies.append(ask())
        reply = replies[-1]
        # On a busy machine the answer to a gate that asks for a place is late: then it does not
        # know what the room asks for, and says so.
        late = step.get("join") and reply.status == 429 and reply.json()["code"] == "slow"
        return bool(reply.status == step["status"] and not late)

    if step.get("soon"):
        wait_for(came, f"{step}")
    if not step.get("join"):
        assert came(), (step, replies[-1])
    if step["status"] == 503 and step.get("program"):
        assert "waitroom_away" == replies[-1].json()["code"]
    elif step["status"] == 503:
        assert b"tries again" in replies[-1].body
    if step["status"] in (429, 503):
        assert int(replies[-1].header("retry-after") or 0) >= 1
    return replies[-1]
