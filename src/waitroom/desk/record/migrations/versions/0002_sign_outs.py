"""Sign-outs of hosts, so that a copied cookie is of no use afterwards."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Make the table."""
    op.create_table(
        "sign_outs",
        sa.Column("session", sa.String(length=16), nullable=False),
        sa.Column("ends_s", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("session", name="pk_sign_outs"),
    )
    op.create_index("ix_sign_outs_ends", "sign_outs", ["ends_s"])
