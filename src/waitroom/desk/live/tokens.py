"""The signed tokens that guests hold: which line they wait in, and their ticket there."""

from __future__ import annotations

from functools import lru_cache

from waitroom.desk.live.line import room_of
from waitroom.desk.models import Party
from waitroom.errors import InvalidTicket
from waitroom.tickets import KeyRing, Ticket

_MOST_TOKENS = 20_000


class Tokens:
    """Signs and reads guests' tokens: a waiting type, and a ticket that is useless elsewhere."""

    def __init__(self, ring: KeyRing) -> None:
        self._ring = ring
        # Cached, because a guest polls with the same token repeatedly.
        self._verified = lru_cache(maxsize=_MOST_TOKENS)(self._verify)

    def sign(self, party: Party) -> str:
        """Return the token of a party, the same one each time."""
        room = _guest_room(party.store, party.line_name)
        ticket = Ticket(room, party.ticket, 0, 0, party.registered_ms // 1000)
        return f"{party.line_name}.{self._ring.sign(ticket)}"

    def read(self, store: str, token: str) -> tuple[str, str]:
        """Return the waiting type and the ticket of a token that was signed for this store."""
        if not isinstance(token, str):
            raise InvalidTicket("is empty; join the line to get one")
        return self._verified(store, token)

    def _verify(self, store: str, token: str) -> tuple[str, str]:
        line_name, dot, text = token.partition(".")
        if not dot:
            raise InvalidTicket("is not a guest's token; send it as it was given")
        return line_name, self._ring.read(_guest_room(store, line_name), text).id


def _guest_room(store: str, line_name: str) -> str:
    # No room has a '/' in its name, so no guest's token is a ticket of the visitor API.
    return f"{room_of(store, line_name)}/g"
