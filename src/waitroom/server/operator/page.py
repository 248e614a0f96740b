"""How each operator page is made: language, session, template, headers, and errors as pages.

People who are not signed in get the sign-in; errors are shown on a page, not as JSON.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Annotated, Any

from fastapi import Depends, Form, Request, Response

from waitroom.credentials.roles import Role
from waitroom.errors import BackendUnavailable, InvalidInput, WaitroomError
from waitroom.models import check_room_name
from waitroom.operations.trail import Actor, Trail, Way
from waitroom.server.context import Here, Server, server_of
from waitroom.server.http.answers import moment
from waitroom.server.http.auth import Who
from waitroom.server.http.problems import answer, status_of
from waitroom.server.http.statics import is_there, url_of
from waitroom.server.operator import nav
from waitroom.server.operator import session as sessions
from waitroom.server.operator import words as say
from waitroom.server.operator.session import Session
from waitroom.server.pages.forms import check_form_token, check_own_form
from waitroom.server.pages.page import LocalPage
from waitroom.server.pages.route import NO_STORE, ErrorPageRoute, NotSignedIn, redirect
from waitroom.server.pages.text import Text

_SCRIPT = "operator/console.js"


class PageRoute(ErrorPageRoute):
    """Answers errors with our own page, and people who are not signed in with the sign-in."""

    async def problem(self, request: Request, error: WaitroomError) -> Response:
        """Show on a page what went wrong."""
        server = server_of(request)
        try:
            session = await sessions.current(server, request)
        except (NotSignedIn, WaitroomError):
            session = None
        page = Page(server, request, session)
        retry = request.method == "GET" and isinstance(error, BackendUnavailable)
        values = {"error": error, "room": _room_of(request), "retry": retry}
        return page.html("operator/problem.html", status_of(error), **values)

    def sign_in(self, request: Request) -> Response:
        """Redirect to the sign-in; the script gets there by reloading the page."""
        if request.query_params.get("live"):
            return Response(status_code=401, headers=NO_STORE)
        return redirect("/admin/sign-in")


class DataRoute(PageRoute):
    """Answers a page's script with JSON, even for errors."""

    async def problem(self, request: Request, error: WaitroomError) -> Response:  # noqa: ARG002
        """Answer an error in the same form as the API."""
        return answer(error).response()

    def sign_in(self, request: Request) -> Response:  # noqa: ARG002
        """Refuse: the script gets to the sign-in by reloading the page."""
        return Response(status_code=401, headers=NO_STORE)


class Page(LocalPage):
    """One request for a page, and who is signed in."""

    face = "operator"
    language_cookie = "waitroom-admin-language"
    path = sessions.PATH

    def __init__(self, server: Server, request: Request, session: Session | None) -> None:
        super().__init__(server, request)
        self.session = session

    @classmethod
    async def of(cls, server: Server, request: Request, role: Role = Role.VIEWER) -> Page:
        """Make a page for somebody who is signed in and may see it."""
        made = cls(server, request, await sessions.current(server, request))
        made.who.need(role)
        return made

    @property
    def who(self) -> Who:
        """Who is signed in."""
        if self.session is None:
            raise NotSignedIn
        return self.session.who

    @property
    def trail(self) -> Trail:
        """The audit log, signed by whoever is signed in."""
        return trail_of(self.server, self.who)

    def check(self, token: str) -> None:
        """Refuse a form that does not belong to this session, or that another site sends."""
        check_own_form(self.server, self.request)
        if self.session is None:
            raise NotSignedIn
        check_form_token(self.session.token, token, self.session.older_token)

    def reads_html(self, template: str) -> bool:  # noqa: ARG002 - the script of every page does
        """Return that the script takes parts from a newer page."""
        return True

    def values(self) -> dict[str, Any]:
        """Return what every template needs."""
        role = None if self.session is None else self.who.key.role
        script = url_of(_SCRIPT) if is_there(_SCRIPT) else None
        return {
            "session": self.session,
            "may_change": role is not None and role.allows(Role.OPERATOR),
            "may_manage": role is Role.ADMIN,
            "say": Say(self.text),
            "script": script,
            "nav": [] if role is None else nav.links(role),
            "wall": self.request.query_params.get("wall") == "1",
        }


def _page_for(role: Role) -> Callable[..., Awaitable[Page]]:
    async def page(server: Here, request: Request) -> Page:
        return await Page.of(server, request, role)

    return page


def _form_for(role: Role) -> Callable[..., Awaitable[Page]]:
    async def form(
        server: Here, request: Request, token: Annotated[str, Form(max_length=100)] = ""
    ) -> Page:
        page = await Page.of(server, request, role)
        page.check(token)
        return page

    return form


# Parameters of routes: a page for a role, or a form that was sent from our page.
AdminPage = Annotated[Page, Depends(_page_for(Role.ADMIN))]
AdminForm = Annotated[Page, Depends(_form_for(Role.ADMIN))]
ViewerForm = Annotated[Page, Depends(_form_for(Role.VIEWER))]
OperatorForm = Annotated[Page, Depends(_form_for(Role.OPERATOR))]


def trail_of(server: Server, who: Who) -> Trail:
    """Return the audit log, signed by somebody who uses the page."""
    return Trail(server.audit, Actor.of_key(who.key, Way.PAGE, who.address))


class Say:
    """What templates need to write numbers, times and actions in the language of the page."""

    def __init__(self, text: Text) -> None:
        self._text = text

    def __getattr__(self, name: str) -> Callable[..., Any]:
        """Return a function of `words`, with the language filled in."""
        function = getattr(say, name)
        return lambda *args: function(self._text, *args)

    def moment(self, ms: int) -> str:
        """Return a time for `datetime=`."""
        return moment(ms) or ""

    def plain(self, ms: int) -> str:
        """Return a time for readers without a script: in UTC, and labelled so."""
        return f"{(moment(ms) or '')[:19].replace('T', ' ')} UTC"


def _room_of(request: Request) -> str | None:
    name = request.path_params.get("room")
    try:
        return None if name is None else check_room_name(name)
    except InvalidInput:
        return None
