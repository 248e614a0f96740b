"""Keys on the operator page: created and shown once, revoked after a question, for admins only."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx2

from tests.server.operator.forms import token_of
from tests.support.serving import SECRET, Serving, clean_env, serving


@contextmanager
def signed_in(served: Serving, key: str) -> Iterator[httpx2.Client]:
    """Return a browser signed in with this key."""
    with httpx2.Client(base_url=served.base, timeout=60) as client:
        assert 303 == client.post("/admin/sign-in", data={"key": key}).status_code
        yield client


def made_by(page: httpx2.Client, name: str, role: str) -> str:
    """Make a key on the page; return its text."""
    form = {"token": token_of(page.get("/admin/keys").text), "name": name, "role": role}
    answer = page.post("/admin/keys", data=form)
    assert (201, "no-store") == (answer.status_code, answer.headers["cache-control"])
    match = re.search(r'id="secret-text">(wr_[\w-]+)<', answer.text)
    assert match is not None
    return match[1]


def test_a_key_is_shown_once(served: Serving, page: httpx2.Client, room: str) -> None:
    """It works, is in the list by its name without its secret, and has its entry in the log."""
    text = made_by(page, room, "operator")
    listed = page.get("/admin/keys").text
    assert (True, False) == (room in listed, text in listed)
    key_id = text.split("_")[1]
    log = page.get("/admin/audit").text
    assert f"Created key {key_id} for {room} (operator)" in log
    assert text not in log
    with signed_in(served, text) as client:
        assert 200 == client.get("/admin").status_code


def test_a_bad_name_stands_at_its_field(page: httpx2.Client) -> None:
    """The input stays, and nothing is created."""
    form = {"token": token_of(page.get("/admin/keys").text), "name": "a\x07b", "role": "admin"}
    answer = page.post("/admin/keys", data=form)
    assert 422 == answer.status_code
    assert 'id="name-wrong"' in answer.text
    assert 'value="admin" checked' in answer.text
    assert 422 == page.post("/admin/keys", data=form | {"role": "god"}).status_code


def test_revoking_asks_first(page: httpx2.Client, operator: httpx2.Client, room: str) -> None:
    """The question changes nothing, its answer revokes; an unknown key is not found."""
    key_id = made_by(page, room, "viewer").split("_")[1]
    path = f"/admin/keys/{key_id}/revoke"
    asked = page.get(path).text
    assert room in asked
    assert "You signed in with this key" not in asked
    assert key_id in {key["id"] for key in operator.get("/v1/admin/keys").json()["keys"]}
    assert 403 == page.post(path).status_code
    answer = page.post(path, data={"token": token_of(asked)})
    assert (303, "/admin/keys") == (answer.status_code, answer.headers["location"])
    assert key_id not in {key["id"] for key in operator.get("/v1/admin/keys").json()["keys"]}
    assert 404 == page.get(path).status_code


def test_revoking_your_own_key(served: Serving, page: httpx2.Client, room: str) -> None:
    """It says that you will be signed out, and you are."""
    text = made_by(page, room, "admin")
    path = f"/admin/keys/{text.split('_')[1]}/revoke"
    with signed_in(served, text) as client:
        asked = client.get(path).text
        assert "You signed in with this key" in asked
        answer = client.post(path, data={"token": token_of(asked)})
        assert (303, "/admin/sign-in") == (answer.status_code, answer.headers["location"])
        assert 303 == client.get("/admin/keys").status_code


def test_the_last_way_in(tmp_path: Path) -> None:
    """If the settings have no admin key, the last one can only be revoked with a tick."""
    with serving(tmp_path, admin_key="") as served:
        command = [sys.executable, "-m", "waitroom.cli", "key", "create", "--role", "admin"]
        env = clean_env() | {"WAITROOM_DATA_DIR": str(served.data_dir), "WAITROOM_SECRET": SECRET}
        printed = subprocess.check_output([*command, "--name", "x", "--json"], env=env, timeout=60)
        made = json.loads(printed)
        with signed_in(served, made["key"]) as page:
            other = made_by(page, "other", "admin").split("_")[1]
            path = f"/admin/keys/{made['id']}/revoke"
            assert 'name="last"' not in page.get(path).text
            token = token_of(page.get("/admin").text)
            page.post(f"/admin/keys/{other}/revoke", data={"token": token})
            assert 'name="last"' in page.get(path).text
            assert 422 == page.post(path, data={"token": token}).status_code
            assert 200 == page.get("/admin/keys").status_code
            assert 303 == page.post(path, data={"token": token, "last": "1"}).status_code


def test_only_admins(served: Serving, operator: httpx2.Client) -> None:
    """Others get no link, and are told why if they open the address."""
    made = operator.post("/v1/admin/keys", json={"name": "o", "role": "operator"}).json()
    with signed_in(served, made["key"]) as client:
        shown = client.get("/admin").text
        assert "/admin/keys" not in shown
        refused = client.get("/admin/keys")
        assert (403, True) == (refused.status_code, "needs a key of the role admin" in refused.text)
        form = {"token": token_of(shown), "name": "x", "role": "admin"}
        assert 403 == client.post("/admin/keys", data=form).status_code
        path = f"/admin/keys/{made['id']}/revoke"
        assert 403 == client.post(path, data={"token": token_of(shown)}).status_code
