"""A real server with the desk on, and a separate store for each test."""

from __future__ import annotations

import contextlib
import secrets
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import httpx2
import pytest

from tests.support.clock import noon_zone
from tests.support.serving import Serving

PHONE, NAME = "010-1234-5678", "홍길동"


@pytest.fixture(scope="session")
def served(desk_served: Serving) -> Serving:
    """Return the running server, with the desk on."""
    return desk_served


@dataclass(frozen=True, slots=True)
class Shop:
    """A store with its host: `host` sends the store's key, `guest` sends none."""

    id: str
    path: str
    key: str
    host: httpx2.Client
    guest: httpx2.Client

    def join(self, line_name: str = "dine-in", size: int = 2, **more: Any) -> Any:
        """Join the line, and return the answer."""
        body = {"type": line_name, "size": size, **more}
        answer = self.guest.post(f"{self.path}/parties", json=body)
        assert 201 == answer.status_code, answer.text
        return answer.json()

    @property
    def code(self) -> str:
        """The code currently on the poster or the screen at the store."""
        answer = self.host.get(f"{self.path}/on-site-code")
        assert 200 == answer.status_code, answer.text
        return str(answer.json()["code"])

    def place(self, token: str) -> Any:
        """Return where a party is."""
        answer = self.guest.get(f"{self.path}/parties/{token}")
        assert 200 == answer.status_code, answer.text
        return answer.json()

    def line(self, **query: Any) -> Any:
        """Return the line as hosts see it."""
        answer = self.host.get(f"{self.path}/line", params=query)
        assert 200 == answer.status_code, answer.text
        return answer.json()

    def numbers(self) -> list[int]:
        """Return the numbers of the parties in line, in order."""
        return [party["number"] for party in self.line()["parties"]]

    def do(self, act: str, party: int | None = None, **body: Any) -> httpx2.Response:
        """Do something as a host."""
        where = "" if party is None else f"/{party}"
        return self.host.post(f"{self.path}/line{where}/{act}", json=body)

    def change(self, **fields: Any) -> httpx2.Response:
        """Change the store as a host."""
        return self.host.patch(self.path, json=fields)


TYPES = [
    {"name": "dine-in", "title": "Dine in"},
    {"name": "takeout", "title": "Takeout", "largest_party": 4},
]


@pytest.fixture
def shop(http: httpx2.Client, operator: httpx2.Client) -> Iterator[Shop]:
    """Return a store for this test only."""
    with open_shop(http, operator) as opened:
        yield opened


@contextlib.contextmanager
def shop_on(server: Serving) -> Iterator[Shop]:
    """Make a store on the test's own server."""
    with (
        httpx2.Client(base_url=server.base, timeout=60) as http,
        server.operator() as operator,
        open_shop(http, operator) as shop,
    ):
        yield shop


@contextlib.contextmanager
def open_shop(http: httpx2.Client, operator: httpx2.Client, **fields: Any) -> Iterator[Shop]:
    """Make a store with two lines, and a key for its hosts."""
    store = f"t-{secrets.token_hex(5)}"
    given = {"types": TYPES, "joins_per_hour": None, "time_zone": noon_zone(), **fields}
    body = {"id": store, "title": "Noodle Bar", **given}
    made = operator.post("/v1/stores", json=body)
    assert 201 == made.status_code, made.text
    path = f"/v1/stores/{store}"
    key = operator.post(f"{path}/hosts", json={"name": "front tablet"}).json()["key"]
    headers = {"authorization": f"Bearer {key}"}
    with httpx2.Client(base_url=http.base_url, headers=headers, timeout=20) as host:
        yield Shop(store, path, key, host, http)
