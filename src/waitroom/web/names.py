"""What server and gates must agree on: cookies, headers, a parameter, and the size of a batch."""

from __future__ import annotations

HOST_PREFIX = "__Host-"
"""The prefix of a cookie's name with https.

A browser accepts such a cookie only over https, for one host and all its paths. So neither a
neighbour on the same site nor somebody on the wire can replace it with their own.
"""

TICKET_COOKIE = "waitroom-ticket-"
"""The cookie of a ticket; the name of the room follows."""

PASS_COOKIE = "waitroom-pass-"  # noqa: S105 - the name of a cookie
"""The cookie of a pass; the name of the room follows."""

PASS_HEADER, TICKET_HEADER, KEY_HEADER = "waitroom-pass", "waitroom-ticket", "waitroom-key"
"""How programs send a gate a pass or a ticket, and the key by which a repeat is recognised."""


CLAIM_HEADER = "waitroom-claim"
"""How a proxy says at `/v1/check` who has signed in: with a claim that the site has signed."""


def cookie_name(name: str, *, secure: bool) -> str:
    """Return the name under which a cookie is set."""
    return HOST_PREFIX + name if secure else name


def cookie_names(name: str) -> tuple[str, str]:
    """Return the names under which a cookie is read, the safer one first.

    The other name is for plain http and, for one minor version, older servers with https.
    """
    return HOST_PREFIX + name, name


CODE = "waitroom_code"
"""The query parameter of a one-time code that takes a session from one host to another."""

BROWSER_COOKIE, BROWSER = "waitroom-browser", "browser"
"""The cookie of a browser's secret, and the query parameter of its mark: see `browser_mark.py`."""

MOST_PASSES = 50
"""How many passes a gate may announce in one request."""
