"""The record behind the server: what its log never contains, and what happens when it is away."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import pytest

from tests.server.desk.api.test_guests import problem
from tests.server.desk.conftest import NAME, PHONE, Shop, shop_on
from tests.support.links import linked
from tests.support.postgres import Postgres
from tests.support.serving import Serving, end, launch, serving

NOTE = "유모차가 있어요"
CUT = """SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid()"""


def test_the_log_names_nobody(shop: Shop, served: Serving) -> None:
    """Whatever guests and hosts do, right or wrong, no name, number, note or key is logged."""
    before = len(served.said())
    made = shop.join(name=NAME, phone=PHONE, note=NOTE)
    body = {"type": "dine-in", "size": 0, "name": NAME, "phone": PHONE, "note": NOTE}
    assert 422 == shop.guest.post(f"{shop.path}/parties", json=body).status_code
    body = body | {"size": 2, "phone": f"{PHONE}-9"}
    assert 422 == shop.guest.post(f"{shop.path}/parties", json=body).status_code
    party = shop.line()["parties"][0]["id"]
    shop.host.get(f"{shop.path}/line/{party}/phone").raise_for_status()
    for act in ("call", "seat", "seat", "undo", "erase"):
        shop.do(act, party)
    shop.guest.get(f"{shop.path}/parties/{made['token']}x")
    output = served.said()[before:]
    for secret in (NAME, NOTE, PHONE, "1234", "5678", made["token"], shop.key.split("_", 2)[2]):
        assert secret not in output
        assert secret.encode("unicode_escape").decode() not in output


def test_the_database_is_away(tmp_path: Path, postgres: Postgres) -> None:
    """An unusable database is a clear 503 with Retry-After. People who wait still see their place,
    which needs only the live line. Once the database is back, everything works again.
    """
    with (
        postgres.database() as url,
        linked(urlsplit(url).port or 0) as link,
        serving(tmp_path, desk=True, desk_database=_through(url, link.port)) as server,
        shop_on(server) as shop,
    ):
        token = shop.join()["token"]
        good, link.target = link.target, 1  # where nobody listens
        postgres.run(CUT, urlsplit(url).path[1:])
        answer = shop.guest.post(f"{shop.path}/parties", json={"type": "dine-in", "size": 2})
        assert (503, "record_unavailable") == problem(answer)
        assert int(answer.headers["retry-after"]) >= 1
        assert (503, "record_unavailable") == problem(shop.guest.get(shop.path))
        assert ("WAITING", 1) == tuple(shop.place(token)[key] for key in ("status", "position"))
        link.target = good
        assert 2 == shop.join()["party"]["number"]


def _through(url: str, port: int) -> str:
    """Return the address of a database behind a link."""
    parts = urlsplit(url)
    user = parts.netloc.rpartition("@")[0]
    return urlunsplit(parts._replace(netloc=f"{user}@127.0.0.1:{port}"))


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("mysql://x/y", "postgresql://"),
        ("postgresql://nobody@127.0.0.1:1/x", "the desk's database cannot be opened"),
    ],
)
def test_a_wrong_database(tmp_path: Path, url: str, message: str) -> None:
    """The server says at once what is wrong, and exits."""
    server = launch(tmp_path, desk=True, desk_database=url)
    try:
        assert server.process.wait(120) not in (0, None)
        assert message in server.said()
        assert "Traceback" not in server.said()
    finally:
        end(server)


def test_without_the_extra() -> None:
    """A server without the desk needs none of its packages; with it, it says what to install."""
    script = """
import sys
for name in ("sqlalchemy", "aiosqlite", "alembic", "segno"):
    sys.modules[name] = None
from waitroom.errors import InvalidInput
from waitroom.server.app import create
from waitroom.settings import Settings
create(Settings())
try:
    create(Settings(desk=True))
except InvalidInput as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert (0, "") == (done.returncode, done.stderr)
    assert "pip install 'waitroom[desk]'" in done.stdout
