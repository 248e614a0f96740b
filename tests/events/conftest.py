"""What tests of events share: a relay with the test's listeners, and time that can be moved."""

from __future__ import annotations

import pytest

from waitroom.engine import Engine
from waitroom.events.relay import Listeners, Relay, wall_ms


class WallClock:
    """The clock of a loop: real, until the test moves it forward."""

    def __init__(self) -> None:
        self.moved_ms = 0

    def __call__(self) -> int:
        """Return the time in ms."""
        return wall_ms() + self.moved_ms

    def step(self, seconds: float) -> None:
        """Move forward."""
        self.moved_ms += round(seconds * 1000)


@pytest.fixture
def wall() -> WallClock:
    """Time that the test can move forward."""
    return WallClock()


@pytest.fixture
def listeners(engine: Engine) -> Listeners:
    """A listener for what people do in every room."""
    listeners = Listeners(engine)
    listeners.archived = True
    return listeners


@pytest.fixture
def relay(engine: Engine, listeners: Listeners, wall: WallClock) -> Relay:
    """A relay that runs when the test says so."""
    return Relay(engine, listeners, clock=wall)
