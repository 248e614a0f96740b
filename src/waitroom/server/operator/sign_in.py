"""Sign in to the operator page with a key, and sign out."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Form, Request, Response

from waitroom.errors import WaitroomError
from waitroom.operations import sign_ins
from waitroom.server.context import Here
from waitroom.server.http.auth import address_of, who_is
from waitroom.server.http.problems import status_of
from waitroom.server.operator import session
from waitroom.server.operator.page import Page, PageRoute, trail_of
from waitroom.server.pages.forms import check_own_form
from waitroom.server.pages.route import redirect

router = APIRouter(prefix="/admin", route_class=PageRoute, include_in_schema=False)


@router.get("/sign-in")
async def sign_in_page(server: Here, request: Request) -> Response:
    """Ask for a key."""
    return Page(server, request, None).html("operator/sign_in.html", error=None)


@router.post("/sign-in")
async def sign_in(
    server: Here, request: Request, key: Annotated[str, Form(max_length=400)] = ""
) -> Response:
    """Begin a session for somebody who shows a valid key."""
    check_own_form(server, request)
    try:
        who = await who_is(server, key.strip(), address_of(server, request))
    except WaitroomError as error:
        page = Page(server, request, None)
        words = {"unauthorized": "sign_in_bad", "too_many_requests": "sign_in_limited"}
        wrong = page.text(words.get(error.code, "sign_in_away"))
        response = page.html("operator/sign_in.html", status_of(error), error=wrong)
        if (wait_s := getattr(error, "retry_after_s", None)) is not None:
            response.headers["retry-after"] = str(wait_s)
        return response
    await sign_ins.note(trail_of(server, who))
    response = redirect("/admin")
    session.begin(server, request, response, who.key)
    return response


@router.post("/sign-out")
async def sign_out(
    server: Here, request: Request, token: Annotated[str, Form(max_length=100)] = ""
) -> Response:
    """End the session."""
    page = await Page.of(server, request)
    page.check(token)
    response = redirect("/admin/sign-in")
    await session.end(server, request, response)
    return response
