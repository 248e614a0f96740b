"""The output at the end: the table of the figures, and everything as one JSON line."""

from __future__ import annotations

from typing import Any

from bench.report import Figures, Line, Reporter

QUIET = 0.9
"""A bare server under full load that gets less of its core than this was disturbed."""

LINES = (
    Line("poll_ratio", "polls/s, ours ÷ hand-written", least=9),
    Line("poll_ratio_idle", "the same beside idle connections to ours", least=7),
    Line("poll_ratio_fresh", "the same, a connection per request"),
    Line("poll_of_ceiling", "polls/s, ours ÷ a constant body", least=0.5),
    Line("poll_of_wire", "the same ÷ a bare uvloop protocol"),
    Line("join_ratio", "joins/s, ours ÷ hand-written", least=7),
    Line("poll_p99_ms", "a poll at half of the most", most=15),
    Line("errors", "of ours, in all that was asked", most=0),
    Line("stalled_errors", "of ours, while the backend slept", most=0),
    Line("stalled_refused", "answered with 4xx meanwhile"),
    Line("stalled_requests", "how many were asked meanwhile"),
    Line("sse_kb_each", "worker's memory per open stream", most=20),
    Line("sse_told_p99_ms", "called → told, over a stream", most=500),
    Line("check_per_s_ratio", "checks of passes ÷ a constant body", least=0.7),
    Line("polls_per_s", "ours, one core"),
    Line("handrolled_polls_per_s", "hand-written, one core"),
    Line("ceiling_per_s", "a constant body, one core"),
    Line("wire_per_s", "the same, a bare uvloop protocol"),
    Line("idle_connections", "open beside the polls"),
    Line("fresh_polls_per_s", "ours, a connection per request"),
    Line("handrolled_fresh_polls_per_s", "hand-written, likewise"),
    Line("joins_per_s", "ours, one core"),
    Line("handrolled_joins_per_s", "hand-written, one core"),
    Line("checks_per_s", "ours, one core"),
    Line("poll_cpu_us", "processor µs per poll, ours"),
    Line("handrolled_poll_cpu_us", "the same, hand-written"),
    Line("ceiling_cpu_us", "the same, a constant body"),
    Line("wire_cpu_us", "the same, a bare uvloop protocol"),
    Line("poll_p50_ms", "a poll at half of the most, median"),
    Line("poll_p99_worst_ms", "its p99 in the worst round"),
    Line("sse_told_p50_ms", "called → told, median"),
    Line("sse_streams", "streams that were open"),
    Line("handrolled_errors", "of the hand-written queue", most=0),
    Line("core_share", "of its core, for a server alone", least=QUIET),
)


class HttpReporter(Reporter):
    """The reporter of `make bench-http`."""

    def finish(self, figures: Figures, facts: dict[str, Any]) -> None:
        """Print the table, then everything as one JSON object on the last line."""
        title = f"the server with {facts['waiting']:,} waiting on {facts['server']}"
        self.show(title, LINES, figures)
        if figures["core_share"] < QUIET:
            self.console.print(
                "Something else used these cores, so no figure counts: run this again alone."
            )
        if not facts["full"]:
            self.console.print("Targets are those of a full run: make bench-http FULL=1")
        self.last_line(figures, facts)
