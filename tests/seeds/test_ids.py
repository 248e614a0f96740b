"""The list of requirements and the tests fit together, so that none is forgotten."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from pathlib import Path
from types import FunctionType

import pytest

from tests.seeds.__main__ import verdict
from tests.seeds.ids import ALL, DUE, NOT_YET_DUE

DOCUMENTS = sorted(Path(__file__).parent.glob("test_0*.py"))
OVER_HTTP = "test_http"
"""What a site sees of several documents, with one server for all of them."""


def proofs() -> Iterator[tuple[str, FunctionType]]:
    """Yield each requirement with a test that is marked with it."""
    for stem in (*(path.stem for path in DOCUMENTS), OVER_HTTP):
        module = importlib.import_module(f"tests.seeds.{stem}")
        for name, value in vars(module).items():
            if name.startswith("test_") and isinstance(value, FunctionType):
                for mark in getattr(value, "pytestmark", []):
                    if mark.name == "seed":
                        yield mark.args[0], value


def test_every_document_has_its_file() -> None:
    """One file per document, and no other."""
    documents = dict.fromkeys(id_.partition("-")[0] for id_ in ALL)
    assert [f"test_{document}" for document in documents] == [path.stem for path in DOCUMENTS]


@pytest.mark.parametrize("id_", DUE)
def test_due_ids_are_tested(id_: str) -> None:
    """Every requirement that is due has a test."""
    assert id_ in {proven for proven, _ in proofs()}


def test_no_unknown_ids() -> None:
    """No test is marked with an id that nobody asked for."""
    assert set() == {id_ for id_, _ in proofs()} - set(ALL)


def test_later_ids_are_not_tested_yet() -> None:
    """Everything with a test is due: the list of later work shrinks."""
    assert set() == {id_ for id_, _ in proofs()} & set(NOT_YET_DUE)


def test_later_ids_are_known() -> None:
    """Only known ids wait for later work, each for a reason."""
    assert set() == set(NOT_YET_DUE) - set(ALL)
    assert all(NOT_YET_DUE.values())


def test_ids_stand_where_they_belong() -> None:
    """A test is in its document's file or goes over HTTP; its docstring names the id."""
    for id_, test in proofs():
        stem = test.__module__.rpartition(".")[2]
        assert stem in (f"test_{id_.partition('-')[0]}", OVER_HTTP)
        assert id_ in (test.__doc__ or "")


@pytest.mark.parametrize(
    ("outcomes", "word"),
    [
        ({}, "missing"),
        ({"passed": 2}, "passed"),
        ({"passed": 1, "skipped": 1}, "passed"),
        ({"skipped": 2}, "skipped"),
        ({"passed": 3, "failed": 1}, "failed"),
    ],
)
def test_verdicts(outcomes: dict[str, int], word: str) -> None:
    """One failure fails; a server that is not installed does not undo one that is."""
    assert word == verdict(DUE[0], {DUE[0]: outcomes})


def test_what_is_not_due_is_not_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    """A requirement that waits for later work is not a failure."""
    monkeypatch.setattr("tests.seeds.__main__.NOT_YET_DUE", {DUE[0]: "later"})
    assert "not yet due" == verdict(DUE[0], {})
