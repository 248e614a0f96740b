"""How numbers, sizes and times are written and read."""

from __future__ import annotations

import pytest

from waitroom.cli import text


@pytest.mark.parametrize(
    ("seconds", "written"),
    [
        (0, "0 s"),
        (0.001, "0.001 s"),
        (6, "6 s"),
        (59.94, "59.9 s"),
        (60, "1 min"),
        (90, "1 min 30 s"),
        (754, "12 min 34 s"),
        (3_600, "1 h"),
        (3_605, "1 h"),
        (86_399, "23 h 59 min"),
        (90_000, "1 d 1 h"),
    ],
)
def test_span(seconds: float, written: str) -> None:
    """A duration has at most two units."""
    assert written == text.span(seconds)


@pytest.mark.parametrize(
    ("written", "seconds"),
    [("90", 90), ("1.5", 1.5), ("10m", 600), ("1h30m", 5400), ("500ms", 0.5), ("2d", 172_800)],
)
def test_read_span(written: str, seconds: float) -> None:
    """Plain seconds and units are read."""
    assert seconds == text.read_span(written)


@pytest.mark.parametrize("written", ["", "m", "10 m", "10x", "1m2", "ten", "１0m"])
def test_not_a_span(written: str) -> None:
    """Anything else is not."""
    assert text.read_span(written) is None


@pytest.mark.parametrize(
    ("count", "written"),
    [(0, "0 B"), (1023, "1023 B"), (1536, "1.5 KiB"), (5 * 1024**3, "5.0 GiB"), (2**41, "2.0 TiB")],
)
def test_size(count: int, written: str) -> None:
    """Sizes in powers of 1024."""
    assert written == text.size(count)


@pytest.mark.parametrize(
    "written", ["2030-03-01T11:00:00Z", "2030-03-01 20:00+09:00", "1898593200000"]
)
def test_read_moment(written: str) -> None:
    """RFC 3339 in any zone, or ms."""
    assert 1_898_593_200_000 == text.read_moment("since", written)
