"""Which clients accept gzip, and that only they get it."""

from __future__ import annotations

import gzip

import httpx2
import pytest

from waitroom.server.http.packing import packed, takes_gzip


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (None, False),
        ("", False),
        ("identity", False),
        ("br, deflate", False),
        ("gzip", True),
        ("gzip, deflate, br, zstd", True),
        ("br;q=1.0, GZIP;q=0.8, *;q=0.1", True),
        ("*", True),
        ("gzip;q=0", False),
        ("gzip ; q=0.0, br", False),
        ("gzip;q=0.001", True),
        ("xgzip", False),
        ("gzipped", False),
    ],
)
def test_who_takes_gzip(text: str | None, expected: bool) -> None:
    """As in RFC 9110: by name or by a star, and not with a weight of zero."""
    assert expected == takes_gzip(text)


def test_the_same_stays_the_same() -> None:
    """This way caches and versions agree on all servers."""
    assert bytes(4) == packed(b"x" * 999)[4:8]  # where gzip would write the time
    assert b"x" * 999 == gzip.decompress(packed(b"x" * 999))


@pytest.mark.parametrize("path", ["/waitroom.js", "/static/waiting/page.css", "/rooms/none"])
def test_scripts_styles_and_pages_are_packed(http: httpx2.Client, path: str) -> None:
    """Fewer bytes for browsers, the plain text for everybody else."""
    plain = http.get(path, headers={"accept-encoding": "identity"})
    small = http.get(path, headers={"accept-encoding": "gzip"})
    ways = [answer.headers.get("content-encoding") for answer in (plain, small)]
    assert [None, "gzip"] == ways
    assert int(small.headers["content-length"]) < 0.6 * int(plain.headers["content-length"])
    assert "accept-encoding" in plain.headers["vary"].lower()
