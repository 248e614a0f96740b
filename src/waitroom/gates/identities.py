"""Who has signed in at the site, as it says itself; asked only where a gate needs to know."""

from __future__ import annotations

from inspect import isawaitable
from typing import Any
from uuid import UUID

from waitroom.errors import InvalidInput
from waitroom.gates.facts import Facts
from waitroom.gates.gate import Gate


def identify(gate: Gate, facts: Facts, request: Any) -> None:
    """Note who sent a request of the framework."""
    if gate.options.identity is not None and gate.guards(facts):
        user = gate.options.identity(request)
        if isawaitable(user):
            raise InvalidInput("identity", "is async; this gate calls it without a loop")
        facts.user = user_id(user)


async def identify_async(gate: Gate, facts: Facts, request: Any) -> None:
    """Note who sent a request of the framework; the site may have to ask for it."""
    if gate.options.identity is not None and gate.guards(facts):
        user = gate.options.identity(request)
        facts.user = user_id(await user if isawaitable(user) else user)


def user_id(user: Any) -> str | None:
    """Return a user's id as text, or None for nobody.

    Anything but an id is refused. As text, all anonymous visitors would be the user "False" or
    "AnonymousUser", and share one place.
    """
    if user is None or user is False or user == "":
        return None
    if isinstance(user, str | int | UUID) and user is not True:
        return str(user)
    raise InvalidInput(
        "identity",
        f"returned {type(user).__name__}, not a user's id; return a str, an int, a UUID, or None "
        "for nobody, as in `request.user.pk if request.user.is_authenticated else None`",
    )
