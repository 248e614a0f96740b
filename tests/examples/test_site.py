"""The concert site over HTTP, without its gate: the six calls, the pages, and what they refuse."""

from __future__ import annotations

import asyncio
import re

import httpx2
import pytest
from examples.concert.booking import DECLINED
from examples.concert.words import _WORDS, LANGUAGES, Words, language

from tests.examples.conftest import Clock

CARD = "4242 4242 4242 4242"
Visitor = httpx2.AsyncClient


async def answered(
    visitor: Visitor, method: str, path: str, status: int, **more: object
) -> httpx2.Response:
    """Send a request, and expect a status."""
    answer = await visitor.request(method, path, **more)  # type: ignore[arg-type]
    assert status == answer.status_code, answer.text
    return answer


async def test_the_six_calls(visitor: Visitor) -> None:
    """A program books a seat with six requests, and reads the receipt."""
    concerts = (await answered(visitor, "GET", "/api/concerts", 200)).json()
    dates = (await answered(visitor, "GET", f"/api/concerts/{concerts[0]['id']}/dates", 200)).json()
    assert (120, 120) == (dates[0]["seats"], dates[0]["free"])
    path = f"/api/dates/{dates[0]['id']}/seats"
    seat = (await answered(visitor, "GET", path, 200)).json()[0]
    await answered(visitor, "POST", f"/api/seats/{seat['id']}/hold", 201)
    wish = {"seat": seat["id"], "name": "Kim"}
    made = (await answered(visitor, "POST", "/api/reservations", 201, json=wish)).json()
    pay = f"/api/reservations/{made['reservation']}/payment"
    await answered(visitor, "POST", pay, 201, json={"card": CARD})
    assert "sold" == (await answered(visitor, "GET", path, 200)).json()[0]["state"]
    headers = {"accept": "application/json"}
    receipt = await answered(visitor, "GET", f"/orders/{made['reservation']}", 200, headers=headers)
    assert ("A1", "Kim") == (receipt.json()["place"], receipt.json()["name"])


async def test_refusals_are_problems(visitor: Visitor) -> None:
    """A refusal is problem+json with a code; nonsense is a 422."""
    for path, status, code in (
        ("/api/seats/99999/hold", 404, "not_there"),
        ("/api/seats/0/hold", 422, None),
        ("/api/reservations/nope/payment", 404, "not_there"),
    ):
        answer = await answered(visitor, "POST", path, status, json={"card": CARD})
        if code:
            assert "application/problem+json" == answer.headers["content-type"]
            assert code == answer.json()["code"]
    wishes: list[dict[str, object]]
    wishes = [{"seat": 1}, {"seat": 1, "name": "  "}, {"seat": -1, "name": "x"}]
    for wish in wishes:
        await answered(visitor, "POST", "/api/reservations", 422, json=wish)
    late = await answered(visitor, "POST", "/api/reservations", 409, json={"seat": 1, "name": "x"})
    assert "hold_over" == late.json()["code"]


async def test_fifty_requests_for_one_seat(visitor: Visitor) -> None:
    """Fifty people ask for one seat at once over HTTP: one holds it, the others are told."""

    async def hold() -> int:
        async with httpx2.AsyncClient(transport=visitor._transport, base_url="http://x") as client:
            return (await client.post("/api/seats/7/hold")).status_code

    statuses = await asyncio.gather(*(hold() for _ in range(50)))
    assert [201] + [409] * 49 == sorted(statuses)


async def booked(visitor: Visitor, seat: int, name: str = "Kim") -> str:
    """Go through the pages until the card is asked for; return that address."""
    await answered(visitor, "GET", "/book/dates/1", 200)
    hold = await answered(visitor, "POST", "/book/dates/1", 303, data={"seat": str(seat)})
    await answered(visitor, "GET", hold.headers["location"], 200)
    made = await answered(visitor, "POST", hold.headers["location"], 303, data={"name": name})
    return made.headers["location"]


async def test_the_pages(visitor: Visitor) -> None:
    """A person without a script gets from the first page to the receipt."""
    home = await answered(visitor, "GET", "/", 200)
    assert 'href="/book"' in home.text
    assert "/book/dates/1" in (await answered(visitor, "GET", "/book", 200)).text
    where = await booked(visitor, 1, "<b>Kim</b>")
    page = await answered(visitor, "GET", where, 200)
    assert "&lt;b&gt;Kim&lt;/b&gt;" in page.text
    paid = await answered(visitor, "POST", where, 303, data={"card": CARD})
    receipt = await answered(visitor, "GET", paid.headers["location"], 200)
    assert "Seat A1 is yours" in receipt.text
    seats = await answered(visitor, "GET", "/book/dates/1", 200)
    assert re.search(r'value="1" class="sold"[^>]* disabled', seats.text)
    again = await answered(visitor, "GET", where, 303)
    assert paid.headers["location"] == again.headers["location"]


async def test_pages_say_what_went_wrong(visitor: Visitor, clock: Clock) -> None:
    """A form that fails leads back to a page that says why."""
    where = await booked(visitor, 1)
    for card, words in ((DECLINED, "The bank declined"), ("x", "Please enter a card number")):
        reply = await answered(visitor, "POST", where, 303, data={"card": card})
        assert words in (await answered(visitor, "GET", reply.headers["location"], 200)).text
    async with httpx2.AsyncClient(transport=visitor._transport, base_url="http://x") as other:
        reply = await answered(other, "POST", "/book/dates/1", 303, data={"seat": "1"})
        page = await answered(other, "GET", reply.headers["location"], 200)
        assert "Somebody was faster" in page.text
        await answered(other, "GET", where, 404)
    clock.pass_s(121)
    reply = await answered(visitor, "POST", where, 303, data={"card": CARD})
    assert "/book?no=hold_over" == reply.headers["location"]
    page = await answered(visitor, "GET", "/book/dates/1?no=<script>", 200)
    assert "<script>" not in page.text


async def test_forms_of_other_sites_are_refused(visitor: Visitor) -> None:
    """No other site can hold, reserve or pay in a visitor's name."""
    where = await booked(visitor, 1)
    for site in ("cross-site", "same-site"):
        headers = {"sec-fetch-site": site}
        form = {"seat": "2", "name": "x", "card": CARD}
        for path in ("/book/dates/1", "/book/seats/1", where):
            await answered(visitor, "POST", path, 404, data=form, headers=headers)


@pytest.mark.parametrize(
    "path", ["/", "/book", "/book/dates/1", "/goodbye", "/orders/none", "/book/dates/99"]
)
async def test_nothing_foreign_may_run(visitor: Visitor, path: str) -> None:
    """Every page allows scripts and styles only from this site, and has none inline."""
    answer = await visitor.get(path)
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'; script-src 'self'; style-src 'self'" in policy
    assert "unsafe" not in policy
    assert not re.search(r"<style|style=|<script(?! type=\"module\" src=)| on[a-z]+=", answer.text)
    assert "no-store" == answer.headers["cache-control"]


async def test_two_languages(visitor: Visitor) -> None:
    """A page uses the browser's language; a click overrides it and is remembered."""
    korean = {"accept-language": "ko-KR,ko;q=0.9,en;q=0.8"}
    page = await visitor.get("/", headers=korean)
    assert ("예매하기" in page.text, "ko") == (True, page.headers["content-language"])
    page = await visitor.get("/?lang=en", headers=korean)
    assert "Book tickets" in page.text
    assert "Book tickets" in (await visitor.get("/", headers=korean)).text


def test_every_sentence_has_both_languages() -> None:
    """Nothing is left untranslated, and both versions take the same values."""
    for key, both in _WORDS.items():
        assert len(LANGUAGES) == len(both), key
        fields = [sorted(re.findall(r"\{(\w+)\}", text)) for text in both]
        assert fields[0] == fields[1], key
    assert ("en", "ko", "ko", "en") == (
        language(None, None, ""),
        language(None, "ko", "en"),
        language("xx", None, "fr, ko;q=0.5"),
        language("en", "ko", "ko"),
    )
    assert ("₩154,000", "154,000원") == (Words("en").price(154_000), Words("ko").price(154_000))
