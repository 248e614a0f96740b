"""Policies and room names: what is allowed, and that an error names the field."""

from __future__ import annotations

import dataclasses
import math
from datetime import UTC, date, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from waitroom.errors import InvalidPolicy, InvalidRoomName
from waitroom.models import (
    MOMENTS,
    POLICY_FIELDS,
    PRESETS,
    BeforeOpen,
    Eta,
    Mode,
    Policy,
    check_room_name,
    preset,
)
from waitroom.moments import from_ms, to_ms

SPECS = {spec.name: spec for spec in dataclasses.fields(Policy)}
WORDS = ("mode", "before_open", "eta", "when_away")
EVENT = ("picture", "event_date", "event_place", "background", "font", "footer", "help_link")
ENDED = ("ended_text", "ended_picture", "ended_link")
TEXTS = ("time_zone", "title", "message", "ready", "logo", "colour", "go_to", *EVENT, *ENDED)
LONG = ("message", "footer", "ended_text")
FLAGS = ("renewable",)
NUMBERS = [
    name for name in POLICY_FIELDS if name not in ("texts", *WORDS, *FLAGS, *TEXTS, *MOMENTS)
]
MAY_BE_ZERO = ("recover_s", "max_defers")
WHOLE = [name for name in NUMBERS if not name.endswith("_s")]
PARTNER = {"batch": "every_s", "every_s": "batch", "max_entries": "per_s", "per_s": "max_entries"}

BAD_NUMBERS = [-1, -0.001, math.nan, math.inf, -math.inf, 10**30, 1e300, 10**400]
BAD_TYPES = [True, False, "5", "", b"5", [], {}, object()]


def refused(name: str, value: object) -> str:
    """Return the sentence with which a policy refuses `value`, having checked that it names it."""
    partner = {PARTNER[name]: 1} if name in PARTNER else {}
    with pytest.raises(InvalidPolicy) as caught:
        Policy(**{name: value, **partner})  # type: ignore[arg-type]
    assert name == caught.value.field
    assert str(caught.value).startswith(f"{name}: ")
    return str(caught.value)


@pytest.mark.parametrize("name", NUMBERS)
@pytest.mark.parametrize("value", BAD_NUMBERS + BAD_TYPES, ids=lambda value: f"{value!r:.12}")
def test_bad_numbers(name: str, value: object) -> None:
    """Negative, NaN, infinite, enormous or untyped values of every number name their field."""
    refused(name, value)


@pytest.mark.parametrize("name", [name for name in NUMBERS if name not in MAY_BE_ZERO])
def test_zero(name: str) -> None:
    """Zero is refused with the range where it would stop the room by accident."""
    assert "it takes" in refused(name, 0)


@pytest.mark.parametrize("name", MAY_BE_ZERO)
def test_zero_where_it_means_something(name: str) -> None:
    """Zero turns recovery and deferring off."""
    assert 0 == getattr(Policy(**{name: 0}), name)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", WHOLE)
def test_whole_numbers(name: str) -> None:
    """People are whole: a half is refused, 3.0 becomes 3."""
    assert "whole" in refused(name, 1.5)
    partner = {PARTNER[name]: 1} if name in PARTNER else {}
    value = getattr(Policy(**{name: 3.0, **partner}), name)  # type: ignore[arg-type]
    assert (3, int) == (value, type(value))


@pytest.mark.parametrize("name", NUMBERS)
def test_range_ends(name: str) -> None:
    """Both ends of the stated range are allowed, and what lies beyond is not."""
    low, high = SPECS[name].metadata["low"], SPECS[name].metadata["high"]
    partner = {PARTNER[name]: 1} if name in PARTNER else {}
    for value in (low, high):
        policy = Policy(**{name: value, **partner})
        assert value == getattr(policy, name)
    refused(name, high + 1)


@pytest.mark.parametrize("name", NUMBERS)
def test_none_is_no_limit(name: str) -> None:
    """None takes a limit away, except where only 0 can mean off."""
    if name in ("recover_s", "max_defers"):
        assert "0 turns it off" in refused(name, None)
    else:
        partner = {PARTNER[name]: None} if name in PARTNER else {}
        assert None is getattr(Policy(**{name: None, **partner}), name)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", WORDS)
@pytest.mark.parametrize("value", ["", "OPEN", "nonsense", None, 0, True, [], {}])
def test_bad_words(name: str, value: object) -> None:
    """A word outside the list is refused together with the list."""
    assert "is not one of" in refused(name, value)


@pytest.mark.parametrize("value", [0, 1, "true", None, []])
def test_bad_flag(value: object) -> None:
    """A flag is true or false and nothing that merely looks like it."""
    refused("renewable", value)


PNG = "data:image/png;base64,iVBORw0KGgo="
GOOD_TEXTS = [
    ("time_zone", "Asia/Seoul"),
    ("title", "t" * 120),
    ("title", "대기열 <b>&amp; 'x'"),
    ("message", "one\ntwo"),
    ("ended_text", "e\n" * 500),
    ("ended_picture", PNG),
    ("ended_link", "https://shop.example/next"),
    ("message", "m" * 1_000),
    ("ready", "r" * 300),
    *(("logo", text) for text in ("/", "/logo.svg", "/a/b%20c.png?v=1", PNG)),
    *(("logo", f"data:image/{kind};base64,AAAA") for kind in ("svg+xml", "jpeg", "webp", "gif")),
    ("logo", "data:image/png;base64," + "A" * (65_536 - 24)),
    ("colour", "#0a5bd3"),
    ("go_to", "https://shop.example/checkout?a=1&b=[2]#c"),
    *(("go_to", text) for text in ("http://localhost:8000", "https://[::1]:1/", "/checkout")),
    ("go_to", "/" + "a" * 1_999),
    *(("picture", text) for text in ("/stage.webp", PNG)),
    ("event_date", "2030년 5월 3일 (금) 20:00"),
    ("event_place", "Olympic Hall, Seoul"),
    ("background", "#10002b"),
    *(("font", text) for text in ("/static/event.woff2", "/a/b%20c.woff?v=1")),
    ("footer", "Aurora Ltd\nSeoul"),
    *(("help_link", text) for text in ("https://shop.example/help?a=1#b", "/help")),
    *(("help_link", text) for text in ("mailto:help+now@shop.example", "tel:+82-2-123-4567")),
]


@pytest.mark.parametrize(("name", "text"), GOOD_TEXTS, ids=lambda text: f"{text:.30}")
def test_good_texts(name: str, text: str) -> None:
    """Texts are kept as given, up to their longest."""
    assert text == getattr(Policy(**{name: text}), name)  # type: ignore[arg-type]


def test_colour_is_lower_case() -> None:
    """A colour is kept in one form."""
    assert "#0a5bd3" == Policy(colour="#0A5BD3").colour


@pytest.mark.parametrize("name", TEXTS)
def test_texts_may_be_missing(name: str) -> None:
    """No text is the default, and None takes one away."""
    assert None is getattr(Policy(), name)
    assert None is getattr(Policy(**{name: None}), name)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", TEXTS)
@pytest.mark.parametrize("value", ["", " ", "\t\n", 0, 5, True, b"x", [], {}, str], ids=ascii)
def test_what_is_no_text(name: str, value: object) -> None:
    """Emptiness and other types are refused; the remedy for an empty one is none."""
    words = refused(name, value)
    assert "use none" in words if isinstance(value, str) else "is not text" in words


@pytest.mark.parametrize("name", TEXTS)
@pytest.mark.parametrize("bad", ["\0", "\r", "\x1b", "\x07", "\x7f", "\x9b", "\u2028", "\ud800"])
def test_control_characters(name: str, bad: str) -> None:
    """A character that could end a header or paint a terminal is refused, and shown harmlessly."""
    words = refused(name, f"/a{bad}b")
    assert "control character" in words
    assert words.isprintable()


@pytest.mark.parametrize("name", [name for name in TEXTS if name not in LONG])
def test_one_line(name: str) -> None:
    """Only a message, a footer and an ending have several lines."""
    assert "one line" in refused(name, "/a\nb")


@pytest.mark.parametrize("name", TEXTS)
def test_long_texts(name: str) -> None:
    """What is too long is refused with the length that is allowed, and not repeated whole."""
    most = SPECS[name].metadata["high"]
    words = refused(name, "/" + "x" * most)
    assert f"shorten it to {most}" in words
    assert len(words) < 200


BAD_ADDRESSES = [
    *("logo.svg", "javascript:alert(1)", "//evil.example/x", "/\\evil.example", "\\\\evil", "/a b"),
    *('/"onload=x', "/<svg>", "ftp://a/b", "../x", " /x", "/x ", "/한글", "/`x", "file:///etc"),
]
BAD_LOGOS = [
    *("https://cdn.example/x.png", "data:image/png,abc", "data:text/html;base64,AAAA"),
    *("data:image/png;base64,", "data:image/png;base64,A", "data:image/png;base64,AA AA"),
    *("data:image/bmp;base64,AAAA", "DATA:image/png;base64,AAAA", "data:image/png;base64,AA==AAAA"),
    'data:image/png;base64,AAAA"onerror=x',
]
BAD_URLS = [
    *("https://", "https:/a", "https:a", "http://a:x/", "http://a:0/", "http://a:70000/"),
    *("https://u:p@a/", "https://u@a/", "http://[::1", "HTTPS//a", "data:image/png;base64,AAAA"),
]


@pytest.mark.parametrize("name", ["logo", "picture", "ended_picture"])
@pytest.mark.parametrize("value", BAD_ADDRESSES + BAD_LOGOS, ids=ascii)
def test_bad_pictures(name: str, value: str) -> None:
    """A picture comes from the same host or from the page itself, for pages ask nobody else."""
    assert "same host" in refused(name, value)


BAD_FONTS = ["https://fonts.example/x.woff2", "data:font/woff2;base64,AAAA", "/", *BAD_LOGOS]
BAD_STYLES = ["/a)b", "/a(b", "/a;b", "/a'b", "/a?b)c", "/a?b&c", "/a#b", "/a{b}", "/a,b"]


@pytest.mark.parametrize("value", BAD_ADDRESSES + BAD_FONTS + BAD_STYLES, ids=ascii)
def test_bad_fonts(value: str) -> None:
    """A font is a file on the same host, and its path cannot end what it stands in."""
    assert "same host" in refused("font", value)


BAD_CONTACTS = [
    *("mailto:", "mailto:a", "mailto:a@b?cc=c@d", "mailto:a@b,c@d", "MAILTO:a@b", "tel:", "tel:+"),
    *("tel:1;ext=2", "sms:1", "help@shop.example"),
]


@pytest.mark.parametrize("value", BAD_ADDRESSES + BAD_URLS + BAD_CONTACTS, ids=ascii)
def test_bad_help_links(value: str) -> None:
    """Help is a page, one address or one number: a link that does no more than it shows."""
    assert "mailto:help@" in refused("help_link", value)


@pytest.mark.parametrize("value", BAD_ADDRESSES + BAD_URLS, ids=ascii)
def test_bad_destinations(value: str) -> None:
    """People are sent to a web address or a path, and to nothing that a browser reads otherwise."""
    assert "use https://" in refused("go_to", value)
    assert "use https://" in refused("ended_link", value)


@pytest.mark.parametrize("name", ["colour", "background"])
@pytest.mark.parametrize("value", ["red", "#fff", "#gggggg", "0a5bd3", "#0a5bd", "#a;b{}x"])
def test_bad_colours(name: str, value: str) -> None:
    """A colour is #rrggbb: anything else could be more than a colour in a style sheet."""
    assert "#rrggbb" in refused(name, value)


LONG_TEXTS = {tag: {"message": "m" * 1_000} for tag in "abcdefghijklmnopq"}


@pytest.mark.parametrize(
    ("value", "field", "why"),
    [
        ("ko", "texts", "is not a table of languages"),
        ([], "texts", "is not a table of languages"),
        ({}, "texts", "use none"),
        ({"한국어": {"title": "a"}}, "texts", "is not a language; use one like ko"),
        ({"ko_KR": {"title": "a"}}, "texts", "is not a language"),
        ({"k": {"title": "a"}}, "texts", "is not a language"),
        ({5: {"title": "a"}}, "texts", "is not a language"),
        ({"ko": {}}, "texts.ko", "not empty"),
        ({"ko": "오로라"}, "texts.ko", "must be one table"),
        ({"ko": {"title": "a"}, "KO": {"title": "b"}}, "texts.ko", "must be one table"),
        ({"ko": {"colour": "#ffffff"}}, "texts.ko", "has no languages; there are title, message"),
        ({"ko": {"go_to": "/x"}}, "texts.ko", "has no languages"),
        ({"zh-hant": {"title": ""}}, "texts.zh-Hant.title", "is empty"),
        ({"ko": {"title": "t" * 121}}, "texts.ko.title", "shorten it to 120"),
        ({"ko": {"ready": "a\nb"}}, "texts.ko.ready", "one line"),
        ({"ko": {"title": 5}}, "texts.ko.title", "is not text"),
        ({f"a{tag}": texts for tag, texts in LONG_TEXTS.items()}, "texts", "shorten it to 16384"),
    ],
    ids=lambda value: f"{value!r:.20}",
)
def test_bad_texts_of_languages(value: object, field: str, why: str) -> None:
    """A wrong language, name or text is refused by its place; all of them together are bounded."""
    with pytest.raises(InvalidPolicy) as caught:
        Policy(texts=value)  # type: ignore[arg-type]
    assert field == caught.value.field
    assert why in str(caught.value)


def test_texts_in_a_language() -> None:
    """A language has its own text, also that of its base, and else the one for all."""
    given = {"ko": {"title": "오로라"}, "ZH-hant": {"title": "極光"}, "zh": {"title": "极光"}}
    policy = Policy(title="Aurora", ready="A card", texts=given)
    titles = {lang: policy.text("title", lang) for lang in ("ko", "ko-KR", "zh-Hant", "zh", "en")}
    chinese = {"zh-Hant": "極光", "zh": "极光"}
    assert {"ko": "오로라", "ko-KR": "오로라", **chinese, "en": "Aurora"} == titles
    assert "A card" == policy.text("ready", "ko")
    given["ko"]["title"] = "other"
    assert "오로라" == policy.text("title", "ko"), "a policy is not changed from outside"
    assert policy == Policy(**policy.as_dict())
    assert 1 == len({policy, Policy(**policy.as_dict())})


def test_words_become_enums() -> None:
    """Words from JSON or TOML become members, so that code can compare by identity."""
    policy = Policy(mode="paused", eta="rate", opens_at=from_ms(1), before_open="draw")  # type: ignore[arg-type]
    assert (Mode.PAUSED, Eta.RATE, BeforeOpen.DRAW) == (
        policy.mode,
        policy.eta,
        policy.before_open,
    )


@pytest.mark.parametrize(("given", "missing"), list(PARTNER.items()))
def test_half_of_a_pair(given: str, missing: str) -> None:
    """A pace without its slot, or a limit without its window, names the missing half."""
    with pytest.raises(InvalidPolicy, match=f"`{given}`") as caught:
        Policy(**{given: 5})  # type: ignore[arg-type]
    assert missing == caught.value.field


MOMENT = datetime(2030, 3, 1, 11, tzinfo=UTC)
SAME_MOMENT: list[Any] = [
    *("2030-03-01T20:00+09:00", "2030-03-01 11:00:00Z", "2030-03-01T11:00:00.000Z"),
    *(MOMENT, MOMENT.astimezone(ZoneInfo("Asia/Seoul"))),
]


@pytest.mark.parametrize("name", MOMENTS)
@pytest.mark.parametrize("value", SAME_MOMENT, ids=str)
def test_moments(name: str, value: Any) -> None:
    """A moment is a datetime or text with a zone; it is kept to the millisecond, and in UTC."""
    policy = Policy(**{name: value})
    assert (MOMENT, UTC) == (getattr(policy, name), getattr(policy, name).tzinfo)
    assert "2030-03-01T11:00:00.000Z" == policy.as_dict()[name]
    assert policy == Policy(**policy.as_dict())
    late = MOMENT.replace(microsecond=123_999)
    assert MOMENT.replace(microsecond=123_000) == getattr(Policy(**{name: late}), name)  # type: ignore[arg-type]
    assert None is getattr(policy.change(**{name: None}), name)


@pytest.mark.parametrize("name", MOMENTS)
def test_moments_of_the_time_zone(name: str) -> None:
    """Without a zone a moment is one of the room's, and an error names both remedies."""
    for value in ("2030-03-01T20:00", datetime(2030, 3, 1, 20)):
        words = refused(name, value)
        assert "2030-03-01T20:00:00+09:00, or set `time_zone`" in words
        policy = Policy(time_zone="Asia/Seoul").change(**{name: value})
        assert MOMENT == getattr(policy, name)
        assert MOMENT == getattr(policy.change(time_zone="Europe/Berlin"), name)


BAD_MOMENTS = [
    *("tomorrow", "", "20:00", "2030-03-01", "2030-02-30T20:00Z", "1898593200000"),
    *(1_898_593_200_000, 0, True, b"2030", [], {}, date(2030, 3, 1)),
]


@pytest.mark.parametrize("name", MOMENTS)
@pytest.mark.parametrize("value", BAD_MOMENTS, ids=ascii)
def test_what_is_no_moment(name: str, value: object) -> None:
    """Numbers, dates and other words are refused with an example."""
    assert "is not a time; write it as 2030-03-01T20:00:00+09:00" in refused(name, value)


@pytest.mark.parametrize("name", MOMENTS)
def test_moments_far_away(name: str) -> None:
    """A moment that clocks and scripts cannot mean is refused, however it is written."""
    for value in ("1969-12-31T23:59:59Z", "2100-01-02T00:00Z", "0001-01-01T00:00+09:00"):
        assert "2030" not in refused(name, value)


def test_it_ends_after_it_opens() -> None:
    """An end before the opening contradicts itself; from its end on the mode is `ended`."""
    for ends_at in (MOMENT, MOMENT - timedelta(hours=1)):
        with pytest.raises(InvalidPolicy, match="must be after `opens_at`") as caught:
            Policy(opens_at=MOMENT, ends_at=ends_at)
        assert "ends_at" == caught.value.field
    policy = Policy(mode=Mode.BYPASS, opens_at=MOMENT, ends_at=MOMENT + timedelta(milliseconds=5))
    ends_at_ms = policy.ends_at_ms
    assert (to_ms(MOMENT), to_ms(MOMENT) + 5) == (policy.opens_at_ms, ends_at_ms)
    modes = [policy.mode_at(to_ms(MOMENT) + ms) for ms in (-1, 4, 5, 6)]
    assert [Mode.BYPASS, Mode.BYPASS, Mode.ENDED, Mode.ENDED] == modes
    assert Mode.PAUSED is Policy(mode=Mode.PAUSED).mode_at(to_ms(MOMENT))


@pytest.mark.parametrize("value", ["Seoul", "../etc/passwd", "/etc/passwd", "Asia", "asia/nowhere"])
def test_unknown_time_zones(value: str) -> None:
    """A zone is a name of the IANA's list."""
    assert "is not known; use one like Asia/Seoul" in refused("time_zone", value)


@pytest.mark.parametrize("word", ["pass", "refuse", "draw"])
def test_before_open_needs_an_opening(word: str) -> None:
    """What happens before the opening contradicts a room that has none."""
    with pytest.raises(InvalidPolicy, match="`opens_at`") as caught:
        Policy(before_open=word)  # type: ignore[arg-type]
    assert "before_open" == caught.value.field


def test_seconds_are_kept_to_the_millisecond() -> None:
    """Redis gets milliseconds, so a policy shows the value that will be used."""
    assert 1.235 == Policy(session_s=1.23456).session_s


def test_policy_is_frozen() -> None:
    """A policy in use cannot be changed behind the engine's back."""
    with pytest.raises(dataclasses.FrozenInstanceError):
        Policy().capacity = 5  # type: ignore[misc]


def test_change() -> None:
    """A change leaves the rest alone, is checked like a new policy, and names an unknown field."""
    policy = Policy(capacity=5).change(session_s=30)
    assert (5, 30) == (policy.capacity, policy.session_s)
    with pytest.raises(InvalidPolicy) as caught:
        policy.change(capacity=0)
    assert "capacity" == caught.value.field
    with pytest.raises(InvalidPolicy, match="max_entries") as caught:
        policy.change(speed=5)
    assert "speed" == caught.value.field


def test_as_dict_round_trip() -> None:
    """A policy as plain values makes the same policy again."""
    for policy in PRESETS.values():
        plain = policy.as_dict()
        assert list(POLICY_FIELDS) == list(plain)
        assert {str, int, float, bool, type(None)} >= {type(value) for value in plain.values()}
        assert policy == Policy(**plain)


def test_presets() -> None:
    """Each system of the seed documents is one word."""
    assert {"batch", "manual", "slots", "desk", "per-minute"} == set(PRESETS)
    assert (1_400, 10) == (preset("batch").batch, preset("batch").every_s)
    assert Mode.MANUAL is preset("manual").mode
    assert (50, 600) == (preset("slots").capacity, preset("slots").session_s)
    assert None is preset("desk").presence_s
    assert (100, 60) == (preset("per-minute").max_entries, preset("per-minute").per_s)


def test_preset_with_changes() -> None:
    """A preset takes changes, and stays as it was for the next."""
    assert 7 == preset("slots", capacity=7).capacity
    assert 50 == preset("slots").capacity


@pytest.mark.parametrize("name", ["", "SLOTS", "nope", "slots\n"])
def test_unknown_preset(name: str) -> None:
    """An unknown preset is refused together with those that exist."""
    with pytest.raises(InvalidPolicy, match="per-minute") as caught:
        preset(name)
    assert "preset" == caught.value.field


@pytest.mark.parametrize("name", ["a", "7", "Concert-2025_seoul.v2", "r" * 64, "a..b", "a-"])
def test_good_room_names(name: str) -> None:
    """Letters, digits, '-', '_' and '.' up to 64, beginning with a letter or digit."""
    assert name == check_room_name(name)


BAD_NAMES: list[Any] = [
    *("", "r" * 65, "{a}", "a{b", "a}b", "-a", "_a", ".a", "a b", " a", "a ", "a:b", "a/b", "a*"),
    *("a\n", "a\r\n", "\na", "a\0", "a\x1b[31m", "a\x7f", "콘서트", "é", "１", "a\u200b", "\ud800"),
    *(None, 7, b"a", ["a"]),
]


@pytest.mark.parametrize("name", BAD_NAMES, ids=ascii)
def test_bad_room_names(name: Any) -> None:
    """Braces, control characters, line ends, unicode, bad lengths and non-text are refused."""
    with pytest.raises(InvalidRoomName, match="1 to 64 letters") as caught:
        check_room_name(name)
    assert "room" == caught.value.field
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < 250


def test_a_new_message_is_for_everybody() -> None:
    """Nobody reads an older one in their language, unless the change says what they read."""
    texts = {"ko": {"title": "오로라", "message": "안녕하세요"}, "ja": {"message": "ようこそ"}}
    policy = Policy(message="Welcome", texts=texts)
    assert texts == policy.change(message="Welcome", capacity=5).texts
    late = policy.change(message="Late")
    assert ({"ko": {"title": "오로라"}}, "Late") == (late.texts, late.text("message", "ko"))
    assert policy.change(message=None).text("message", "ja") is None
    local = {"ko": {"message": "늦습니다"}}
    assert "늦습니다" == policy.change(message="Late", texts=local).text("message", "ko")
