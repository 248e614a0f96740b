"""When a client should poll again: often in front, rarely far back, slower under load. Pure."""

from __future__ import annotations

from waitroom.estimate.methods import Wait
from waitroom.models import State

FRONT_MS = 3_000
"""How often the first in line polls."""

LONGEST_MS = 30_000
SHORTEST_MS = 1_000
_WAIT_MS = 25.0  # per second of waiting: forty polls show a wait well enough
_PLACE_MS = 300.0  # per place, so that polls of a slow line do not suddenly become rare
_UNKNOWN_MS = 10.0  # the same if its pace is unknown: hundreds may be called at once
_JITTER = 0.1


def restored_after_ms(pause_ms: int, left_ms: int, waiting: int, jitter: float) -> int:
    """Return the pause of somebody whose position is hidden for `left_ms` after a loss.

    Never longer than `pause_ms`. They ask again once it can be shown; the more people there are,
    the more they are spread: `jitter` is 0 to 1.
    """
    spread_ms = min(LONGEST_MS / 2, FRONT_MS + _UNKNOWN_MS * waiting)
    return min(pause_ms, SHORTEST_MS + max(0, left_ms) + int(spread_ms * jitter))


def poll_after_ms(
    position: int | None,
    state: State,
    wait: Wait | None,
    presence_s: float | None,
    load: float,
    jitter: float,
) -> int:
    """Return the pause before the next poll.

    `load` is 0 (idle) to 1 (as much as the server can take) and stretches it up to twice; `jitter`,
    0 to 1, spreads clients by ± 10 % so that they do not come in waves. The pause is never so long
    that two lost polls would cost somebody their place.
    """
    if state is State.WAITING:
        if position is None:  # before a draw only the opening counts, after a loss its end
            pause = LONGEST_MS / 2
        elif wait is None:
            pause = FRONT_MS + _UNKNOWN_MS * (position - 1)
        else:
            by_wait, by_place = _WAIT_MS * wait[0], _PLACE_MS * (position - 1)
            pause = FRONT_MS + (by_wait if by_wait < by_place else by_place)
    else:
        pause = FRONT_MS if state is State.CALLED else LONGEST_MS
    pause *= 1.0 + load
    most = LONGEST_MS if presence_s is None or presence_s > 90 else 1000 * presence_s / 3
    most /= 1.0 + _JITTER
    pause = (most if pause > most else pause) * (1.0 - _JITTER + 2 * _JITTER * jitter)
    return int(pause) if pause > SHORTEST_MS else SHORTEST_MS
