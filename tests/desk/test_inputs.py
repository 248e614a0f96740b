"""What input is accepted for stores and parties, and what is refused."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from waitroom.desk.inputs import Wish, check_op_id, checked_store, checked_wish
from waitroom.desk.models import Source, Store, StoreMode, WaitingType
from waitroom.errors import InvalidInput, UnknownType

DINE_IN = WaitingType(name="dine-in", title="매장 식사", largest_party=8)
STORE = Store(id="han-river", title="한강식당", types=(DINE_IN,))


def test_a_store_is_kept_as_given() -> None:
    """Valid input is not changed, except for blanks around a text."""
    given = replace(STORE, title="  한강식당 ", reason=" ", mode=StoreMode("paused"))
    assert replace(STORE, mode=StoreMode.PAUSED) == checked_store(given)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        *[("id", bad) for bad in ("", "-a", "A", "a" * 31, "a b", "a/b", "가게", "a\n", None, 7)],
        *[("title", bad) for bad in ("", "  ", "a" * 81, "a\nb", "a\x00", "a\u202eb", "\ud800", 7)],
        *[("country", bad) for bad in ("", "82", "ZZ", "Korea", None, 82)],
        *[("time_zone", bad) for bad in ("", "Seoul", "Asia/Nowhere", "../etc/passwd", None)],
        *[("mode", bad) for bad in ("", "OPEN", "away", None, 1)],
        ("reason", "a" * 201),
        *[("closes_at", bad) for bad in ("", "24:00", "9:00", "22:60", "22:00:00", 22, "２２:00")],
        *[("max_defers", bad) for bad in (-1, 21, "2", 1.5, True, None)],
        *[("remote", bad) for bad in (1, "yes", None)],
        *[("keep_phones_days", bad) for bad in (-1, 366, "7", None)],
        *[
            ("webhook_url", bad)
            for bad in ("x", "ftp://a.b/c", "https://", "http://a b/", "http://[", "http://a:99999")
        ],
        ("webhook_url", "https://example.com/" + "a" * 500),
        *[("webhook_secret", bad) for bad in ("short", "a" * 201, 7)],
        *[("types", bad) for bad in ((), (DINE_IN, DINE_IN), (DINE_IN,) * 21)],
    ],
)
def test_a_wrong_store_is_refused(field: str, value: Any) -> None:
    """The error names the field."""
    with pytest.raises(InvalidInput) as caught:
        checked_store(replace(STORE, **{field: value}))
    assert field == caught.value.field


@pytest.mark.parametrize(
    ("field", "name", "value"),
    [
        *[("type", "name", bad) for bad in ("", "Dine", "a" * 21, "-a", "a b", "포장", None)],
        ("title", "title", ""),
        *[("queue_limit", "queue_limit", bad) for bad in (-1, 10_001, "9", True)],
        *[("largest_party", "largest_party", bad) for bad in (0, 101, None)],
    ],
)
def test_a_wrong_line_is_refused(field: str, name: str, value: Any) -> None:
    """The error names the field of the line."""
    with pytest.raises(InvalidInput) as caught:
        checked_store(replace(STORE, types=(replace(DINE_IN, **{name: value}),)))
    assert field == caught.value.field


def test_a_wish_is_kept_in_one_form() -> None:
    """Blanks go, a note is one line, decomposed Korean is composed, emoji stay whole."""
    asked = Wish(
        size=8,
        name=" 김민지 👨‍👩‍👧 ",
        phone="010-1234-5678",
        note="창가\n  자리  ",
        source=Source("remote"),
    )
    kept = Wish(
        size=8,
        name="김민지 👨‍👩‍👧",
        phone="+821012345678",
        note="창가 자리",
        source=Source.REMOTE,
    )
    assert kept == checked_wish(STORE, "dine-in", asked)
    assert Wish(size=1) == checked_wish(STORE, "dine-in", Wish(size=1, name=" ", phone="", note=""))


def test_the_country_of_the_store_reads_the_phone() -> None:
    """The same digits are a number in one country, and not in another."""
    american = checked_store(replace(STORE, country="us"))
    assert "US" == american.country
    asked = Wish(size=2, phone="(415) 555-0100")
    assert "+14155550100" == checked_wish(american, "dine-in", asked).phone
    with pytest.raises(InvalidInput, match="010-2000-0000"):
        checked_wish(STORE, "dine-in", asked)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        *[("size", bad) for bad in (0, -1, 9, 500, 2.0, "2", True, None)],
        *[("name", bad) for bad in ("a" * 41, "a\x1b[31m", "a\nb", "a\u2028b", "\u202eevil", 7)],
        *[("phone", bad) for bad in ("12", "x" * 100, 7)],
        *[("note", bad) for bad in ("a" * 201, "a\x00b", 7)],
        *[("source", bad) for bad in ("", "web", None)],
    ],
)
def test_a_wrong_wish_is_refused(field: str, value: Any) -> None:
    """The error names the field."""
    with pytest.raises(InvalidInput) as caught:
        checked_wish(STORE, "dine-in", replace(Wish(size=2), **{field: value}))
    assert field == caught.value.field


def test_a_wish_for_another_line_is_refused() -> None:
    """A line that the store does not have cannot be joined."""
    with pytest.raises(UnknownType):
        checked_wish(STORE, "takeout", Wish(size=2))


def test_a_wish_shows_nobody_in_a_log() -> None:
    """Its text does not reveal who it is."""
    text = repr(Wish(size=2, name="김민지", phone="01012345678", note="휠체어"))
    assert not [word for word in ("김민지", "0101234", "휠체어") if word in text]


@pytest.mark.parametrize("op_id", ["", "a" * 65, "a b", "a\n", "가", 7, b"a"])
def test_a_wrong_op_id_is_refused(op_id: Any) -> None:
    """It accepts what fits in a header."""
    with pytest.raises(InvalidInput):
        check_op_id(op_id)
