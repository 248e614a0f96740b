"""One reply: a word, the state of the room, and fields by name. What they mean is in `replies`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from waitroom import errors
from waitroom.engine.protocol.refusals import refusal

PROTOCOL = b"waitroom/1"
WRONG_TYPE = (
    "{} of this room holds another type than ours, so somebody else writes to it; delete that key, "
    "or give Waitroom a database of its own"
)


class Head(NamedTuple):
    """The first fields of every reply of a room: its current state."""

    epoch: int
    rev: int
    watermark: int
    last: int
    version: int


@dataclass(frozen=True, slots=True)
class Reply:
    """A parsed reply: the word, and its fields by name."""

    word: str
    fields: dict[str, Any]

    def number(self, name: str) -> int:
        """Return a required number."""
        return int(self.fields[name])

    def moment(self, name: str) -> int | None:
        """Return a time in ms; scripts return 0 for none."""
        return int(self.fields.get(name, 0)) or None

    def expect(self, word: str) -> Reply:
        """Return the reply itself if it has this word; otherwise raise the error for its word."""
        if self.word != word:
            raise refusal(self.word)
        return self

    @property
    def head(self) -> Head | None:
        """The state of the room; a reply that ended a call early has none."""
        if "epoch" not in self.fields:
            return None
        return Head(*(self.fields[name] for name in Head._fields))

    @property
    def endings(self) -> list[str]:
        """What to remember about the people whom a call took out."""
        return [ending.decode() for ending in self.fields.get("endings", ())]

    @property
    def epoch(self) -> int:
        """The epoch of the room."""
        return self.number("epoch")

    @property
    def version(self) -> int:
        """The version of the policy."""
        return self.number("version")

    @property
    def message_at_ms(self) -> int | None:
        """When the message of the policy was set."""
        return self.moment("message_at")


def parse(raw: Any) -> Reply:
    """Read a raw reply; raise for errors that no verb can handle."""
    word = word_of(raw)
    fields = {raw[i].decode(): raw[i + 1] for i in range(2, len(raw), 2)}
    if word == "broken_room":
        raise errors.BrokenRoom(WRONG_TYPE.format(f"the key `{fields['key'].decode()}`"))
    if word == "upgrade_needed":
        raise errors.UpgradeNeeded(
            f"the room has schema {fields['schema']}, newer than this Waitroom; upgrade it"
        )
    return Reply(word, fields)


def word_of(raw: Any) -> str:
    """Read only the word of a raw reply, which is much quicker."""
    if not isinstance(raw, list) or raw[0] != PROTOCOL:
        raise errors.UpgradeNeeded(f"the server answered {raw!r:.60}, not a reply of this version")
    word: str = raw[1].decode()
    return word
