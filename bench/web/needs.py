"""What every benchmark of a server process needs here."""

from __future__ import annotations

import sys

from bench.web import cores, wrk


def check() -> None:
    """Stop with a word on what is missing."""
    if not wrk.installed():
        sys.exit(wrk.MISSING)
    if not cores.can_pin():
        sys.exit("this needs Linux: elsewhere a server cannot be held on one core")
