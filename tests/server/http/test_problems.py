"""Errors as problems: every error has a status, a title and one format, without internals."""

from __future__ import annotations

import inspect
import json

import pytest
from fastapi import APIRouter, FastAPI
from httpx2 import ASGITransport, AsyncClient, Response
from pydantic import BaseModel

from waitroom import errors
from waitroom.server.http import problems

KINDS = [
    kind
    for kind in vars(errors).values()
    if isinstance(kind, type) and issubclass(kind, errors.WaitroomError)
]
OURS = (errors.Unavailable, errors.BrokenRoom, errors.UpgradeNeeded)
SHOWN = {"type", "title", "status", "detail", "code"}


def make(kind: type[errors.WaitroomError]) -> errors.WaitroomError:
    """Make an error of a kind, with whatever arguments it takes."""
    if "__init__" not in vars(kind) and kind.__init__ is Exception.__init__:
        return kind("x")
    takes = list(inspect.signature(kind).parameters.values())
    return kind(
        *(
            1 if parameter.annotation == "int" else "x"
            for parameter in takes
            if parameter.kind is parameter.POSITIONAL_OR_KEYWORD
        )
    )


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_every_error_has_its_problem(kind: type[errors.WaitroomError]) -> None:
    """Every existing error has a status, title, code and the media type."""
    answer = problems.answer(make(kind))
    body = json.loads(answer.body)
    assert SHOWN <= set(body)
    assert (answer.status, kind.code, f"/docs/errors#{kind.code}") == (
        body["status"],
        body["code"],
        body["type"],
    )
    assert (b"content-type", b"application/problem+json") in answer.headers
    assert (b"cache-control", b"no-store") in answer.headers
    assert answer.status < 500 or issubclass(kind, OURS) or kind is errors.WaitroomError


@pytest.mark.parametrize(
    ("error", "status", "header"),
    [
        (errors.TooMany("x", 7), 429, (b"retry-after", b"7")),
        (errors.RoomFull("x"), 429, (b"retry-after", b"2")),
        (errors.BackendUnavailable("x"), 503, (b"retry-after", b"2")),
        (errors.Unauthorized("x"), 401, (b"www-authenticate", b'Bearer realm="waitroom"')),
        (errors.InvalidPass("x"), 401, None),
        (errors.InvalidTicket("x"), 404, None),
        (errors.SessionOver("x"), 410, None),
        (errors.RequestTooSlow("x"), 408, (b"connection", b"close")),
    ],
)
def test_statuses_and_headers(
    error: errors.WaitroomError, status: int, header: tuple[bytes, bytes] | None
) -> None:
    """What a client acts on: the status, and when to retry."""
    answer = problems.answer(error)
    assert status == answer.status
    assert header is None or header in answer.headers


def test_what_more_is_told() -> None:
    """The field of bad input, the time of a later turn, the reason for a gone ticket."""
    assert "places" == problems.document(errors.InvalidInput("places", "x"))["field"]
    later = problems.document(errors.EnterLater("x", 1_700_000_000_123))
    assert "2023-11-14T22:13:20.123Z" == later["retry_at"]
    gone = problems.answer(errors.TurnPassed("x", "kicked"))
    assert "kicked" == json.loads(gone.body)["reason"]
    assert "waitroom room" not in problems.document(errors.UnknownRoom("hall"))["detail"]


class Body(BaseModel):
    """A body for these tests."""

    places: int


def app() -> FastAPI:
    """Return an app whose routes fail in every way."""
    made = FastAPI()
    problems.install(made)

    @made.get("/known")
    async def known() -> None:
        raise errors.RoomClosed("the room is closed")

    @made.get("/unforeseen")
    async def unforeseen() -> None:
        raise RuntimeError("secret of ours")

    @made.post("/body")
    async def body(given: Body) -> None:
        del given

    router = APIRouter()

    @router.delete("/body")
    async def remove() -> None:
        pass

    made.include_router(router)
    return made


async def get(method: str, path: str, content: bytes = b"") -> Response:
    """Send a request to the app, in this process."""
    transport = ASGITransport(app(), raise_app_exceptions=False)
    async with AsyncClient(transport=transport, base_url="http://test") as client:
        return await client.request(method, path, content=content)


@pytest.mark.parametrize(
    ("method", "path", "status", "code"),
    [
        ("GET", "/known", 403, "room_closed"),
        ("GET", "/nowhere", 404, "not_found"),
        ("PUT", "/known", 405, "method_not_allowed"),
        ("POST", "/body", 422, "invalid_input"),
        ("GET", "/unforeseen", 500, "error"),
    ],
)
async def test_the_framework_answers_in_our_shape(
    method: str, path: str, status: int, code: str
) -> None:
    """This includes what FastAPI itself finds, and unforeseen errors, without a word about why."""
    reply = await get(method, path, b"[]" if method == "POST" else b"")
    assert "application/problem+json" == reply.headers["content-type"]
    assert (status, code) == (reply.status_code, reply.json()["code"])
    assert "secret" not in reply.text


async def test_all_methods_of_a_path_are_named() -> None:
    """`Allow` has every method, even if the routes of one path are apart."""
    assert "DELETE, POST" == (await get("PATCH", "/body")).headers["allow"]


async def test_what_nobody_foresaw_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    """One log record with the error; the answer only says that there was one."""
    await get("GET", "/unforeseen")
    (record,) = [entry for entry in caplog.records if entry.name == "waitroom.problems"]
    assert "/unforeseen" in record.getMessage()
    assert record.exc_info is not None
    assert RuntimeError is record.exc_info[0]
