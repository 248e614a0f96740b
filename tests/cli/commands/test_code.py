"""`code create|list|revoke`."""

from __future__ import annotations

import csv
import io

import pytest

from tests.cli.conftest import SECRET, Cli
from waitroom import entry_codes
from waitroom.engine import Engine
from waitroom.errors import CodeRefused
from waitroom.models import State
from waitroom.tickets import KeyRing


def made(cli: Cli, room: str, *words: str) -> list[dict[str, str]]:
    """Make codes, and read the CSV that is printed."""
    text = cli.text("code", "create", "--room", room, *words)
    return list(csv.DictReader(io.StringIO(text)))


def test_create(cli: Cli, room: str) -> None:
    """Codes are printed as CSV, all different, and each gives a place."""
    cli.text("room", "create", room, "--needs", "code", "--mode", "paused")
    rows = made(cli, room, "--count", "1200", "--uses", "1", "--note", "fan club")
    assert ["code", "batch", "uses", "note"] == list(rows[0])
    assert (1200, {"1"}, {"fan club"}) == (
        len({row["code"] for row in rows}),
        {row["uses"] for row in rows},
        {row["note"] for row in rows},
    )

    async def join(engine: Engine) -> State:
        code = entry_codes.read(KeyRing.from_text(SECRET), room, rows[-1]["code"])
        return (await engine.join(room, code=code)).state

    assert State.WAITING is cli.engine(join)
    with pytest.raises(CodeRefused):
        cli.engine(join)


def test_cells(cli: Cli, room: str) -> None:
    """A note that a spreadsheet would compute stays text."""
    cli.text("room", "create", room)
    (row,) = made(cli, room, "--count", "1", "--note", '=HYPERLINK("http://x", "y")')
    assert "'=HYPERLINK(" == row["note"][:12]


def test_list(cli: Cli, room: str) -> None:
    """A list has what was made, used and revoked, and no code."""
    cli.text("room", "create", room)
    assert "There are no codes yet" in cli.text("code", "list", "--room", room)
    document = cli.json("code", "create", "--room", room, "--count", "3", "--note", "vip")
    listed = cli.json("code", "list", "--room", room)
    assert [{name: document[name] for name in document if name != "codes"}] == listed["batches"]
    text = cli.text("code", "list", "--room", room)
    assert document["batch"] in text
    assert not any(code in text for code in document["codes"])


def test_revoke(cli: Cli, room: str) -> None:
    """After a yes the batch is revoked, and the log says so without a code."""
    cli.text("room", "create", room)
    document = cli.json("code", "create", "--room", room, "--count", "3")
    batch = document["batch"]
    assert f"Revoked batch {batch}" in cli.text("code", "revoke", batch, "--room", room, "--yes")
    (listed,) = cli.json("code", "list", "--room", room)["batches"]
    assert listed["revoked_ms"]
    log = cli.text("audit", "--room", room)
    assert "code.revoke" in log
    assert "code.create" in log
    assert not any(code in log for code in document["codes"])


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["create", "--count", "0"], "count: 0 is not allowed; it takes 1 to 100000"),
        (["create", "--count", "1", "--uses", "1001"], "uses: 1001 is not allowed"),
        (["create", "--count", "1", "--note", "a\nb"], "note: takes at most 100 characters"),
        (["create"], "Missing option '--count'"),
        (["revoke", "K7U2", "--yes"], "batch: must be four letters or digits"),
    ],
)
def test_bad_input(cli: Cli, room: str, words: list[str], message: str) -> None:
    """What cannot be is refused in one sentence."""
    cli.text("room", "create", room)
    code, text = cli.error("code", *words, "--room", room)
    assert (2, True) == (code, message in text), text


def test_unknown(cli: Cli, room: str) -> None:
    """An unknown batch, and an unknown room, is an error; a forgotten batch can be forced."""
    assert 1 == cli.error("code", "list", "--room", room)[0]
    cli.text("room", "create", room)
    assert "no such batch" in cli.error("code", "revoke", "K7Q2", "--room", room, "--yes")[1]
    cli.text("code", "revoke", "K7Q2", "--room", room, "--force", "--yes")
