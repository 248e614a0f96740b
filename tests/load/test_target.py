"""Where a load test may send its crowd: this machine, and others only with consent."""

from __future__ import annotations

import socket

import pytest

from waitroom.errors import BackendUnavailable, InvalidInput
from waitroom.load import target as targets


@pytest.mark.parametrize("url", ["http://127.0.0.1:8080", "http://localhost:1/x/", "https://[::1]"])
def test_this_machine_may_be_loaded(url: str) -> None:
    """Loopback is fine by any of its names."""
    try:
        assert targets.find(url).local
    except BackendUnavailable:  # a machine without IPv6
        assert "[::1]" in url


@pytest.mark.parametrize("host", ["10.0.0.1", "192.0.2.1", "[2001:db8::1]"])
def test_others_may_not(host: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another host needs explicit consent; until then nothing is sent there."""
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
    """A name with one address here and one elsewhere counts as elsewhere."""
    both = [(2, 1, 6, "", ("127.0.0.1", 80)), (2, 1, 6, "", ("192.0.2.7", 80))]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: both)
    with pytest.raises(InvalidInput, match=r"192\.0\.2\.7"):
        targets.find("http://both.test")


@pytest.mark.parametrize(
    "url", ["", "concert", "ftp://x", "http://", "http://x:99999", "http://a@b", "http://x/?q", "http://é"]
)  # fmt: skip
def test_bad_urls_are_explained(url: str) -> None:
    """Anything but a server's address is refused, with an example."""
    with pytest.raises(InvalidInput, match="http://127"):
        targets.find(url)
