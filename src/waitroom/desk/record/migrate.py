"""Brings the tables of the desk's database up to date, however many processes start at once."""

from __future__ import annotations

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, text

from waitroom.errors import UpgradeNeeded

_LOCK = 0x77_61_69_74
"""Any number that is the same in every process."""


def upgrade(connection: Connection) -> None:
    """Run the missing migrations in the caller's transaction: all of them, or none."""
    if connection.dialect.name == "postgresql":
        # Kept until the transaction ends. On SQLite the transaction itself is the lock.
        connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _LOCK})
    config = configured(connection)
    script = ScriptDirectory.from_config(config)
    current = MigrationContext.configure(connection).get_current_revision()
    known = {migration.revision for migration in script.walk_revisions()}
    if current is not None and current not in known:
        raise UpgradeNeeded(
            f"the desk's database is at {current!r}, written by a newer Waitroom; upgrade this one"
        )
    if current != script.get_current_head():
        command.upgrade(config, "head")


def configured(connection: Connection) -> Config:
    """Return the configuration of Alembic, without any file."""
    config = Config()
    config.set_main_option("script_location", "waitroom.desk.record:migrations")
    config.attributes["connection"] = connection
    return config
