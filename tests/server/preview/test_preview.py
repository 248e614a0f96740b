"""Operators see every state of a room's page before visitors do, and looking changes nothing."""

from __future__ import annotations

import re

import httpx2
import pytest

from waitroom.models import BeforeOpen, Mode, Policy
from waitroom.moments import from_ms
from waitroom.server.pages.locales import load_locales
from waitroom.server.preview.samples import samples
from waitroom.server.waiting.faces import Face
from waitroom.server.waiting.page import render
from waitroom.server.waiting.view import PageView

NOW_MS = 1_900_000_000_000
POLICIES = [
    Policy(),
    Policy(mode=Mode.CLOSED, enter_within_s=None, session_s=None, presence_s=None),
    Policy(mode=Mode.BYPASS, opens_at=from_ms(NOW_MS - 5), before_open=BeforeOpen.PASS),
    Policy(opens_at=from_ms(NOW_MS + 5), before_open=BeforeOpen.REFUSE),
    Policy(mode=Mode.ENDED, opens_at=from_ms(NOW_MS - 9), ends_at=from_ms(NOW_MS - 5)),
]


def base(policy: Policy, lang: str = "en") -> PageView:
    """Return the facts that samples are built from."""
    text = load_locales(None)[lang]
    return PageView(
        room="concert", face=Face.JOIN, now_ms=NOW_MS, nonce="n", text=text, policy=policy
    )


@pytest.mark.parametrize("policy", POLICIES)
def test_every_face_has_a_sample(policy: Policy) -> None:
    """None is forgotten, whatever the room allows, and each is the page without its script."""
    made = samples(base(policy))
    assert set(Face) == {view.face for view in made.values()}
    for name, view in made.items():
        html = render(view)
        assert re.search(rf'data-face="{view.face}"(?! hidden)', html), name
        assert not re.search(r"<script|http-equiv|modulepreload", html), name


def test_a_sample_is_in_its_language() -> None:
    """The texts are ours in that language, together with the organiser's."""
    policy = Policy(title="Aurora", texts={"ko": {"title": "오로라"}})
    html = render(samples(base(policy, "ko"))["called"])
    assert '<html lang="ko"' in html
    assert "오로라" in html
    assert "Aurora" not in html


def test_who_may_look(page: httpx2.Client, operator: httpx2.Client, room: str) -> None:
    """Anybody signed in, including viewers; strangers are sent to the sign-in."""
    paths = (f"/admin/rooms/{room}/preview", f"/admin/rooms/{room}/preview/called?lang=ko")
    key = operator.post("/v1/admin/keys", json={"name": "eye", "role": "viewer"}).json()["key"]
    with httpx2.Client(base_url=page.base_url) as viewer:
        for path in paths:
            assert 303 == viewer.get(path).status_code
        viewer.post("/admin/sign-in", data={"key": key})
        assert [200, 200] == [viewer.get(path).status_code for path in paths]
    assert f'href="/admin/rooms/{room}/preview"' in page.get(f"/admin/rooms/{room}").text


def test_translations_that_nobody_reviewed_are_marked(page: httpx2.Client, room: str) -> None:
    """An operator sees which languages no native speaker has reviewed."""
    listed = page.get(f"/admin/rooms/{room}/preview").text
    assert ">日本語</option>" in listed
    assert ">Deutsch (not reviewed)</option>" in listed


def test_frames_are_only_ours(page: httpx2.Client, room: str) -> None:
    """The list frames no foreign pages, and no foreign page can frame a sample."""
    listed = page.get(f"/admin/rooms/{room}/preview?language=ko&width=desktop")
    assert "frame-src 'self'" in listed.headers["content-security-policy"]
    assert "frame-ancestors 'none'" in listed.headers["content-security-policy"]
    assert "/preview/called?lang=ko" in listed.text
    sample = page.get(f"/admin/rooms/{room}/preview/called?lang=ko")
    assert "frame-ancestors 'self'" in sample.headers["content-security-policy"]
    assert "form-action 'none'" in sample.headers["content-security-policy"]
    assert ("SAMEORIGIN", "ko") == (
        sample.headers["x-frame-options"],
        sample.headers["content-language"],
    )
    assert "set-cookie" not in sample.headers


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("{room}/preview/nothing", 404),
        ("no-such-room/preview", 404),
        ("no-such-room/preview/called", 404),
        ("{room}/preview?width=tablet", 422),
        ("{room}/preview?language=xx", 200),
    ],
)
def test_what_is_not_there(page: httpx2.Client, room: str, path: str, status: int) -> None:
    """A state, room or width that does not exist is an error; a language falls back."""
    assert status == page.get(f"/admin/rooms/{path.format(room=room)}").status_code
