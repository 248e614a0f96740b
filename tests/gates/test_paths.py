"""One path in many spellings is one path; an ambiguous path opens nothing."""

from __future__ import annotations

from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from waitroom.errors import InvalidInput
from waitroom.gates.paths import LONGEST_PATH, Match, Place, Table

pytestmark = pytest.mark.attack

TABLE = Table(
    [
        Place("/", "site"),
        Place("/concert", "concert"),
        Place("/concert/vip", "vip"),
        Place("/concert/*/seats", "seats"),
        Place("/concert/free", None),
        Place("/대기열", "korean"),
        Place("/api", "posts", frozenset({"POST"})),
    ]
)
ONE = Table([Place("/concert", "concert"), Place("/free", None)])


def room(path: str, method: str = "GET", table: Table = TABLE) -> str | None:
    """Return the room of a path."""
    rule = table.match(method, path)
    assert rule.safe, path
    return rule.place.room if rule.place else None


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/", "site"),
        ("/about", "site"),
        ("/concerts", "site"),
        ("/concert", "concert"),
        ("/concert/2026", "concert"),
        ("/concert/vip/x", "vip"),
        ("/concert/2026/seats", "seats"),
        ("/concert/vip/seats", "seats"),
        ("/concert/free", None),
        ("/concert/free/x", None),
        ("/대기열/1", "korean"),
        (quote("/대기열"), "korean"),
        ("/api", "site"),
    ],
)
def test_the_most_specific_rule_wins(path: str, expected: str | None) -> None:
    """More segments first, then fewer wildcards; a bypass is a rule like others."""
    assert expected == room(path)


def test_methods_narrow_a_rule() -> None:
    """A rule for some methods leaves the others to the next rule."""
    assert ("posts", "site") == (room("/api/x", "POST"), room("/api/x", "PUT"))


@pytest.mark.parametrize("path", ["/concert\0", "/\x01", "/a\x7f", "/\ud800", "/x" * LONGEST_PATH])
def test_what_cannot_be_read_is_refused(path: str) -> None:
    """Control characters, half characters and endless paths match no rule and are refused."""
    assert Match(safe=False) == TABLE.match("GET", path)


def test_encoding_without_end_is_refused() -> None:
    """Nobody needs ten layers of encoding."""
    text = "/concert"
    for _ in range(10):
        text = "/" + quote(text[1:], safe="").replace("c", "%63")
    assert not ONE.match("GET", text).safe


def test_readings_in_two_rooms_are_refused() -> None:
    """A pass for one room opens no path that may belong to another."""
    for path in (
        "/concert/../about",
        "/concert/vip/../x",
        "/about/../concert",
        "/concert/x/..;/vip",
    ):
        assert not TABLE.match("GET", path).safe, path


def test_a_bypass_is_for_one_spelling_only() -> None:
    """`/concert/FREE` may be a seat of that name for a site that minds case."""
    for path in (
        "/concert/FREE",
        "/concert//free",
        "/concert/free;x",
        "/concert/%66ree",
        "/concert/free.",
    ):
        assert "concert" == room(path), path


def test_a_rule_beats_a_bypass_for_the_same_path() -> None:
    """Protecting is the safer error."""
    table = Table([Place("/a", None), Place("/a", "room")])
    assert "room" == room("/a", table=table)


@pytest.mark.parametrize("path", ["concert", "", "/a/../b", "/\0", "/.."])
def test_a_rule_that_can_be_misread_is_refused(path: str) -> None:
    """When the gate is made."""
    with pytest.raises(InvalidInput):
        Table([Place(path, "room")])


SPELLINGS = st.lists(
    st.sampled_from(["c", "C", "%63", "%43", "%2563", "\uff43", "\uff23", "%ef%bd%83", "\u24d2"]),
    min_size=2,
    max_size=2,
)
BEFORE = st.sampled_from(
    [
        "/",
        "//",
        "/./",
        "/%2e/",
        "/x/../",
        "/x/%2e%2e/",
        "/;/",
        "/\\",
        "/%5c",
        "/%2f",
        "/ /",
        "/x/..;a/",
    ]
)
AFTER = st.sampled_from(
    ["", "/", "//", ".", "..", "%20", ";a=b", "%3b", "/.", "/x", "\\x", "%2fx", "%5c", "?"]
)


@given(BEFORE, SPELLINGS, AFTER)
def test_every_spelling_is_protected(before: str, letters: list[str], after: str) -> None:
    """Any mixture of slashes, encodings, wide letters and ends is the protected path."""
    path = f"{before}{letters[0]}on{letters[1]}ert{after}"
    rule = ONE.match("GET", path)
    assert not rule.safe or (rule.place is not None and rule.place.room == "concert")


@given(st.text(max_size=200))
def test_no_path_raises(path: str) -> None:
    """For any path there is an answer, and below a rule it is protected."""
    ONE.match("GET", path)
    rule = ONE.match("GET", f"/concert/{path}")
    assert not rule.safe or (rule.place is not None and rule.place.room == "concert")


def test_memory_is_bounded() -> None:
    """Strangers' paths do not fill the memory."""
    table = Table([Place("/concert", "concert")])
    for number in range(10_000):
        table.match("GET", f"/{number}")
    assert table._remembered.cache_info().currsize <= 4_096
