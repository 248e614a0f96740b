"""The waiting page of a room that needs an entry code: its field, its errors, without a script."""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterator

import httpx2
import pytest

from tests.support.serving import Serving


class Invited:
    """A room for invited people, its codes, and a browser."""

    def __init__(self, served: Serving, operator: httpx2.Client) -> None:
        self.room = f"c-{secrets.token_hex(6)}"
        self.operator, self.path = operator, f"/rooms/{self.room}"
        body = {"name": self.room, "policy": {"needs": "code", "mode": "paused"}}
        operator.post("/v1/admin/rooms", json=body).raise_for_status()
        made = operator.post(f"/v1/admin/rooms/{self.room}/codes", json={"count": 3}).json()
        self.batch: str = made["batch"]
        self.codes: list[str] = made["codes"]
        self.base = served.base

    def browser(self) -> httpx2.Client:
        """Return somebody's browser, with its own cookies."""
        return httpx2.Client(base_url=self.base, timeout=60, follow_redirects=True)

    def send(self, browser: httpx2.Client, code: str | None) -> httpx2.Response:
        """Open the page, type a code and send the form."""
        key = re.search(r'name="key" value="([\w-]+)"', browser.get(self.path).text)
        assert key is not None
        form = {"key": key[1]} | ({} if code is None else {"code": code})
        return browser.post(f"{self.path}/join", data=form)


@pytest.fixture
def invited(served: Serving, operator: httpx2.Client) -> Invited:
    """Return such a room."""
    return Invited(served, operator)


@pytest.fixture
def browser(invited: Invited) -> Iterator[httpx2.Client]:
    """Return a browser."""
    with invited.browser() as client:
        yield client


def test_a_field(invited: Invited, browser: httpx2.Client) -> None:
    """The page asks for a code and needs no script; it says nothing is wrong yet."""
    text = browser.get(invited.path).text
    assert "This line is by invitation" in text
    assert '<input name="code" required' in text
    assert "<script" not in text
    assert 'role="alert"' not in text


def test_a_place(invited: Invited, browser: httpx2.Client) -> None:
    """A code gives a place; it is in no address on the way."""
    answer = invited.send(browser, invited.codes[0].lower())
    assert (200, True) == (answer.status_code, "You are in line" in answer.text)
    addresses = [str(step.url) + step.headers.get("location", "") for step in answer.history]
    assert not any(invited.codes[0].lower() in text for text in [*addresses, str(answer.url)])
    assert "You are in line" in browser.get(invited.path).text


@pytest.mark.parametrize(
    ("code", "error"),
    [
        (None, "Please enter your code."),
        ("K7Q20-00000-00000-00000", "We do not know this code."),
        ("x" * 5000, "We do not know this code."),
        ("코드", "We do not know this code."),
    ],
)
def test_errors(invited: Invited, browser: httpx2.Client, code: str | None, error: str) -> None:
    """What is wrong stands at the field, and the field is there again."""
    answer = invited.send(browser, code)
    assert error in answer.text
    assert 'aria-invalid="true"' in answer.text
    assert "no=" in str(answer.url)
    assert not code or code[:20] not in str(answer.url)


def test_used(invited: Invited, browser: httpx2.Client) -> None:
    """Somebody else with the same code is told that it is used."""
    invited.send(browser, invited.codes[0])
    with invited.browser() as other:
        assert "Somebody has already used this code." in invited.send(other, invited.codes[0]).text


def test_revoked(invited: Invited, browser: httpx2.Client) -> None:
    """A revoked code is told apart from a used one."""
    path = f"/v1/admin/rooms/{invited.room}/codes/{invited.batch}"
    invited.operator.delete(path).raise_for_status()
    assert "This code is no longer valid." in invited.send(browser, invited.codes[0]).text


def test_a_lost_answer(invited: Invited, browser: httpx2.Client) -> None:
    """A browser that never got its answer opens the page again, and has its place with the code."""
    invited.send(browser, invited.codes[0])
    key = [cookie for cookie in browser.cookies.jar if "waitroom-key-" in cookie.name]
    with invited.browser() as same:
        same.cookies.set(key[0].name, key[0].value or "")
        assert "You are in line" in invited.send(same, invited.codes[0]).text
    batches = invited.operator.get(f"/v1/admin/rooms/{invited.room}/codes").json()["batches"]
    assert 1 == batches[0]["used"]


def test_after_leaving(invited: Invited, browser: httpx2.Client) -> None:
    """Who has left is asked for a code again, and may use the same one."""
    invited.send(browser, invited.codes[0])
    left = browser.post(f"{invited.path}/leave")
    assert "You have left the line" in left.text
    assert '<input name="code" required' in left.text
    assert "You are in line" in invited.send(browser, invited.codes[0]).text


def test_a_full_line(invited: Invited, browser: httpx2.Client) -> None:
    """A good code in a full line is not used, and the page says what is the matter."""
    change = {"policy": {"queue_limit": 1}}
    invited.operator.patch(f"/v1/admin/rooms/{invited.room}", json=change).raise_for_status()
    invited.send(browser, invited.codes[0])
    with invited.browser() as other:
        assert "The line is full" in invited.send(other, invited.codes[1]).text
    batches = invited.operator.get(f"/v1/admin/rooms/{invited.room}/codes").json()["batches"]
    assert 1 == batches[0]["used"]


def test_korean(invited: Invited, browser: httpx2.Client) -> None:
    """The page asks, and says what is wrong, in Korean."""
    browser.headers["accept-language"] = "ko"
    assert "받으신 입장 코드를 입력하면" in browser.get(invited.path).text
    assert "확인할 수 없는 코드입니다." in invited.send(browser, "K7Q2").text
