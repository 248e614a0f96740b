"""Run by Alembic, within the transaction that `waitroom.desk.record.migrate` has begun."""

from __future__ import annotations

from alembic import context

from waitroom.desk.record.tables import metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    # SQLite can change little of a table in place, so a migration may copy it instead.
    render_as_batch=True,
)
context.run_migrations()
