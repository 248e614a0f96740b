"""Batches of entry codes, as operators see them."""

from __future__ import annotations

from dataclasses import dataclass

LONGEST_CODE_NOTE = 100


@dataclass(frozen=True, slots=True)
class CodeBatch:
    """Codes that were made together, with one note, and are revoked together."""

    batch: str
    count: int
    uses: int
    """How many places each code gives."""

    note: str
    by: str
    made_ms: int | None
    """None, with 0 codes, if a loss has forgotten all but the revocation or the uses."""

    revoked_ms: int | None = None
    used: int = 0
    """Uses that are taken: people who joined with a code and did not leave before their turn."""
