"""Logs: a JSON object per line, or a readable line on a terminal; never a secret, never two lines.

Whatever a message holds, a record stays one record: control characters, line separators and marks
that change the direction of text are escaped. Tickets, passes, API keys, cookies and passwords are
masked in the finished text, so it does not matter how they got there.

Requests are not logged, a crowd would fill any disk: `AccessLog` writes those that failed by our
fault, and metrics count all. Who wants every request asks for it (setting `access_log`).
"""

from __future__ import annotations

import json
import logging
import re
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, Final

from waitroom.credentials.bearer_keys import IN_TEXT

LONGEST = 8_000
"""Longest text in a record; the rest is cut, because none of our messages is that long."""

HIDDEN: Final = "***"
_SECRET_NAMES = re.compile(
    r"authorization|cookie|passw|secret|^pass$|^ticket$|token|api_?key|admin_?key|pass_?keys", re.I
)
_SECRETS = [
    (IN_TEXT, rf"\1{HIDDEN}"),
    (re.compile(r"\beyJ[\w-]+\.[\w-]+\.[\w-]*"), HIDDEN),
    (re.compile(r"(/tickets/)(?!me\b|\{ticket\})[^/\s?#\"']+"), rf"\1{HIDDEN}"),
    (re.compile(r"(waitroom-(?:ticket|pass)-[\w.-]{1,64}=)[^;\s\"']+"), rf"\1{HIDDEN}"),
    (re.compile(r"((?:set-)?cookie[\"']?\s?[:=]\s?[\"']?)[^\"'\r\n]+", re.I), rf"\1{HIDDEN}"),
    (re.compile(r"(authorization[\"']?\s?[:=]\s?[\"']?)[^\"'\r\n]+", re.I), rf"\1{HIDDEN}"),
    (re.compile(r"\b(bearer|basic) +[\w.~+/=-]{6,}", re.I), rf"\1 {HIDDEN}"),
    (re.compile(r"(?<=://)[^/\s@\"']*@"), f"{HIDDEN}@"),
    (
        re.compile(r"((?:password|secret|token|api_key|waitroom_code)=)[^&\s\"']+", re.I),
        rf"\1{HIDDEN}",
    ),
    # A ticket is 74 to 160 characters of base64; it does not matter if a hash is masked too.
    (re.compile(r"(?<![\w-])[\w-]{70,}"), HIDDEN),
]
# What a terminal or a viewer might take for a line end or a command.
_FORMAT = "\x7f-\x9f\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff"
_UNSAFE_JSON = re.compile(f"[{_FORMAT}]")
_UNSAFE_TEXT = re.compile(f"[\\x00-\\x1f{_FORMAT}]")
_STANDARD = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}
_LEVELS = {"debug", "info", "warning", "error"}
_COLOURS = {logging.WARNING: "\x1b[33m", logging.ERROR: "\x1b[31m", logging.CRITICAL: "\x1b[31m"}

log = logging.getLogger("waitroom.access")


def mask(text: str) -> str:
    """Return `text` without secrets, and cut to `LONGEST`."""
    if len(text) > LONGEST:
        text = f"{text[:LONGEST]}… ({len(text)} characters)"
    for pattern, instead in _SECRETS:
        text = pattern.sub(instead, text)
    return text


def configure(level: str = "info", json: bool | None = True, stream: Any = None) -> None:
    """Send every log of this process to `stream` (stderr), as JSON lines or as readable text.

    With `json` None, as text if `stream` is a terminal.
    """
    if level not in _LEVELS:
        raise ValueError(f"{level!r} is none of {', '.join(sorted(_LEVELS))}")
    handler = logging.StreamHandler(stream or sys.stderr)
    terminal = _is_terminal(handler.stream)
    as_json = not terminal if json is None else json
    handler.setFormatter(JsonFormatter() if as_json else TextFormatter(terminal))
    root = logging.getLogger()
    for old in [*root.handlers]:
        root.removeHandler(old)
    root.addHandler(handler)
    root.setLevel(level.upper())
    logging.captureWarnings(True)


class JsonFormatter(logging.Formatter):
    """One JSON object per line: time, level, logger, message, `extra` fields, and the error."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line."""
        line: dict[str, Any] = {
            "time": _time(record),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": mask(record.getMessage()),
        }
        for name, value in _extra(record).items():
            line.setdefault(name, value)
        if error := _error(self, record):
            line["error"] = error
        text = json.dumps(line, ensure_ascii=False, default=_plain)
        return _UNSAFE_JSON.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


class TextFormatter(logging.Formatter):
    """A line for people; a traceback follows on indented lines."""

    def __init__(self, colour: bool = False) -> None:
        super().__init__()
        self._colour = colour

    def format(self, record: logging.LogRecord) -> str:
        """Return the line."""
        extra = "".join(f"  {name}={value}" for name, value in _extra(record).items())
        message = _visible(mask(record.getMessage()) + extra)
        line = f"{_time(record)[11:-1]} {record.levelname.lower():7} {record.name}: {message}"
        if error := _error(self, record):
            line += "".join(f"\n    {_visible(part)}" for part in error.splitlines())
        start = _COLOURS.get(record.levelno) if self._colour else None
        return f"{start}{line}\x1b[0m" if start else line


class AccessLog:
    """Writes the requests that failed by our fault (5xx), a few per second, and counts the rest.

    While Redis is away every request fails; one line in a thousand says as much as all of them.
    With `everything` it writes each request: its route, never its path, query or sender.
    """

    def __init__(
        self,
        per_s: int = 5,
        clock: Callable[[], float] = time.monotonic,
        *,
        everything: bool = False,
    ) -> None:
        self._everything = everything
        self._per_s = per_s
        self._clock = clock
        self._second = -1
        self._written = 0
        self._kept_back = 0

    def note(
        self,
        route: str,
        status: int,
        seconds: float,
        code: str | None = None,
        *,
        request_id: str | None = None,
    ) -> None:
        """Log an answer if it is an error of ours; `route` is the template, not the path."""
        if status < 500 and not self._everything:
            return
        more: dict[str, Any] = {"route": route, "status": status, "ms": round(seconds * 1000, 1)}
        if request_id:
            more["request_id"] = request_id
        if self._everything:
            log.info("request", extra=more)
            return
        second = int(self._clock())
        if second != self._second:
            self._second, self._written = second, 0
        if self._written >= self._per_s:
            self._kept_back += 1
            return
        self._written += 1
        if code:
            more["code"] = code
        if self._kept_back:
            more["not_logged_before"], self._kept_back = self._kept_back, 0
        log.error("a request failed", extra=more)


def _time(record: logging.LogRecord) -> str:
    text = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
    return text.replace("+00:00", "Z")


def _extra(record: logging.LogRecord) -> dict[str, Any]:
    """Return what the caller gave as `extra`, masked by name and by content."""
    extra = {name: value for name, value in vars(record).items() if name not in _STANDARD}
    return {name: _masked(name, value) for name, value in extra.items()}


def _masked(name: str, value: Any) -> Any:
    if _SECRET_NAMES.search(name):
        return HIDDEN
    if value is None or isinstance(value, bool | int | float):
        return value
    if isinstance(value, dict):
        return {mask(str(key)): _masked(str(key), item) for key, item in [*value.items()][:100]}
    if isinstance(value, list | tuple | set | frozenset):
        return [_masked("", item) for item in [*value][:100]]
    return mask(value if isinstance(value, str) else _plain(value))


def _error(formatter: logging.Formatter, record: logging.LogRecord) -> str:
    parts = []
    if record.exc_info and record.exc_info[0]:
        parts.append(formatter.formatException(record.exc_info))
    if record.stack_info:
        parts.append(record.stack_info)
    # The end of a traceback says what happened, so that part of a very long one is kept.
    return mask("\n".join(parts)[-LONGEST:])


def _visible(text: str) -> str:
    return _UNSAFE_TEXT.sub(lambda match: repr(match[0])[1:-1], text)


def _plain(value: object) -> str:
    """Return any value as text; a `__str__` that fails must not lose the record."""
    try:
        return str(value)
    except Exception:
        return f"({type(value).__name__})"


def _is_terminal(stream: Any) -> bool:
    return bool(getattr(stream, "isatty", bool)())
