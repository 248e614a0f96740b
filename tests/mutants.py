"""Lua that is wrong on purpose: each variant must turn a named test red.

`WAITROOM_TEST_MUTANT=<name>` makes every process of a test run use it. `tests/test_mutants.py` does
that, and so proves that the tests can fail.
"""

from __future__ import annotations

import os
from dataclasses import dataclass

from waitroom.engine import scripts

VARIABLE = "WAITROOM_TEST_MUTANT"


@dataclass(frozen=True, slots=True)
class Mutant:
    """A change of one Lua file: `old` must be there, so that a variant cannot go stale unseen."""

    file: str
    old: str
    new: str


MUTANTS: dict[str, Mutant] = {}


def apply() -> None:
    """Use the variant that the environment names, if any, in this process."""
    chosen = os.environ.get(VARIABLE)
    if not chosen:
        return
    mutant, original = MUTANTS[chosen], scripts.lua

    def lua(name: str) -> str:
        text = original(name)
        if name != mutant.file:
            return text
        if mutant.old not in text:
            raise AssertionError(f"mutant {chosen}: {mutant.old!r} is no longer in {name}.lua")
        return text.replace(mutant.old, mutant.new)

    scripts.lua = lua
    scripts.script.cache_clear()
