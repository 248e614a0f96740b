"""Server URLs: every scheme is understood, and no error message shows the password."""

from __future__ import annotations

from pathlib import Path

import pytest

from waitroom.engine.connection.address import Address, parse_url
from waitroom.engine.connection.connect import connect
from waitroom.errors import InvalidInput


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("redis://h", Address("single", "redis://h", (("h", 6379),))),
        ("valkey://h:1/2", Address("single", "valkey://h:1/2", (("h", 1),), options={"db": 2})),
        ("rediss://[::1]:7", Address("single", "rediss://[::1]:7", (("::1", 7),), tls=True)),
        ("valkeys://h", Address("single", "valkeys://h", (("h", 6379),), tls=True)),
        ("unix:///run/a%20b", Address("unix", "unix:///run/a%20b", path="/run/a b")),
        (
            "redis://u:p%40ss@h?max_connections=3&socket_timeout=0.5",
            Address(
                "single",
                "redis://h",
                (("h", 6379),),
                options={
                    "username": "u",
                    "password": "p@ss",
                    "max_connections": 3,
                    "socket_timeout": 0.5,
                },
            ),
        ),
        (
            "redis+sentinel://:pw@a:1,b/room/3?sentinel_password=x",
            Address(
                "sentinel",
                "redis+sentinel://a:1,b/room/3",
                (("a", 1), ("b", 26379)),
                service="room",
                options={"password": "pw", "db": 3, "sentinel_password": "x"},
            ),
        ),
        (
            "valkeys+cluster://a:1,b",
            Address("cluster", "valkeys+cluster://a:1,b", (("a", 1), ("b", 6379)), tls=True),
        ),
    ],
)
def test_urls(url: str, expected: Address) -> None:
    """Every scheme is understood, and `where` contains neither user nor password."""
    actual = parse_url(url)
    options = {name: value for name, value in actual.options.items() if value is not None}
    assert expected.options == options
    assert (expected.kind, expected.where, expected.hosts, expected.path, expected.service) == (
        (actual.kind, actual.where, actual.hosts, actual.path, actual.service)
    )
    assert expected.tls == actual.tls
    assert "p@ss" not in repr(actual)


@pytest.mark.parametrize(
    ("url", "sentence"),
    [
        ("http://h", "the scheme 'http' is unknown; use redis, rediss, unix, "),
        ("localhost:6379", "the scheme 'localhost' is unknown"),
        ("redis://u:secret@h:x", "'h:x' has no valid port; use 1 to 65535"),
        ("redis://u:secret@h:70000", "'h:70000' has no valid port"),
        ("redis://u:secret@h/one", "the database must be a number, not 'one'"),
        ("redis://u:secret@h?nonsense=1", "the option 'nonsense' is unknown; use db, "),
        ("redis://u:secret@h?socket_timeout=x", "socket_timeout must be a number, not 'x'"),
        ("redis+sentinel://u:secret@h", "a sentinel URL needs the service's name"),
        ("redis+cluster://u:secret@h/1", "a Cluster has only database 0"),
        ("redis://u:secret@a:1,b:2", "several hosts need redis+cluster:// or redis+sentinel://"),
        ("unix://", "a unix URL needs the path of the socket"),
        ("redis://[::1", "Invalid IPv6 URL"),
    ],
)
async def test_bad_urls(url: str, sentence: str, tmp_path: Path) -> None:
    """A bad URL is an InvalidInput of `redis_url`; it says what is allowed, not the password."""
    with pytest.raises(InvalidInput) as caught:
        await connect(url, tmp_path)
    assert caught.value.field == "redis_url"
    assert sentence in str(caught.value)
    assert "secret" not in str(caught.value)
