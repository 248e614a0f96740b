"""Pass keys are rotated while people are inside: nobody is dropped, except with a removed key."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import httpx2

from tests.support.counts import count
from tests.support.figures import say
from tests.support.serving import Serving, serving
from waitroom.credentials.pass_keys import rotate
from waitroom.gates.keys import Verifier

LONGEST_S = 60.0


def bearer(text: str) -> dict[str, str]:
    """Return the header that carries a pass or a key."""
    return {"authorization": f"Bearer {text}"}


def enter(http: httpx2.Client) -> dict[str, Any]:
    """Join and go in."""
    session: dict[str, Any] = http.post("/v1/rooms/sale/tickets", json={"enter": True}).json()
    assert "inside" == session["state"], session
    return session


def kids(http: httpx2.Client) -> list[str]:
    """Return the keys that a server publishes."""
    return [key["kid"] for key in http.get("/.well-known/jwks.json").json()["keys"]]


def kid_of(text: str, http: httpx2.Client) -> str:
    """Return the key that signed a pass, as a gate reads it."""
    verifier = Verifier(None)
    assert verifier.load(http.get("/.well-known/jwks.json").json())
    good_pass = verifier.read("sale", text, time.time())
    assert good_pass is not None
    return good_pass.kid


def test_rotation_under_load(tmp_path: Path) -> None:
    """While keys are rotated, passes of every age work at two servers and a gate."""
    folder = tmp_path / "keys"
    rotate(folder, "ES256")
    with (
        serving(tmp_path, pass_keys=folder) as first,
        httpx2.Client(base_url=first.base, timeout=20) as http,
        serving(tmp_path, pass_keys=folder, redis_url=store_of(first)) as second,
        httpx2.Client(base_url=second.base, timeout=20) as other,
    ):
        first.new_room("sale", session_s=600, renewable=True)
        passes = [enter(http)["pass"]]
        signers = {kid_of(passes[0], http)}
        checked = 0
        while len(signers) <= count("rotations"):
            if len([*folder.glob("*.pem")]) == len(signers):
                rotate(folder, "ES256")
            made = enter(http)["pass"]
            signers.add(kid_of(made, http))
            passes = [*passes[-20:], made]
            for text in passes:
                answers = [
                    client.get("/v1/check", headers=bearer(text)) for client in (http, other)
                ]
                assert [204, 204] == [answer.status_code for answer in answers]
                checked += 1
        say(f"{checked} passes of {len(signers)} keys were good, {len(kids(http))} keys known")


def test_a_removed_key_is_refused_soon(tmp_path: Path) -> None:
    """What a removed key signed is soon refused, and the next key signs."""
    folder = tmp_path / "keys"
    old = rotate(folder, "ES256")
    with (
        serving(tmp_path, pass_keys=folder) as server,
        httpx2.Client(base_url=server.base, timeout=20) as http,
    ):
        server.new_room("sale", session_s=600)
        text = enter(http)["pass"]
        rotate(folder, "ES256")
        assert 204 == http.get("/v1/check", headers=bearer(text)).status_code
        old.unlink()
        removed_at = time.monotonic()
        while http.get("/v1/check", headers=bearer(text)).status_code != 401:
            assert time.monotonic() - removed_at < LONGEST_S
            time.sleep(0.1)
        assert 1 == len(kids(http))
        assert 204 == http.get("/v1/check", headers=bearer(enter(http)["pass"])).status_code


def store_of(server: Serving) -> str:
    """Return the address of the server's own backend."""
    from waitroom.engine.connection.embedded import running

    url = running(server.data_dir)
    assert url is not None
    return url
