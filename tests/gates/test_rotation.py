"""Pass keys come and go while a site runs."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from tests.gates.sites import site
from tests.support.clients import ask, request
from tests.support.serving import serving
from waitroom.gates.options import Options
from waitroom.passes import PassKeys, generate_pem

LONGEST_S = 60.0


@pytest.mark.sample(1)
@pytest.mark.parametrize("framework", ["starlette", "wsgi"])
def test_a_removed_key_is_refused_and_a_new_one_taken(framework: str, tmp_path: Path) -> None:
    """Both happen by themselves, and everybody else continues meanwhile."""
    folder = tmp_path / "keys"
    folder.mkdir()
    pems = {name: generate_pem() for name in ("1.pem", "2.pem")}
    (folder / "1.pem").write_bytes(pems["1.pem"])
    now_s = int(time.time())
    old, new = (
        PassKeys.from_pem([pem]).sign("concert", "t", 7, now_s, now_s + 600, "waitroom")
        for pem in pems.values()
    )
    with serving(tmp_path, pass_keys=folder) as waitroom:
        waitroom.new_room("concert", capacity=9, session_s=600)
        options = Options(waitroom.base, {"/concert": "concert"}, deadline_s=5)
        with site(framework, options) as port:

            def status(token: str) -> int:
                cookie = {"cookie": f"waitroom-pass-concert={token}"}
                return ask(port, request("GET", "/concert", cookie)).status

            assert (200, 303) == (status(old), status(new))
            (folder / "2.pem").write_bytes(pems["2.pem"])
            deadline = time.monotonic() + LONGEST_S
            while status(new) != 200:
                assert (200, True) == (status(old), time.monotonic() < deadline)
                time.sleep(0.05)
            (folder / "1.pem").unlink()
            began = time.monotonic()
            while status(old) == 200:
                assert 200 == status(new)
                time.sleep(0.05)
            assert time.monotonic() - began < LONGEST_S
