"""A real Waitroom, its own keys, and rooms."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from functools import partial

import httpx2
import pytest
from cryptography.hazmat.primitives import serialization

from tests.support.serving import SECRET, Serving
from waitroom.passes import PassKeys

Sign = Callable[..., str]


@pytest.fixture(scope="session")
def waitroom(served: Serving) -> Serving:
    """Return the running Waitroom."""
    return served


@pytest.fixture(scope="session")
def operator(waitroom: Serving) -> Iterator[httpx2.Client]:
    """Return a client that sends the admin key."""
    with waitroom.operator() as client:
        yield client


@pytest.fixture
def make_room(waitroom: Serving) -> Callable[..., str]:
    """Make a room for this test only."""
    return partial(waitroom.new_room, capacity=2, session_s=60)


def public_pem(keys: PassKeys) -> bytes:
    """Return the newest public key in PEM, as a site gets it."""
    return keys._first.public.public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )


@pytest.fixture(scope="session")
def pem() -> bytes:
    """Return the public key of these passes."""
    return public_pem(PassKeys.derive(SECRET))


@pytest.fixture(scope="session")
def sign() -> Sign:
    """Sign passes as the Waitroom in these tests does."""
    keys = PassKeys.derive(SECRET)

    def make(room: str = "concert", ticket_id: str = "t", sid: int = 7, **given: int) -> str:
        now_s = given.get("now_s", int(time.time()))
        return keys.sign(room, ticket_id, sid, now_s, given.get("ends_s", now_s + 60), "waitroom")

    return make
