"""Sources that a room has refused: until they may join again, nobody asks the server for them."""

from __future__ import annotations

MOST = 10_000


class LimitedSources(dict[str, float]):
    """The sources of one room, each with the time until which it gets no new place for sure."""

    __slots__ = ()

    def wait_s(self, source: str, now_s: float) -> float:
        """Return for how long a source gets no place; 0 if that is not known."""
        until_s = self.get(source)
        if until_s is None:
            return 0.0
        if until_s <= now_s:
            del self[source]
            return 0.0
        return until_s - now_s

    def refuse(self, source: str, until_s: float) -> None:
        """Note that a source gets no place until then; of too many the oldest are forgotten."""
        self.pop(source, None)  # so that the last one noted stands last
        self[source] = until_s
        if len(self) > MOST:
            for oldest in list(self)[: MOST // 2]:
                del self[oldest]
