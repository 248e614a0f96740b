"""The overview of the operator page: correct at first sight, with all rooms in order of need."""

from __future__ import annotations

import contextlib
import os
import secrets
import signal
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import httpx2
import pytest

from tests.server.operator.boards import NOW_MS, SLOTS, board, sample, stats
from tests.support.servers import Server as Backend
from tests.support.servers import start_server, wait_for
from tests.support.serving import ADMIN_KEY, SECRET, Serving, serving
from waitroom.engine import keys
from waitroom.models import Mode, preset
from waitroom.moments import from_ms
from waitroom.server.app import App
from waitroom.server.context import Server
from waitroom.server.operator.overview import fresh_boards, routes
from waitroom.server.operator.overview.fresh_boards import Missing
from waitroom.server.operator.overview.routes import Only, Overview, need, views, words
from waitroom.server.operator.room.view import RoomView, view
from waitroom.server.pages.text import load_text
from waitroom.settings import Settings

TEN_MINUTES_S = 600.0


@contextlib.asynccontextmanager
async def opened(url: str, folder: Path, away_after_s: float = 30) -> AsyncIterator[App]:
    """Run a server in this process, so that a test can age what it knows."""
    settings = Settings(
        redis_url=url,
        secret=SECRET,
        data_dir=folder,
        admin_key=ADMIN_KEY,
        answer_within_s=30,
        away_after_s=away_after_s,
    )
    app = App(settings)
    async with app.life():
        yield app


@contextlib.asynccontextmanager
async def signed_in(app: App) -> AsyncIterator[httpx2.AsyncClient]:
    """Return a browser, as far as cookies go, that is signed in to that server."""
    transport = httpx2.ASGITransport(app)
    async with httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1") as page:
        answer = await page.post("/admin/sign-in", data={"key": ADMIN_KEY})
        assert 303 == answer.status_code
        yield page


async def quiet_rooms(server: Server, count: int) -> list[str]:
    """Make rooms that somebody viewed ten minutes ago, and nobody since."""
    names = [f"quiet-{secrets.token_hex(6)}" for _ in range(count)]
    for name in names:
        await server.engine.create(name, preset("slots", capacity=2))
        board = await server.boards.get(name)
        board.fresh_at -= TEN_MINUTES_S
        board.wanted_at -= TEN_MINUTES_S
    return names


async def test_ten_quiet_minutes_are_no_alarm(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A fresh page shows current numbers, not old ones in red; so does a room never seen before."""
    monkeypatch.setattr(fresh_boards, "PATIENCE_S", 60.0)  # even on a slow machine
    with start_server("valkey", tmp_path) as backend:
        async with opened(backend.url, tmp_path) as app, signed_in(app) as page:
            names = await quiet_rooms(app.server, 3)
            unseen = f"unseen-{secrets.token_hex(6)}"
            await app.server.engine.create(unseen, preset("slots", capacity=2))
            shown = (await page.get("/admin")).text
    assert "All is well" in shown
    assert all(name in shown for name in [*names, unseen])
    assert " s old" not in shown
    assert '<a href="?only=need">0</a>' in shown
    assert 'class="note bad"><' not in shown


async def test_more_rooms_than_fit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rooms with people come before others by name, and nothing is claimed about those left out."""
    monkeypatch.setattr(fresh_boards, "PATIENCE_S", 60.0)
    with start_server("valkey", tmp_path) as backend:
        async with opened(backend.url, tmp_path) as app, signed_in(app) as page:
            for name in ("a", "b", "c", "y", "z"):
                await app.server.engine.create(name, preset("manual"))
            for name in ("y", "z", "z"):
                await app.server.engine.join(name)
                await app.server.boards.renew(name)
            whole = (await page.get("/admin")).text
            for name in ("b", "c"):
                app.server.boards.forget(name)
            monkeypatch.setattr(routes, "MOST_ROOMS", 3)
            some, found = await routes.load(app.server), await routes.load(app.server, "c")
            part = (await page.get("/admin")).text
    assert (["z", "y", "a"], 2) == ([each.name for each in some.rooms], some.left_out)
    assert {"c", "y", "z"} == {each.name for each in found.rooms}
    assert ("All is well" in whole, "All is well" in part) == (True, False)
    assert "Of 5, these 3 need you most" in part
    assert "The other 2 were not looked at." in part


async def test_names_without_a_room_are_not_left_out(tmp_path: Path) -> None:
    """A room that was dropped a moment ago takes nothing away from what the page claims."""
    with start_server("valkey", tmp_path) as backend:
        async with opened(backend.url, tmp_path) as app, signed_in(app) as page:
            await app.server.engine.create("a", preset("manual"))
            await app.server.engine.backend.client.sadd(keys.ROOMS, "only-a-name")
            assert "All is well" in (await page.get("/admin")).text


async def test_an_archive_that_cannot_be_written_is_an_alarm(tmp_path: Path) -> None:
    """Anybody who views the rooms learns that their history has a gap before it is a day old."""
    with start_server("valkey", tmp_path) as backend:
        async with opened(backend.url, tmp_path) as app, signed_in(app) as page:
            assert "archive" not in (await page.get("/admin")).text
            await app.server.engine.outbox.note_archive("No space left on device")
            shown = (await page.get("/admin")).text
    assert "The archive cannot be written: No space left on device." in shown


async def test_a_backend_that_hangs_is_an_alarm(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The page waits only a moment, then marks old numbers as old, and missing ones as missing."""
    monkeypatch.setattr(fresh_boards, "PATIENCE_S", 0.05)
    with start_server("valkey", tmp_path) as backend:
        async with opened(backend.url, tmp_path, away_after_s=0.5) as app, signed_in(app) as page:
            (known,) = await quiet_rooms(app.server, 1)
            with hanging(backend):
                old, unseen = await views(app.server, [known, "never-seen"])
                answer = await page.get("/admin")
    assert isinstance(old, RoomView)
    assert ("bad", Missing("never-seen", "")) == (old.level, unseen)
    assert (503, True) == (answer.status_code, "Redis does not answer" in answer.text)


@contextlib.contextmanager
def hanging(backend: Backend) -> Iterator[None]:
    """Make a backend hang while the block runs."""
    os.kill(backend.pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(backend.pid, signal.SIGCONT)


def room(name: str, waiting: int = 0, *, mode: Mode = Mode.OPEN, age_s: float = 0) -> RoomView:
    """Return a room for the list: nobody is called or inside."""
    made = board(SLOTS.change(mode=mode, title=f"The {name}"), stats(waiting, 0, 0))
    made.room = name
    made.fresh_at -= age_s
    return view(made, away=False)


def test_the_order_of_need() -> None:
    """Problems come first, then warnings, then the longest lines; quiet rooms come last."""
    rooms: list[RoomView | Missing] = [
        room("empty"),
        room("ended", mode=Mode.ENDED),
        room("short", 3),
        room("bypass", 1, mode=Mode.BYPASS),
        room("long", 900),
        room("also-long", 900),
        room("stale", age_s=TEN_MINUTES_S),
        Missing("hangs", ""),
    ]
    ordered = [each.name for each in sorted(rooms, key=need)]
    assert ["stale", "bypass", "hangs", "also-long", "long", "short"] == ordered[:6]
    assert ["empty", "ended"] == [each.name for each in Overview(rooms, 8).quiet]
    assert ["empty", "ended"] == ordered[6:]


def test_totals_lead_to_their_rooms() -> None:
    """Each total is the sum over all rooms, and its list has the rooms that contribute to it."""
    lines = Overview([room("a", 3), room("b"), room("c", 4, age_s=TEN_MINUTES_S)], 3)
    assert {"need": 1, "waiting": 7, "called": 0} == {
        only: lines.total(only) for only in (Only.NEED, Only.WAITING, Only.CALLED)
    }
    assert ["a", "c"] == [each.name for each in lines.matching(Only.WAITING.has).rooms]
    assert ["c"] == [each.name for each in lines.matching(Only.NEED.has).rooms]
    assert [] == lines.matching(Only.INSIDE.has).rooms


def test_what_a_filter_looks_for() -> None:
    """Rooms are found by name, title and mode; the mode also in the page's language."""
    english, korean = load_text("operator", "en"), load_text("operator", "ko")
    paused = room("Hall-7", mode=Mode.PAUSED)
    assert all(word in words(english, paused) for word in ("the hall-7", "paused"))
    assert "일시 중지" in words(korean, paused)


def test_a_room_before_its_opening_is_not_quiet() -> None:
    """Nobody is in it yet, but it is the next to open."""
    before = board(SLOTS.change(opens_at=from_ms(NOW_MS + 1)), stats(0, 0, 0))
    assert not view(before, away=False).is_quiet


def test_shares_of_the_last_hour() -> None:
    """No-shows are a share of the called, people who gave up of the joined: lately, not ever."""
    now = stats()
    now.counters.update(joined=1_200, called_total=600, no_show=40, abandoned=30)
    then = {"joined": 1_000, "called_total": 500, "no_show": 20, "abandoned": 10}
    ancient = {"joined": 10, "called_total": 5}
    past = sample(3_500, **then)
    shown = view(board(SLOTS, now, (sample(9_000, **ancient), past)), away=False)
    assert (0.2, 0.1) == (shown.no_show_share, shown.abandoned_share)
    fresh = view(board(SLOTS), away=False)
    assert (None, None) == (fresh.no_show_share, fresh.abandoned_share)


@pytest.mark.parametrize(
    ("lang", "count", "sentence"),
    [
        ("en", 1, "1 room needs attention."),
        ("en", 2, "2 rooms need attention."),
        ("ko", 1, "확인이 필요한 대기실이 1곳 있습니다."),
    ],
)
def test_one_room_needs(lang: str, count: int, sentence: str) -> None:
    """The sentence agrees with its number."""
    assert sentence == load_text("operator", lang)("health_bad", n=count)


@pytest.fixture
def alone(tmp_path: Path) -> Iterator[Serving]:
    """Run a server without the hundreds of rooms of other tests: a page shows 200, in 1.5 s."""
    with serving(tmp_path) as server:
        yield server


def test_filter_and_totals_by_address(alone: Serving) -> None:
    """Without a script the filter is a form, and a total is a link; both show rooms."""
    with httpx2.Client(base_url=alone.base, timeout=60) as page:
        page.post("/admin/sign-in", data={"key": ADMIN_KEY})
        _filter_and_totals(alone, page)


def _filter_and_totals(server: Serving, page: httpx2.Client) -> None:
    mark = secrets.token_hex(6)
    for name in ("left", "right"):
        server.new_room(f"{name}-{mark}", mode="paused", title=f"Side {name}")
    httpx2.post(f"{server.base}/v1/rooms/left-{mark}/tickets").raise_for_status()

    def listed(**query: str) -> set[str]:
        shown = page.get("/admin", params=query)
        assert 200 == shown.status_code
        return {name for name in ("left", "right") if f'id="r-{name}-{mark}"' in shown.text}

    wait_for(lambda: {"left"} == listed(only="waiting"), "current numbers")
    assert {"left", "right"} == listed() == listed(q=mark.upper())
    assert {"left"} == listed(q=f" LEFT-{mark} ") == listed(q="side left")
    assert set() == listed(q="no such room") == listed(only="need")
    assert "No room matches." in page.get("/admin", params={"q": "no such room"}).text
    assert 'value="&lt;b&gt;"' in page.get("/admin", params={"q": "<b>"}).text
    assert 422 == page.get("/admin", params={"only": "nonsense"}).status_code


def test_who_sees_which_links(page: httpx2.Client, operator: httpx2.Client) -> None:
    """Admins get a link to the keys; viewers do not."""
    made = operator.post("/v1/admin/keys", json={"name": "looker", "role": "viewer"}).json()
    assert 'href="/admin/keys"' in page.get("/admin").text
    page.cookies.clear()
    assert 303 == page.post("/admin/sign-in", data={"key": made["key"]}).status_code
    shown = page.get("/admin").text
    assert ["/admin", "/admin/audit"] == [
        path for path in ("/admin", "/admin/audit", "/admin/keys") if f'<a href="{path}" ' in shown
    ]
