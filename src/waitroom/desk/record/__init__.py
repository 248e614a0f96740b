"""The desk's record: stores and parties in SQLite or PostgreSQL.

Every change is one transaction. This package must know nothing of Redis and HTTP.
"""
