"""The country of a store's phone numbers; until now every store was read as a Korean one."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    """Add the column."""
    op.add_column(
        "stores", sa.Column("country", sa.String(length=2), nullable=False, server_default="KR")
    )
