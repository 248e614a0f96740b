"""Up, slow or down: requests raise the question, probes decide, and there is one at a time."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from tests.support.servers import wait_for
from waitroom.gates.health import FEWEST_PROBES, Health, State
from waitroom.gates.transport import NoAnswer


class Probe:
    """Answers probes as told; None is an answer."""

    def __init__(self, outcome: NoAnswer | None = None) -> None:
        self.outcome = outcome
        self.made = 0
        self.at_once = 0
        self.most_at_once = 0
        self.may_end = threading.Event()
        self.may_end.set()

    def __call__(self) -> NoAnswer | None:
        """Probe."""
        self.made += 1
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        self.may_end.wait()
        self.at_once -= 1
        return self.outcome


@contextmanager
def watched(probe: Probe, away_after_s: float = 0.0) -> Iterator[Health]:
    """Return the health that a probe decides."""
    health = Health(probe, away_after_s)
    try:
        yield health
    finally:
        probe.may_end.set()
        health.close()


def test_what_we_shed_says_nothing_about_waitroom() -> None:
    """It stays up, and is not probed."""
    probe = Probe(NoAnswer.DOWN)
    with watched(probe) as health:
        health.failed(NoAnswer.SHED)
        assert (State.UP, 0) == (health.state, probe.made)


def test_a_late_call_is_slow_until_a_probe_is_answered() -> None:
    """One answer is enough to be up again."""
    probe = Probe()
    probe.may_end.clear()
    with watched(probe) as health:
        health.failed(NoAnswer.SLOW)
        assert State.SLOW is health.state
        probe.may_end.set()
        wait_for(lambda: health.state is State.UP, "an answered probe")
        assert 1 == probe.made


def test_silence_is_down_only_after_several_probes_and_some_time() -> None:
    """Neither a few quickly failed probes nor one slow one is enough."""
    probe = Probe(NoAnswer.SLOW)
    with watched(probe, away_after_s=2.0) as health:
        began = time.monotonic()
        health.failed(NoAnswer.SLOW)
        wait_for(lambda: health.state is State.DOWN, "an outage")
        assert time.monotonic() - began >= 2.0
        assert probe.made >= FEWEST_PROBES
    probe = Probe(NoAnswer.SLOW)
    with watched(probe) as health:
        health.failed(NoAnswer.SLOW)
        wait_for(lambda: health.state is State.DOWN, "an outage")
        assert FEWEST_PROBES <= probe.made


def test_an_answered_call_counts_against_failed_probes() -> None:
    """Probes that fail while requests are answered are not an outage."""
    probe = Probe(NoAnswer.SLOW)
    with watched(probe, away_after_s=600) as health:
        health.failed(NoAnswer.SLOW)
        wait_for(lambda: probe.made > FEWEST_PROBES, "failed probes")
        assert State.SLOW is health.state
        health.heard()
        wait_for(
            lambda: health.state is State.UP and health._watcher is None, "the end of the probes"
        )


def test_nobody_there_is_down_at_once_and_ends_with_the_first_answer() -> None:
    """A request can find it, and so can a probe."""
    probe = Probe(NoAnswer.DOWN)
    with watched(probe, away_after_s=600) as health:
        health.failed(NoAnswer.DOWN)
        assert State.DOWN is health.state
        wait_for(lambda: probe.made > 1, "another probe")
        assert State.DOWN is health.state
        probe.outcome = None
        wait_for(lambda: health.state is State.UP, "its return")
    probe = Probe(NoAnswer.DOWN)
    with watched(probe, away_after_s=600) as health:
        health.failed(NoAnswer.SLOW)
        wait_for(lambda: health.state is State.DOWN, "a probe that finds nobody")


def test_there_is_one_probe_at_a_time() -> None:
    """However many calls fail at once."""
    probe = Probe(NoAnswer.SLOW)
    probe.may_end.clear()
    with watched(probe, away_after_s=600) as health:
        threads = [threading.Thread(target=health.failed, args=(NoAnswer.SLOW,)) for _ in range(50)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        probe.may_end.set()
        wait_for(lambda: probe.made > FEWEST_PROBES, "some probes")
        health.heard()
        health.failed(NoAnswer.SLOW)
        wait_for(lambda: probe.made > 2 * FEWEST_PROBES, "more probes")
    assert 1 == probe.most_at_once


def test_closing_ends_the_probes() -> None:
    """For good: later failures start none."""
    probe = Probe(NoAnswer.SLOW)
    with watched(probe, away_after_s=600) as health:
        health.failed(NoAnswer.SLOW)
        wait_for(lambda: probe.made > 0, "a probe")
        health.close()
        assert None is health._watcher
        health.failed(NoAnswer.SLOW)
        assert None is health._watcher
