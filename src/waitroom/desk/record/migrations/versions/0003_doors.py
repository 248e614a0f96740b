"""Who may join: how guests show that they are there, joins per address, one place per phone."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"

ROW_ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
LIVE = sa.text("status IN ('WAITING', 'CALLED')")


def upgrade() -> None:
    """Add the columns, the table and its indexes."""
    op.add_column(
        "stores",
        sa.Column("on_site", sa.String(length=16), nullable=False, server_default="poster"),
    )
    op.add_column("stores", sa.Column("joins_per_hour", sa.Integer(), server_default="20"))
    op.create_table(
        "joins",
        sa.Column("id", ROW_ID, autoincrement=True, nullable=False),
        sa.Column("store", sa.String(length=30), nullable=False),
        sa.Column("address", sa.String(length=16), nullable=False),
        sa.Column("at_ms", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_joins"),
    )
    op.create_index("ix_joins_address", "joins", ["store", "address", "at_ms"])
    op.create_index("ix_joins_at", "joins", ["at_ms"])
    op.create_index(
        "ix_parties_phone",
        "parties",
        ["store", "type", "phone"],
        sqlite_where=LIVE,
        postgresql_where=LIVE,
    )
