"""`webhook create|list|off|on|rotate|test|delete`."""

from __future__ import annotations

from tests.cli.conftest import Cli

NOWHERE = "http://127.0.0.1:9/hook"


def _error(cli: Cli, *words: str) -> str:
    return cli.error(*words)[1]


def test_a_life(cli: Cli, room: str) -> None:
    """The secret is printed once; the list shows the rest, until the webhook is deleted."""
    lines = cli.text("webhook", "create", NOWHERE, "--rooms", room).splitlines()
    (secret,) = (line for line in lines if line.startswith("whsec_"))
    listed = cli.text("webhook", "list")
    assert NOWHERE in listed
    assert secret not in listed
    (hook,) = (each for each in cli.json("webhook", "list")["webhooks"] if each["rooms"] == [room])
    assert (0, 0, []) == (hook["late"], hook["dropped"], hook["types"])
    rotated = cli.json("webhook", "rotate", hook["id"])
    assert rotated["secret"].startswith("whsec_")
    assert secret != rotated["secret"]
    assert "did not take the message" in _error(cli, "webhook", "test", hook["id"])
    for word in ("off", "on"):
        assert f"Webhook {hook['id']} is {word}." in cli.text("webhook", word, hook["id"])
        (hook,) = (h for h in cli.json("webhook", "list")["webhooks"] if h["id"] == hook["id"])
        assert (word == "on", True) == (hook["enabled"], hook["switched_ms"] > 0)
    cli.text("webhook", "delete", hook["id"], "--yes")
    assert hook["id"] not in cli.text("webhook", "list")


def test_wrong_words(cli: Cli) -> None:
    """A wrong address or type, and an unknown id, are refused in one sentence."""
    assert "takes an address like" in _error(cli, "webhook", "create", "example.com")
    assert "'room.party'" in _error(cli, "webhook", "create", NOWHERE, "--types", "room.party")
    assert "webhook list" in _error(cli, "webhook", "rotate", "nothing")
