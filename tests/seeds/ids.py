"""The ids of all requirements of the seed documents, and those that come with later work."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

_REQUIREMENTS = {"000": 12, "001": 13, "002": 5, "003": 11, "004": 10}

ALL = tuple(
    f"{document}-{number:02}"
    for document, most in _REQUIREMENTS.items()
    for number in range(1, most + 1)
)

NOT_YET_DUE: Mapping[str, str] = MappingProxyType({})
"""Id → what it waits for. Work that delivers one of them removes it from here."""

DUE = tuple(id_ for id_ in ALL if id_ not in NOT_YET_DUE)
