"""What a lever will do, told before it is used."""

from __future__ import annotations

import itertools
import re
from collections import deque
from typing import Any

import pytest

from tests.server.operator.boards import NOW_MS, SLOTS, board, stats
from tests.support.room_simulator import Line
from waitroom.models import Eta, Mode, Policy, preset
from waitroom.moments import from_ms
from waitroom.server.operator import words
from waitroom.server.operator.levers import wishes
from waitroom.server.operator.levers.facts import Fact, sentence
from waitroom.server.operator.levers.preview import Preview, preview
from waitroom.server.operator.levers.wishes import Lever, Wish
from waitroom.server.pages.text import load_text
from waitroom.server.rooms.board import Board

HOUR_MS = 3_600_000


def of(room: Board, lever: Lever, **form: str) -> Preview:
    """Fill in the form of a lever, and preview it."""
    return preview(room, wishes.read({"do": lever, **form}, room.policy))


def keys(shown: Preview) -> list[str]:
    """Return what a preview says, without the numbers."""
    return [fact.key.removeprefix("fact_") for fact in shown.facts]


def said(shown: Preview, lang: str = "en") -> str:
    """Return all sentences of a preview."""
    text = load_text("operator", lang)
    return " ".join(sentence(text, fact, "Asia/Seoul") for fact in shown.facts)


@pytest.mark.parametrize("eta", [Eta.SERVICE, Eta.OBSERVED])
def test_twice_the_capacity_halves_the_wait(eta: Eta) -> None:
    """The preview follows the limits, not the past pace, and says where it leads."""
    shown = of(board(SLOTS.change(eta=eta)), Lever.CAPACITY, capacity="100")
    assert {"capacity": (50, 100)} == shown.changed
    assert shown.before_s is not None
    assert shown.after_s is not None
    assert 0.35 <= shown.after_s / shown.before_s <= 0.6
    expected = ["last_change", "at_once", "rate", "level_rises", "basis_guess"]
    assert expected == keys(shown)
    assert re.search(
        r"The last of 600 waits .* → .* min; so does whoever joins now\. 50 people are called at "
        r"once\. Calls per minute: about \d+ → \d+\. Called and inside rise from 50 to about 100 "
        r"of 100\. Nobody has finished yet",
        said(shown),
    )


def test_the_sentence_of_the_sale() -> None:
    """With 12,400 in line it gives the last one's wait before and after, and how many go inside."""
    line = Line(
        Policy(capacity=1_500, session_s=600), 15_000, session=lambda rng: rng.gauss(240, 40)
    )
    line.run(600)
    room = Board("r", line.policy, line.stats(), deque(line.samples))
    room.renew(line.policy, line.stats())
    shown = of(room, Lever.CAPACITY, capacity="2,000")
    match = re.match(
        r"The last of ([\d,]+) waits (\d+) → (\d+) min; so does whoever joins now\. "
        r"(\d+) people are called at once\. Calls per minute: about (\d+) → (\d+)\. "
        r"Called and inside rise from 1,500 to about ([\d,]+) of 2,000\. "
        r"Based on places held for 4 min on average",
        said(shown),
    )
    assert match is not None, said(shown)
    _, before, after, called, *_ = match.groups()
    assert int(after) == pytest.approx(0.75 * int(before), rel=0.1)
    assert "500" == called


def test_half_the_pace_doubles_the_wait() -> None:
    """So does the pace, in both directions."""
    paced = board(preset("batch", batch=100, every_s=10), stats(10_000, 0, 0))
    shown = of(paced, Lever.PACE, batch="50", every_s="10")
    assert (1000, 2000) == pytest.approx((shown.before_s, shown.after_s))
    shown = of(paced, Lever.PACE, batch="400", every_s="10")
    assert (1000, 250) == pytest.approx((shown.before_s, shown.after_s))
    assert "The last of 10,000 waits 17 → 4 min" in said(shown)
    assert "300 more people are called at once, in the current step of the pace" in said(shown)


def test_a_limit_that_is_not_the_tightest() -> None:
    """Raising a limit that does not bind changes nothing; the preview names the one that does."""
    policy = preset("per-minute", max_entries=60, per_s=60, batch=10, every_s=10)
    shown = of(board(policy, stats(600, 0, 0)), Lever.PACE, batch="100", every_s="10")
    assert "last_same_entries" == keys(shown)[0]
    assert "still waits about 10 min: the rolling limit is what limits it" in said(shown)
    shown = of(board(policy, stats(600, 0, 0)), Lever.LIMIT, max_entries="120", per_s="60")
    assert "last_same_pace" in keys(shown)


def test_lowering_below_those_inside() -> None:
    """It says how many are above the limit, and that nobody is sent away."""
    shown = of(board(SLOTS), Lever.CAPACITY, capacity="20")
    assert Fact("fact_over", n=30) in shown.facts
    assert "Called and inside fall from 50 to about 20 of 20." in said(shown)
    assert shown.before_s is not None
    assert shown.after_s is not None
    assert shown.after_s > 1.5 * shown.before_s


def test_sessions_of_unknown_length() -> None:
    """If nobody has finished and no length is set, it says why nothing can be predicted."""
    shown = of(board(SLOTS.change(session_s=None)), Lever.CAPACITY, capacity="70")
    assert ["last_unknown", "at_once", "basis_none"] == keys(shown)
    assert "Nobody has finished yet, so neither the length of a session" in said(shown)


def test_nobody_waits() -> None:
    """Then it tells about a newcomer."""
    shown = of(board(SLOTS, stats(0, 0, 20)), Lever.CAPACITY, capacity="30")
    assert ["nobody", "new_in"] == keys(shown)
    shown = of(board(SLOTS, stats(0, 0, 50)), Lever.CAPACITY, capacity="40")
    assert ["nobody", "new_waits", "over"] == keys(shown)


def test_pause_and_resume() -> None:
    """What stops, who keeps what and until when, and who is called once it resumes."""
    shown = of(board(SLOTS), Lever.MODE, mode="paused")
    assert ["paused", "called_stay", "inside_stay", "may_join", "silent"] == keys(shown)
    assert "5 people already called may still enter, each within 60 s of their call." in said(shown)
    assert "for longer than 150 s still loses their place" in said(shown)
    paused = board(SLOTS.change(mode=Mode.PAUSED), stats(600, 0, 20))
    shown = of(paused, Lever.MODE, mode="open")
    assert ["open", "at_once", "last_then", "level_rises", "basis_guess"] == keys(shown)
    assert "30 people are called at once." in said(shown)
    assert (None, True) == (shown.before_s, shown.after_s is not None)


def test_other_modes() -> None:
    """Each says who is admitted, and beyond which capacity."""
    shown = of(board(SLOTS), Lever.MODE, mode="bypass")
    assert ["bypass", "level_above"] == keys(shown)
    assert "rise from 50 to about 650; the capacity of 50 does not apply" in said(shown)
    assert ["closed", "called_stay", "inside_stay"] == keys(
        of(board(SLOTS), Lever.MODE, mode="closed")
    )
    assert "600 people wait until you call them" in said(
        of(board(SLOTS), Lever.MODE, mode="manual")
    )
    by_hand = board(SLOTS.change(mode=Mode.MANUAL))
    assert "by_hand" in keys(of(by_hand, Lever.CAPACITY, capacity="70"))


def test_a_limit_of_a_room_that_stands() -> None:
    """It tells what applies once the room resumes."""
    paused = board(SLOTS.change(mode=Mode.PAUSED))
    shown = of(paused, Lever.CAPACITY, capacity="100")
    assert ["stands", "last_then", "rate", "level_rises", "basis_guess"] == keys(shown)


def test_admitting() -> None:
    """Who is called, beyond which limits, and what that means for people behind them."""
    room = board(SLOTS, stats(600, 0, 20))
    shown = of(room, Lever.ADMIT, count="30")
    assert ["admit", "behind_same"] == keys(shown)
    assert "The first 30 of 600 in line are called at once, and have 60 s each" in said(shown)
    shown = of(room, Lever.ADMIT, count="1000")
    assert ["admit", "admit_fewer", "admit_room", "behind_same"] == keys(shown)
    shown = of(room, Lever.ADMIT, count="100", force="1")
    assert ["admit", "admit_over", "behind_change"] == keys(shown)
    assert "70 people are then called or inside above the capacity of 50" in said(shown)
    assert "admit_none" == keys(of(board(SLOTS), Lever.ADMIT, count="5"))[0]
    paused = board(SLOTS.change(mode=Mode.PAUSED))
    ended = board(SLOTS.change(ends_at=from_ms(NOW_MS)))
    for stands in (paused, ended):
        assert ["admit_refused"] == keys(of(stands, Lever.ADMIT, count="5"))
        assert "admit" == keys(of(stands, Lever.ADMIT, count="5", force="1"))[0]
    limited = board(Policy(max_entries=10, per_s=60), stats(20, 2, 5))
    assert "admit_entries" in keys(of(limited, Lever.ADMIT, count="15", force="1"))
    assert ["nobody_waits"] == keys(of(board(SLOTS, stats(0)), Lever.ADMIT, count="5"))


def test_ending() -> None:
    """Now or later: how many are told so, and how many are still called."""
    shown = of(board(SLOTS), Lever.END, when="now", ended_text="Sold out.")
    assert {"mode", "ended_text"} == set(shown.changed)
    assert ["ended", "called_stay", "inside_stay"] == keys(shown)
    assert "600 people waiting are told so within two seconds" in said(shown)
    seoul = board(SLOTS.change(time_zone="Asia/Seoul"))  # now is 17:00 there
    shown = of(seoul, Lever.END, when="at", ends_at="2027-01-15T17:20")
    assert "over at 2027-01-15 17:20 (Asia/Seoul), in 20 min" in said(shown)
    assert ["ends_at", "end_left"] == keys(shown)
    assert ["ends_at", "end_all"] == keys(
        of(seoul, Lever.END, when="at", ends_at="2027-01-16T17:20")
    )
    assert ["end_passed", "ended", "called_stay", "inside_stay"] == keys(
        of(seoul, Lever.END, when="at", ends_at="2027-01-15T16:00")
    )
    assert "end_unknown" in keys(
        of(board(SLOTS.change(mode=Mode.PAUSED)), Lever.END, when="at", ends_at="2027-01-16T17:20")
    )


def test_beginning_again() -> None:
    """A room that ended by its end time is reopened by removing that time."""
    ended = board(SLOTS.change(ends_at=from_ms(NOW_MS)))
    wish = wishes.read({"do": "mode", "mode": "open", "ends_at": ""}, ended.policy)
    assert {"mode": "open", "ends_at": ""} == wish.inputs
    shown = preview(ended, wish)
    assert {"ends_at": ("2027-01-15T08:00:00.000Z", None)} == shown.changed
    assert (None, True) == (shown.before_s, shown.after_s is not None)


def test_events() -> None:
    """What happens at that moment, how long until then, and what moving an opening means."""
    shown = of(board(SLOTS), Lever.EVENTS, opens_at="2027-01-15T09:30", ends_at="")
    assert ["opens_at", "before_wait", "opens_again"] == keys(shown)
    assert "It opens at 2027-01-15 18:30 (Asia/Seoul), in 1 h 30 min." in said(shown)
    early = board(SLOTS.change(opens_at=from_ms(NOW_MS + HOUR_MS)), stats(600, 0, 20))
    shown = of(early, Lever.EVENTS, opens_at="2027-01-15T08:10")
    assert ["opens_at", "before_wait", "opens_calls"] == keys(shown)
    shown = of(early, Lever.EVENTS, opens_at="")
    assert ["opens_now", "at_once"] == keys(shown)
    drawn = board(SLOTS.change(opens_at=from_ms(NOW_MS + HOUR_MS), before_open="draw"))
    shown = of(drawn, Lever.EVENTS, opens_at="")
    assert {"opens_at", "before_open"} == set(shown.changed)
    ends = board(SLOTS.change(ends_at=from_ms(NOW_MS + HOUR_MS)))
    assert ["no_end"] == keys(of(ends, Lever.EVENTS, ends_at=""))


def test_the_length_of_the_line() -> None:
    """Who may still join, and that nobody's wait changes."""
    assert "600 waiting now, so 400 more may join." in said(
        of(board(SLOTS), Lever.QUEUE, queue_limit="1,000")
    )
    assert ["queue_over", "queue_wait"] == keys(of(board(SLOTS), Lever.QUEUE, queue_limit="500"))
    limited = board(SLOTS.change(queue_limit=700))
    assert ["queue_none", "queue_wait"] == keys(of(limited, Lever.QUEUE, queue_limit=""))


def test_a_message() -> None:
    """Who sees it, where, how soon, and in which languages."""
    shown = of(board(SLOTS), Lever.MESSAGE, message="Late")
    assert ["message_readers", "message_inside", "message_all"] == keys(shown)
    assert "The pages of 605 people waiting or called show it within two sec" in said(shown)
    local = board(SLOTS.change(message="A", texts={"ko": {"message": "가"}, "ja": {"title": "x"}}))
    shown = of(local, Lever.MESSAGE, **{"message": "B", "message.ko": "나", "message.ja": ""})
    assert "Pages in Korean show the text for that language" in said(shown)
    assert {"ko": {"message": "나"}, "ja": {"title": "x"}} == shown.changed["texts"][1]
    assert "message_replaces" in keys(of(local, Lever.MESSAGE, message="B"))
    assert ["message_removed"] == keys(of(local, Lever.MESSAGE, remove="1"))


def test_texts() -> None:
    """Only fields that differ are changed."""
    room = board(SLOTS.change(title="A", texts={"ko": {"title": "가"}}))
    form = {"title": "A", "footer": " Us\r\nSeoul ", "title.ko": "나", "ready": ""}
    shown = of(room, Lever.TEXTS, **form)
    assert {"footer", "texts"} == set(shown.changed)
    assert "Us\nSeoul" == shown.changed["footer"][1]
    assert ["texts", "texts_languages"] == keys(shown)
    assert {} == of(room, Lever.TEXTS, title="A").changed


FORMS: list[dict[str, Any]] = [
    {"do": "mode", "mode": "paused"},
    {"do": "mode", "mode": "open"},
    {"do": "mode", "mode": "bypass"},
    {"do": "capacity", "capacity": "51"},
    {"do": "capacity", "capacity": "2000"},
    {"do": "capacity", "capacity": ""},
    {"do": "pace", "batch": "7", "every_s": "10"},
    {"do": "limit", "max_entries": "500", "per_s": "60"},
    {"do": "queue", "queue_limit": "700"},
    {"do": "admit", "count": "40"},
    {"do": "admit", "count": "400", "force": "1"},
    {"do": "events", "opens_at": "2027-01-15T09:30", "ends_at": "2027-01-15T10:30"},
    {"do": "end", "when": "now"},
    {"do": "message", "message": "Late"},
]
POLICIES = [
    SLOTS,
    SLOTS.change(mode=Mode.PAUSED),
    SLOTS.change(session_s=None),
    Policy(),
    Policy(batch=20, every_s=10, capacity=500),
    preset("per-minute"),
    preset("manual", capacity=80),
    SLOTS.change(opens_at=from_ms(NOW_MS + HOUR_MS)),
]


@pytest.mark.parametrize("lang", ["en", "ko"])
def test_every_preview_says_something(lang: str) -> None:
    """In each room and language; and none says that a wait changes from something to the same."""
    rooms = [stats(0, 0, 0), stats(1, 1, 1), stats(600, 5, 45), stats(30_000, 100, 2_000)]
    for policy, now, form in itertools.product(POLICIES, rooms, FORMS):
        room = board(policy, now)
        shown = preview(room, wishes.read(form, policy))
        text = said(shown, lang)
        assert shown.facts or not (shown.changed or form["do"] == "admit"), (policy, form)
        assert "{" not in text
        assert "inf" not in text.split()
        for before, after in re.findall(r"([^:;.]*?)\s→\s([^:;.]*)", text):
            assert before.split()[-1:] != after.split()[:1] or " s" in after, text


@pytest.mark.parametrize("lang", ["en", "ko"])
def test_two_waits_never_look_the_same(lang: str) -> None:
    """However close they are, if they differ by more than what counts as equal."""
    text = load_text("operator", lang)
    for before in (1, 6, 44, 61, 89, 95, 130, 600, 1_799, 5_399, 5_401, 7_300, 90_000):
        for part in (0.0, 0.5, 0.9, 0.96, 1.04, 1.1, 3.0):
            after = before * part
            if abs(before - after) > max(5.0, 0.03 * before):
                left, right = words.change(text, before, after).split(" → ")
                assert left != right.removesuffix(" min").removesuffix(" s"), (before, after)


def test_a_lever_tells_in_words() -> None:
    """Calling or removing one person has no numbers."""
    for lever in (Lever.CALL, Lever.KICK):
        assert (Fact(f"fact_{lever}"),) == preview(board(SLOTS), Wish(lever, ticket="x")).facts
