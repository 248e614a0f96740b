"""Node, Go and Java follow Waitroom's keys: a new one at once, a removed one within seconds."""

from __future__ import annotations

import time
from pathlib import Path

import httpx2
import jwt
import pytest

from tests.stacks import tools
from tests.stacks.tools import ROOM, Stack, let_in
from tests.support.servers import wait_for
from tests.support.serving import SECRET, Serving
from waitroom.credentials import pass_keys
from waitroom.passes import PassKeys


def signed(keys: PassKeys, issuer: str = "waitroom") -> str:
    """Return a pass as Waitroom would make it."""
    now = int(time.time())
    return keys.sign(ROOM, "A" * 16, 7, now, now + 600, issuer)


def publish(served: Serving, algorithm: str) -> tuple[Path, PassKeys]:
    """Rotate, and wait until the new key is public."""
    path = pass_keys.rotate(served.data_dir / pass_keys.FOLDER, algorithm)
    keys = PassKeys.from_pem([path.read_bytes()])
    wait_for(lambda: _kid(keys) in _public(served), "the new key")
    return path, keys


def test_keys_come_and_go(
    served: Serving, node_stack: Stack, go_stack: Stack, java_stack: Stack
) -> None:
    """New keys verify at once, those of another method never, and a removed one not after 5 s."""
    stacks = (node_stack, go_stack, java_stack)
    old = signed(PassKeys.derive(SECRET))
    path, keys = publish(served, "ES256")
    other_path, others = publish(served, "EdDSA")
    new, other = signed(keys), signed(others)
    try:
        for stack in stacks:
            shown = [let_in(stack.ask("/concert", text)) for text in (new, old, other)]
            assert [True, True, False] == shown, stack.name
    finally:
        path.unlink()
        other_path.unlink()
    wait_for(lambda: _kid(keys) not in _public(served), "the end of the key")
    for stack in stacks:
        wait_for(lambda: not let_in(stack.ask("/concert", new)), f"{stack.name} to notice")  # noqa: B023
    assert [True] * 3 == [let_in(stack.ask("/concert", old)) for stack in stacks]


@pytest.mark.attack
def test_the_first_pass_is_checked_like_any_other(
    served: Serving, node_folder: Path, go_folder: Path, java_folder: Path
) -> None:
    """A site that just started asks for the keys then, and compares the issuer with theirs."""
    keys = PassKeys.derive(SECRET)
    foreign, good = signed(keys, "https://staging.example"), signed(keys)
    starts = ((tools.node, node_folder), (tools.go, go_folder), (tools.java, java_folder))
    for start, folder in starts:
        with start(folder, served.port) as stack:
            shown = [let_in(stack.ask("/concert", text)) for text in (foreign, good)]
        assert [False, True] == shown, stack.name


def _public(served: Serving) -> set[str]:
    keys = httpx2.get(f"{served.base}/.well-known/jwks.json", timeout=20).json()["keys"]
    return {key["kid"] for key in keys}


def _kid(keys: PassKeys) -> str:
    return str(jwt.get_unverified_header(signed(keys))["kid"])
