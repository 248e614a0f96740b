"""The tables of the desk's record. A change of them needs a migration; a test compares the two.

Words of `StrEnum`s are kept as text, times as Unix ms, sort keys as µs in columns named `place`.
Who a party is (its name, phone and note) is stored in `parties` alone, so that erasing it there
erases it everywhere.
"""

from __future__ import annotations

from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
    Column,
    Date,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    UniqueConstraint,
    or_,
    text,
)

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(referred_table_name)s",
        "pk": "pk_%(table_name)s",
    }
)
# SQLite numbers rows by itself only in an INTEGER column, which has 64 bits there.
ROW_ID = BigInteger().with_variant(Integer, "sqlite")

stores = Table(
    "stores",
    metadata,
    Column("id", String(30), primary_key=True),
    Column("title", String(80), nullable=False),
    Column("time_zone", String(64), nullable=False),
    Column("mode", String(16), nullable=False),
    Column("reason", String(200)),
    Column("closes_at", String(5)),
    Column("max_defers", Integer, nullable=False),
    Column("remote", Boolean, nullable=False),
    Column("keep_phones_days", Integer, nullable=False),
    Column("webhook_url", String(500)),
    Column("webhook_secret", String(200)),
    Column("version", Integer, nullable=False),
    Column("created_ms", BigInteger, nullable=False),
    Column("on_site", String(16), nullable=False, server_default="poster"),
    Column("joins_per_hour", Integer, server_default="20"),
    Column("country", String(2), nullable=False, server_default="KR"),
)

# One row per line: a change of the line locks it, and it holds the counters.
waiting_types = Table(
    "waiting_types",
    metadata,
    Column("store", String(30), ForeignKey("stores.id"), primary_key=True),
    Column("name", String(20), primary_key=True),
    Column("title", String(80), nullable=False),
    Column("queue_limit", Integer),
    Column("largest_party", Integer, nullable=False),
    # A removed line stays here: it may come back, and then its numbers go on.
    Column("listed", Boolean, nullable=False),
    Column("position", Integer, nullable=False),
    Column("last_place", BigInteger, key="last_sort_key", nullable=False),
    Column("day", Date),
    Column("last_number", Integer, nullable=False),
)

parties = Table(
    "parties",
    metadata,
    Column("id", ROW_ID, primary_key=True, autoincrement=True),
    Column("store", String(30), nullable=False),
    Column("type", String(20), nullable=False),
    Column("ticket", String(64), nullable=False),
    Column("day", Date, nullable=False),
    Column("number", Integer, nullable=False),
    Column("size", Integer, nullable=False),
    Column("name", String(40)),
    Column("phone", String(20)),
    Column("note", String(200)),
    Column("source", String(16), nullable=False),
    Column("status", String(16), nullable=False),
    Column("place", BigInteger, key="sort_key", nullable=False),
    Column("teams_ahead", Integer, nullable=False),
    Column("defers", Integer, nullable=False),
    Column("revision", Integer, nullable=False),
    Column("registered_ms", BigInteger, nullable=False),
    Column("called_ms", BigInteger),
    Column("seated_ms", BigInteger),
    Column("ended_ms", BigInteger),
    # When its status last changed: a repair of the line looks back at this.
    Column("changed_ms", BigInteger, nullable=False),
    ForeignKeyConstraint(["store", "type"], ["waiting_types.store", "waiting_types.name"]),
    UniqueConstraint("ticket"),
    # Parties that are gone keep theirs: they may come back to it.
    UniqueConstraint("store", "type", "sort_key"),
    UniqueConstraint("store", "type", "day", "number"),
    sqlite_autoincrement=True,
)
known = or_(parties.c.phone.is_not(None), parties.c.name.is_not(None), parties.c.note.is_not(None))
"""Parties whose name, phone or note is still kept."""

is_live = text("status IN ('WAITING', 'CALLED')")
"""Written exactly like this: SQLite uses a partial index only for the same text."""

Index("ix_parties_line", parties.c.store, parties.c.type, parties.c.status, parties.c.sort_key)
# Whole lines, and all lines at once. Parties that are gone, by far the most, are not in it.
Index(
    "ix_parties_live",
    parties.c.store,
    parties.c.type,
    parties.c.sort_key,
    parties.c.status,
    sqlite_where=is_live,
    postgresql_where=is_live,
)
Index("ix_parties_day", parties.c.store, parties.c.day, parties.c.sort_key)
Index("ix_parties_seated", parties.c.store, parties.c.type, parties.c.seated_ms)
Index("ix_parties_changed", parties.c.store, parties.c.type, parties.c.changed_ms)
Index(
    "ix_parties_known",
    parties.c.store,
    parties.c.registered_ms,
    sqlite_where=known,
    postgresql_where=known,
)
# Whether a phone has a place already.
Index(
    "ix_parties_phone",
    parties.c.store,
    parties.c.type,
    parties.c.phone,
    sqlite_where=is_live,
    postgresql_where=is_live,
)

# Joins by address of the last hours; `address` is a keyed hash.
joins = Table(
    "joins",
    metadata,
    Column("id", ROW_ID, primary_key=True, autoincrement=True),
    Column("store", String(30), nullable=False),
    Column("address", String(16), nullable=False),
    Column("at_ms", BigInteger, nullable=False),
    Index("ix_joins_address", "store", "address", "at_ms"),
    Index("ix_joins_at", "at_ms"),
)

changes = Table(
    "changes",
    metadata,
    Column("id", ROW_ID, primary_key=True, autoincrement=True),
    Column("store", String(30), nullable=False),
    Column("party", ROW_ID, ForeignKey("parties.id"), nullable=False),
    Column("at_ms", BigInteger, nullable=False),
    Column("before", String(16)),
    Column("after", String(16), nullable=False),
    Column("action", String(16), nullable=False),
    Column("by", String(80), nullable=False),
    Column("op_id", String(64)),
    # Numbers only, never anything about who the party is.
    Column("detail", JSON, nullable=False),
    # For an undo: the times before this change, and whether it was taken back since.
    Column("was_called_ms", BigInteger),
    Column("was_seated_ms", BigInteger),
    Column("was_ended_ms", BigInteger),
    Column("undone", Boolean, nullable=False),
    UniqueConstraint("store", "op_id"),
    Index("ix_changes_party", "party", "id"),
    sqlite_autoincrement=True,
)

host_keys = Table(
    "host_keys",
    metadata,
    Column("id", String(20), primary_key=True),
    Column("store", String(30), ForeignKey("stores.id"), nullable=False),
    Column("name", String(80), nullable=False),
    Column("hash", String(64), nullable=False),
    Column("created_ms", BigInteger, nullable=False),
    Index("ix_host_keys_store", "store"),
)

# Sessions of hosts that were signed out before their time.
sign_outs = Table(
    "sign_outs",
    metadata,
    Column("session", String(16), primary_key=True),
    Column("ends_s", BigInteger, nullable=False),
    Index("ix_sign_outs_ends", "ends_s"),
)

# The outbox: notices for a store's webhook, delivered at least once. `round` tells two notices of
# a kind apart: the time of the call in ms, so that a second call is sent too, or the defers.
notices = Table(
    "notices",
    metadata,
    Column("id", ROW_ID, primary_key=True, autoincrement=True),
    Column("store", String(30), ForeignKey("stores.id"), nullable=False),
    Column("party", ROW_ID, ForeignKey("parties.id"), nullable=False),
    Column("kind", String(16), nullable=False),
    Column("round", BigInteger, nullable=False),
    Column("created_ms", BigInteger, nullable=False),
    Column("due_ms", BigInteger, nullable=False),
    Column("tries", Integer, nullable=False, server_default="0"),
    # waiting, sent, or dropped after the last try
    Column("state", String(16), nullable=False),
    Column("sent_ms", BigInteger),
    Column("error", Text),
    UniqueConstraint("party", "kind", "round"),
    Index("ix_notices_due", "state", "due_ms"),
    sqlite_autoincrement=True,
)
