"""Routes of pages: errors are shown on a page; who is not signed in is sent to the sign-in."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Coroutine
from typing import Any

from fastapi import Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import RedirectResponse
from fastapi.routing import APIRoute

from waitroom.errors import InvalidInput, WaitroomError

NO_STORE = {"cache-control": "no-store"}


class NotSignedIn(Exception):
    """Nobody is signed in, or not any more."""


class ErrorPageRoute(APIRoute):
    """Answers errors with a page, not JSON; a face defines how its page looks."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Wrap the handler that FastAPI makes."""
        handle = super().get_route_handler()

        async def page(request: Request) -> Response:
            try:
                return await handle(request)
            except NotSignedIn:
                return self.sign_in(request)
            except RequestValidationError as error:
                first = error.errors()[0]
                wrong = InvalidInput(str(first["loc"][-1]), str(first["msg"]))
                return await self.problem(request, wrong)
            except WaitroomError as error:
                return await self.problem(request, error)

        return page

    @abstractmethod
    async def problem(self, request: Request, error: WaitroomError) -> Response:
        """Return the page of an error."""

    @abstractmethod
    def sign_in(self, request: Request) -> Response:
        """Redirect to the sign-in."""


def redirect(path: str) -> Response:
    """Redirect the browser, with GET."""
    return RedirectResponse(path, 303, headers=NO_STORE)
