"""Writes contract/*.json, and the table by which the Go gate folds letters."""

from __future__ import annotations

from tests.contract.files import write

if __name__ == "__main__":
    for path in write():
        print(path)  # noqa: T201 - it is a command
