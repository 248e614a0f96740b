"""Logs have one line per record, and contain no secrets."""

from __future__ import annotations

import io
import json
import logging
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.support.clock import SECRET
from waitroom.server.process import logs
from waitroom.tickets import KeyRing, Ticket

TICKET = KeyRing([SECRET]).sign(Ticket("concert", "A" * 16, 1, 1, 1))
PASS = "eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiJhIn0.c2lnbmF0dXJl"
KEY = "wr_4fzQ9bq0C2example_of_a_key"
HOST_KEY = "wrh_4fzQ9bq0C2example_of_a_key"
Lines = Callable[[], list[dict[str, Any]]]


@pytest.fixture(autouse=True)
def _root() -> Iterator[None]:
    """Restore pytest's own logging."""
    root = logging.getLogger()
    handlers, level = [*root.handlers], root.level
    yield
    logging.captureWarnings(False)
    for handler in [*root.handlers]:
        root.removeHandler(handler)
    for handler in handlers:
        root.addHandler(handler)
    root.setLevel(level)


@pytest.fixture
def stream() -> io.StringIO:
    """What was written."""
    return io.StringIO()


@pytest.fixture
def lines(stream: io.StringIO) -> Lines:
    """Log JSON lines to `stream`, and read them."""
    logs.configure("info", json=True, stream=stream)
    return lambda: [json.loads(line) for line in stream.getvalue().splitlines()]


def test_a_record_is_one_object(lines: Lines) -> None:
    """Time, level, logger, message and extra fields are there."""
    logging.getLogger("waitroom.x").warning("called %d", 5, extra={"room": "concert", "n": 5})
    (line,) = lines()
    assert line["time"].endswith("Z")
    del line["time"]
    expected = {"level": "warning", "logger": "waitroom.x", "message": "called 5"}
    assert expected | {"room": "concert", "n": 5} == line


NASTY = "a\r\nb\x00c\x1b[31md\x9be\u2028f\u2029g\x85h\u202ei\x0bk\x0cl"


def test_nasty_text_stays_one_line(stream: io.StringIO, lines: Lines) -> None:
    """CR, LF, NUL, ANSI and every other line end are escaped anywhere, and read back exactly."""
    logging.getLogger("x\nforged").error(NASTY, extra={"where\n": NASTY, "deep": {NASTY: [NASTY]}})
    written = stream.getvalue()
    assert 1 == len(written.splitlines())
    assert written.rstrip("\n").isprintable()
    (line,) = lines()
    assert NASTY == line["message"] == line["deep"][NASTY][0]


def test_half_a_character_is_escaped() -> None:
    """Invalid Unicode is written in a form that every log reader accepts."""
    record = logging.makeLogRecord({"msg": "a\ud800b", "name": "x", "levelname": "ERROR"})
    for formatter in (logs.JsonFormatter(), logs.TextFormatter()):
        assert "a\\ud800b" in formatter.format(record)
        formatter.format(record).encode()


def test_text_for_people_is_one_line_too(stream: io.StringIO) -> None:
    """The readable format escapes the same characters."""
    logs.configure("info", json=False, stream=stream)
    logging.getLogger("waitroom").error(NASTY, extra={"x": NASTY})
    assert 1 == len(stream.getvalue().splitlines())
    assert "a\\r\\nb\\x00c\\x1b[31m" in stream.getvalue()


@pytest.mark.attack
@pytest.mark.parametrize(
    "text",
    [
        TICKET,
        f"GET /v1/rooms/concert/tickets/{TICKET}/events",
        "GET /v1/rooms/concert/tickets/short-SECRETVALUE?x",
        PASS,
        f"key {KEY}.",
        f"key {HOST_KEY}.",
        f"Authorization: Bearer {PASS}",
        "{'authorization': 'Basic SECRETVALUE=='}",
        "bearer SECRETVALUE",
        f"Cookie: a=SECRETVALUE; waitroom-ticket-concert={TICKET}",
        "waitroom-pass-concert=SECRETVALUE;",
        "redis://:SECRETVALUE@db.internal:6379/0",
        "rediss://user:SECRETVALUE@db/0?x=1",
        "https://x.example/?password=SECRETVALUE&a=1",
        "GET /concert?waitroom_code=SECRETVALUE&date=3",
    ],
)
def test_secrets_are_masked(stream: io.StringIO, lines: Lines, text: str) -> None:
    """Tickets, passes, API keys, headers and passwords appear in no message, field or traceback."""
    log = logging.getLogger("waitroom")
    log.info("saw %s", text, extra={"field": text, "deep": [{"x": text}]})
    try:
        raise ValueError(text)
    except ValueError:
        log.exception("failed")
    for secret in (TICKET, PASS, KEY, HOST_KEY, "SECRETVALUE"):
        assert secret not in stream.getvalue()
    assert 2 == len(lines())


def test_fields_with_secret_names_are_masked(lines: Lines) -> None:
    """A field named like a secret is hidden whatever it contains."""
    names = ["authorization", "cookie", "password", "secret", "ticket", "pass", "admin_key"]
    logging.getLogger("x").info("m", extra=dict.fromkeys(names, "short"))
    (line,) = lines()
    assert {"***"} == {line[name] for name in names}


def test_ordinary_text_is_left_alone(lines: Lines) -> None:
    """Nothing that an operator needs is hidden: rooms, ids, URLs, Korean."""
    text = "room concert: id HeWL3TQDkECO-ilz, redis://db:6379/0, /tickets/me, 대기열, wr:{a}:meta"
    logging.getLogger("x").info(text)
    assert text == lines()[0]["message"]


def test_a_long_message_is_cut(stream: io.StringIO, lines: Lines) -> None:
    """64 kB of somebody's input do not end up in the log."""
    logging.getLogger("x").info("ab " * 22_000, extra={"body": "ab " * 22_000})
    assert lines()[0]["message"].endswith("… (66000 characters)")
    assert len(stream.getvalue()) < 20_000


def test_an_error_has_its_traceback_within_the_line(lines: Lines) -> None:
    """A traceback is a field, so it does not become many records."""
    try:
        raise RuntimeError("first\nsecond")
    except RuntimeError:
        logging.getLogger("x").exception("it broke")
    (line,) = lines()
    assert line["error"].startswith("Traceback")
    assert line["error"].endswith("RuntimeError: first\nsecond")


def test_a_value_that_cannot_be_shown_loses_no_record(lines: Lines) -> None:
    """A `__str__` that raises is named by its type."""

    class Broken:
        def __str__(self) -> str:
            raise RuntimeError

    logging.getLogger("x").info("m", extra={"it": Broken()})
    assert "(Broken)" == lines()[0]["it"]


def test_a_level_is_kept(lines: Lines) -> None:
    """Records below the level are not written, and an unknown level is named."""
    logging.getLogger("x").debug("no")
    assert [] == lines()
    with pytest.raises(ValueError, match="loud"):
        logs.configure("loud")


def test_only_errors_of_ours_are_logged(lines: Lines) -> None:
    """A request that succeeds, or fails by the caller's fault, writes nothing."""
    access = logs.AccessLog()
    for status in (200, 204, 404, 410, 429, 499):
        access.note("GET /v1/rooms/{room}", status, 0.01)
    assert [] == lines()
    access.note("GET /v1/rooms/{room}", 503, 0.01, "backend_unavailable")
    (line,) = lines()
    assert (503, "backend_unavailable", 10.0) == (line["status"], line["code"], line["ms"])


def test_a_flood_of_errors_is_thinned_out(lines: Lines) -> None:
    """While everything fails, a few lines a second are written, and how many were not."""
    now = [0.0]
    access = logs.AccessLog(per_s=5, clock=lambda: now[0])
    for _ in range(1_000):
        access.note("GET /", 503, 0.01)
    assert 5 == len(lines())
    now[0] = 1.5
    access.note("GET /", 503, 0.01)
    assert 995 == lines()[-1]["not_logged_before"]
