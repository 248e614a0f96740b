"""The result of a load test: processes are added up, and everything fits into JSON."""

from __future__ import annotations

import json

from waitroom.load.bottleneck import Bottleneck, Usage
from waitroom.load.checks import Check, Verdict
from waitroom.load.latency import Latency
from waitroom.load.outcome import WORDS, Noted, Outcome
from waitroom.load.plan import Limits, Plan
from waitroom.load.target import Target
from waitroom.load.visits import End, Visit

TARGET = Target("http://127.0.0.1:1", "127.0.0.1", 1, "127.0.0.1")


def report(*seconds: float) -> dict[str, object]:
    """Return the last report of a process that joined this fast and saw one error."""
    latency, lateness = Latency(), Latency()
    for each in seconds:
        latency.add(each)
        lateness.add(0.0)
    histograms = {"join": latency, "lateness": lateness}
    return {
        "latency": {name: [dict(item.buckets), item.most_s] for name, item in histograms.items()},
        "errors": [["poll", 503, "busy", 1]],
        "most_busy": 2,
    }


def outcome(noted: Noted, *verdicts: Verdict) -> Outcome:
    """Return a finished test."""
    return Outcome(
        plan=Plan(target=TARGET, room="x"),
        limits=Limits(),
        noted=noted,
        checks=tuple(Check("order", verdict, "") for verdict in verdicts),
        usage=Usage(),
        bottleneck=Bottleneck("none", ""),
        lasted_s=2.0,
    )


def test_processes_are_added_up() -> None:
    """Latencies, errors and connections of all processes count; lateness is not a request."""
    noted = Noted()
    for seconds in ((0.1, 0.2), (0.4,)):
        noted.take(json.loads(json.dumps(report(*seconds))))
    assert (4, {("poll", 503, "busy"): 2}) == (noted.most_busy, noted.errors)
    assert (3, 0.4) == (noted.latency["join"].count, noted.latency["join"].most_s)
    assert 3 == outcome(noted).requests


def test_passed() -> None:
    """A check that could not run does not fail the test; one failed check does."""
    assert outcome(Noted(), Verdict.OK, Verdict.UNKNOWN).passed
    assert not outcome(Noted(), Verdict.OK, Verdict.FAILED).passed


def test_as_dict() -> None:
    """Everything is plain JSON, with figures per second and in milliseconds."""
    noted = Noted()
    noted.take(report(0.1, 0.1))
    for end in (End.SERVED, End.LEFT, End.SERVED):
        noted.history.add(Visit(end))
    document = json.loads(json.dumps(outcome(noted, Verdict.OK).as_dict()))
    assert {"served": 2, "left": 1} == document["ended"]
    assert (2, 1.0) == (document["requests"], document["requests_per_s"])
    assert 100.0 == document["latency_ms"]["join"]["max"]


def test_every_end_has_its_words() -> None:
    """Every way to end has a text."""
    assert set(End) == set(WORDS)
