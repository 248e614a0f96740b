"""The database itself: how it is opened, migrated and locked, and its errors."""

from __future__ import annotations

import asyncio
import os
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, create_engine, exc, inspect, text

from tests.desk import guests
from tests.support.postgres import Postgres
from tests.support.servers import free_port
from waitroom.desk.models import Store
from waitroom.desk.record import database as module
from waitroom.desk.record import migrate
from waitroom.desk.record.database import FILE, Database, open_database
from waitroom.desk.record.record import Record
from waitroom.desk.record.rows import store_values
from waitroom.desk.record.tables import metadata, stores
from waitroom.errors import InvalidInput, RecordUnavailable, UpgradeNeeded

OPEN = """
import asyncio, pathlib, sys
from waitroom.desk.record.database import open_database

async def main():
    async with open_database(sys.argv[1], pathlib.Path(sys.argv[2])):
        pass

asyncio.run(main())
"""


async def scalar(database: Database, query: str) -> Any:
    """Return the single value of a query."""
    async with database.look() as connection:
        return (await connection.execute(text(query))).scalar()


async def tables_of(database: Database) -> set[str]:
    """Return the names of all tables."""
    async with database.look() as connection:
        return set(await connection.run_sync(lambda sync: inspect(sync).get_table_names()))


async def test_an_empty_database_gets_its_tables(database: Database) -> None:
    """The migrations run when it is opened, and record how far they went."""
    assert {*metadata.tables, "alembic_version"} == await tables_of(database)
    assert "0004" == await scalar(database, "SELECT version_num FROM alembic_version")


async def test_opening_it_again_changes_nothing(
    record: Record, store: Store, tmp_path: Path
) -> None:
    """Existing data stays, and no migration runs twice."""
    url = record.database.engine.url.render_as_string(hide_password=False)
    async with open_database(url.replace("+aiosqlite", ""), tmp_path) as again:
        assert store == await Record(again).store(store.id)


async def test_processes_migrate_at_once(database_url: str, tmp_path: Path) -> None:
    """Four processes open an empty database at the same moment: one migrates, all continue."""
    words = [sys.executable, "-W", "error", "-c", OPEN, database_url, str(tmp_path)]
    started = [await asyncio.create_subprocess_exec(*words) for _ in range(4)]
    assert [0, 0, 0, 0] == [await process.wait() for process in started]
    async with open_database(database_url, tmp_path) as database:
        assert {*metadata.tables, "alembic_version"} == await tables_of(database)


async def test_tables_and_migrations_agree(database: Database) -> None:
    """`tables` has exactly what the migrations create."""

    def differences(connection: Connection) -> list[Any]:
        options = {"compare_type": True, "compare_server_default": True}
        return list(
            compare_metadata(MigrationContext.configure(connection, opts=options), metadata)
        )

    async with database.look() as connection:
        assert [] == await connection.run_sync(differences)


async def test_conditions_of_indexes_are_in_the_migrations(database: Database) -> None:
    """Partial indexes are compared too, because Alembic only looks at their columns."""
    if database.sqlite:
        query = "SELECT sql FROM sqlite_master WHERE name = 'ix_parties_{}'"
    else:
        query = "SELECT indexdef FROM pg_indexes WHERE indexname = 'ix_parties_{}'"
    live, known = [await scalar(database, query.format(name)) for name in ("live", "known")]
    assert "WHERE" in live
    assert "CALLED" in live
    assert 3 == known.count("IS NOT NULL")


async def test_a_store_of_before_has_korean_numbers(tmp_path: Path) -> None:
    """Until 0004 every store counted as Korean; existing guest data is not touched."""
    engine = create_engine(f"sqlite:///{tmp_path / FILE}")
    fields = "id, title, time_zone, mode, max_defers, remote, keep_phones_days, version, created_ms"
    with engine.begin() as connection:
        command.upgrade(migrate.configured(connection), "0003")
        values = "'old', 'Old', 'Asia/Seoul', 'open', 2, 1, 7, 1, 0"
        connection.execute(text(f"INSERT INTO stores ({fields}) VALUES ({values})"))  # noqa: S608
    engine.dispose()
    async with open_database(None, tmp_path) as database:
        assert "KR" == (await Record(database).store("old")).country


def test_migrations_are_one_chain(tmp_path: Path) -> None:
    """There is one newest revision, and each names the previous one."""
    del tmp_path
    script = ScriptDirectory(str(Path(migrate.__file__).parent / "migrations"))
    assert 1 == len(script.get_heads())
    assert [None] == [revision.down_revision for revision in script.walk_revisions()][-1:]


async def test_a_record_of_a_newer_waitroom_is_left_alone(
    database: Database, database_url: str, tmp_path: Path
) -> None:
    """An unknown revision is an error, not something to migrate."""
    async with database.change() as connection:
        await connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    with pytest.raises(UpgradeNeeded, match="9999"):
        async with open_database(database_url, tmp_path):
            pytest.fail("it was opened")


async def test_sqlite_is_the_default_and_is_set_up(tmp_path: Path) -> None:
    """Without a URL it is a file in the data folder that only its owner can read."""
    folder = tmp_path / "data"
    async with open_database(None, folder) as database:
        assert "wal" == await scalar(database, "PRAGMA journal_mode")
        assert 2 == await scalar(database, "PRAGMA synchronous")
        assert 1 == await scalar(database, "PRAGMA foreign_keys")
        assert 1 == await scalar(database, "PRAGMA secure_delete")
        assert module.BUSY_S * 1000 == await scalar(database, "PRAGMA busy_timeout")
        assert 0o600 == stat.S_IMODE((folder / FILE).stat().st_mode)
        assert 0o700 == stat.S_IMODE(folder.stat().st_mode)


async def test_what_fails_is_not_kept(database: Database) -> None:
    """A change is kept completely or not at all."""
    insert = stores.insert().values(store_values(Store(id="a", title="A")))

    async def fail() -> None:
        async with database.change() as connection:
            await connection.execute(insert)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await fail()
    assert 0 == await scalar(database, "SELECT count(*) FROM stores")


async def test_changes_wait_for_each_other_and_looks_do_not(tmp_path: Path) -> None:
    """On SQLite a change holds the write lock from its start; readers never wait for it."""
    async with open_database(None, tmp_path) as first, open_database(None, tmp_path) as second:
        async with first.change():
            assert 0 == await scalar(second, "SELECT count(*) FROM stores")
            entered = asyncio.ensure_future(_enter(second))
            done, _ = await asyncio.wait([entered], timeout=0.3)
            assert set() == done
        assert await entered


async def _enter(database: Database) -> bool:
    async with database.change():
        return True


async def test_a_lock_that_never_ends_is_an_error_of_ours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Anybody who waits too long for another process gets an error, and nothing was written."""
    monkeypatch.setattr(module, "_BUSY", "busy_timeout=50")
    async with open_database(None, tmp_path) as first, open_database(None, tmp_path) as second:
        async with first.change():
            with pytest.raises(RecordUnavailable):
                await _enter(second)
        assert await _enter(second)


async def test_cancelled_changes_leave_no_lock(record: Record, store: Store) -> None:
    """Calls cancelled at any moment are complete or absent, and block nobody."""
    tasks = [asyncio.ensure_future(guests.arrive(record)) for _ in range(30)]
    for number, task in enumerate(tasks):
        await asyncio.sleep(0.001 * (number % 4))
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    last = await guests.arrive(record)
    live = await record.live(store.id, guests.DINE_IN)
    assert list(range(1, last.number + 1)) == [party.number for party in live]


@pytest.mark.parametrize(
    "url", ["", "nonsense", "mysql://a/b", "redis://a", "postgresql://host", "sqlite://", "x" * 999]
)
async def test_a_wrong_url_is_refused(url: str, tmp_path: Path) -> None:
    """The error names the setting, and says what it accepts."""
    with pytest.raises(InvalidInput, match="desk_database"):
        async with open_database(url, tmp_path):
            pytest.fail("it was opened")


@pytest.mark.parametrize("scheme", ["postgres", "postgresql", "postgresql+asyncpg"])
async def test_a_server_that_is_away_is_an_error_of_ours(scheme: str, tmp_path: Path) -> None:
    """Nobody listens: the error says so, without the password."""
    url = f"{scheme}://desk:pass-word@127.0.0.1:{free_port()}/desk?sslmode=disable"
    with pytest.raises(RecordUnavailable, match="Connect call failed") as caught:
        async with open_database(url, tmp_path):
            pytest.fail("it was opened")
    assert "pass-word" not in str(caught.value)


async def test_a_database_that_is_not_there(postgres: Postgres, tmp_path: Path) -> None:
    """The server's own message says what is wrong."""
    url = f"postgresql://desk@127.0.0.1:{postgres.port}/nowhere"
    with pytest.raises(RecordUnavailable, match="does not exist"):
        async with open_database(url, tmp_path):
            pytest.fail("it was opened")


async def test_a_file_that_is_no_database(tmp_path: Path) -> None:
    """A file that is not ours is not overwritten."""
    (tmp_path / FILE).write_bytes(b"a diary" * 1000)
    with pytest.raises(InvalidInput, match="not a database"):
        async with open_database(None, tmp_path):
            pytest.fail("it was opened")
    assert b"a diary" * 1000 == (tmp_path / FILE).read_bytes()


def cut_off(database: Database, server: Postgres) -> None:
    """Make PostgreSQL end all connections to a database."""
    name = database.engine.url.database
    server.run(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "  # noqa: S608 - our own name
        f"WHERE datname = '{name}'"
    )


async def test_a_connection_that_is_cut_is_made_again(postgres: Postgres, tmp_path: Path) -> None:
    """After a restart or failover of PostgreSQL the next call works."""
    with postgres.database() as url:
        async with open_database(url, tmp_path) as database:
            assert 1 == await scalar(database, "SELECT 1")
            cut_off(database, postgres)
            assert 1 == await scalar(database, "SELECT 1")


async def test_a_cut_within_a_change_is_an_error_of_ours(
    postgres: Postgres, tmp_path: Path
) -> None:
    """A transaction under way is not kept, and the caller may try again."""

    async def change(database: Database) -> None:
        async with database.change() as connection:
            await connection.execute(text("DELETE FROM notices"))
            cut_off(database, postgres)
            await connection.execute(text("DELETE FROM notices"))

    with postgres.database() as url:
        async with open_database(url, tmp_path) as database:
            with pytest.raises(RecordUnavailable):
                await change(database)
            assert await _enter(database)


async def test_errors_do_not_tell_who_guests_are(database: Database) -> None:
    """The values of a failing statement stay out of its error, and so out of logs."""
    statement = text("INSERT INTO parties (phone, nothing) VALUES (:phone, 1)")
    with pytest.raises((exc.DBAPIError, RecordUnavailable)) as caught:
        async with database.change() as connection:
            await connection.execute(statement, {"phone": "+821012345678"})
    assert "1234" not in f"{caught.value} {caught.value.__cause__}"


def test_the_migrations_are_in_the_wheel(tmp_path: Path) -> None:
    """They are files of the package, so an installed Waitroom has them."""
    del tmp_path
    folder = Path(migrate.__file__).parent / "migrations"
    assert {"env.py", "script.py.mako", "versions"} <= {path.name for path in folder.iterdir()}
    asked = "import alembic, waitroom.desk.record.migrations"
    done = subprocess.run([sys.executable, "-c", asked], cwd=os.sep, timeout=60)
    assert 0 == done.returncode
