"""The first tables: stores and their lines, parties, history, host keys, notices."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None

ROW_ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
KNOWN = sa.text("phone IS NOT NULL OR name IS NOT NULL OR note IS NOT NULL")
LIVE = sa.text("status IN ('WAITING', 'CALLED')")


def upgrade() -> None:
    """Make all tables."""
    _stores()
    _parties()
    _changes()
    _notices()


def _stores() -> None:
    op.create_table(
        "stores",
        sa.Column("id", sa.String(length=30), nullable=False),
        sa.Column("title", sa.String(length=80), nullable=False),
        sa.Column("time_zone", sa.String(length=64), nullable=False),
        sa.Column("mode", sa.String(length=16), nullable=False),
        sa.Column("reason", sa.String(length=200)),
        sa.Column("closes_at", sa.String(length=5)),
        sa.Column("max_defers", sa.Integer(), nullable=False),
        sa.Column("remote", sa.Boolean(), nullable=False),
        sa.Column("keep_phones_days", sa.Integer(), nullable=False),
        sa.Column("webhook_url", sa.String(length=500)),
        sa.Column("webhook_secret", sa.String(length=200)),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("created_ms", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_stores"),
    )
    op.create_table(
        "waiting_types",
        sa.Column("store", sa.String(length=30), nullable=False),
        sa.Column("name", sa.String(length=20), nullable=False),
        sa.Column("title", sa.String(length=80), nullable=False),
        sa.Column("queue_limit", sa.Integer()),
        sa.Column("largest_party", sa.Integer(), nullable=False),
        sa.Column("listed", sa.Boolean(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("last_place", sa.BigInteger(), nullable=False),
        sa.Column("day", sa.Date()),
        sa.Column("last_number", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["store"], ["stores.id"], name="fk_waiting_types_stores"),
        sa.PrimaryKeyConstraint("store", "name", name="pk_waiting_types"),
    )
    op.create_table(
        "host_keys",
        sa.Column("id", sa.String(length=20), nullable=False),
        sa.Column("store", sa.String(length=30), nullable=False),
        sa.Column("name", sa.String(length=80), nullable=False),
        sa.Column("hash", sa.String(length=64), nullable=False),
        sa.Column("created_ms", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["store"], ["stores.id"], name="fk_host_keys_stores"),
        sa.PrimaryKeyConstraint("id", name="pk_host_keys"),
    )
    op.create_index("ix_host_keys_store", "host_keys", ["store"])


def _parties() -> None:
    op.create_table(
        "parties",
        sa.Column("id", ROW_ID, autoincrement=True, nullable=False),
        sa.Column("store", sa.String(length=30), nullable=False),
        sa.Column("type", sa.String(length=20), nullable=False),
        sa.Column("ticket", sa.String(length=64), nullable=False),
        sa.Column("day", sa.Date(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("size", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(length=40)),
        sa.Column("phone", sa.String(length=20)),
        sa.Column("note", sa.String(length=200)),
        sa.Column("source", sa.String(length=16), nullable=False),
        sa.Column("status", sa.String(length=16), nullable=False),
        sa.Column("place", sa.BigInteger(), nullable=False),
        sa.Column("teams_ahead", sa.Integer(), nullable=False),
        sa.Column("defers", sa.Integer(), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("registered_ms", sa.BigInteger(), nullable=False),
        sa.Column("called_ms", sa.BigInteger()),
        sa.Column("seated_ms", sa.BigInteger()),
        sa.Column("ended_ms", sa.BigInteger()),
        sa.Column("changed_ms", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["store", "type"],
            ["waiting_types.store", "waiting_types.name"],
            name="fk_parties_waiting_types",
        ),
        sa.PrimaryKeyConstraint("id", name="pk_parties"),
        sa.UniqueConstraint(
            "store", "type", "day", "number", name="uq_parties_store_type_day_number"
        ),
        sa.UniqueConstraint("store", "type", "place", name="uq_parties_store_type_place"),
        sa.UniqueConstraint("ticket", name="uq_parties_ticket"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_parties_changed", "parties", ["store", "type", "changed_ms"])
    op.create_index("ix_parties_day", "parties", ["store", "day", "place"])
    op.create_index(
        "ix_parties_known",
        "parties",
        ["store", "registered_ms"],
        sqlite_where=KNOWN,
        postgresql_where=KNOWN,
    )
    op.create_index("ix_parties_line", "parties", ["store", "type", "status", "place"])
    op.create_index(
        "ix_parties_live",
        "parties",
        ["store", "type", "place", "status"],
        sqlite_where=LIVE,
        postgresql_where=LIVE,
    )
    op.create_index("ix_parties_seated", "parties", ["store", "type", "seated_ms"])


def _changes() -> None:
    op.create_table(
        "changes",
        sa.Column("id", ROW_ID, autoincrement=True, nullable=False),
        sa.Column("store", sa.String(length=30), nullable=False),
        sa.Column("party", ROW_ID, nullable=False),
        sa.Column("at_ms", sa.BigInteger(), nullable=False),
        sa.Column("before", sa.String(length=16)),
        sa.Column("after", sa.String(length=16), nullable=False),
        sa.Column("action", sa.String(length=16), nullable=False),
        sa.Column("by", sa.String(length=80), nullable=False),
        sa.Column("op_id", sa.String(length=64)),
        sa.Column("detail", sa.JSON(), nullable=False),
        sa.Column("was_called_ms", sa.BigInteger()),
        sa.Column("was_seated_ms", sa.BigInteger()),
        sa.Column("was_ended_ms", sa.BigInteger()),
        sa.Column("undone", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(["party"], ["parties.id"], name="fk_changes_parties"),
        sa.PrimaryKeyConstraint("id", name="pk_changes"),
        sa.UniqueConstraint("store", "op_id", name="uq_changes_store_op_id"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_changes_party", "changes", ["party", "id"])


def _notices() -> None:
    op.create_table(
        "notices",
        sa.Column("id", ROW_ID, autoincrement=True, nullable=False),
        sa.Column("store", sa.String(length=30), nullable=False),
        sa.Column("party", ROW_ID, nullable=False),
        sa.Column("kind", sa.String(length=16), nullable=False),
        sa.Column("round", sa.BigInteger(), nullable=False),
        sa.Column("created_ms", sa.BigInteger(), nullable=False),
        sa.Column("due_ms", sa.BigInteger(), nullable=False),
        sa.Column("tries", sa.Integer(), server_default="0", nullable=False),
        sa.Column("state", sa.String(length=16), nullable=False),
        sa.Column("sent_ms", sa.BigInteger()),
        sa.Column("error", sa.Text()),
        sa.ForeignKeyConstraint(["party"], ["parties.id"], name="fk_notices_parties"),
        sa.ForeignKeyConstraint(["store"], ["stores.id"], name="fk_notices_stores"),
        sa.PrimaryKeyConstraint("id", name="pk_notices"),
        sa.UniqueConstraint("party", "kind", "round", name="uq_notices_party_kind_round"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_notices_due", "notices", ["state", "due_ms"])
