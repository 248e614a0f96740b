"""Tables: aligned, complete on a narrow terminal, and quick when they are long."""

from __future__ import annotations

import pytest

from waitroom.cli.output import Output, table


def shown(capsys: pytest.CaptureFixture[str], rows: int, name: str = "room") -> list[str]:
    """Print a table with some rows; return its lines without trailing spaces."""
    lines = table("name", "count", "note", right=["count"], wrap=["note"])
    for number in range(rows):
        lines.add_row(f"{name}-{number}", str(number), "a note")
    Output(as_json=False).show(None, lines)
    return [line.rstrip() for line in capsys.readouterr().out.splitlines()]


def test_long_tables_look_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    """A table of many rows is written in another way, which nobody can see."""
    short, long = shown(capsys, 500), shown(capsys, 501)
    assert (501, 502) == (len(short), len(long))
    assert short == long[:501]
    assert "room-7        7  a note" == long[8]


def test_names_are_never_cut(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a narrow terminal lines grow too long rather than cut a name."""
    monkeypatch.setenv("COLUMNS", "20")
    name = "a-room-with-a-long-name"
    assert f"{name}-0      0  a note" == shown(capsys, 1, name)[1]
