"""How each operator page is built: headers, language, and what is shown as text."""

from __future__ import annotations

import re
from types import SimpleNamespace
from typing import Any

import httpx2
import pytest
from jinja2 import Environment, FileSystemLoader

from waitroom.server.pages.templates import FOLDER, render
from waitroom.server.pages.text import load_text


def test_headers(page: httpx2.Client, room: str) -> None:
    """Every page has a policy that allows only our own script and style, by a fresh nonce."""
    nonces = set()
    for path in ("", f"/rooms/{room}", "/audit", "/rooms/none", f"/rooms/{room}/tickets"):
        answer = page.get(f"/admin{path}")
        policy = answer.headers["content-security-policy"]
        (nonce,) = set(re.findall(r"'nonce-([\w-]+)'", policy))
        assert f'nonce="{nonce}"' in answer.text
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert " style=" not in answer.text
        unquoted = re.sub(r'"[^"]*"', '""', answer.text)  # a title may hold anything, in quotes
        assert not re.search(r"<[^>]+ on\w+=", unquoted)
        assert "no-store" == answer.headers["cache-control"]
        nonces.add(nonce)
    assert 5 == len(nonces)


@pytest.mark.parametrize("name", ["no-such-room", "a b", "%3Cscript%3E", "..%2f.."])
def test_rooms_that_are_not_there(page: httpx2.Client, name: str) -> None:
    """An unknown room is a page with its status, and its name runs no script."""
    answer = page.get(f"/admin/rooms/{name}")
    assert 404 == answer.status_code
    assert "<script>" not in answer.text


def test_hostile_titles(page: httpx2.Client, operator: httpx2.Client, room: str) -> None:
    """A room's texts are shown as text."""
    title = '"><script>alert(1)</script>'
    operator.patch(f"/v1/admin/rooms/{room}", json={"policy": {"title": title}}).raise_for_status()
    for path in ("", f"/rooms/{room}", f"/rooms/{room}/tickets", "/audit"):
        text = page.get(f"/admin{path}").text
        assert "<script>alert" not in text
    assert "&lt;script&gt;alert(1)" in text


def test_languages(page: httpx2.Client) -> None:
    """The browser's language decides, until another one is chosen; the choice is kept."""
    assert '<html lang="ko">' in page.get("/admin", headers={"accept-language": "ko-KR"}).text
    chosen = page.get("/admin?lang=ko")
    assert "waitroom-admin-language=ko" in chosen.headers["set-cookie"]
    assert '<html lang="ko">' in page.get("/admin", headers={"accept-language": "en"}).text


def test_without_built_scripts() -> None:
    """Without a build, a page works as it does without JavaScript, and says how to build."""
    who = SimpleNamespace(key=SimpleNamespace(id="settings", role="admin"), user=None)
    values: dict[str, Any] = {
        "t": load_text("operator", "en"),
        "static": "/static/{}".format,  # even for files that only a build makes
        "here": "/admin",
        "nonce": "x",
    }
    values |= {"session": SimpleNamespace(who=who, token=""), "error": None}
    values |= {"nav": [], "wall": False}
    plain = render("operator/sign_in.html", script=None, **values)
    assert "<script" not in plain
    assert "<code>make assets</code>" in plain
    scripted = render("operator/sign_in.html", script="/static/x.js", **values)
    assert '<script type="module" src="/static/x.js" nonce="x">' in scripted
    assert "make assets" not in scripted
    call = '{% import "operator/macros.html" as m %}{% call m.without_script(s) %}x{% endcall %}'
    template = Environment(loader=FileSystemLoader(FOLDER)).from_string(call)  # noqa: S701
    assert ("x", "<noscript>x</noscript>") == (template.render(s=None), template.render(s="x.js"))
