"""Errors of the server as those of `waitroom.errors`, and whether it may be asked again."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from waitroom import errors
from waitroom.client.views import moment
from waitroom.models import Reason

if TYPE_CHECKING:
    import httpx2

_AWAY = {502, 503, 504}


@dataclass(frozen=True, slots=True)
class Refusal:
    """A failed request: its error, and whether and when to retry."""

    error: errors.WaitroomError
    retry_s: float | None


def reason_of(error: errors.WaitroomError) -> Reason | None:
    """Return why a ticket is gone, from the error that says so."""
    reason = getattr(error, "problem", {}).get("reason")
    return Reason(reason) if reason in set(Reason) else None


def read_refusal(answer: httpx2.Response) -> Refusal:
    """Read the error of an answer; one of a proxy has no problem document."""
    try:
        problem = answer.json()
    except ValueError:
        problem = None
    if not isinstance(problem, dict) or "code" not in problem:  # a proxy's own error page
        problem = {"detail": f"the answer was {answer.status_code} without a problem document"}
        if answer.status_code in _AWAY:
            problem["code"] = errors.BackendUnavailable.code
    after = answer.headers.get("retry-after", "")
    after_s = float(after) if after.isdecimal() else 0.0
    error = _error(problem, after_s)
    again = answer.status_code in _AWAY or isinstance(error, errors.TooMany)
    return Refusal(error, after_s if again else None)


def no_answer(base: str, error: Exception) -> Refusal:
    """Return the refusal of a server that did not answer, or not as Waitroom does."""
    why = f"{base} does not answer as Waitroom does: {error!r:.200}"
    return Refusal(errors.BackendUnavailable(why), 0.0)


def _error(problem: dict[str, Any], after_s: float) -> errors.WaitroomError:
    """Make the error of a code; its message is complete, so the constructor is skipped."""
    kind = kinds().get(str(problem.get("code")), errors.WaitroomError)
    error = kind.__new__(kind)
    error.args = (str(problem.get("detail", "")),)
    known = {name: problem.get(name) for name in ("field", "reason", "challenge")}
    known |= {"problem": problem, "retry_after_s": int(after_s)}
    if retry_at := moment(problem.get("retry_at")):
        known["retry_at_ms"] = int(retry_at.timestamp() * 1000)
    vars(error).update({name: value for name, value in known.items() if value is not None})
    return error


@cache
def kinds() -> dict[str, type[errors.WaitroomError]]:
    """Return the errors by their codes."""
    by_code: dict[str, type[errors.WaitroomError]] = {}
    todo: list[type[errors.WaitroomError]] = [errors.WaitroomError]
    while todo:
        kind = todo.pop()
        by_code[kind.code] = kind
        todo += kind.__subclasses__()
    return by_code
