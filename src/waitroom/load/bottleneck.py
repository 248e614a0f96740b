"""What was at its limit: the server, its backend, the machine, or the load test itself.

The server reports on itself at /metrics. For processes on this machine we read Linux's /proc; for
a backend elsewhere the processor time is not known.
"""

from __future__ import annotations

import contextlib
import os
import re
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

_BACKENDS = re.compile(r"^(valkey|redis|keydb|dragonfly)")
_FULL = 0.85
_LAG_S = 0.1
_LATE_S = 0.25
_SHORTEST_S = 1.0
_LAG = "loop_lag_seconds"
_PROC = Path("/proc")
_LISTEN, _ESTABLISHED = "0A", "01"


@dataclass(frozen=True, slots=True)
class Usage:
    """Peak use in cores (for the machine: the share of all cores); None means not known."""

    server: float | None = None
    workers: int | None = None
    lag_s: float | None = None
    backend: float | None = None
    machine: float | None = None
    own: float | None = None
    """The busiest process of the load test."""


@dataclass(frozen=True, slots=True)
class Bottleneck:
    """What was at its limit, in a word and a sentence."""

    who: str
    why: str


def bottleneck(usage: Usage, late_s: float, full: bool) -> Bottleneck:
    """Find it; `late_s` is how late requests were sent, `full` whether all connections were in use.

    The load test is judged first: if it is the limit, its figures say little about the server.
    """
    workers = usage.workers or 1
    if usage.own is not None and usage.own >= _FULL:
        why = (
            f"it used {usage.own:.0%} of a core; give it more --processes, or a machine of its own"
        )
        return Bottleneck("load test", why)
    if usage.backend is not None and usage.backend >= _FULL:
        return Bottleneck("backend", f"Redis or Valkey used {usage.backend:.0%} of its core")
    if usage.server is not None and usage.server / workers >= _FULL:
        why = f"its {_workers(workers)} used {usage.server:.2f} cores; give it more `workers`"
        return Bottleneck("server", why)
    if usage.machine is not None and usage.machine >= 0.95:
        why = f"all cores were in use ({usage.machine:.0%}), by whatever ran on it"
        return Bottleneck("machine", why)
    if usage.lag_s is not None and usage.lag_s >= _LAG_S:
        why = f"its event loop was up to {usage.lag_s * 1000:.0f} ms late at times"
        return Bottleneck("server", why)
    if full and late_s >= _LATE_S:
        why = f"all were in use, and requests went out {late_s:.1f} s late; give more --connections"
        return Bottleneck("connections", why)
    if usage.server is None and usage.backend is None:
        return Bottleneck("unknown", "the server's /metrics cannot be read from here")
    return Bottleneck("none", "nobody was at their limit; a larger crowd would be served, too")


def _workers(count: int) -> str:
    return "1 worker" if count == 1 else f"{count} workers"


def metric(text: str, name: str) -> float | None:
    """Return a metric without labels from a scrape."""
    match = re.search(rf"^{name} (\S+)$", text, re.MULTILINE)
    return float(match[1]) if match else None


@dataclass(slots=True)
class Watch:
    """Samples all processor times every few seconds of a test, and keeps the peaks."""

    port: int
    local: bool
    backends: list[int] = field(default_factory=list)
    workers: int | None = None
    lag_s: float | None = None
    _looked: float = 0.0
    _last: dict[str, tuple[float, float]] = field(default_factory=dict)
    _peak: dict[str, float] = field(default_factory=dict)

    def begin(self) -> None:
        """Find the backend."""
        if self.local:
            self.backends = backend_pids(self.port)

    def look(self, scrape: str, own: Sequence[float] = (), now: float | None = None) -> None:
        """Add the data of /metrics, the processor time of our processes, and the data of /proc.

        A sample too soon after the last is ignored: over a very short time everything looks busy.
        """
        now = time.monotonic() if now is None else now
        if self._last and now - self._looked < _SHORTEST_S:
            return
        self._looked = now
        self._used("server", now, metric(scrape, "process_cpu_seconds_total"))
        self._used("backend", now, cpu_s(self.backends))
        for index, spent_s in enumerate(own):
            self._used(f"own {index}", now, spent_s)
        if self.local and (ticks := machine_ticks()):
            self._used("machine", ticks[1], ticks[0])
        workers, lag = (metric(scrape, f"waitroom_{name}") for name in ("workers", _LAG))
        self.workers = int(workers) if workers else self.workers
        if lag is not None:
            self.lag_s = max(lag, self.lag_s or 0.0)

    def _used(self, name: str, whole: float, used: float | None) -> None:
        if used is None:
            return
        then, before = self._last.get(name, (whole, used))
        self._last[name] = whole, used
        if whole > then:
            share = (used - before) / (whole - then)
            self._peak[name] = max(self._peak.get(name, 0.0), share)

    def usage(self) -> Usage:
        """Return the most that each used for some seconds."""
        peak = self._peak
        own = [share for name, share in peak.items() if name.startswith("own")]
        return Usage(
            server=peak.get("server"),
            workers=self.workers,
            lag_s=self.lag_s,
            backend=peak.get("backend"),
            machine=peak.get("machine"),
            own=max(own, default=None),
        )


# /proc ------------------------------------------------------------------------------------------


def cpu_s(pids: list[int]) -> float | None:
    """Return the processor time of some processes; None if there are none."""
    times = [spent_s for pid in pids if (spent_s := _cpu_s(pid)) is not None]
    return sum(times) if times else None


def _cpu_s(pid: int) -> float | None:
    fields = _stat(pid)
    if fields is None:
        return None
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _stat(pid: int) -> list[str] | None:
    """Return the fields after the process name, which may contain any character."""
    with contextlib.suppress(OSError, IndexError):
        return (_PROC / str(pid) / "stat").read_text().rpartition(")")[2].split()
    return None


def machine_ticks() -> tuple[float, float] | None:
    """Return the busy time and the total time of all cores, in ticks."""
    with contextlib.suppress(OSError, ValueError):
        ticks = [int(tick) for tick in (_PROC / "stat").read_text().split("\n", 1)[0].split()[1:9]]
        return float(sum(ticks) - ticks[3] - ticks[4]), float(sum(ticks))
    return None


def backend_pids(port: int) -> list[int]:
    """Return the Redis or Valkey processes behind the server that listens on a port.

    These are children of the server's processes, or processes that one of them is connected to.
    """
    try:
        parents = {
            int(entry.name): int(stat[1])
            for entry in _PROC.iterdir()
            if entry.name.isdigit() and (stat := _stat(int(entry.name)))
        }
    except OSError:
        return []
    sockets, table = _sockets(parents), _table()
    servers = {pid for inode, local, _, state in table if local == port and state == _LISTEN
               for pid in sockets.get(inode, ())}  # fmt: skip
    family = servers | {parents[pid] for pid in servers if parents[pid] > 1}
    family |= {pid for pid, parent in parents.items() if parent in servers}
    peers = {peer for inode, _, peer, state in table if state == _ESTABLISHED
             and family & sockets.get(inode, set())}  # fmt: skip
    listeners = {pid for inode, local, _, state in table if state == _LISTEN and local in peers
                 for pid in sockets.get(inode, ())}  # fmt: skip
    near = family | listeners | {pid for pid, parent in parents.items() if parent in family}
    return sorted(pid for pid in near if _BACKENDS.match(_name(pid)))


def _name(pid: int) -> str:
    with contextlib.suppress(OSError):
        return (_PROC / str(pid) / "comm").read_text()
    return ""


def _sockets(pids: dict[int, int]) -> dict[str, set[int]]:
    """Return the processes that hold each socket; other users' processes cannot be read."""
    holders: dict[str, set[int]] = {}
    for pid in pids:
        with contextlib.suppress(OSError):
            for link in (_PROC / str(pid) / "fd").iterdir():
                with contextlib.suppress(OSError):
                    name = os.readlink(link)  # noqa: PTH115 - it is not a path
                    if name.startswith("socket:["):
                        holders.setdefault(name[8:-1], set()).add(pid)
    return holders


def _table() -> list[tuple[str, int, int, str]]:
    """Return the TCP sockets of this machine: inode, local port, remote port, state."""
    rows = []
    for name in ("tcp", "tcp6"):
        with contextlib.suppress(OSError):
            for line in (_PROC / "net" / name).read_text().splitlines()[1:]:
                part = line.split()
                ports = [int(address.rpartition(":")[2], 16) for address in part[1:3]]
                rows.append((part[9], ports[0], ports[1], part[3]))
    return rows
