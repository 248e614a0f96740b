"""The lines of `doctor`: what was found, how good that is, and the remedy."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Verdict(StrEnum):
    """How a check came out."""

    OK = "ok"
    WARN = "warn"
    FAIL = "fail"


@dataclass(frozen=True, slots=True)
class Check:
    """One line of `doctor`; `fix` says what to do unless all is well."""

    name: str
    verdict: Verdict
    found: str
    fix: str | None = None


def ok(name: str, result: str) -> Check:
    """All is well."""
    return Check(name, Verdict.OK, result)


def warn(name: str, result: str, fix: str) -> Check:
    """It works, but could be better."""
    return Check(name, Verdict.WARN, result, fix)


def fail(name: str, result: str, fix: str) -> Check:
    """It must be fixed."""
    return Check(name, Verdict.FAIL, result, fix)
