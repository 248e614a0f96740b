"""What server and gates must agree on: cookies, headers, a parameter, and the size of a batch."""

from __future__ import annotations

TICKET_COOKIE = "waitroom-ticket-"
"""The cookie of a ticket; the name of the room follows."""

PASS_COOKIE = "waitroom-pass-"  # noqa: S105 - the name of a cookie
"""The cookie of a pass; the name of the room follows."""

PASS_HEADER, TICKET_HEADER, KEY_HEADER = "waitroom-pass", "waitroom-ticket", "waitroom-key"
"""How programs show a gate a pass or a ticket, and the key by which a repeat is known."""

CODE = "waitroom_code"
"""The query parameter of a one-time code that takes a session from one host to another."""

MOST_PASSES = 50
"""How many passes a gate may announce in one request."""
