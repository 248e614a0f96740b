"""Which rule a request falls under, whichever method the site takes it for. Pure.

Frameworks may let a header, a query or a field of a form name another method than the request's
own. So a request is protected if one of its methods is. If two of them lead to different rooms,
it is refused.
"""

from __future__ import annotations

from urllib.parse import parse_qsl

from waitroom.gates.facts import Facts
from waitroom.gates.paths import REFUSED, Match, Table

OVERRIDES = ("x-http-method-override", "x-http-method", "x-method-override")
"""Headers that name another method, as widespread frameworks read them."""

FIELD = "_method"
"""The field of a query or a form that names another method."""

_FORMS = ("application/x-www-form-urlencoded", "multipart/form-data")
_IN_FORMS = ("PUT", "PATCH", "DELETE")
_OTHER = "OTHER"


def match(table: Table, facts: Facts) -> Match:
    """Return what a request falls under."""
    own = _match(table, facts.method, facts)
    if not table.by_method or not own.safe:
        return own
    claimed = _united([own, *(_match(table, name, facts) for name in _claimed(table, facts))])
    if claimed.place is not None or not claimed.safe:
        return claimed
    return _united([_match(table, name, facts) for name in _implied(facts)])


def may_match(table: Table, facts: Facts) -> bool:
    """Tell whether a request falls under a place by any of its methods."""
    if table.match(facts.method, facts.path).place is not None:
        return True
    return table.by_method and any(
        table.match(name, facts.path).place is not None for name in _claimed(table, facts)
    )


def _match(table: Table, method: str, facts: Facts) -> Match:
    outer = table.match(method, facts.path)
    if facts.inner is None or not outer.safe:
        return outer
    return _narrower(outer, table.match(method, facts.inner))


def _narrower(outer: Match, inner: Match) -> Match:
    """Return the match that protects more: rules may include the mount's path or not."""
    if not inner.safe or outer.place is None:
        return inner
    return inner if inner.place and len(inner.place.path) > len(outer.place.path) else outer


def _united(matches: list[Match]) -> Match:
    """Return the match that protects; a pass for one room must not open another."""
    if not all(match.safe for match in matches):
        return REFUSED
    protecting = [match for match in matches if match.place is not None]
    if len({match.place.room for match in protecting if match.place}) > 1:
        return REFUSED
    return protecting[0] if protecting else Match()


def _claimed(table: Table, facts: Facts) -> set[str]:
    """Return the methods that a request names in words; those of no rule count as one."""
    names = [facts.method]
    for header in OVERRIDES:
        if (text := facts.header(header)) is not None:
            names += text.split(",")
    if FIELD in facts.query or "%" in facts.query:
        names += [value for name, value in parse_qsl(facts.query) if name == FIELD]
    words = {name.strip().upper() for name in names} - {"", facts.method}
    return {name if name in table.methods else _OTHER for name in words}


def _implied(facts: Facts) -> tuple[str, ...]:
    """Return the methods that a request may be taken for without a word that a gate can read."""
    method = facts.method.upper()
    if method == "HEAD":
        return ("GET",)
    kind = (facts.header("content-type") or "").partition(";")[0].strip().lower()
    # The field is in the body, which a gate does not read.
    return _IN_FORMS if method == "POST" and kind in _FORMS else ()
