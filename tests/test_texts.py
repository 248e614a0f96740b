"""Texts of a policy: what a page may show, link to and load."""

from __future__ import annotations

import pytest

from tests.models.policies import SPECS, refused
from waitroom.errors import InvalidPolicy
from waitroom.models import Policy

EVENT = ("picture", "event_date", "event_place", "background", "font", "footer", "help_link")
ENDED = ("ended_text", "ended_picture", "ended_link")
TEXTS = ("time_zone", "title", "message", "ready", "logo", "colour", "go_to", *EVENT, *ENDED)
LONG = ("message", "footer", "ended_text")

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
    """Texts are kept as given, up to their maximum length."""
    assert text == getattr(Policy(**{name: text}), name)  # type: ignore[arg-type]


def test_colour_is_lower_case() -> None:
    """A colour is kept in one form."""
    assert "#0a5bd3" == Policy(colour="#0A5BD3").colour


@pytest.mark.parametrize("name", TEXTS)
def test_texts_may_be_missing(name: str) -> None:
    """No text is the default, and None removes one."""
    assert None is getattr(Policy(), name)
    assert None is getattr(Policy(**{name: None}), name)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", TEXTS)
@pytest.mark.parametrize("value", ["", " ", "\t\n", 0, 5, True, b"x", [], {}, str], ids=ascii)
def test_what_is_no_text(name: str, value: object) -> None:
    """Empty texts and other types are refused; for an empty one the message suggests `none`."""
    words = refused(name, value)
    assert "use none" in words if isinstance(value, str) else "is not text" in words


@pytest.mark.parametrize("name", TEXTS)
@pytest.mark.parametrize("bad", ["\0", "\r", "\x1b", "\x07", "\x7f", "\x9b", "\u2028", "\ud800"])
def test_control_characters(name: str, bad: str) -> None:
    """A character that could end a header or control a terminal is refused, and shown safely."""
    words = refused(name, f"/a{bad}b")
    assert "control character" in words
    assert words.isprintable()


@pytest.mark.parametrize("name", [name for name in TEXTS if name not in LONG])
def test_one_line(name: str) -> None:
    """Only a message, a footer and an ending have several lines."""
    assert "one line" in refused(name, "/a\nb")


@pytest.mark.parametrize("name", TEXTS)
def test_long_texts(name: str) -> None:
    """A text that is too long is refused with the allowed length, and not repeated in full."""
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
    """A picture comes from the same host or the page itself, because pages load nothing else."""
    assert "same host" in refused(name, value)


BAD_FONTS = ["https://fonts.example/x.woff2", "data:font/woff2;base64,AAAA", "/", *BAD_LOGOS]
BAD_STYLES = ["/a)b", "/a(b", "/a;b", "/a'b", "/a?b)c", "/a?b&c", "/a#b", "/a{b}", "/a,b"]


@pytest.mark.parametrize("value", BAD_ADDRESSES + BAD_FONTS + BAD_STYLES, ids=ascii)
def test_bad_fonts(value: str) -> None:
    """A font is a file on the same host, and its path cannot break out of its context."""
    assert "same host" in refused("font", value)


BAD_CONTACTS = [
    *("mailto:", "mailto:a", "mailto:a@b?cc=c@d", "mailto:a@b,c@d", "MAILTO:a@b", "tel:", "tel:+"),
    *("tel:1;ext=2", "sms:1", "help@shop.example"),
]


@pytest.mark.parametrize("value", BAD_ADDRESSES + BAD_URLS + BAD_CONTACTS, ids=ascii)
def test_bad_help_links(value: str) -> None:
    """Help is a page, an address or a number: a link that does no more than it shows."""
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
    """A wrong language, name or text is refused by its position; their total is limited."""
    with pytest.raises(InvalidPolicy) as caught:
        Policy(texts=value)  # type: ignore[arg-type]
    assert field == caught.value.field
    assert why in str(caught.value)


def test_texts_in_a_language() -> None:
    """A language has its own text, or that of its base, or else the one for all."""
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


@pytest.mark.parametrize("value", ["Seoul", "../etc/passwd", "/etc/passwd", "Asia", "asia/nowhere"])
def test_unknown_time_zones(value: str) -> None:
    """A zone is a name from the IANA list."""
    assert "is not known; use one like Asia/Seoul" in refused("time_zone", value)


def test_a_new_message_is_for_everybody() -> None:
    """Nobody reads an outdated one in their language, unless the change provides it."""
    texts = {"ko": {"title": "오로라", "message": "안녕하세요"}, "ja": {"message": "ようこそ"}}
    policy = Policy(message="Welcome", texts=texts)
    assert texts == policy.change(message="Welcome", capacity=5).texts
    late = policy.change(message="Late")
    assert ({"ko": {"title": "오로라"}}, "Late") == (late.texts, late.text("message", "ko"))
    assert policy.change(message=None).text("message", "ja") is None
    local = {"ko": {"message": "늦습니다"}}
    assert "늦습니다" == policy.change(message="Late", texts=local).text("message", "ko")
