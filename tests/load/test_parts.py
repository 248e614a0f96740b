"""The parts of a load test: latencies, limits of a plan, hosts, and who was at their limit."""

from __future__ import annotations

import random
import socket

import pytest

from tests.support.serving import free_port
from waitroom.errors import BackendUnavailable, InvalidInput
from waitroom.load import target as targets
from waitroom.load.bottleneck import Usage, Watch, bottleneck, metric
from waitroom.load.latency import Latency
from waitroom.load.plan import Limits, Plan
from waitroom.load.target import Target

HERE = Target("http://127.0.0.1:1", "127.0.0.1", 1, "127.0.0.1")


def test_percentiles_are_within_five_percent() -> None:
    """A histogram of any size tells its percentiles well enough, also added up of two."""
    chance = random.Random(7)
    values = sorted(chance.lognormvariate(-5, 1) for _ in range(4_000))
    whole, part = Latency(), Latency()
    for index, value in enumerate(values):
        (whole if index % 2 else part).add(value)
    whole.merge(part)
    assert 4_000 == whole.count
    for share in (0.5, 0.9, 0.99, 0.999):
        exact = values[int(share * 4_000) - 1]
        assert exact <= (whole.at(share) or 0) * 1.0001 <= exact * 1.06
    assert values[-1] == whole.at(1)
    assert None is Latency().at(0.5)


@pytest.mark.parametrize("url", ["http://127.0.0.1:8080", "http://localhost:1/x/", "https://[::1]"])
def test_this_machine_may_be_loaded(url: str) -> None:
    """Loopback is fine by any of its names."""
    try:
        assert targets.find(url).local
    except BackendUnavailable:  # a machine without IPv6
        assert "[::1]" in url


@pytest.mark.parametrize("host", ["10.0.0.1", "192.0.2.1", "[2001:db8::1]"])
def test_others_may_not(host: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another host needs a word of consent; until then nothing is sent there."""
    asked: list[str] = []

    def listens(address: str, port: int) -> bool:
        asked.append(f"{address} {port}")
        return True

    monkeypatch.setattr(targets, "_listens", listens)
    with pytest.raises(InvalidInput, match="give --i-own-this-host"):
        targets.find(f"http://{host}:8080")
    assert [] == asked
    assert not targets.find(f"http://{host}:8080", anywhere=True).local


def test_every_address_must_be_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """A name with one address here and one elsewhere is elsewhere."""
    both = [(2, 1, 6, "", ("127.0.0.1", 80)), (2, 1, 6, "", ("192.0.2.7", 80))]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: both)
    with pytest.raises(InvalidInput, match=r"192\.0\.2\.7"):
        targets.find("http://both.test")


@pytest.mark.parametrize(
    "url", ["", "concert", "ftp://x", "http://", "http://x:99999", "http://a@b", "http://x/?q", "http://é"]
)  # fmt: skip
def test_bad_urls_are_explained(url: str) -> None:
    """What is no address of a server is refused, with an example."""
    with pytest.raises(InvalidInput, match="http://127"):
        targets.find(url)


@pytest.mark.parametrize(
    ("field", "changes"),
    [
        ("people", {"people": 0}),
        ("people", {"people": 1_000_001}),
        ("connections", {"connections": 10_001}),
        ("arrive", {"arrive_s": -1.0}),
        ("arrive", {"arrive_s": float("nan")}),
        ("leave", {"leave": 1.5}),
        ("no_show", {"no_show": -0.1}),
        ("for", {"longest_s": 0.0}),
        ("processes", {"processes": 3, "people": 2}),
        ("room", {"room": "no room"}),
    ],
)
def test_a_plan_has_bounds(field: str, changes: dict[str, object]) -> None:
    """What cannot be done is refused by name."""
    with pytest.raises(InvalidInput) as caught:
        Plan(**{"target": HERE, "room": "x"} | changes)  # type: ignore[arg-type]
    assert field == caught.value.field


def test_limits_come_in_pairs() -> None:
    """Half a rolling limit is none."""
    with pytest.raises(InvalidInput, match="together"):
        Limits(max_entries=5)


def test_a_crowd_is_split_without_loss() -> None:
    """All people and all connections are somewhere, and processes draw differently."""
    plan = Plan(target=HERE, room="x", people=1_000, connections=50, processes=7)
    parts = [Plan.read(plan.share(index)) for index in range(7)]
    assert (1_000, 50) == (sum(p.people for p in parts), sum(p.connections for p in parts))
    assert 7 == len({part.seed for part in parts})


@pytest.mark.parametrize(
    ("usage", "late_s", "full", "who"),
    [
        (Usage(server=0.99, workers=1, backend=0.99, own=0.95), 0.0, False, "load test"),
        (Usage(server=0.99, workers=1, backend=0.9, own=0.5), 0.0, False, "backend"),
        (Usage(server=1.9, workers=2, backend=0.4, own=0.5), 0.0, False, "server"),
        (Usage(server=1.0, workers=2, backend=0.4, own=0.5, machine=0.99), 0.0, False, "machine"),
        (Usage(server=0.4, workers=1, lag_s=0.3, own=0.5), 0.0, False, "server"),
        (Usage(server=0.4, workers=1, own=0.1), 2.0, True, "connections"),
        (Usage(server=0.4, workers=1, own=0.1), 0.01, True, "none"),
        (Usage(own=0.1), 0.0, False, "unknown"),
    ],
)
def test_the_limit_is_named(usage: Usage, late_s: float, full: bool, who: str) -> None:
    """Whoever was full is named, the load test itself first."""
    assert who == bottleneck(usage, late_s, full).who


def test_the_busiest_moments_count() -> None:
    """Use is that of the busiest seconds, not of the whole run."""
    watch = Watch(free_port(), local=False)
    for now, cpu in ((0, 0.0), (3, 0.3), (6, 3.0), (6.1, 3.1), (9, 3.1)):
        text = (
            f"waitroom_cpu_seconds_total {cpu}\nwaitroom_workers 2\nwaitroom_loop_lag_seconds 0\n"
        )
        watch.look(text, [cpu / 2], now=now)
    usage = watch.usage()
    assert (0.9, 0.45, 2) == (round(usage.server or 0, 3), round(usage.own or 0, 3), usage.workers)
    assert None is metric("waitroom_cpu_seconds_totals 1", "waitroom_cpu_seconds_total")
