"""Sessions as gates handle them: hand-off codes, and renew, finish and announce by pass."""

from __future__ import annotations

import asyncio
from typing import Any

import httpx2
import pytest

from tests.support.attacks import tried
from tests.support.serving import Serving


def bearer(text: str) -> dict[str, str]:
    """Return the header that carries a pass or a key."""
    return {"authorization": f"Bearer {text}"}


def inside(http: httpx2.Client, room: str) -> dict[str, Any]:
    """Join and go in."""
    answer = http.post(f"/v1/rooms/{room}/tickets", json={"enter": True})
    view: dict[str, Any] = answer.json()
    assert "inside" == view["state"], view
    return view


def hand_off(http: httpx2.Client, view: dict[str, Any]) -> httpx2.Response:
    """Ask for a one-time code."""
    return http.post(f"/v1/rooms/{view['room']}/tickets/{view['ticket']}/handoff")


def test_a_code_is_worth_the_pass_once(http: httpx2.Client, room: str) -> None:
    """A code gives its session's pass to the first client that redeems it, and to nobody after."""
    view = inside(http, room)
    made = hand_off(http, view)
    assert 201 == made.status_code
    first = http.post("/v1/redeem", json={"code": made.json()["code"]})
    again = http.post("/v1/redeem", json={"code": made.json()["code"]})
    assert (200, room) == (first.status_code, first.json()["room"])
    assert (410, "code_used") == (again.status_code, again.json()["code"])
    good = http.get("/v1/check", params={"room": room}, headers=bearer(first.json()["pass"]))
    assert 204 == good.status_code
    assert view["session_ends_at"] == first.json()["session_ends_at"]


@pytest.mark.attack
@pytest.mark.parametrize("how", ["kick", "leave", "finish", "drop"])
def test_a_code_is_worth_nothing_once_its_session_has_ended(
    http: httpx2.Client, operator: httpx2.Client, room: str, how: str
) -> None:
    """A code made before a kick gives no pass after it, nor after any other end."""
    view = inside(http, room)
    code = hand_off(http, view).json()["code"]
    path = f"/v1/rooms/{room}/tickets/{view['ticket']}"
    if how == "kick":
        ids = {"ticket_ids": [view["ticket"][24:40]]}
        answer = operator.post(f"/v1/admin/rooms/{room}/kick", json=ids)
    elif how == "drop":
        answer = operator.delete(f"/v1/admin/rooms/{room}")
    else:
        answer = http.delete(path) if how == "leave" else http.post(f"{path}/finish")
    answer.raise_for_status()
    refused = http.post("/v1/redeem", json={"code": code})
    assert (410, "session_over") == (refused.status_code, refused.json()["code"])


@pytest.mark.attack
async def test_redeemed_a_hundred_times_at_once(
    served: Serving, http: httpx2.Client, room: str
) -> None:
    """If a hundred clients redeem one code at the same moment, exactly one gets in."""
    code = hand_off(http, inside(http, room)).json()["code"]
    limits = httpx2.Limits(max_connections=50)
    async with httpx2.AsyncClient(base_url=served.base, timeout=20, limits=limits) as many:
        tries = [many.post("/v1/redeem", json={"code": code}) for _ in range(100)]
        answers = await asyncio.gather(*tries)
    assert [200] + [410] * 99 == sorted(answer.status_code for answer in answers)
    tried(100)


@pytest.mark.attack
def test_no_code_for_who_waits(http: httpx2.Client, room: str) -> None:
    """A ticket that is waiting, forged or gone gets no code."""
    for _ in range(2):
        inside(http, room)
    waits = http.post(f"/v1/rooms/{room}/tickets").json()
    assert (409, "not_your_turn") == (
        hand_off(http, waits).status_code,
        hand_off(http, waits).json()["code"],
    )
    assert 404 == hand_off(http, waits | {"ticket": "forged"}).status_code
    http.delete(f"/v1/rooms/{room}/tickets/{waits['ticket']}")
    assert 410 == hand_off(http, waits).status_code


@pytest.mark.attack
@pytest.mark.parametrize("code", ["", "x", "x" * 64, "x" * 65, "\x00", "한"])
def test_codes_that_never_were(http: httpx2.Client, code: str) -> None:
    """Anything but one of our codes is refused without a guess at why."""
    answer = http.post("/v1/redeem", json={"code": code})
    assert answer.status_code in (410, 422)


def test_renew_and_finish_by_pass(http: httpx2.Client, operator: httpx2.Client, room: str) -> None:
    """A gate extends and ends a session with nothing but its pass."""
    view = inside(http, room)
    refused = http.post("/v1/passes/renew", headers=bearer(view["pass"]))
    assert (409, "not_renewable") == (refused.status_code, refused.json()["code"])
    change = {"policy": {"renewable": True, "session_s": 600}}
    operator.patch(f"/v1/admin/rooms/{room}", json=change).raise_for_status()
    renewed = http.post("/v1/passes/renew", headers=bearer(view["pass"])).json()
    assert renewed["session_ends_at"] > view["session_ends_at"]
    assert 204 == http.post("/v1/passes/finish", headers=bearer(renewed["pass"])).status_code
    for text in (view["pass"], renewed["pass"]):
        assert 401 == http.get("/v1/check", headers=bearer(text)).status_code
    over = http.post("/v1/passes/renew", headers=bearer(renewed["pass"]))
    assert (410, "session_over") == (over.status_code, over.json()["code"])


@pytest.mark.attack
@pytest.mark.parametrize("path", ["/v1/passes/renew", "/v1/passes/finish"])
def test_without_a_good_pass(http: httpx2.Client, room: str, path: str) -> None:
    """No pass, a forged one and a ticket are all 401."""
    view = inside(http, room)
    shown = [{}, bearer("x.y.z"), bearer(view["ticket"]), bearer(view["pass"][:-4] + "AAAA")]
    assert [401] * 4 == [http.post(path, headers=headers).status_code for headers in shown]
